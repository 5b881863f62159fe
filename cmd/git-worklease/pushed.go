package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/git-worklease/git-worklease/internal/gitexec"
	"github.com/git-worklease/git-worklease/internal/term"
	"github.com/git-worklease/git-worklease/lease"
	"github.com/git-worklease/git-worklease/refstore"
	"github.com/git-worklease/git-worklease/refstore/remote"
)

// guarantee says what stands between code and a lost claim.
type guarantee string

const (
	// guaranteeFenced: the server would have refused the code.
	guaranteeFenced guarantee = "fenced"
	// guaranteeChecked: the claims were held just before.
	guaranteeChecked guarantee = "checked"
)

// pushJSON is a push for programs.
type pushJSON struct {
	// Guarantee is empty where nothing was pushed.
	Guarantee guarantee        `json:"guarantee,omitempty"`
	DryRun    bool             `json:"dry_run,omitempty"`
	Remote    string           `json:"remote"`
	URL       string           `json:"url"`
	Refs      []refJSON        `json:"refs"`
	Claims    []claimStateJSON `json:"claims"`
}

// refJSON is one ref of a push.
type refJSON struct {
	From    string       `json:"from,omitempty"`
	To      string       `json:"to"`
	Old     refstore.OID `json:"old,omitempty"`
	New     refstore.OID `json:"new,omitempty"`
	Forced  bool         `json:"forced,omitempty"`
	Summary string       `json:"summary"`
}

// done is the outcome of a push that has landed, of one that would, or of one that had nothing to do.
func (p *pushing) done(ctx context.Context, g guarantee, claims []lease.RenewResult) (*outcome, error) {
	if p.o.upstream || p.autoUpstream() {
		if err := p.setUpstreams(ctx); err != nil {
			return nil, err
		}
	}
	if !p.o.quiet {
		p.show(p.refs)
	}
	if !p.o.quiet && len(p.refs) == 0 {
		fmt.Fprintln(p.err, "Everything up-to-date")
	}
	j := pushJSON{Guarantee: g, DryRun: p.o.dryRun, Remote: gitexec.Redact(p.code.Remote), URL: gitexec.Redact(p.code.URL), Refs: []refJSON{}, Claims: []claimStateJSON{}}
	for _, r := range p.refs {
		j.Refs = append(j.Refs, refJSON{From: r.From, To: r.To, Old: r.Old, New: r.New, Forced: r.Flag == "+", Summary: r.Summary})
	}
	for _, c := range claims {
		j.Claims = append(j.Claims, newClaimState(c.Hold, c.Resources, c.Err, p.app))
		if c.Err != nil {
			p.notice("%s: pushed, but not renewed since: %s", names(c.Resources), p.judge(c.Err).Message)
		}
	}
	return &outcome{result: j, text: func(out *printer) { p.print(out, g, claims) }}, nil
}

// show prints refs as git does, where git does: it was asked for its report in another form.
func (p *pushing) show(refs []remote.CodeRef) {
	if len(refs) == 0 {
		return
	}
	fmt.Fprintf(p.err, "To %s\n", term.Clean(gitexec.Redact(p.code.URL)))
	for _, r := range refs {
		fmt.Fprintf(p.err, "%s\n", term.Clean(r.String()))
	}
}

// refusals are the refs that a push was refused for, but for those of claims that were refused along with them.
func (p *pushing) refusals(err error) []remote.CodeRef {
	var e *remote.CodeError
	if !errors.As(err, &e) {
		return nil
	}
	return slices.DeleteFunc(slices.Clone(e.Refs), func(r remote.CodeRef) bool {
		return strings.HasPrefix(r.To, p.work.settings.Prefix.V) && r.To != e.Refs[0].To
	})
}

func (p *pushing) print(out *printer, g guarantee, claims []lease.RenewResult) {
	if p.o.quiet || g == "" {
		return
	}
	verb := "pushed"
	if p.o.dryRun {
		verb = "would push"
	}
	for _, c := range claims {
		for _, m := range c.Hold.Members {
			out.printf("%s under %s · generation %d · guarantee: %s\n", out.palette.Paint(term.Good, verb), term.Clean(string(m.Resource)), m.Generation, g)
		}
	}
}

// autoUpstream says whether git would set the upstream without being asked: where a branch without one is pushed by itself.
func (p *pushing) autoUpstream() bool {
	auto := p.work.repo.Config.Value("push.autosetupremote")
	return auto == "true" && len(p.o.refspecs) == 0 && len(p.plan.Refs) == 1 && !p.o.all && !p.o.tags &&
		p.work.repo.Config.Value("branch."+strings.TrimPrefix(p.plan.Refs[0].From, "refs/heads/")+".merge") == ""
}

// setUpstreams does what git push --set-upstream does once a push has succeeded.
func (p *pushing) setUpstreams(ctx context.Context) error {
	if p.o.dryRun {
		return nil
	}
	for _, r := range p.plan.Refs {
		branch, ok := strings.CutPrefix(r.From, "refs/heads/")
		if r.From == "HEAD" {
			branch, ok = p.branch, p.branch != ""
		}
		if !ok || !strings.HasPrefix(r.To, "refs/heads/") {
			continue
		}
		settings := [][2]string{{"remote", p.code.Remote}, {"merge", r.To}}
		if how := p.work.repo.Config.Value("branch.autosetuprebase"); slices.Contains([]string{"always", "remote"}, how) {
			settings = append(settings, [2]string{"rebase", "true"})
		}
		for _, s := range settings {
			if _, err := p.work.git.Output(ctx, "config", "branch."+branch+"."+s[0], s[1]); err != nil {
				return fmt.Errorf("push: it landed, but the upstream of %s can't be set: %w", branch, err)
			}
		}
		if !p.o.quiet {
			fmt.Fprintf(p.err, "branch '%s' set up to track '%s/%s'.\n", term.Clean(branch), term.Clean(p.code.Remote), term.Clean(strings.TrimPrefix(r.To, "refs/heads/")))
		}
	}
	return nil
}
