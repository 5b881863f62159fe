package lease

import (
	"errors"
	"fmt"
)

// ReleaseRequest names claims by any of their resources; none: all that the session holds.
type ReleaseRequest struct {
	Resources []Resource
	Reason    string
	// Outcome is "" for done.
	Outcome Outcome
}

// ReleaseResult is what came of one claim. A verb that names one member acts on the whole claim.
type ReleaseResult struct {
	// Hold is the claim, ended; zero where the session had none on Resources.
	Hold Hold
	// Resources are those of the request that this is about.
	Resources []Resource
	// Already says that the session had released it before, and nothing was written.
	Already bool
	// Err is nil where the claim was released by this session, now or before; otherwise as in [RenewResult].
	Err error
}

// Release ends claims, by tombstones. It is idempotent: where the session's file says that it released the claim, nothing is touched, whoever
// has the resource now. The error is the first of the results' errors.
func (a *Authority) Release(ctx Context, req ReleaseRequest) ([]ReleaseResult, error) {
	if err := req.check(); err != nil {
		return nil, err
	}
	groups, err := a.group(ctx, VerbRelease, req.Resources)
	if err != nil {
		return nil, err
	}
	var results []ReleaseResult
	var errs []error
	for _, g := range groups {
		res := ReleaseResult{Hold: g.hold, Resources: g.asked, Err: g.err}
		switch {
		case g.released:
			res.Already, res.Err = true, nil
		case g.err == nil:
			res.Hold, res.Err = a.releaseHold(ctx, g.hold, req)
		}
		results, errs = append(results, res), append(errs, res.Err)
	}
	return results, first(errs)
}

func (r *ReleaseRequest) check() error {
	switch r.Outcome {
	case "":
		r.Outcome = OutcomeDone
	case OutcomeDone, OutcomeReview, OutcomeAbandoned:
	default:
		return fmt.Errorf("%w: outcome %q", ErrBadRequest, r.Outcome)
	}
	if r.Reason == "" {
		return nil
	}
	if err := checkText(r.Reason, MaxText); err != nil {
		return fmt.Errorf("%w: reason: %w", ErrBadRequest, err)
	}
	return nil
}

func (a *Authority) releaseHold(ctx Context, h Hold, req ReleaseRequest) (Hold, error) {
	var t tries
	for {
		done, err := a.releaseOnce(ctx, h, req)
		if err == nil {
			return done, nil
		}
		if err := a.again(ctx, &t, VerbRelease, h.resources(), err); err != nil {
			return h, err
		}
		now, err := a.current(h)
		if now.End != nil && now.End.How == EndReleased {
			return now, nil
		}
		if err != nil {
			return h, err
		}
		h = now
	}
}

func (a *Authority) releaseOnce(ctx Context, h Hold, req ReleaseRequest) (Hold, error) {
	st, _, err := a.look(ctx, &h)
	switch {
	case err != nil:
		return h, err
	case st.lost != nil && !st.released:
		return h, a.conclude(ctx, h, st)
	case st.unknown != nil:
		return h, st.unknown
	}
	m := a.moment()
	by := a.o.Holder
	h.End = &End{How: EndReleased, At: m.stamp(), Reason: req.Reason}
	err = a.bury(ctx, h, st.ours, Release{Reason: req.Reason, Outcome: req.Outcome, At: m.stamp(), By: &by})
	if err != nil {
		return h, err
	}
	return a.released(h)
}

// released is the claim as the file has it after it was buried; it may have turned out lost.
func (a *Authority) released(h Hold) (Hold, error) {
	now, err := a.current(h)
	if err != nil && !errors.Is(err, ErrNotHeld) {
		return now, err
	}
	return now, nil
}
