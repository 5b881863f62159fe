package lease

import (
	"errors"
	"fmt"

	"github.com/git-worklease/git-worklease/refstore"
)

// Claims of paths that overlap are at different refs, so no swap decides between them. Instead whoever claims looks, swaps, and looks again:
// of two who do so at once, the one who swaps later sees the other's claim. Until the second look a claim is unconfirmed, and counts for
// nothing; one with which another overlaps then is withdrawn.

// withdrawnError says that a claim was withdrawn because of another that came at the same time.
type withdrawnError struct {
	// rival is a [*HeldError], or why what is in the way can't be judged.
	rival error
}

func (e *withdrawnError) Error() string { return fmt.Sprintf("withdrawn: %v", e.rival) }

// lost is what it means to a verb that took the claim for held.
func (e *withdrawnError) lost(h *Hold) *LostError {
	lost := &LostError{Resource: h.Members[0].Resource, Reason: e.rival.Error()}
	var held *HeldError
	if errors.As(e.rival, &held) {
		lost.Resource, lost.Reason = held.Wanted, reasonOverlapped
		lost.By, lost.Since = &held.Record.Holder, held.Record.ClaimedAt
	}
	return lost
}

// withdrawn says whether a claim was over before it ever counted.
func (h *Hold) withdrawn() bool { return h.Unconfirmed && h.End != nil && h.End.How == EndLost }

// unconfirmed is the error of a claim that does not count yet.
func (h *Hold) unconfirmed() error {
	return &PendingError{Verb: VerbClaim, Session: h.Holder.Session, Resources: h.resources()}
}

// moreLooks is how often a claim looks again that another should give way to.
const moreLooks = 3

// confirmPaths makes a claim count, or withdraws it and returns a *withdrawnError. Of two new claims one gives way at once, and the other looks
// again. Unless it may write, nothing is withdrawn, and the error is a *PendingError. All else is as for a renewal.
func (a *Authority) confirmPaths(ctx Context, h Hold, mayWrite bool) (Hold, error) {
	for look := 1; ; look++ {
		st, rival, err := a.lookForRival(ctx, &h, mayWrite)
		switch {
		case err != nil:
			return h, err
		case rival == nil:
			return a.decide(h, func() (*Intent, error) {
				next, records := renewal(h, st, a.moment(), nil)
				return a.intend(VerbRenew, next, records)
			}, a.count)
		case !mayWrite:
			return h, h.unconfirmed()
		case look > moreLooks || !h.outlasts(rival):
			return a.giveWay(ctx, h, st, rival)
		}
		if err := a.pause(ctx, look+2); err != nil {
			return h, timeUp(err)
		}
	}
}

// outlasts says whether a rival is a new claim, too, that gives way if it sees ours: the one with the greater claim ID does.
func (h *Hold) outlasts(rival error) bool {
	var held *HeldError
	return errors.As(rival, &held) && !held.Reserved && held.Record.Revision == 1 && h.Claim < held.Record.Claim
}

// lookForRival judges a claim, and what overlaps with it.
func (a *Authority) lookForRival(ctx Context, h *Hold, mayWrite bool) (st *standing, rival, err error) {
	st, s, err := a.lookAround(ctx, h)
	switch {
	case err != nil:
		return nil, nil, err
	case st.lost != nil && mayWrite:
		return nil, nil, a.conclude(ctx, *h, st)
	case st.lost != nil:
		return nil, nil, st.lost
	case st.unknown != nil:
		return nil, nil, st.unknown
	}
	m := a.moment()
	takeable, rival, err := a.inTheWay(s, h.resources(), m)
	if err == nil && rival == nil && len(takeable) > 0 {
		t := takeable[0]
		rival = judge(t.rec, t.seen, a.stance(m)).overlapping(t.rec, h.resources(), m)
	}
	return st, rival, err
}

// giveWay withdraws a claim.
func (a *Authority) giveWay(ctx Context, h Hold, st *standing, rival error) (Hold, error) {
	m, ended := a.moment(), h
	ended.End = &End{How: EndLost, At: m.stamp(), Reason: reasonOverlapped}
	rest := Release{Reason: "withdrawn", Outcome: OutcomeAbandoned, At: m.stamp(), By: &h.Holder}
	return a.decide(h, func() (*Intent, error) { return a.burial(ended, st.ours, rest.over) }, func(i *Intent, h Hold) (Hold, error) {
		if err := a.finish(i, a.store.Swap(ctx, i.Tx, a.ours(i))); err != nil {
			return h, anew(err)
		}
		return h, &withdrawnError{rival}
	})
}

// confirmed is a claim that counts, for a verb that goes on with it; one that was withdrawn is a [*LostError].
func (a *Authority) confirmed(ctx Context, h Hold) (Hold, error) {
	if !h.Unconfirmed {
		return h, nil
	}
	now, err := a.confirmPaths(ctx, h, true)
	var withdrawn *withdrawnError
	if errors.As(err, &withdrawn) {
		err = withdrawn.lost(&h)
	}
	return now, err
}

// lookAround is look for a claim of paths.
func (a *Authority) lookAround(ctx Context, h *Hold) (st *standing, s *snapshot, err error) {
	for range 2 { // a torn view is read again
		if s, err = a.readPaths(ctx, h.resources()); err != nil {
			return nil, nil, err
		}
		if err := h.sameAuthority(s); err != nil {
			return nil, nil, err
		}
		if st = stand(h, s); !st.torn {
			break
		}
	}
	return st, s, nil
}

// decide lets one process alone decide whether an unconfirmed claim counts: the one whose intent for it is begun. Where another has decided
// meanwhile, it returns that: a claim that counts is not withdrawn any more, and one that was withdrawn is over.
func (a *Authority) decide(h Hold, intent func() (*Intent, error), do func(*Intent, Hold) (Hold, error)) (Hold, error) {
	i, err := intent()
	if err == nil {
		err = a.begin(i)
	}
	if err != nil {
		return h, err
	}
	now, err := a.current(h)
	if err != nil || !now.Unconfirmed {
		a.forgot(a.local.End(i))
		return now, err
	}
	return do(i, now)
}

// count saves that a claim counts. Its intent, a renewal, is only there as a lock: it is never sent, and whoever finds one that was left behind
// drops it.
func (a *Authority) count(i *Intent, h Hold) (Hold, error) {
	h.Unconfirmed = false
	err := a.local.SaveHold(h)
	a.forgot(a.local.End(i))
	if err != nil {
		return h, i.pending(err)
	}
	return h, nil
}

// attest makes this session's unconfirmed claims count where reading is enough for that. The others stay as they are.
func (a *Authority) attest(ctx Context) error {
	holds, err := a.local.Holds()
	if err != nil {
		return err
	}
	for _, h := range holds {
		if h.End == nil && h.Unconfirmed {
			if _, err := a.confirmPaths(ctx, h, false); errors.Is(err, refstore.ErrUnavailable) {
				return err
			}
		}
	}
	return nil
}

// unconfirmed is what a claim does whose paths could not be confirmed.
func (c *claimer) unconfirmed(h Hold, err error) error {
	c.snap, c.settled = nil, false
	switch {
	case errors.Is(err, ErrLost), errors.Is(err, ErrNotHeld):
		return c.unlessEnded(h, err)
	case errors.Is(err, refstore.ErrUnavailable): // it stands, but nobody can say whether it counts
		return &PendingError{Verb: VerbClaim, Session: h.Holder.Session, Resources: c.want, Err: err}
	default:
		return err
	}
}
