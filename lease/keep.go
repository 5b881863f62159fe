package lease

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"
)

// KeepRequest says what is to be kept, and who is told.
type KeepRequest struct {
	// Claims are those to keep; none: all that the session holds, those included that it takes meanwhile.
	Claims []ClaimID
	// Tell is told what happens, one call at a time. It must not wait for anything.
	Tell func(KeepEvent)
}

// KeepKind tells the events of a keeper apart.
type KeepKind string

// The events of a keeper.
const (
	KeepRenewed KeepKind = "renewed"
	// KeepFailed: a renewal did not succeed, and Err says why. It is tried again.
	KeepFailed KeepKind = "failed"
	// KeepEnding: what depends on the claim should stop now, because only Left, at most min(10 s, ttl/6), is left of it. It comes once, unless
	// a renewal succeeds after all.
	KeepEnding KeepKind = "ending"
	// KeepOver: the claim is over, and Err says how: a [*LostError], [ErrNotHeld] for one that the session itself has released, or [ErrExpired].
	// It is the last event of a claim.
	KeepOver KeepKind = "over"
)

// KeepEvent is what a keeper tells of one claim.
type KeepEvent struct {
	Kind KeepKind
	Hold Hold
	// Left is for how long the claim still stands, by whichever clock ends it first.
	Left time.Duration
	Err  error
}

// The rhythm of a keeper.
const (
	keepTick      = time.Second
	longestNotice = 10 * time.Second
	longestRetry  = time.Minute
)

// Keep renews claims in time until ctx ends, whose error it returns, or until the last of those that were named is over. It looks at both
// clocks each second, and before anything else after a pause of any length. A claim that has expired is never renewed: it is over.
func (a *Authority) Keep(ctx Context, req KeepRequest) error {
	ctx, cancel := context.WithCancel(ctx)
	k := &keeper{Authority: a, req: req, claims: map[ClaimID]*kept{}, done: make(chan outcome, MaxMembers)}
	defer k.under.Wait()
	defer cancel()
	for {
		k.look(ctx)
		if len(req.Claims) > 0 && k.left == 0 {
			return nil
		}
		if err := a.clock.Sleep(ctx, keepTick); err != nil {
			return err
		}
		k.collect()
	}
}

// keeper is one call of Keep.
type keeper struct {
	*Authority
	req    KeepRequest
	claims map[ClaimID]*kept
	// left counts the claims that are not over.
	left  int
	under sync.WaitGroup
	done  chan outcome
}

// kept is one claim that is kept.
type kept struct {
	hold Hold
	// due is how much is left of the claim when it is to be renewed next.
	due time.Duration
	// failures counts the renewals that failed since one succeeded.
	failures           int
	busy, warned, over bool
}

// outcome is what came of a renewal.
type outcome struct {
	claim ClaimID
	hold  Hold
	err   error
}

// look judges every claim by both clocks, and begins the renewals that are due.
func (k *keeper) look(ctx Context) {
	holds, err := k.local.Holds()
	if err == nil {
		k.update(holds)
	}
	k.left = 0
	for _, c := range k.claims {
		if c.over {
			continue
		}
		m := k.moment()
		switch left := c.hold.Left(m.now(), m.at); {
		case left <= 0:
			k.end(c, fmt.Errorf("%s: %w", c.hold.Members[0].Resource, ErrExpired))
			continue
		case left <= lastNotice(c.hold.TTL) && !c.warned:
			c.warned = true
			k.tell(KeepEvent{Kind: KeepEnding, Hold: c.hold, Left: left})
			fallthrough
		case left <= c.due && !c.busy:
			k.begin(ctx, c)
		}
		k.left++
	}
}

// lastNotice is how long before its end whoever depends on a claim is told to stop.
func lastNotice(ttl time.Duration) time.Duration { return min(longestNotice, ttl/6) }

// update brings the claims in line with the session's file, which other processes change.
func (k *keeper) update(holds []Hold) {
	for _, h := range holds {
		c := k.claims[h.Claim]
		switch {
		case c == nil && h.End == nil && k.wants(h.Claim):
			k.claims[h.Claim] = &kept{hold: h, due: h.TTL - h.TTL/3}
		case c == nil || c.over:
		case h.End != nil:
			c.hold = h
			k.end(c, ended(&h, h.Members[0].Resource))
		case h.Revision >= c.hold.Revision:
			if h.Revision > c.hold.Revision {
				c.renewed(h)
			}
			c.hold = h
		}
	}
}

func (k *keeper) wants(id ClaimID) bool {
	return len(k.req.Claims) == 0 || slices.Contains(k.req.Claims, id)
}

func (k *keeper) begin(over Context, c *kept) {
	c.busy = true
	h := c.hold
	k.under.Go(func() {
		ctx, cancel := k.attempt(over)
		defer cancel()
		res, err := k.renewHold(ctx, h, nil)
		if err != nil {
			res.Hold = h
		}
		select {
		case k.done <- outcome{claim: h.Claim, hold: res.Hold, err: err}:
		case <-over.Done():
		}
	})
}

// collect takes in what came of renewals.
func (k *keeper) collect() {
	for {
		select {
		case r := <-k.done:
			k.take(k.claims[r.claim], r)
		default:
			return
		}
	}
}

func (k *keeper) take(c *kept, r outcome) {
	c.busy = false
	switch {
	case c.over:
	case r.err == nil:
		c.renewed(r.hold)
		k.tell(KeepEvent{Kind: KeepRenewed, Hold: c.hold, Left: k.leftOf(c)})
	case errors.Is(r.err, ErrLost), errors.Is(r.err, ErrNotHeld):
		k.end(c, r.err)
	default:
		c.failures++
		left := k.leftOf(c)
		c.due = left - min(keepTick<<min(c.failures, 6), longestRetry, left/4)
		k.tell(KeepEvent{Kind: KeepFailed, Hold: c.hold, Left: left, Err: r.err})
	}
}

// renewed starts the claim's time anew.
func (c *kept) renewed(h Hold) {
	c.hold, c.due, c.failures, c.warned = h, h.TTL-h.TTL/3, 0, false
}

func (k *keeper) leftOf(c *kept) time.Duration {
	m := k.moment()
	return c.hold.Left(m.now(), m.at)
}

func (k *keeper) end(c *kept, err error) {
	c.over = true
	k.tell(KeepEvent{Kind: KeepOver, Hold: c.hold, Left: k.leftOf(c), Err: err})
}

func (k *keeper) tell(e KeepEvent) {
	if k.req.Tell != nil {
		k.req.Tell(e)
	}
}
