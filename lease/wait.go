package lease

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"
)

// WaitRequest is a claim, and for how long to try.
type WaitRequest struct {
	Claim ClaimRequest
	// For is how long to go on trying; 0: one try.
	For time.Duration
	// Tell is told, after each try that another follows, what stood in its way: a [*HeldError], or what is wrong with the remote. It must not
	// wait for anything. Nil: nobody is told.
	Tell func(obstacle error)
}

// Wait is [Authority.Claim] as soon as that succeeds: it looks again and again, in growing pauses, and sends something only where the
// resources can be taken. It goes on while others hold them, and while the remote does not answer; what can't pass by itself ends it. Once the time
// is up it returns the last try's error.
//
// When ctx ends, nothing new is begun, and Wait returns its error as soon as it knows that nothing is left behind. A swap that is under way by
// then is not cut short: if it takes the claim, that is given back, with a [NoticeGivenBack]. Where the outcome stays unknown, the error is a
// [*PendingError] as well.
func (a *Authority) Wait(ctx Context, req WaitRequest) (*ClaimResult, error) {
	want, err := req.check()
	if err != nil {
		return nil, err
	}
	w := &waiter{rests: a.rests(req.For), req: req, want: want}
	for {
		result, err := w.try(ctx)
		switch {
		case ctx.Err() != nil:
			return nil, w.giveUp(ctx)
		case err == nil:
			if w.took(result.Hold.Claim) { // in an earlier try, whose end was not known
				result.Outcome = Claimed
			}
			return result, nil
		case !passes(err), req.For == 0, w.over():
			return nil, err
		}
		if req.Tell != nil {
			req.Tell(err)
		}
		if err := w.rest(ctx, takeableAt(err)); ctx.Err() != nil {
			return nil, w.giveUp(ctx)
		} else if err != nil {
			return nil, err
		}
	}
}

func (r *WaitRequest) check() ([]Resource, error) {
	if r.For < 0 {
		return nil, fmt.Errorf("%w: wait of %s", ErrBadRequest, r.For)
	}
	return r.Claim.check()
}

// takeableAt is when a refusal ends by itself; zero where that is not known.
func takeableAt(err error) time.Time {
	var held *HeldError
	if errors.As(err, &held) {
		return held.TakeableAt
	}
	return time.Time{}
}

// waiter is one call of Wait.
type waiter struct {
	*rests
	req  WaitRequest
	want []Resource
	whole
}

// try claims once.
func (w *waiter) try(ctx Context) (*ClaimResult, error) {
	ctx, cancel := w.attempt(ctx)
	defer cancel()
	return w.claimWhole(ctx, w.req.Claim, &w.whole)
}

// giveUp leaves nothing behind: what was sent is settled, and what was taken is given back. It returns the error of the wait.
func (w *waiter) giveUp(over Context) error {
	err := fmt.Errorf("wait for %s: %w", w.want[0], over.Err())
	if len(w.made) == 0 {
		return err
	}
	ctx, cancel := w.attempt(context.WithoutCancel(over))
	defer cancel()
	open, serr := w.settle(ctx, false, w.touched())
	for _, p := range open {
		if p.Session == w.o.Holder.Session {
			err = errors.Join(err, p)
		}
	}
	holds, herr := w.local.Holds()
	for _, h := range holds {
		if h.End == nil && w.took(h.Claim) {
			w.giveBack(ctx, h)
		}
	}
	return errors.Join(err, serr, herr)
}

// touched are the resources of all claims that were tried to be taken: of a pool the slots.
func (w *whole) touched() []Resource {
	var all []Resource
	for _, i := range w.made {
		all = append(all, i.Resources...)
	}
	return all
}

// took says whether a claim is one of those.
func (w *whole) took(claim ClaimID) bool {
	return slices.ContainsFunc(w.made, func(i *Intent) bool { return i.Hold.Claim == claim })
}

func (w *waiter) giveBack(ctx Context, h Hold) {
	res := w.releaseHold(ctx, h, ReleaseRequest{Reason: "the wait for it was interrupted", Outcome: OutcomeAbandoned})
	w.notify(Notice{Kind: NoticeGivenBack, Resources: h.resources(), Err: res.Err})
}
