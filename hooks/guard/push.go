package guard

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/git-worklease/git-worklease/hooks"
	"github.com/git-worklease/git-worklease/internal/config"
	"github.com/git-worklease/git-worklease/lease"
)

// Update is what a push does to one ref.
type Update struct {
	// Ref is the ref on the remote, in full.
	Ref string
	// New and Old are what it will hold and what it holds; "" where there is no such ref.
	New, Old string
}

// ReadUpdates reads what git writes to a pre-push hook.
func ReadUpdates(in io.Reader) ([]Update, error) {
	var updates []Update
	lines := bufio.NewScanner(in)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		f := strings.Fields(lines.Text())
		if len(f) == 0 {
			continue
		}
		// The name of what is pushed may be an expression with blanks in it.
		if len(f) < 4 || !isID(f[len(f)-3]) || !isID(f[len(f)-1]) || !strings.HasPrefix(f[len(f)-2], "refs/") {
			return nil, fmt.Errorf("standard input of a pre-push hook: %q", lines.Text())
		}
		updates = append(updates, Update{Ref: f[len(f)-2], New: id(f[len(f)-3]), Old: id(f[len(f)-1])})
	}
	return updates, lines.Err()
}

func isID(s string) bool { return len(s) >= 40 && strings.Trim(s, "0123456789abcdef") == "" }

// id is an object's ID; "" for the one of zeros, which stands for none.
func id(s string) string {
	if strings.Trim(s, "0") == "" {
		return ""
	}
	return s
}

// Target is where a push goes to.
type Target struct {
	// Remote is the configured remote whose tracking refs say what is there already; "" for none.
	Remote string
	// Elsewhere says that it is neither the authority's repository nor one whose claims are coordinated in another.
	Elsewhere bool
	// Home is the remote that the code is shared by. What it has is not judged again where a push goes elsewhere, such as all of the past in a new fork.
	Home string
	// Skip is the prefix of refs that are never judged: the claims' own.
	Skip string
}

// Push judges a push.
func (g *Guard) Push(ctx context.Context, to Target, updates []Update) *Verdict {
	mode := g.Law.Push
	if to.Elsewhere {
		mode = g.Law.Forks
	}
	// What is deleted brings no commits.
	updates = slices.DeleteFunc(slices.Clone(updates), func(u Update) bool { return u.New == "" || strings.HasPrefix(u.Ref, to.Skip) })
	if mode == config.ModeOff || len(updates) == 0 || g.idle() {
		return &Verdict{}
	}
	pushed, err := g.pushed(ctx, to, updates)
	if err != nil {
		return g.verdict(OpPush, []Finding{{Kind: KindUnsure, Err: err}}, mode, mode)
	}
	return g.verdict(OpPush, g.judgePush(ctx, pushed), mode, mode)
}

// pushed is one ref and the commits that are new to the remote.
type pushed struct {
	ref, branch string
	commits     []hooks.Commit
}

// pushed finds the commits of each ref that the remote does not have yet, nor the team.
func (g *Guard) pushed(ctx context.Context, to Target, updates []Update) ([]pushed, error) {
	there := []string{"--ignore-missing", "--not"}
	if to.Remote != "" {
		there = append(there, "--remotes="+to.Remote)
	}
	if to.Elsewhere && to.Home != "" {
		there = append(there, "--remotes="+to.Home)
	}
	for _, u := range updates {
		if u.Old != "" {
			there = append(there, u.Old)
		}
	}
	known := map[string][]hooks.Commit{}
	var all []pushed
	for _, u := range updates {
		commits, ok := known[u.New]
		if !ok {
			var err error
			if commits, err = hooks.Commits(ctx, g.Git, append([]string{u.New}, there...)...); err != nil {
				return nil, fmt.Errorf("%s: %w", u.Ref, err)
			}
			known[u.New] = commits
		}
		branch, _ := strings.CutPrefix(u.Ref, "refs/heads/")
		if branch == u.Ref {
			branch = ""
		}
		all = append(all, pushed{u.Ref, branch, commits})
	}
	return all, nil
}

// wanted is what one ref of a push asks for.
type wanted struct {
	ref, branch string
	needs       []hooks.Need
	paths       []string
}

// wants finds what the refs of a push ask for; those that are exempt ask for nothing.
func (g *Guard) wants(all []pushed) (wants []wanted, findings []Finding) {
	for _, p := range all {
		if g.Law.Exempt(p.ref, g.Names...) {
			continue
		}
		needs, err := g.Law.NeedsOf(p.branch, p.commits, p.ref, g.Names...)
		if err != nil {
			findings = append(findings, Finding{Kind: KindUnsure, Ref: p.ref, Err: err})
			continue
		}
		wants = append(wants, wanted{p.ref, p.branch, needs, hooks.ChangeOf(p.branch, p.commits).Paths})
	}
	return wants, findings
}

func (g *Guard) judgePush(ctx context.Context, all []pushed) []Finding {
	findings := g.troubles("")
	if g.State == nil {
		return append(findings, Finding{Kind: KindUnsure, Err: g.Stateless})
	}
	wants, more := g.wants(all)
	findings = append(findings, more...)
	mine, err := g.held()
	if err != nil {
		return append(findings, Finding{Kind: KindUnsure, Err: err})
	}
	if !slices.ContainsFunc(wants, func(w wanted) bool { return len(w.needs) > 0 }) {
		return append(findings, g.trespasses(ctx, wants, mine)...)
	}
	answer, err := g.ask(ctx, question(wants, mine.holds))
	if err != nil {
		return append(findings, g.unanswered(wants, mine, err)...)
	}
	good, failed := g.proven(ctx, answer.Claims)
	for _, w := range wants {
		findings = append(findings, g.judgeRef(ctx, w, answer, good, failed, mine)...)
	}
	return findings
}

// trespasses are the findings of a push that asks for no claims, by one listing.
func (g *Guard) trespasses(ctx context.Context, wants []wanted, mine held) []Finding {
	var paths []string
	for _, w := range wants {
		paths = append(paths, w.paths...)
	}
	listed, err := g.listing(ctx, paths, mine)
	if err != nil {
		return []Finding{{Kind: KindUnsure, Paths: uncovered(paths, g.standing(mine.holds)), Err: err}}
	}
	var findings []Finding
	for _, w := range wants {
		findings = append(findings, g.against(w.ref, w.paths, listed, mine)...)
	}
	return findings
}

// question is all that a push wants to know, in one request.
func question(wants []wanted, holds []lease.Hold) lease.Question {
	q := lease.Question{Holds: holds}
	for _, w := range wants {
		q.Paths = q.Paths || len(w.paths) > 0
		for _, n := range w.needs {
			if n.Kind == hooks.NeedKey && !slices.Contains(q.Resources, n.Resource) {
				q.Resources = append(q.Resources, n.Resource)
			}
		}
	}
	return q
}

// unanswered is what is known without the remote: a claim that this clone has no key for is missing.
func (g *Guard) unanswered(wants []wanted, mine held, err error) []Finding {
	var findings []Finding
	for _, w := range wants {
		open := hooks.Open(w.needs, resources(mine.holds))
		findings = append(findings, g.missing(w.ref, open, nil, mine.doubts)...)
		if len(open) < len(w.needs) || len(w.paths) > 0 || len(w.needs) == 0 {
			findings = append(findings, Finding{Kind: KindUnsure, Ref: w.ref, Err: err})
		}
	}
	return findings
}

// proven sorts claims into those that stand for long enough and the others. Those of this session that are due are renewed.
func (g *Guard) proven(ctx context.Context, claims []lease.ClaimProof) (good []lease.Hold, failed []failure) {
	var due []lease.Hold
	for _, c := range claims {
		h := c.Hold
		lapsed := errors.Is(c.Err, lease.ErrExpired)
		switch {
		case !g.Rehearsal && g.own(&h) && (lapsed || c.Err == nil && g.due(&h)):
			due = append(due, h)
		case c.Err != nil:
			failed = append(failed, failure{hold: h, err: c.Err})
		case !g.Rehearsal && c.Left < least(&h):
			failed = append(failed, failure{hold: h, left: c.Left})
		default:
			good = append(good, h)
		}
	}
	if len(due) == 0 {
		return good, failed
	}
	for _, f := range g.renew(ctx, due) {
		due = slices.DeleteFunc(due, func(h lease.Hold) bool { return h.Claim == f.hold.Claim })
		if left := g.left(&f.hold); left >= least(&f.hold) && !isOver(f.err) { // it was proven a moment ago
			good = append(good, f.hold)
			continue
		}
		failed = append(failed, f)
	}
	return append(good, due...), failed
}

// judgeRef is what is said against one ref.
func (g *Guard) judgeRef(ctx context.Context, w wanted, answer *lease.Answer, good []lease.Hold, failed []failure, mine held) []Finding {
	open := hooks.Open(w.needs, resources(good))
	proofs := slices.DeleteFunc(slices.Clone(answer.Claims), func(c lease.ClaimProof) bool {
		return !slices.ContainsFunc(good, func(h lease.Hold) bool { return h.Claim == c.Hold.Claim })
	})
	open = g.follow(ctx, w.branch, open, proofs)
	rivals := g.against(w.ref, w.paths, pathClaims(answer.Paths), mine)
	return append(withHolders(g.missing(w.ref, WithoutRivals(open, rivals), failed, mine.doubts), answer.Views), rivals...)
}
