package lease

import (
	"errors"
	"fmt"

	"github.com/git-worklease/git-worklease/refstore"
)

// ForceRequest asks to end claims of others. Each resource is a case of its own, also where one claim has several of them.
type ForceRequest struct {
	Resources []Resource
	// Reason is for the displaced holder and everybody else to read. It is required.
	Reason string
}

// ForceResult is what came of one resource.
type ForceResult struct {
	Resource Resource
	// Displaced is the record that stood there: a claim, or a release that kept the resource for somebody. Nil where there was none.
	Displaced *Record
	// Record is the forced release on top of it; nil where Err is set.
	Record *Record
	// Err is nil where the resource was freed; otherwise [ErrFree], a [*HeldError] where somebody else than who was displaced has it by now, a
	// [*PendingError], or why the record can't be judged.
	Err error
}

// Force frees resources that others hold, or that are kept for somebody, whatever their liveness, by tombstones that say so and are signed by a
// key of their own. The holder's next verb learns of it. It is the one write that does without the holder's key, and nothing is kept of its
// own: whoever asks must have asked a person. The error is the first of the results' errors.
func (a *Authority) Force(ctx Context, req ForceRequest) ([]ForceResult, error) {
	if _, err := checkResources(req.Resources); err != nil {
		return nil, err
	}
	if err := checkText(req.Reason, MaxText); err != nil {
		return nil, fmt.Errorf("%w: reason: %w", ErrBadRequest, err)
	}
	var results []ForceResult
	var errs []error
	for _, r := range req.Resources {
		res := a.force(ctx, r, req.Reason)
		results, errs = append(results, res), append(errs, res.Err)
	}
	return results, first(errs)
}

func (a *Authority) force(ctx Context, r Resource, reason string) ForceResult {
	res := ForceResult{Resource: r}
	err := a.resolve(ctx, []Resource{r})
	var t tries
	for err == nil {
		if err = a.forceOnce(ctx, &res, reason); err == nil {
			return res
		}
		err = a.again(ctx, &t, VerbForce, []Resource{r}, err)
	}
	res.Err = err
	return res
}

func (a *Authority) forceOnce(ctx Context, res *ForceResult, reason string) error {
	s, err := a.read(ctx, []Resource{res.Resource})
	if err != nil {
		return err
	}
	m, t := a.moment(), s.tips[res.Resource]
	if err := a.forcible(t, m, res.Displaced); err != nil {
		return err
	}
	res.Displaced = t.rec
	rec, tx, err := a.forced(t, m, reason)
	if err != nil {
		return err
	}
	var conflict *refstore.ConflictError
	switch err := a.store.Swap(ctx, tx, nil); {
	case errors.Is(err, refstore.ErrUndecided):
		return &PendingError{Verb: VerbForce, Session: a.o.Holder.Session, Resources: []Resource{res.Resource}, Err: err}
	case errors.As(err, &conflict) && conflict.Overtaken: // it landed, and somebody has claimed what it freed
	case err != nil:
		return fmt.Errorf("%s: %w", VerbForce, err)
	default:
		a.forgot(a.local.See(rec.sighting(tx.Updates[0].New, m)))
	}
	res.Record = rec
	return nil
}

// forcible says whether there is anything to end at a tip, and whether it is what was there when this began.
func (a *Authority) forcible(t *tip, m moment, meant *Record) error {
	switch {
	case t.err != nil:
		return t.err
	case t.gone:
		return fmt.Errorf("%s: %w: generation %d was seen, and its ref is gone", t.resource, ErrRolledBack, t.seen.Generation)
	case t.rec == nil:
		return fmt.Errorf("%s: %w", t.resource, ErrFree)
	}
	nobody := a.stance(m)
	nobody.agent = ""
	v := judge(t.rec, t.seen, nobody)
	switch {
	case t.rec.Released() && !v.reserved:
		return fmt.Errorf("%s: %w", t.resource, ErrFree)
	case meant != nil && meant.Claim != t.rec.Claim:
		return v.held(t.rec, m)
	}
	return nil
}

// forced is the tombstone over a tip, and the transaction that puts it there.
func (a *Authority) forced(t *tip, m moment, reason string) (*Record, *refstore.Tx, error) {
	key, err := a.newKey()
	if err != nil {
		return nil, nil, err
	}
	by := a.o.Holder
	rec := t.rec.tombstone(t.oid, t.rec.Revision+1, Release{Reason: reason, Outcome: OutcomeAbandoned, At: m.stamp(), By: &by, Forced: true})
	rec.Claim = claimID(public(key))
	change, err := a.change(rec, Hold{Key: key})
	if err != nil {
		return nil, nil, err
	}
	tx, err := a.store.Build(change)
	if err != nil {
		return nil, nil, fmt.Errorf("%s: %w: %w", VerbForce, ErrBadRequest, err)
	}
	return rec, tx, nil
}
