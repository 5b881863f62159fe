package lease

import (
	"errors"
	"fmt"
	"slices"

	"github.com/git-worklease/git-worklease/refstore"
)

// resolve settles for a verb that is about to write: what may land yet is sent again, identically, until it is known to have landed or
// never will. It fails with a *PendingError where that can't be had.
func (a *Authority) resolve(ctx Context, resources []Resource) error {
	open, err := a.settle(ctx, true, resources)
	if err != nil {
		return err
	}
	switch {
	case len(open) == 0:
		return nil
	case open[0].Busy:
		return timeUp(a.pause(ctx, 3))
	default:
		return open[0]
	}
}

// settle brings to an end what dead writers of this clone left behind for the given resources, all of them if none are given. What may land
// yet is sent again if resend says so; otherwise this only reads. Returned is what stays open, and last, as busy, what living writers are at.
func (a *Authority) settle(ctx Context, resend bool, resources []Resource) ([]*PendingError, error) {
	left, busy, err := a.local.Pending(resources...)
	if err != nil {
		return nil, err
	}
	floor, err := a.confirm(ctx, left)
	if err != nil {
		for _, i := range left {
			a.forgot(a.local.Leave(i))
		}
		return nil, err
	}
	var open []*PendingError
	var errs []error
	for _, i := range left {
		if err := a.settleOne(ctx, i, resend && i.above(floor)); err != nil {
			var p *PendingError
			if !errors.As(err, &p) {
				errs = append(errs, err)
				continue
			}
			open = append(open, p)
		}
	}
	for _, i := range busy {
		open = append(open, i.busy())
	}
	return open, errors.Join(errs...)
}

// confirm makes sure, before anything is concluded from the refs, that they are those of the authority that the intents were for: the clone
// may have got another remote since. It returns the authority's floor. Where that can't be asked, settling can't either, and says so itself;
// the floor is then one that nothing is above.
func (a *Authority) confirm(ctx Context, left []*Intent) (Generation, error) {
	if len(left) == 0 {
		return 0, nil
	}
	was, err := a.known()
	if err != nil {
		return 0, err
	}
	begun := a.moment()
	listed, err := a.store.List(ctx, a.refs.meta())
	if err != nil {
		return maxNumber, nil //nolint:nilerr // see above
	}
	meta, err := a.judgeMeta(begun, was, listed)
	return meta.Floor, err
}

// above says whether all refs that an intent creates would begin above the floor. One that would not was decided when the floor was lower. The
// epoch of its number may have come and been collected since, so it is not sent again.
func (i *Intent) above(floor Generation) bool {
	return !slices.ContainsFunc(i.Tx.Updates, func(u refstore.Update) bool {
		rec, err := DecodeRecord(refstore.Commit{OID: u.New, Parent: u.Old, Message: u.Message})
		return u.Old.IsZero() && err == nil && rec.Generation <= floor
	})
}

// settleOne ends one intent that is locked for us, or leaves it and says so. However it returns, the intent is unlocked.
func (a *Authority) settleOne(ctx Context, i *Intent, resend bool) error {
	state, _, err := a.store.Settle(ctx, i.Tx, a.ours(i))
	switch {
	case errors.Is(err, refstore.ErrHalfApplied):
		// Its other half can't come any more from a server that had begun. The claim is in the file, and found torn there.
		if herr := a.halfApplied(i, err); errors.Is(herr, ErrPending) {
			return herr
		}
		return nil
	case err != nil:
		a.forgot(a.local.Leave(i))
		return i.pending(fmt.Errorf("settle: %w", err))
	}
	switch state {
	case refstore.Landed:
		return a.settled(i, a.landed)
	case refstore.Overtaken:
		return a.settled(i, a.saved)
	case refstore.Dead:
		return a.local.End(i)
	default:
		return a.settleOpen(ctx, i, resend)
	}
}

func (a *Authority) settled(i *Intent, end func(*Intent) error) error {
	if err := end(i); err != nil {
		return err
	}
	a.notify(Notice{Kind: NoticeSettled, Verb: i.Verb, Resources: i.Resources})
	return nil
}

// settleOpen deals with a write that may land yet. Once the lease that it would make is takeable by everybody, it can't matter any more.
// Nor does a renewal: the file has the claim and its key, with an earlier deadline, and to send it again would keep alive the claim of
// a session whose process is dead.
func (a *Authority) settleOpen(ctx Context, i *Intent, resend bool) error {
	if i.renews() || a.moment().now().After(i.Expires) {
		return a.local.End(i)
	}
	if !resend {
		a.forgot(a.local.Leave(i))
		return i.pending(nil)
	}
	again := *i.Tx
	again.Doubt = true
	err := a.store.Swap(ctx, &again, a.ours(i))
	switch {
	case err == nil:
		return a.settled(i, a.landed)
	case errors.Is(err, refstore.ErrUndecided) && errors.Is(err, refstore.ErrRefused) && i.Session == a.o.Holder.Session:
		return a.sendAnew(ctx, i)
	case errors.Is(err, refstore.ErrUndecided):
		a.forgot(a.local.Leave(i))
		return i.pending(err)
	case errors.Is(err, refstore.ErrConflict), errors.Is(err, refstore.ErrHalfApplied):
		if err := a.finish(i, err); errors.Is(err, ErrPending) {
			return err
		}
		return nil
	default:
		// Not even a refusal of this request says anything of the earlier one.
		a.forgot(a.local.Leave(i))
		return i.pending(err)
	}
}
