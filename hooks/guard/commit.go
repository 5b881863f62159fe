package guard

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/git-worklease/git-worklease/hooks"
	"github.com/git-worklease/git-worklease/internal/config"
	"github.com/git-worklease/git-worklease/internal/session"
	"github.com/git-worklease/git-worklease/lease"
)

// Commit judges the commit that the index is about to become.
func (g *Guard) Commit(ctx context.Context) *Verdict {
	if g.Law.Commit == config.ModeOff || g.idle() {
		return &Verdict{}
	}
	unsure := Milder(g.Law.Commit, g.Law.Offline)
	c, err := g.staged(ctx)
	if err != nil {
		return g.verdict(OpCommit, []Finding{{Kind: KindUnsure, Err: err}}, g.Law.Commit, unsure)
	}
	ctx, cancel := hurried(ctx)
	defer cancel()
	return g.verdict(OpCommit, g.judgeCommit(ctx, c), g.Law.Commit, unsure)
}

// RefOf is the ref of a branch; "" for none.
func RefOf(branch string) string {
	if branch == "" {
		return ""
	}
	return "refs/heads/" + branch
}

func (g *Guard) judgeCommit(ctx context.Context, c hooks.Change) []Finding {
	ref := RefOf(c.Branch)
	findings := g.troubles(ref)
	if g.Law.Exempt(ref, g.Names...) {
		return findings
	}
	unsure := func(err error) []Finding { return append(findings, Finding{Kind: KindUnsure, Ref: ref, Err: err}) }
	if g.State == nil {
		return unsure(g.Stateless)
	}
	needs, err := g.Law.Needs(c, ref, g.Names...)
	if err != nil {
		return unsure(err)
	}
	mine, err := g.held()
	if err != nil {
		return unsure(err)
	}
	open := hooks.Open(needs, resources(g.standing(mine.holds)))
	failed, mine := g.revive(ctx, open, mine)
	open = hooks.Open(needs, resources(g.standing(mine.holds)))
	listed, answer, err := g.look(ctx, open, c.Paths, mine)
	if err != nil {
		findings = append(findings, Finding{Kind: KindUnsure, Ref: ref, Paths: uncovered(c.Paths, g.standing(mine.holds)), Err: err})
	}
	open = g.follow(ctx, c.Branch, open, answer.Claims)
	rivals := g.against(ref, c.Paths, listed, mine)
	lacking := withHolders(g.missing(ref, WithoutRivals(open, rivals), failed, mine.doubts), answer.Views)
	return slices.Concat(findings, lacking, rivals)
}

// look finds out who else has claimed what a commit changes. Where a claim is missing anyway, the remote is asked who has it; the answer is empty where it
// was not.
func (g *Guard) look(ctx context.Context, open []hooks.Need, paths []string, mine held) ([]session.PathClaim, *lease.Answer, error) {
	nothing := &lease.Answer{}
	if len(open) == 0 || g.silent(g.State.Glance()) != nil {
		listed, err := g.listing(ctx, paths, mine)
		return listed, nothing, err
	}
	answer, err := g.ask(ctx, question([]wanted{{needs: open, paths: paths}}, g.standing(mine.holds)))
	if err == nil {
		return pathClaims(answer.Paths), answer, nil
	}
	if len(uncovered(paths, g.standing(mine.holds))) == 0 {
		return nil, nothing, nil
	}
	if seen := g.State.Glance(); g.recent(seen.Read) {
		return seen.Paths, nothing, nil
	}
	return nil, nothing, err
}

// failure is why a claim does not count although this clone has its key.
type failure struct {
	hold lease.Hold
	err  error
	// left is set where the claim stands, and not for long enough.
	left time.Duration
}

// revive renews claims of this session whose time is up and that needs ask for: as long as nobody took them, they are still its own.
func (g *Guard) revive(ctx context.Context, open []hooks.Need, mine held) (failed []failure, now held) {
	var lapsed []lease.Hold
	for _, h := range mine.holds {
		if g.left(&h) <= 0 && g.own(&h) && slices.ContainsFunc(open, func(n hooks.Need) bool { return serves(&h, n) }) {
			lapsed = append(lapsed, h)
		}
	}
	if len(lapsed) == 0 {
		return nil, mine
	}
	failed = g.renew(ctx, lapsed)
	if again, err := g.held(); err == nil {
		mine = again
	}
	return failed, mine
}

// serves says whether a claim, if it stood, would meet a need, or a part of it.
func serves(h *lease.Hold, n hooks.Need) bool {
	left := hooks.Open([]hooks.Need{n}, resources([]lease.Hold{*h}))
	return len(left) == 0 || len(left[0].Paths) < len(n.Paths)
}

// renew renews claims of this session with one request, unless the remote was silent a moment ago. It returns those that it could not renew.
func (g *Guard) renew(ctx context.Context, holds []lease.Hold) (failed []failure) {
	err := g.silent(g.State.Glance())
	var remote Remote
	if err == nil {
		remote, err = g.open()
	}
	var results []lease.RenewResult
	if err == nil {
		var req lease.RenewRequest
		for _, h := range holds {
			req.Resources = append(req.Resources, h.Members[0].Resource)
		}
		if results, err = remote.Renew(ctx, req); err != nil {
			g.remember(ctx, err)
		}
	}
	for _, h := range holds {
		i := slices.IndexFunc(results, func(r lease.RenewResult) bool { return slices.Contains(r.Resources, h.Members[0].Resource) })
		switch {
		case i >= 0 && results[i].Err != nil:
			failed = append(failed, failure{hold: h, err: results[i].Err})
		case i < 0 && err != nil:
			failed = append(failed, failure{hold: h, err: err})
		}
	}
	return failed
}

// isOver says whether an error is one of which there is no doubt: the claim does not stand.
func isOver(err error) bool {
	return errors.Is(err, lease.ErrLost) || errors.Is(err, lease.ErrNotHeld) || errors.Is(err, lease.ErrExpired) || errors.Is(err, lease.ErrMoving) || errors.Is(err, lease.ErrKeyLost)
}

// WithoutRivals drops from needs the paths of which it is already said that another has them.
func WithoutRivals(open []hooks.Need, rivals []Finding) []hooks.Need {
	taken := map[string]bool{}
	for _, f := range rivals {
		if f.Kind == KindRival {
			for _, path := range f.Paths {
				taken[path] = true
			}
		}
	}
	var left []hooks.Need
	for _, n := range open {
		if n.Kind == hooks.NeedPath {
			n.Paths = slices.DeleteFunc(slices.Clone(n.Paths), func(path string) bool { return taken[path] })
			if len(n.Paths) == 0 {
				continue
			}
		}
		left = append(left, n)
	}
	return left
}

// withHolders says of claims that are missing who has them instead, as far as the remote told.
func withHolders(findings []Finding, views []lease.View) []Finding {
	for i := range findings {
		if findings[i].Kind == KindNeed {
			findings[i].Rival = holderIn(views, findings[i].Resource)
		}
	}
	return findings
}

// holderIn is who has a resource; nil where nobody is known.
func holderIn(views []lease.View, r lease.Resource) *Rival {
	for i := range views {
		if v := &views[i]; v.Resource == r && r != "" && v.State == lease.StandingHeld && !v.Takeable {
			return &Rival{Resource: r, Holder: v.Record.Holder, Purpose: v.Record.Purpose, Expires: v.Deadline}
		}
	}
	return nil
}
