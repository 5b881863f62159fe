package guard

import (
	"context"
	"slices"
	"sync"
	"time"

	"github.com/git-worklease/git-worklease/hooks"
	"github.com/git-worklease/git-worklease/internal/gitexec"
	"github.com/git-worklease/git-worklease/internal/session"
	"github.com/git-worklease/git-worklease/lease"
)

// The bounds of a guard's patience.
const (
	// Patience is how long a commit waits for the remote, all requests together.
	Patience = 1500 * time.Millisecond
	// ListingLife is how long a listing of the path claims serves, and for how long a remote that gave no answer is not asked again by commits.
	ListingLife = time.Minute
	// longestLeft is what a push asks to be left of a claim, or a quarter of its time to live where that is less.
	longestLeft = time.Minute
)

// Remote is the authority, as one session sees it. [lease.Authority] is one.
type Remote interface {
	Ask(ctx lease.Context, q lease.Question) (*lease.Answer, error)
	Renew(ctx lease.Context, req lease.RenewRequest) ([]lease.RenewResult, error)
}

// Guard judges operations in one worktree, for one session.
type Guard struct {
	// Git runs where the hook does, in the worktree of GitDir.
	Git    *gitexec.Git
	GitDir string
	Law    Law
	// Troubles are what kept the law from being known in full.
	Troubles []error
	// State is what the clone remembers; nil where it could not be opened, and Stateless says why. That matters only where there are rules.
	State     *session.State
	Stateless error
	Clock     lease.Clock
	// Session is whose claims may be renewed, and Named says that somebody named it: otherwise any claim counts that was made in this worktree.
	Session string
	Named   bool
	// Names are the agent's and the author's, for exemptions.
	Names []string
	// Remote opens the authority. It is called at most once.
	Remote func() (Remote, error)
	// Override is the reason for which a person wants to pass, and Runtime the agent runtime that the hook runs under; "" for none.
	Override, Runtime string
	// Rehearsal says that the push is the dry run of one that proves the claims itself: then it is enough that they are held.
	Rehearsal bool
	// Notice tells a person something that is no finding.
	Notice func(format string, args ...any)

	remote Remote
	failed error
	// foreseen is what is staged, where that was asked early.
	foreseen func() (hooks.Change, error)
}

// Foresee begins to find out what is staged, for a commit that will most likely be judged, and does not wait for that.
func (g *Guard) Foresee(ctx context.Context) {
	var c hooks.Change
	var err error
	var found sync.WaitGroup
	found.Go(func() { c, err = hooks.Staged(ctx, g.Git, g.GitDir) })
	g.foreseen = func() (hooks.Change, error) {
		found.Wait()
		return c, err
	}
}

// staged is the change that is about to be committed.
func (g *Guard) staged(ctx context.Context) (hooks.Change, error) {
	if g.foreseen != nil {
		return g.foreseen()
	}
	return hooks.Staged(ctx, g.Git, g.GitDir)
}

// now reads both clocks.
func (g *Guard) now() session.Point {
	return session.Point{Wall: g.Clock.Now().Round(0), Boot: g.Clock.Instant()}
}

// open is the authority, opened once.
func (g *Guard) open() (Remote, error) {
	if g.remote == nil && g.failed == nil {
		g.remote, g.failed = g.Remote()
	}
	return g.remote, g.failed
}

// held are the claims that count for this worktree, whatever their age, and what could not be read of them.
type held struct {
	holds  []lease.Hold
	doubts []error
}

func (g *Guard) held() (held, error) {
	holds, doubts, err := g.State.Accepted(g.Named)
	return held{holds, doubts}, err
}

// left is for how long a claim stands as far as this clone knows.
func (g *Guard) left(h *lease.Hold) time.Duration { return h.Left(g.Clock.Now(), g.Clock.Instant()) }

// standing are the claims whose time is not up.
func (g *Guard) standing(holds []lease.Hold) []lease.Hold {
	return slices.DeleteFunc(slices.Clone(holds), func(h lease.Hold) bool { return g.left(&h) <= 0 })
}

// due says whether a claim should be renewed: a third of its time has passed, so that one that is used lasts.
func (g *Guard) due(h *lease.Hold) bool { return g.left(h) < h.TTL-h.TTL/3 }

// own says whether a claim is this session's, so that this process may renew it: nobody keeps another alive.
func (g *Guard) own(h *lease.Hold) bool {
	if h.Holder.Session != g.Session {
		return false
	}
	return g.Named || g.State.CheckClaimant(session.SystemProcesses{}, []lease.Resource{h.Members[0].Resource}) == nil
}

// resources are those of claims.
func resources(holds []lease.Hold) []lease.Resource {
	var all []lease.Resource
	for _, h := range holds {
		for _, m := range h.Members {
			all = append(all, m.Resource)
		}
	}
	return all
}

// idle says that there is nothing to guard: no policy has rules, and nobody in this clone has a claim, as far as can be told.
func (g *Guard) idle() bool {
	if g.Law.HasRules() || len(g.Troubles) > 0 {
		return false
	}
	if g.State == nil {
		return true
	}
	claims, err := g.State.Claims()
	return !claims && err == nil
}

// troubles are the findings that [Guard.Troubles] amount to.
func (g *Guard) troubles(ref string) []Finding {
	var findings []Finding
	for _, err := range g.Troubles {
		findings = append(findings, Finding{Kind: KindUnsure, Ref: ref, Err: err})
	}
	return findings
}

// missing is what is said of needs that no claim meets: of one that a claim of ours would meet if it stood, why it doesn't. What can't be read might meet
// them.
func (g *Guard) missing(ref string, open []hooks.Need, failed []failure, doubts []error) []Finding {
	var findings []Finding
	for i := range open {
		f := Finding{Kind: KindNeed, Ref: ref, Need: &open[i], Resource: open[i].Resource, Paths: open[i].Paths}
		at := slices.IndexFunc(failed, func(x failure) bool { return serves(&x.hold, open[i]) })
		switch {
		case at >= 0:
			g.failing(&f, &failed[at])
		case len(doubts) > 0:
			f.Kind, f.Err = KindUnsure, doubts[0]
		}
		findings = append(findings, f)
	}
	return findings
}

// failing says of a need why the claim does not stand that would meet it.
func (g *Guard) failing(f *Finding, why *failure) {
	if f.Resource == "" {
		f.Resource = why.hold.Members[0].Resource
	}
	switch {
	case why.err == nil:
		f.Kind, f.Left, f.Wanted = KindShort, why.left, least(&why.hold)
	case isOver(why.err):
		f.Kind, f.Err = KindLost, why.err
	default:
		f.Kind, f.Err = KindUnsure, why.err
	}
}

// least is what a push asks to be left of a claim.
func least(h *lease.Hold) time.Duration { return min(longestLeft, h.TTL/4) }

// hurried bounds what a commit asks of the remote.
func hurried(ctx context.Context) (context.Context, context.CancelFunc) {
	return context.WithTimeout(ctx, Patience)
}
