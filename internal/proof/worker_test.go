package proof

import (
	"errors"
	"math/rand/v2"
	"time"

	"github.com/git-worklease/git-worklease/lease"
	"github.com/git-worklease/git-worklease/refstore"
)

// worker is one process of one session of one clone.
type worker struct {
	id    int
	a     *lease.Authority
	store *recorder
	local lease.Local
	clock lease.Clock
	h     *history
	held  *beliefs
	// wanted are the resources that it may claim.
	wanted []lease.Resource
	// others are agents that work may be handed to.
	others []string
	random *rand.Rand
	// now is the true time.
	now func() time.Time
	// fail is told what should never be returned.
	fail func(verb string, err error)
}

// resources are what workers want: alone, in bundles, and paths of which some cover others.
var resources = []lease.Resource{"task:a", "port:1", "path:db", "path:db/migrations", "path:src"}

// act does one thing of its choice.
func (w *worker) act(ctx lease.Context) {
	switch n := w.random.IntN(100); {
	case n < 40:
		w.claim(ctx, w.some())
	case n < 60:
		w.renew(ctx)
	case n < 75:
		w.verify(ctx)
	case n < 92:
		w.release(ctx)
	default:
		w.look(ctx)
	}
}

// some are one or several resources.
func (w *worker) some() []lease.Resource {
	n := 1
	if w.random.IntN(3) == 0 {
		n += w.random.IntN(2) + 1
	}
	var picked []lease.Resource
	for _, i := range w.random.Perm(len(w.wanted))[:n] {
		picked = append(picked, w.wanted[i])
	}
	return picked
}

func (w *worker) claim(ctx lease.Context, want []lease.Resource) {
	b := w.h.begin()
	res, err := w.a.Claim(ctx, lease.ClaimRequest{Resources: want})
	if err != nil {
		w.told(b, "claim", err)
		return
	}
	w.holds(b, &res.Hold)
}

// holds notes that a claim was told to be held.
func (w *worker) holds(b begun, h *lease.Hold) {
	w.h.verb(b, w.id, held, h.Claim, members(h)...)
	skew, _ := w.store.Skew()
	w.held.add(w.id, h, b.from, w.now(), h.Left(w.clock.Now().Add(skew), w.clock.Instant()))
}

func members(h *lease.Hold) []lease.Resource {
	var rs []lease.Resource
	for _, m := range h.Members {
		rs = append(rs, m.Resource)
	}
	return rs
}

// told notes what an error says.
func (w *worker) told(b begun, verb string, err error) {
	var other *lease.HeldError
	if errors.As(err, &other) && other.Record != nil {
		w.h.verb(b, w.id, foreign, other.Record.Claim, other.Resource)
	}
	for _, known := range []error{
		lease.ErrHeld, lease.ErrLost, lease.ErrExpired, lease.ErrNotHeld, lease.ErrKeyLost, lease.ErrMixedBundle, lease.ErrPending, lease.ErrMoving,
		refstore.ErrUnavailable, refstore.ErrUndecided, refstore.ErrRefused, refstore.ErrConflict,
	} {
		if errors.Is(err, known) {
			return
		}
	}
	w.fail(verb, err)
}

func (w *worker) renew(ctx lease.Context) {
	b := w.h.begin()
	results, err := w.a.Renew(ctx, lease.RenewRequest{})
	if err != nil && len(results) == 0 {
		w.told(b, "renew", err)
	}
	for i := range results {
		w.result(b, "renew", &results[i].Hold, results[i].Err)
	}
}

// result notes what came of one claim.
func (w *worker) result(b begun, verb string, h *lease.Hold, err error) {
	if err == nil {
		w.holds(b, h)
		return
	}
	w.lost(b, h, err)
	w.told(b, verb, err)
}

func (w *worker) lost(b begun, h *lease.Hold, err error) {
	var lost *lease.LostError
	if errors.As(err, &lost) && h.Claim != "" {
		w.held.end(h.Claim, w.now())
		w.h.verb(b, w.id, over, h.Claim, lost.Resource)
	}
}

func (w *worker) verify(ctx lease.Context) {
	b := w.h.begin()
	results, err := w.a.Verify(ctx)
	if err != nil && len(results) == 0 {
		w.told(b, "verify", err)
	}
	for _, res := range results {
		if res.Err != nil {
			w.lost(b, &res.Hold, res.Err)
			w.told(b, "verify", res.Err)
			continue
		}
		w.h.verb(b, w.id, held, res.Hold.Claim, res.Resource)
		w.held.add(w.id, &res.Hold, b.from, w.now(), res.Left)
	}
}

func (w *worker) release(ctx lease.Context) {
	holds, err := w.local.Holds()
	if err != nil {
		w.fail("release", err)
	}
	ending, since := map[lease.ClaimID]bool{}, w.now()
	end := func(claim lease.ClaimID) {
		if !ending[claim] {
			w.held.end(claim, since)
			ending[claim] = true
		}
	}
	for _, h := range holds {
		if h.End == nil {
			end(h.Claim)
		}
	}
	req := lease.ReleaseRequest{}
	if w.random.IntN(4) == 0 {
		req.For = w.others[w.random.IntN(len(w.others))]
	}
	b := w.h.begin()
	results, err := w.a.Release(ctx, req)
	if err != nil && len(results) == 0 {
		for claim := range ending {
			w.held.stays(claim, w.now())
		}
		w.told(b, "release", err)
	}
	for _, res := range results {
		end(res.Hold.Claim) // another process of the session may have made it after this one began
		if res.Err != nil {
			w.held.stays(res.Hold.Claim, w.now())
			delete(ending, res.Hold.Claim)
			w.lost(b, &res.Hold, res.Err)
			w.told(b, "release", res.Err)
			continue
		}
		w.h.verb(b, w.id, over, res.Hold.Claim, members(&res.Hold)...)
	}
}

func (w *worker) look(ctx lease.Context) {
	b := w.h.begin()
	if _, err := w.a.Status(ctx, w.some()...); err != nil {
		w.told(b, "status", err)
	}
}
