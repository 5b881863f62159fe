package lease

import (
	"errors"
	"fmt"

	"github.com/git-worklease/git-worklease/refstore"
)

// sendAnew ends an intent that a dead process of this session has left, and whose request a server refuses by now, as one does whose hook minds stamps: it sends the same, stamped anew. Both
// replace the same objects, so one of them lands at most. What is saved is still the intent as it was: whoever finds the other's records in its
// place takes them for a later write of the claim, or for its release by another process.
func (a *Authority) sendAnew(ctx Context, i *Intent) error {
	next, err := a.anew(i)
	if err != nil {
		a.forgot(a.local.Leave(i))
		return i.pending(err)
	}
	// Nobody may take the one for the other here: the claim lasts as long as the stamp says that has landed.
	err = a.store.Swap(ctx, next.Tx, nil)
	var conflict *refstore.ConflictError
	switch {
	case err == nil:
		return a.settled(next, a.landed)
	case errors.As(err, &conflict) && conflict.Overtaken && !errors.Is(err, refstore.ErrUndecided):
		return a.settled(next, a.saved)
	case errors.Is(err, refstore.ErrConflict) && !errors.Is(err, refstore.ErrUndecided):
		return a.settleOne(ctx, i, false)
	default:
		a.forgot(a.local.Leave(i))
		return i.pending(err)
	}
}

// anew is an intent with its records stamped now.
func (a *Authority) anew(i *Intent) (*Intent, error) {
	m := a.moment()
	next := *i
	var changes []refstore.Change
	for _, u := range i.Tx.Updates {
		rec, err := DecodeRecord(refstore.Commit{OID: u.New, Parent: u.Old, Message: u.Message})
		if err != nil { // the authority's own record, which has no stamp that counts
			changes = append(changes, u.Change)
			continue
		}
		rec.stampAnew(m)
		c, err := a.change(rec, i.Hold)
		if err != nil {
			return nil, err
		}
		changes, next.Expires = append(changes, c), later(next.Expires, rec.over())
	}
	tx, err := a.store.Build(changes...)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", i.Verb, err)
	}
	next.Tx, next.Hold.Members = tx, moved(i.Hold.Members, a.refs, tx)
	if i.Hold.End == nil {
		next.Hold.RenewedAt, next.Hold.Deadline = m.stamp(), m.at.after(i.Hold.TTL)
		if i.Hold.Revision == 1 {
			next.Hold.ClaimedAt = m.stamp()
		}
	}
	return &next, nil
}

// stampAnew makes a record that was not written yet one of this moment.
func (r *Record) stampAnew(m moment) {
	if r.Released() {
		rel := *r.Release
		if !rel.ReservedUntil.IsZero() {
			rel.ReservedUntil = m.stamp().Add(rel.ReservedUntil.Sub(rel.At))
		}
		rel.At = m.stamp()
		r.Release = &rel
		return
	}
	r.RenewedAt = m.stamp()
	if r.Revision == 1 {
		r.ClaimedAt = m.stamp()
	}
}
