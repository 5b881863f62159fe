package lease

import (
	"cmp"
	"errors"
	"fmt"
	"time"
)

// ReleaseRequest names claims by any of their resources; none: all that the session holds, or where it holds none and there is something to
// say but for whom, the one that it released last.
type ReleaseRequest struct {
	Resources []Resource
	Reason    string
	// Outcome is "" for done, or for abandoned where the work goes on with For.
	Outcome Outcome
	// For is the agent that alone may claim for one ttl from now; "": everybody may at once.
	For string
	// Note is for the next holder.
	Note string
	// Meta is for others to read. It replaces what the claim has, by name.
	Meta map[string]string
}

// ReleaseResult is what came of one claim. A verb that names one member acts on the whole claim.
type ReleaseResult struct {
	// Hold is the claim, ended; zero where the session had none on Resources.
	Hold Hold
	// Resources are those of the request that this is about.
	Resources []Resource
	// Already says that the session had released it before.
	Already bool
	// Added are the resources of such a claim to whose releases this call has added what the request says, and Passed those where it does not stand any
	// more, so that nothing was touched. Both are empty where the request says nothing new.
	Added, Passed []Resource
	// ReservedUntil is when the reservation of this call ends; zero without one.
	ReservedUntil time.Time
	// Err is nil where the claim was released by this session, now or before; otherwise as in [RenewResult].
	Err error
}

// Release ends claims, by tombstones. It is idempotent: where the session's file says that it released the claim, who has the resource now is not
// touched, and a request that says nothing more than that writes nothing. One that does adds it to the release, as long as that still stands. The
// error is the first of the results' errors.
func (a *Authority) Release(ctx Context, req ReleaseRequest) ([]ReleaseResult, error) {
	if err := req.check(); err != nil {
		return nil, err
	}
	groups, err := a.group(ctx, VerbRelease, req.Resources)
	if err != nil {
		return nil, err
	}
	if len(groups) == 0 && req.adds() && req.For == "" {
		if groups, err = a.lastReleased(); err != nil {
			return nil, err
		}
	}
	var results []ReleaseResult
	var errs []error
	for _, g := range groups {
		res := ReleaseResult{Hold: g.hold, Already: g.released, Err: g.err}
		if g.err == nil {
			res = a.releaseHold(ctx, g.hold, req)
		}
		if res.Already {
			res.Err = a.restamp(ctx, &res, req)
		}
		res.Resources = g.asked
		results, errs = append(results, res), append(errs, res.Err)
	}
	return results, first(errs)
}

func (r *ReleaseRequest) check() error {
	switch r.Outcome {
	case "", OutcomeDone, OutcomeReview, OutcomeAbandoned:
	default:
		return fmt.Errorf("%w: outcome %q", ErrBadRequest, r.Outcome)
	}
	for _, text := range []struct {
		what, text string
		limit      int
	}{{"reason", r.Reason, MaxText}, {"note", r.Note, MaxText}, {"agent", r.For, MaxName}} {
		if err := checkText(text.text, text.limit); text.text != "" && err != nil {
			return fmt.Errorf("%w: %s: %w", ErrBadRequest, text.what, err)
		}
	}
	return checkMeta(r.Meta)
}

// tombstone is the record that ends the claim at t, or that adds to what has ended it.
func (r *ReleaseRequest) tombstone(t *tip, revision uint64, at time.Time, by Holder) *Record {
	rel := Release{Outcome: OutcomeDone, At: at, By: &by}
	switch {
	case t.rec.Released():
		rel = *t.rec.Release
	case r.For != "":
		rel.Outcome = OutcomeAbandoned
	}
	rel.Reason, rel.Outcome, rel.Note = cmp.Or(r.Reason, rel.Reason), cmp.Or(r.Outcome, rel.Outcome), cmp.Or(r.Note, rel.Note)
	if r.For != "" {
		rel.At, rel.ReservedFor, rel.ReservedUntil = at, r.For, at.Add(t.rec.TTL())
	}
	next := t.rec.tombstone(t.oid, revision, rel)
	next.Meta = withMeta(next.Meta, r.Meta)
	return next
}

func (a *Authority) releaseHold(ctx Context, h Hold, req ReleaseRequest) ReleaseResult {
	var t tries
	for {
		res, err := a.releaseOnce(ctx, h, req)
		if err == nil {
			return res
		}
		if err := a.again(ctx, &t, VerbRelease, h.resources(), err); err != nil {
			return ReleaseResult{Hold: h, Err: err}
		}
		now, err := a.current(h)
		if now.End != nil && now.End.How == EndReleased { // by another process of the session
			return ReleaseResult{Hold: now, Already: true}
		}
		if err != nil {
			return ReleaseResult{Hold: h, Err: err}
		}
		h = now
	}
}

func (a *Authority) releaseOnce(ctx Context, h Hold, req ReleaseRequest) (ReleaseResult, error) {
	st, _, err := a.look(ctx, &h)
	switch {
	case err != nil:
		return ReleaseResult{}, err
	case st.lost != nil && !st.released:
		return ReleaseResult{}, a.conclude(ctx, h, st)
	case st.unknown != nil:
		return ReleaseResult{}, st.unknown
	}
	m := a.moment()
	res := ReleaseResult{Already: st.released && len(st.ours) == 0}
	h.End = &End{How: EndReleased, At: m.stamp(), Reason: req.Reason}
	err = a.buryAs(ctx, h, st.ours, res.tombstones(&req, m.stamp(), a.o.Holder))
	if err != nil {
		return ReleaseResult{}, err
	}
	res.Hold, err = a.released(h)
	return res, err
}

// tombstones makes them as the request says, and remembers until when it reserves.
func (res *ReleaseResult) tombstones(req *ReleaseRequest, at time.Time, by Holder) tomb {
	return func(t *tip, revision uint64) *Record {
		r := req.tombstone(t, revision, at, by)
		if req.For != "" {
			res.ReservedUntil = r.Release.ReservedUntil
		}
		return r
	}
}

// released is the claim as the file has it after it was buried; it may have turned out lost.
func (a *Authority) released(h Hold) (Hold, error) {
	now, err := a.current(h)
	if err != nil && !errors.Is(err, ErrNotHeld) {
		return now, err
	}
	return now, nil
}
