package guard

import (
	"context"
	"errors"
	"fmt"

	"github.com/git-worklease/git-worklease/internal/session"
	"github.com/git-worklease/git-worklease/lease"
	"github.com/git-worklease/git-worklease/refstore"
)

// SilentError says that the remote is not asked, because it gave no answer a moment ago.
type SilentError struct {
	// Why is what kept it from answering then.
	Why string
}

func (e *SilentError) Error() string { return fmt.Sprintf("%s (%v)", e.Why, errNotAsked) }

// Is links the type to [refstore.ErrUnavailable].
func (e *SilentError) Is(target error) bool { return target == refstore.ErrUnavailable }

// silent says whether the remote gave no answer within the last minute.
func (g *Guard) silent(seen session.Glance) error {
	if !g.recent(seen.Failed) {
		return nil
	}
	return &SilentError{seen.Why}
}

// recent says whether a point in time lies within the last minute. One that lies ahead, as after a clock was set back, doesn't.
func (g *Guard) recent(p session.Point) bool {
	now := g.now()
	age := p.Since(now.Wall, now.Boot)
	return !p.Wall.IsZero() && age >= 0 && age <= ListingLife
}

// ask puts a question to the remote and remembers what came of it: the path claims, or that there was no answer.
func (g *Guard) ask(ctx context.Context, q lease.Question) (*lease.Answer, error) {
	remote, err := g.open()
	if err != nil {
		return nil, err
	}
	read := g.now() // what is read is at least as new
	answer, err := remote.Ask(ctx, q)
	if err != nil {
		g.remember(ctx, err)
		return nil, err
	}
	seen := g.State.Glance()
	stale := seen.Failed
	seen.Failed, seen.Why = session.Point{}, ""
	if q.Paths {
		seen.Read, seen.Paths = read, pathClaims(answer.Paths)
	}
	if q.Paths || !stale.Wall.IsZero() {
		g.save(seen)
	}
	return answer, nil
}

// remember notes that the remote gave no answer.
func (g *Guard) remember(ctx context.Context, err error) {
	if !errors.Is(err, refstore.ErrUnavailable) && !errors.Is(err, context.DeadlineExceeded) || errors.Is(ctx.Err(), context.Canceled) {
		return
	}
	seen := g.State.Glance()
	seen.Failed, seen.Why = g.now(), err.Error()
	g.save(seen)
}

func (g *Guard) save(seen session.Glance) {
	if err := g.State.SaveGlance(seen); err != nil {
		g.Notice("what was seen could not be remembered: %s", err)
	}
}

// pathClaims are the claims in a listing of paths, and what can't be judged there.
func pathClaims(views []lease.View) []session.PathClaim {
	var claims []session.PathClaim
	for i := range views {
		v := &views[i]
		switch {
		case v.Problem != nil:
			claims = append(claims, session.PathClaim{Resource: v.Resource, Problem: v.Problem.Error()})
		case v.State == lease.StandingHeld && !v.Takeable:
			claims = append(claims, session.PathClaim{
				Resource: v.Resource, Claim: v.Record.Claim, Holder: v.Record.Holder, Purpose: v.Record.Purpose, Expires: v.Deadline, Takeable: v.TakeableAt,
			})
		}
	}
	return claims
}
