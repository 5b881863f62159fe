package lease

import (
	"fmt"
	"slices"
	"time"
)

// VerifyResult says whether one resource is this session's.
type VerifyResult struct {
	Resource Resource
	// Hold is the claim that has it, if any.
	Hold Hold
	// Record is what stands at its ref, if it could be judged.
	Record *Record
	// Left is for how long it stands, by whichever clock ends it first.
	Left time.Duration
	// Err is nil with the resource held at the time of reading; otherwise [ErrExpired], [ErrMoving], [ErrNotHeld], a [*LostError], [ErrKeyLost], a
	// [*PendingError], or why the record can't be judged.
	Err error
}

// Verify proves from the remote which resources are this session's; none given: all of its claims. It writes no ref. The error is the first
// of the results' errors, or what kept the remote from answering.
func (a *Authority) Verify(ctx Context, resources ...Resource) ([]VerifyResult, error) {
	resources, err := a.Held(resources)
	if err != nil {
		return nil, err
	}
	open, err := a.settle(ctx, false, resources)
	if err != nil {
		return nil, err
	}
	if err := a.attest(ctx); err != nil {
		return nil, err
	}
	groups, err := a.standingGroups(resources)
	if err != nil {
		return nil, err
	}
	s, err := a.readGroups(ctx, groups)
	if err != nil {
		return nil, err
	}
	var results []VerifyResult
	for _, g := range groups {
		more, err := a.verifyGroup(ctx, g, s, open)
		if err != nil {
			return nil, err
		}
		results = append(results, more...)
	}
	if err := a.doubt(results); err != nil {
		return nil, err
	}
	var errs []error
	for _, res := range results {
		errs = append(errs, res.Err)
	}
	return results, first(errs)
}

// doubt takes back what was found held where a write of this session that ends it is open. That is looked for last, so that nothing counts as held of
// which another process began to let go while it was read.
func (a *Authority) doubt(results []VerifyResult) error {
	var found []Resource
	for _, res := range results {
		if res.Err == nil {
			found = append(found, res.Resource)
		}
	}
	if len(found) == 0 {
		return nil
	}
	left, busy, err := a.local.Pending(found...)
	var open []*PendingError
	for _, i := range left {
		open = append(open, i.pending(nil))
		a.forgot(a.local.Leave(i))
	}
	for _, i := range busy {
		open = append(open, i.busy())
	}
	for i := range results {
		res := &results[i]
		if p := a.pendingOn(open, res.Resource, VerbRelease, VerbMove); res.Err == nil && p != nil {
			res.Err = p
		}
	}
	return err
}

// standingGroups are the claims in the file that a request means, without settling or reading anything more.
func (a *Authority) standingGroups(resources []Resource) ([]group, error) {
	var groups []group
	for _, r := range resources {
		g, err := a.inFile(r)
		if err != nil {
			return nil, err
		}
		groups = append(groups, g)
	}
	if len(resources) > 0 {
		return groups, nil
	}
	holds, err := a.local.Holds()
	if err != nil {
		return nil, err
	}
	for _, h := range holds {
		if h.End == nil {
			groups = append(groups, group{hold: h, asked: h.resources()})
		}
	}
	return groups, nil
}

// readGroups reads at once all that belongs to the claims of groups; nil where there are none.
func (a *Authority) readGroups(ctx Context, groups []group) (*snapshot, error) {
	var resources []Resource
	for _, g := range groups {
		if g.err == nil {
			resources = append(resources, g.hold.resources()...)
		}
	}
	if len(resources) == 0 {
		return nil, nil //nolint:nilnil // there is nothing to look at
	}
	slices.Sort(resources)
	return a.read(ctx, slices.Compact(resources))
}

// verifyGroup looks at one claim, as it was read.
func (a *Authority) verifyGroup(ctx Context, g group, s *snapshot, open []*PendingError) ([]VerifyResult, error) {
	if g.err != nil {
		res := VerifyResult{Resource: g.asked[0], Hold: g.hold, Err: g.err}
		if p := a.pendingOn(open, res.Resource, VerbClaim); p != nil {
			res.Err = p
		} else if g.hold.Claim == "" && a.keyLost(ctx, res.Resource) {
			res.Err = fmt.Errorf("%s: %w", res.Resource, ErrKeyLost)
		}
		return []VerifyResult{res}, nil
	}
	st, s, err := a.lookAgain(ctx, &g.hold, s)
	if err != nil {
		return nil, err
	}
	m := a.moment()
	if st.lost == nil && st.unknown == nil && g.hold.Unconfirmed {
		st.unknown = g.hold.unconfirmed()
	}
	var results []VerifyResult
	for _, r := range g.asked {
		res := VerifyResult{Resource: r, Hold: g.hold, Record: s.tips[r].rec}
		res.Left, res.Err = proof(&g.hold, st, s.tips[r], m)
		results = append(results, res)
	}
	return results, nil
}

// proof judges a claim that was read at m. It is pure.
func proof(h *Hold, st *standing, t *tip, m moment) (left time.Duration, err error) {
	switch {
	case st.lost != nil:
		lost := *st.lost
		return 0, &lost
	case st.unknown != nil:
		return 0, st.unknown
	}
	if st.moving {
		return 0, fmt.Errorf("%s: %w", t.resource, ErrMoving)
	}
	if left = h.Left(m.now(), m.at); left <= 0 {
		return left, fmt.Errorf("%s: %w", t.resource, ErrExpired)
	}
	return left, nil
}

// pendingOn is the open write of this session on r that changes what it may think it holds: an open renewal does not.
func (a *Authority) pendingOn(open []*PendingError, r Resource, verbs ...Verb) *PendingError {
	for _, p := range open {
		if p.Session == a.o.Holder.Session && slices.Contains(verbs, p.Verb) && slices.Contains(p.Resources, r) {
			return p
		}
	}
	return nil
}
