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

	// tips are the refs as the renewal left them.
	tips []refstore.Ref
}

// Renew proves that the claims are still this session's and starts their time anew, however late it comes: nobody else can have had
// them in between. It keeps every other member of the records. The error is the first of the results' errors.
func (a *Authority) Renew(ctx Context, req RenewRequest) ([]RenewResult, error) {
	groups, err := a.group(ctx, VerbRenew, req.Resources)
	if err != nil {
		return nil, err
	}
	return a.renewGroups(ctx, groups, manner{})
}

// renewGroups renews claims, as far as that can be done with one read and one push.
func (a *Authority) renewGroups(ctx Context, groups []group, how manner) ([]RenewResult, error) {
	var holds []Hold
	for _, g := range groups {
		if g.err == nil {
			holds = append(holds, g.hold)
		}
	}
	renewed := a.renewAll(ctx, holds, how)
	results, errs := make([]RenewResult, len(groups)), make([]error, len(groups))
	for i, g := range groups {
		results[i].Err = g.err
		if g.err == nil {
			results[i], renewed = renewed[0], renewed[1:]
		}
		results[i].Resources, errs[i] = g.asked, results[i].Err
	}
	return results, first(errs)
}

func first(errs []error) error {
	if i := slices.IndexFunc(errs, func(err error) bool { return err != nil }); i >= 0 {
		return errs[i]
	}
	return nil
}

// renewFrom renews one claim, first by a snapshot; nil: what stands at its refs is read. Each of its tries is [Authority.bounded]; ctx is the
// limit of them all.
func (a *Authority) renewFrom(ctx Context, h Hold, s *snapshot, how manner) RenewResult {
	done, err := a.turn(ctx, h)
	if err != nil {
		return RenewResult{Hold: h, Err: err}
	}
	defer done()
	var t tries
	for {
		res, hurried := a.tryRenewal(ctx, h, s, how)
		if res.Err == nil {
			return res
		}
		s = nil
		if !hurried {
			if err := a.again(ctx, &t, VerbRenew, h.resources(), res.Err); err != nil {
				return RenewResult{Hold: res.Hold, Err: err}
			}
		}
		now, err := a.current(h)
		if err != nil {
			return RenewResult{Hold: h, Err: err}
		}
		h = now
	}
}

// tryRenewal is one try. hurried says that it failed for the sake of the next one, whose time it would have used up. A keeper, which has claims of
// its own time to judge, tries again by itself.
func (a *Authority) tryRenewal(ctx Context, h Hold, s *snapshot, how manner) (res RenewResult, hurried bool) {
	bounded, cancel := a.bounded(ctx, h)
	defer cancel()
	res = a.renewOnce(bounded, h, s, how)
	return res, res.Err != nil && outOfTime(bounded, res.Err) && ctx.Err() == nil && !how.kept
}

// outOfTime says whether a try failed because its time was up.
func outOfTime(ctx Context, err error) bool {
	return ctx.Err() != nil && (errors.Is(err, refstore.ErrUnavailable) || errors.Is(err, ErrPending))
}

// leastRenewal is what a renewal is given to succeed in however little time is left.
const leastRenewal = time.Second

// bounded limits a renewal of claims that have not expired to half of the time that is left, so that there is time for another.
func (a *Authority) bounded(ctx Context, holds ...Hold) (Context, context.CancelFunc) {
	m := a.moment()
	least := time.Duration(0)
	for i := range holds {
		if left := holds[i].Left(m.now(), m.at); left > 0 && (least == 0 || left < least) {
			least = left
		}
	}
	if least == 0 {
		return ctx, func() {}
	}
	return a.within(ctx, max(least/2, leastRenewal))
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

func (a *Authority) renewOnce(ctx Context, h Hold, s *snapshot, how manner) RenewResult {
	step, err := a.prepare(ctx, h, s, how)
	if err != nil {
		return RenewResult{Hold: h, Err: err}
	}
	return a.renewed(step, a.write(ctx, step.intent))
}

// renewalStep is a renewal that was decided.
type renewalStep struct {
	before  Hold
	intent  *Intent
	records []*Record
	// olds are the commits that records replace.
	olds []refstore.Commit
	// late is for how long the claim had expired.
	late time.Duration
}

// prepare decides on one renewal, by a snapshot; nil: what stands at the refs is read.
func (a *Authority) prepare(ctx Context, h Hold, s *snapshot, how manner) (*renewalStep, error) {
	if h.Unconfirmed {
		var err error
		if h, err = a.confirmed(ctx, h); err != nil {
			return nil, err
		}
		s = nil
	}
	st, err := a.lookFrom(ctx, &h, s)
	switch {
	case err != nil:
		return nil, err
	case st.lost != nil:
		return nil, a.conclude(ctx, h, st)
	case st.unknown != nil:
		return nil, st.unknown
	}
	m := a.moment()
	step := &renewalStep{before: h, late: max(-h.Left(m.now(), m.at), 0)}
	if how.kept && h.Left(m.now(), m.at) <= 0 {
		return nil, fmt.Errorf("%s: %w", h.Members[0].Resource, ErrExpired)
	}
	next, records := renewal(h, st, m, how.amend)
	step.records = records
	for _, t := range st.ours {
		step.olds = append(step.olds, t.commit)
	}
	step.intent, err = a.intend(how.as(), next, records)
	return step, err
}

// renewed is what came of a renewal that was sent.
func (a *Authority) renewed(step *renewalStep, err error) RenewResult {
	if err != nil {
		return RenewResult{Hold: step.before, Err: anew(err)}
	}
	now := step.intent.Hold
	if m := a.moment(); now.Left(m.now(), m.at) <= 0 { // the reply took longer than the claim lasts
		return RenewResult{Hold: now, Err: errAgain}
	}
	if step.late > 0 {
		a.notify(Notice{Kind: NoticeLate, Resources: now.resources(), Offset: step.late})
	}
	return RenewResult{Hold: now, Records: step.records, Late: step.late, tips: a.tipsOf(step.intent)}
}

// anew turns a conflict into another try.
func anew(err error) error {
	if errors.Is(err, refstore.ErrConflict) {
		return fmt.Errorf("%w: %w", errAgain, err)
	}
	return err
}

func (a *Authority) lookFrom(ctx Context, h *Hold, s *snapshot) (st *standing, err error) {
	if s == nil {
		st, _, err = a.look(ctx, h)
	} else {
		st, _, err = a.lookAgain(ctx, h, s)
	}
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
