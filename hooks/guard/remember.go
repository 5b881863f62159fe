package guard

import (
	"context"
	"errors"
	"fmt"

	"github.com/git-worklease/git-worklease/internal/session"
	"github.com/git-worklease/git-worklease/lease"
	"github.com/git-worklease/git-worklease/refstore"
)

// silent is what kept the remote from answering within the last minute, as it was then; nil if it may be asked.
func (g *Guard) silent(seen session.Glance) error {
	if !g.recent(seen.Failed) {
		return nil
	}
	was := &refstore.UnavailableError{URL: seen.URL, Trouble: seen.Trouble, Err: errors.New(seen.Why)}
	return fmt.Errorf("not asked again so soon: %w", was)
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
	seen.Failed, seen.URL, seen.Trouble, seen.Why = session.Point{}, "", "", ""
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
	var why *refstore.UnavailableError
	switch {
	case errors.Is(ctx.Err(), context.Canceled): // it was not given the time
		return
	case errors.As(err, &why):
	case errors.Is(err, context.DeadlineExceeded):
		why = &refstore.UnavailableError{Trouble: refstore.TroubleDeadline, Err: err}
	default:
		return
	}
	seen := g.State.Glance()
	seen.Failed, seen.URL, seen.Trouble, seen.Why = g.now(), why.URL, why.Trouble, why.Err.Error()
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
			claims = append(claims, session.PathClaim{Resource: v.Resource, Problem: v.Problem.Error(), Standing: v.State})
		case v.State == lease.StandingHeld && !v.Takeable:
			claims = append(claims, session.PathClaim{
				Resource: v.Resource, Claim: v.Record.Claim, Holder: v.Record.Holder, Purpose: v.Record.Purpose, Expires: v.Deadline, Takeable: v.TakeableAt,
			})
		}
	}
	return claims
}

// recordError is why a record could not be judged, as it was remembered.
type recordError struct {
	text string
	kind error
}

func (e *recordError) Error() string { return e.text }
func (e *recordError) Unwrap() error { return e.kind }

// problem is why a claim in a listing can't be judged.
func problem(c *session.PathClaim) error {
	kinds := map[lease.Standing]error{
		lease.StandingNewer: lease.ErrNewer, lease.StandingForeign: lease.ErrWrongAuthority, lease.StandingRolledBack: lease.ErrRolledBack,
	}
	e := &recordError{text: c.Problem, kind: lease.ErrCorrupt}
	if kind := kinds[c.Standing]; kind != nil {
		e.kind = kind
	}
	return e
}
