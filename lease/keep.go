package lease

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/git-worklease/git-worklease/refstore"
)

// KeepRequest says what is to be kept, and who is told.
type KeepRequest struct {
	// Claims are those to keep; none: all that the session holds, those included that it takes or renews meanwhile.
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
	// KeepOver: the claim is over, and Err says how: a [*LostError], [ErrNotHeld] for one that the session itself has released or moved or that
	// its file doesn't have, or [ErrExpired]. It is the last event of a claim, unless all are kept and the session renews an expired one itself.
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
// clocks each second, and before anything else after a pause of any length. A claim that has expired is never renewed: it is over. Where the
// session's file can't be read at first, that is returned; later it goes on with what it knows.
//
// Claims are renewed after a sixth to a third of their time to live, at times that all keepers of a machine agree on. What several of them want
// to write then goes out in one request, where the store is a [refstore.Gatherer].
func (a *Authority) Keep(ctx Context, req KeepRequest) error {
	ctx, cancel := context.WithCancel(ctx)
	k := &keeper{Authority: a, req: req, claims: map[ClaimID]*kept{}, done: make(chan []RenewResult)}
	defer k.under.Wait()
	defer cancel()
	if err := k.begin(); err != nil {
		return err
	}
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
	done  chan []RenewResult
}

// kept is one claim that is kept.
type kept struct {
	hold Hold
	// tips are the refs as the keeper's own last renewal left them; nil where it has made none, or the last one failed.
	tips []refstore.Ref
	// failures counts the renewals that failed since one succeeded, and retry is how much is left of the claim when it is tried again.
	failures           int
	retry              time.Duration
	busy, warned, over bool
}

// begin finds the claims that were named.
func (k *keeper) begin() error {
	holds, err := k.local.Holds()
	if err != nil {
		return err
	}
	for _, id := range k.req.Claims {
		i := slices.IndexFunc(holds, func(h Hold) bool { return h.Claim == id })
		if i < 0 {
			c := &kept{hold: Hold{Claim: id}}
			k.claims[id] = c
			k.end(c, fmt.Errorf("claim %s: %w", id, ErrNotHeld))
			continue
		}
		k.claims[id] = &kept{hold: holds[i]}
	}
	return nil
}

// look judges every claim by both clocks, and begins the renewals that are due.
func (k *keeper) look(ctx Context) {
	if holds, err := k.local.Holds(); err == nil {
		k.update(holds)
	}
	k.left = 0
	var due []*kept
	m := k.moment()
	for _, c := range k.claims {
		if c.over || !k.judge(c, m) {
			continue
		}
		k.left++
		if !c.busy && c.due(m) {
			c.busy = true
			due = append(due, c)
		}
	}
	if len(due) > 0 {
		k.renew(ctx, due)
	}
}

// judge says whether a claim still stands, and tells when it is about to end or has.
func (k *keeper) judge(c *kept, m moment) bool {
	left := c.hold.Left(m.now(), m.at)
	switch {
	case left <= 0:
		k.end(c, fmt.Errorf("%s: %w", c.hold.Members[0].Resource, ErrExpired))
		return false
	case left <= LastNotice(c.hold.TTL) && !c.warned:
		c.warned, c.retry = true, left
		k.tell(KeepEvent{Kind: KeepEnding, Hold: c.hold, Left: left})
	}
	return true
}

// LastNotice is how long before its end whoever depends on a claim with the given ttl is told to stop: ttl/6, and at most 10 s. It is also what
// they are given to stop where a claim is over before its time.
func LastNotice(ttl time.Duration) time.Duration { return min(longestNotice, ttl/6) }

// due says whether a claim is to be renewed.
func (c *kept) due(m moment) bool {
	left := c.hold.Left(m.now(), m.at)
	if c.failures > 0 {
		return left <= c.retry
	}
	return left <= c.hold.TTL-c.hold.TTL/3 || c.hold.Deadline.Boot != "" && c.hold.Deadline.Boot == m.at.Boot && m.at.Since >= nextRenewal(&c.hold)
}

// nextRenewal is when a claim is to be renewed by the clock that runs through suspend: at the last point of a grid that is no later than a third
// of its time to live after its last renewal. The grids of all claims are powers of two seconds, counted from the same start, so that keepers
// on one machine meet. It is pure.
func nextRenewal(h *Hold) time.Duration {
	return (h.Deadline.Since - h.TTL + h.TTL/3).Truncate(keepGrid(h.TTL))
}

// keepGrid is the largest power of two seconds that is no more than a sixth of ttl, but at least one second.
func keepGrid(ttl time.Duration) time.Duration {
	grid := time.Second
	for 2*grid <= ttl/6 {
		grid *= 2
	}
	return grid
}

// update brings the claims in line with the session's file, which other processes change.
func (k *keeper) update(holds []Hold) {
	for _, h := range holds {
		c := k.claims[h.Claim]
		switch {
		case c == nil && h.End == nil && len(k.req.Claims) == 0:
			k.claims[h.Claim] = &kept{hold: h}
		case c == nil:
		case c.over:
			if h.End == nil && h.Revision > c.hold.Revision && len(k.req.Claims) == 0 {
				k.claims[h.Claim] = &kept{hold: h, busy: c.busy}
			}
		case h.End != nil:
			c.hold = h
			k.end(c, ended(&h, h.Members[0].Resource))
		case h.Revision > c.hold.Revision:
			c.renewed(h)
		case h.Revision == c.hold.Revision:
			c.hold = h
		}
	}
}

// renew renews claims, in the background.
func (k *keeper) renew(over Context, due []*kept) {
	holds, how := make([]Hold, len(due)), manner{kept: true}
	for i, c := range due {
		holds[i] = c.hold
		how.tips = append(how.tips, c.tips...)
	}
	if slices.ContainsFunc(due, func(c *kept) bool { return !c.remembers() }) {
		how.tips = nil
	}
	k.under.Go(func() {
		ctx, cancel := k.attempt(over)
		defer cancel()
		results := k.renewAll(ctx, holds, how)
		for i := range results {
			if results[i].Err != nil {
				results[i].Hold = holds[i]
			}
		}
		select {
		case k.done <- results:
		case <-over.Done():
		}
	})
}

// remembers says whether the keeper has the records that stand at the refs as far as this clone knows.
func (c *kept) remembers() bool {
	return len(c.tips) == len(c.hold.Members) && !slices.ContainsFunc(c.hold.Members, func(m Member) bool {
		return !slices.ContainsFunc(c.tips, func(ref refstore.Ref) bool { return string(ref.Commit.OID) == m.Tip })
	})
}

// collect takes in what came of renewals.
func (k *keeper) collect() {
	for {
		select {
		case results := <-k.done:
			for i := range results {
				k.take(k.claims[results[i].Hold.Claim], &results[i])
			}
		default:
			return
		}
	}
}

func (k *keeper) take(c *kept, r *RenewResult) {
	c.busy = false
	switch {
	case c.over:
	case r.Err == nil:
		if r.Hold.Revision >= c.hold.Revision {
			c.renewed(r.Hold)
			c.tips = r.tips
		}
		k.tell(KeepEvent{Kind: KeepRenewed, Hold: c.hold, Left: k.leftOf(c)})
	case errors.Is(r.Err, ErrLost), errors.Is(r.Err, ErrNotHeld):
		k.end(c, k.over(c, r.Err))
	case errors.Is(r.Err, ErrExpired): // the next look will say so
	default:
		c.failures, c.tips = c.failures+1, nil
		left := k.leftOf(c)
		c.retry = left - min(keepTick<<min(c.failures, 6), longestRetry, left/4)
		k.tell(KeepEvent{Kind: KeepFailed, Hold: c.hold, Left: left, Err: r.Err})
	}
}

// over is why a claim is over that a renewal found so: lost, unless the file says that the session itself has ended it.
func (k *keeper) over(c *kept, found error) error {
	if _, err := k.current(c.hold); errors.Is(err, ErrNotHeld) {
		return err
	}
	return found
}

// renewed starts the claim's time anew.
func (c *kept) renewed(h Hold) { c.hold, c.failures, c.warned = h, 0, false }

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
