package lease

import (
	"encoding/hex"
	"errors"
	"fmt"
	"time"

	"github.com/git-worklease/git-worklease/refstore"
)

// write is how everything of this package is changed, so that a crash between any two steps leaves either a claim that the
// session's file or an intent has the key of, or nothing:
//
//	save the intent with the key, send, save the claim, forget the intent.
//
// It returns nil once i.Tx has landed, whole; ErrIntentBusy or an *OpenIntentError where nothing was begun; the store's conflict,
// refusal, unavailability or lack of support where nothing landed or will; ErrNotAtomic where a part of it did; and a *PendingError where
// it can't tell, and then the intent stays.
func (a *Authority) write(ctx Context, i *Intent) error {
	if err := a.start(i); err != nil {
		return err
	}
	return a.finish(i, a.store.Swap(ctx, i.Tx, a.ours(i)))
}

// start does what comes before sending.
func (a *Authority) start(i *Intent) error {
	if err := a.begin(i); err != nil {
		return err
	}
	if err := a.stillOurs(i); err != nil {
		a.forgot(a.local.End(i))
		return fmt.Errorf("%s: %w", i.Verb, err)
	}
	return nil
}

// stillOurs looks, once the intent keeps all others of the clone from writing, whether the file still has the claim: it may have been moved to
// another session since it was read, whose it is then, although its key would still do.
func (a *Authority) stillOurs(i *Intent) error {
	if i.Verb == VerbClaim {
		return nil
	}
	h, err := a.current(Hold{Claim: i.Hold.Claim, Members: i.Hold.Members})
	switch {
	case h.End != nil && h.End.How != EndMoved && i.Verb == VerbRelease: // what is over may be buried
		return nil
	case err != nil || !i.renews():
		return err
	}
	return a.yield(h, i.Hold)
}

// renews says whether an intent only starts the time of its claim anew.
func (i *Intent) renews() bool { return i.Verb == VerbRenew || i.Verb == VerbPush }

// yield gives up, in the file, the time that a renewal is about to take from its claim: its reply may be lost, and the file must never
// promise more than what lands.
func (a *Authority) yield(h, next Hold) error {
	m := a.moment()
	if h.Authority == "" || next.Left(m.now(), m.at) >= h.Left(m.now(), m.at) {
		return nil
	}
	h.RenewedAt, h.TTL, h.Deadline = next.RenewedAt, next.TTL, next.Deadline
	return a.local.SaveHold(h)
}

func (a *Authority) begin(i *Intent) error {
	id := make([]byte, 16)
	if err := a.randomBytes(id); err != nil {
		return err
	}
	i.ID = hex.EncodeToString(id)
	if err := a.local.Begin(i); err != nil {
		return fmt.Errorf("%s: %w", i.Verb, err)
	}
	return nil
}

// finish brings local state in line with how the swap of a begun intent ended.
func (a *Authority) finish(i *Intent, err error) error {
	defer a.watchClock()
	var conflict *refstore.ConflictError
	switch {
	case err == nil:
		return a.landed(i)
	case errors.Is(err, refstore.ErrUndecided): // before all others, because it wraps what went wrong last
		a.forgot(a.local.Leave(i))
		return i.pending(err)
	case errors.As(err, &conflict) && conflict.Overtaken:
		// It landed, and somebody has built upon it. A release is done with that; anything else is in the file now, so that what is left of it
		// is found and given back.
		if lerr := a.saved(i); lerr != nil || i.Verb == VerbRelease {
			return lerr
		}
		return err
	case errors.Is(err, refstore.ErrHalfApplied):
		return a.halfApplied(i, err)
	case errors.Is(err, refstore.ErrConflict), errors.Is(err, refstore.ErrRefused), errors.Is(err, refstore.ErrUnavailable):
		a.forgot(a.local.End(i))
		return fmt.Errorf("%s: %w", i.Verb, err)
	case errors.Is(err, refstore.ErrUnsupported):
		a.forgot(a.local.End(i))
		return notAtomic(i.Verb, err)
	default:
		a.forgot(a.local.Leave(i))
		return i.pending(err)
	}
}

// pending is the error for an intent that stays open.
func (i *Intent) pending(err error) *PendingError {
	return &PendingError{Verb: i.Verb, Session: i.Session, Resources: i.Resources, Err: err}
}

// busy is the error for an intent that a living process is at.
func (i *Intent) busy() *PendingError {
	return &PendingError{Verb: i.Verb, Session: i.Session, Resources: i.Resources, Busy: true}
}

// notAtomic adds to the store's error what it means here.
func notAtomic(verb Verb, err error) error {
	var unsupported *refstore.UnsupportedError
	if errors.As(err, &unsupported) && unsupported.Feature != refstore.FeatureAtomic {
		return fmt.Errorf("%s: %w", verb, err)
	}
	return fmt.Errorf("%s: %w: %w", verb, ErrNotAtomic, err)
}

// landed ends an intent whose records stand at the refs, or stood there.
func (a *Authority) landed(i *Intent) error {
	if err := a.saved(i); err != nil {
		return err
	}
	if !i.other {
		a.seeWritten(i)
	}
	return nil
}

// saved ends an intent and saves what the session holds now. If that fails, the intent stays, and still has it.
func (a *Authority) saved(i *Intent) error {
	for _, h := range i.holds() {
		if err := a.local.SaveHold(h); err != nil {
			a.forgot(a.local.Leave(i))
			return i.pending(err)
		}
	}
	a.forgot(a.local.End(i))
	return nil
}

// halfApplied ends an intent of which a server without atomic swaps has done a part. The file has the claim's key before the intent goes.
func (a *Authority) halfApplied(i *Intent, err error) error {
	if i.Verb == VerbClaim {
		if serr := a.local.SaveHold(i.Hold); serr != nil {
			a.forgot(a.local.Leave(i))
			return i.pending(serr)
		}
	}
	a.forgot(a.local.End(i))
	return fmt.Errorf("%s: %w: %w", i.Verb, ErrNotAtomic, err)
}

// seeWritten remembers the records of a transaction that landed, whole. Of one that others have built upon that is not certain: where a
// server is not atomic, it may be one that landed in part.
func (a *Authority) seeWritten(i *Intent) {
	m := a.moment()
	var news []Sighting
	for _, u := range i.Tx.Updates {
		c := refstore.Commit{OID: u.New, Parent: u.Old, Message: u.Message}
		if u.Ref == a.refs.meta() {
			a.forgot(a.local.SeeMeta(MetaSighting{Authority: i.Hold.Authority, Tip: u.New, At: m.wall, Read: m.at, Dated: m.dated}))
			continue
		}
		if rec, err := DecodeRecord(c); err == nil {
			news = append(news, rec.sighting(u.New, m))
		}
	}
	a.forgot(a.local.See(news...))
}

// ours tells whether a tip shows that an intent's write landed and that the same claim was written again since. Only a claim's first write
// can be told by that, because its ID is its own. Of renewals and releases there may be others by processes of the same session. It is asked about tips that
// are not the intent's own: that one may never have stood there, where the claim was sent anew with another stamp.
func (a *Authority) ours(i *Intent) func(refstore.Ref) bool {
	return func(ref refstore.Ref) bool {
		rec, err := a.decode(ref, i.Hold.Authority)
		ours := i.Verb == VerbClaim && err == nil && rec.Claim == i.Hold.Claim
		i.other = i.other || ours
		return ours
	}
}

// change is one update of a claim's ref.
func (a *Authority) change(r *Record, hold Hold) (refstore.Change, error) {
	message, err := r.encode(hold.Key)
	if err != nil {
		return refstore.Change{}, err
	}
	when := r.RenewedAt
	if r.Released() {
		when = r.Release.At
	}
	return refstore.Change{Ref: a.refs.claim(r.Resource), Old: r.Prev, Message: message, When: when}, nil
}

// intend makes the intent of writing records, the first of which are those of a claim. It fills in where the claim's tips will be.
func (a *Authority) intend(verb Verb, hold Hold, records []*Record, extra ...refstore.Change) (*Intent, error) {
	changes := extra
	i := &Intent{Verb: verb, Session: hold.Holder.Session, Hold: hold}
	for _, r := range records {
		c, err := a.change(r, hold)
		if err != nil {
			return nil, err
		}
		changes = append(changes, c)
		i.Resources = append(i.Resources, r.Resource)
		i.Expires = later(i.Expires, r.over())
	}
	tx, err := a.store.Build(changes...)
	if err != nil {
		return nil, fmt.Errorf("%s: %w: %w", verb, ErrBadRequest, err)
	}
	i.Tx = tx
	i.Hold.Members = moved(hold.Members, a.refs, tx)
	return i, nil
}

func later(a, b time.Time) time.Time {
	if b.After(a) {
		return b
	}
	return a
}

// moved is members with their tips where tx puts them.
func moved(members []Member, n refs, tx *refstore.Tx) []Member {
	next := make([]Member, len(members))
	for i, m := range members {
		next[i] = m
		for _, u := range tx.Updates {
			if u.Ref == n.claim(m.Resource) {
				next[i].Tip = string(u.New)
			}
		}
	}
	return next
}
