package lease

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/git-worklease/git-worklease/refstore"
)

// RenewRequest names claims by any of their resources; none: all that the session holds.
type RenewRequest struct {
	Resources []Resource
}

// RenewResult is what came of one claim. A verb that names one member acts on the whole claim.
type RenewResult struct {
	// Hold is the claim as it is now; zero where the session has none on Resources.
	Hold Hold
	// Resources are those of the request that this is about.
	Resources []Resource
	// Records are what stands at the refs, in the order of Hold.Members.
	Records []*Record
	// Late is for how long the claim had expired before nobody took it; 0 if it had not.
	Late time.Duration
	// Err is nil with the claim held; a [*LostError], [ErrNotHeld], [ErrKeyLost], a [*PendingError], or what kept the remote from answering.
	Err error
}

// Renew proves that the claims are still this session's and starts their time anew, however late it comes: nobody else can have had
// them in between. It keeps every other member of the records. The error is the first of the results' errors.
func (a *Authority) Renew(ctx Context, req RenewRequest) ([]RenewResult, error) {
	resources, err := a.Held(req.Resources)
	if err != nil {
		return nil, err
	}
	groups, err := a.group(ctx, VerbRenew, resources)
	if err != nil {
		return nil, err
	}
	return a.renewGroups(ctx, groups, nil)
}

// renewGroups renews claims one by one. amend may change the records further.
func (a *Authority) renewGroups(ctx Context, groups []group, amend func(*Record)) ([]RenewResult, error) {
	var results []RenewResult
	var errs []error
	for _, g := range groups {
		res := RenewResult{Resources: g.asked, Err: g.err}
		if g.err == nil {
			res, res.Err = a.renewHold(ctx, g.hold, amend)
			res.Resources = g.asked
		}
		results, errs = append(results, res), append(errs, res.Err)
	}
	return results, first(errs)
}

func first(errs []error) error {
	if i := slices.IndexFunc(errs, func(err error) bool { return err != nil }); i >= 0 {
		return errs[i]
	}
	return nil
}

// renewHold renews one claim from what stands at its refs. amend may change the records further.
func (a *Authority) renewHold(ctx Context, h Hold, amend func(*Record)) (RenewResult, error) {
	return a.renewFrom(ctx, h, nil, amend)
}

// renewFrom is renewHold with a first snapshot; nil: read it.
func (a *Authority) renewFrom(ctx Context, h Hold, s *snapshot, amend func(*Record)) (RenewResult, error) {
	ctx, cancel := a.bounded(ctx, &h)
	defer cancel()
	var t tries
	for {
		res, err := a.renewOnce(ctx, h, s, amend)
		if err == nil {
			return res, nil
		}
		s = nil
		if err := a.again(ctx, &t, VerbRenew, h.resources(), err); err != nil {
			return RenewResult{Hold: res.Hold}, err
		}
		now, err := a.current(h)
		if err != nil {
			return RenewResult{Hold: h}, err
		}
		h = now
	}
}

// leastRenewal is what a renewal is given to succeed in however little time is left.
const leastRenewal = time.Second

// bounded limits a renewal of a claim that has not expired to half of the time that is left, so that there is time for another.
func (a *Authority) bounded(ctx Context, h *Hold) (Context, context.CancelFunc) {
	m := a.moment()
	left := h.Left(m.now(), m.at)
	if left <= 0 {
		return ctx, func() {}
	}
	return context.WithTimeout(ctx, max(left/2, leastRenewal))
}

// current is what the session's file says now of a claim.
func (a *Authority) current(h Hold) (Hold, error) {
	holds, err := a.local.Holds()
	if err != nil {
		return h, err
	}
	i := slices.IndexFunc(holds, func(o Hold) bool { return o.Claim == h.Claim })
	switch {
	case i < 0:
		return h, nil
	case holds[i].End != nil:
		return holds[i], ended(&holds[i], h.Members[0].Resource)
	}
	return holds[i], nil
}

func (a *Authority) renewOnce(ctx Context, h Hold, s *snapshot, amend func(*Record)) (RenewResult, error) {
	if h.Unconfirmed {
		now, err := a.confirmPaths(ctx, h, true)
		var withdrawn *withdrawnError
		switch {
		case errors.As(err, &withdrawn):
			return RenewResult{Hold: h}, withdrawn.lost(&h)
		case err != nil:
			return RenewResult{Hold: h}, err
		}
		h = now
	}
	st, err := a.lookFrom(ctx, &h, s)
	switch {
	case err != nil:
		return RenewResult{Hold: h}, err
	case st.lost != nil:
		return RenewResult{Hold: h}, a.conclude(ctx, h, st)
	case st.unknown != nil:
		return RenewResult{Hold: h}, st.unknown
	}
	m := a.moment()
	late := -h.Left(m.now(), m.at)
	next, records := renewal(h, st, m, amend)
	i, err := a.intend(VerbRenew, next, records)
	if err != nil {
		return RenewResult{Hold: h}, err
	}
	if err := a.write(ctx, i); err != nil {
		return RenewResult{Hold: h}, anew(err)
	}
	if now := a.moment(); i.Hold.Left(now.now(), now.at) <= 0 { // the reply took longer than the claim lasts
		return RenewResult{Hold: i.Hold}, errAgain
	}
	res := RenewResult{Hold: i.Hold, Records: records, Late: max(late, 0)}
	if res.Late > 0 {
		a.notify(Notice{Kind: NoticeLate, Resources: h.resources(), Offset: res.Late})
	}
	return res, nil
}

// anew turns a conflict into another try.
func anew(err error) error {
	if errors.Is(err, refstore.ErrConflict) {
		return fmt.Errorf("%w: %w", errAgain, err)
	}
	return err
}

func (a *Authority) lookFrom(ctx Context, h *Hold, s *snapshot) (*standing, error) {
	if s == nil {
		st, _, err := a.look(ctx, h)
		return st, err
	}
	st, _, err := a.lookAgain(ctx, h, s)
	return st, err
}

// renewal is the hold and the records that follow. It is pure.
func renewal(h Hold, st *standing, m moment, amend func(*Record)) (Hold, []*Record) {
	h.Revision, h.RenewedAt = st.revision+1, m.stamp()
	records := make([]*Record, len(st.ours))
	for i, t := range st.ours {
		records[i] = t.rec.renewed(t.oid, h.Revision, h.RenewedAt)
		h.settleAt(records[i])
		if amend != nil {
			amend(records[i])
		}
		h.TTL, h.Grace = records[i].TTL(), records[i].Grace()
	}
	h.Deadline, h.From = m.at.after(h.TTL), nil
	return h, records
}
