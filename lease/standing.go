package lease

import (
	"fmt"
	"slices"
)

// standing is what a snapshot says of a claim of ours.
type standing struct {
	// lost is set where some member shows that the claim is over.
	lost *LostError
	// released says that what shows it is a release by the claim's own key.
	released bool
	// unknown is set where some member can't be judged.
	unknown error
	// ours are the members that are still active records of the claim.
	ours []*tip
	// torn: the members disagree, which a view may that was read while they moved.
	torn bool
	// moving: the claim was brought here, and some of ours don't say so yet.
	moving bool
	// revision is the highest of ours.
	revision uint64
}

// stand judges a hold. It is pure.
func stand(h *Hold, s *snapshot) *standing {
	st := &standing{}
	for _, m := range h.Members {
		st.add(h, s.tips[m.Resource])
	}
	if st.lost == nil && len(st.ours) == len(h.Members) && st.revision < h.Revision {
		st.unknown = fmt.Errorf("%s: %w: revision %d was written, and there is %d", h.Members[0].Resource, ErrRolledBack, h.Revision, st.revision)
	}
	st.torn = st.torn || len(st.ours) > 0 && len(st.ours) < len(h.Members)
	return st
}

func (s *standing) add(h *Hold, t *tip) {
	lost := LostError{Resource: t.resource}
	switch {
	case t.err != nil:
		s.unknown = t.err
		return
	case t.oid.IsZero():
		lost.Reason = "its ref was deleted"
	case t.rec.Claim != h.Claim:
		lost = foreign(t, h.generation(t.resource))
	case !h.stays(t.rec):
		lost = movedOn(t)
	case t.rec.Released():
		lost.By, lost.Since, lost.Reason = t.rec.Release.By, t.rec.Release.At, "released"
		if s.lost == nil {
			s.lost, s.released = &lost, true
		}
		return
	default:
		s.torn = s.torn || len(s.ours) > 0 && s.revision != t.rec.Revision
		s.moving = s.moving || t.rec.Place != h.Place
		s.revision = max(s.revision, t.rec.Revision)
		s.ours = append(s.ours, t)
		return
	}
	if s.lost == nil || s.released {
		s.lost, s.released = &lost, false
	}
}

// foreign says how a record of another claim ended ours, which was of the given generation.
func foreign(t *tip, ours Generation) LostError {
	by := t.rec.Holder
	lost := LostError{Resource: t.resource, By: &by, Since: t.rec.ClaimedAt, Reason: "taken over"}
	switch rel, pre := t.rec.Release, t.rec.Predecessor; {
	case !t.rec.Released() && pre != nil && pre.Why == whyForced && pre.Generation == ours:
		lost.Reason = "released by force, and claimed since"
	case !t.rec.Released():
	case rel.Forced:
		lost.By, lost.Since, lost.Reason, lost.Words = rel.By, rel.At, "released by force", rel.Reason
	case rel.Reason == reasonOverlapped && rel.By != nil:
		lost.By, lost.Since, lost.Reason = rel.By, rel.At, rel.Reason
	}
	return lost
}

// look reads a hold's refs and judges it. A torn view is read again before anything is concluded from it.
func (a *Authority) look(ctx Context, h *Hold) (*standing, *snapshot, error) {
	s, err := a.read(ctx, h.resources())
	if err != nil {
		return nil, nil, err
	}
	return a.lookAgain(ctx, h, s)
}

// sameAuthority makes sure that what was read is where the hold's claim is.
func (h *Hold) sameAuthority(s *snapshot) error {
	if got := s.meta.Authority; got != h.Authority {
		return &WrongAuthorityError{Resource: h.Members[0].Resource, Want: h.Authority, Got: got}
	}
	return nil
}

// lookAgain judges a hold by what was read, and reads it again where that is torn.
func (a *Authority) lookAgain(ctx Context, h *Hold, s *snapshot) (*standing, *snapshot, error) {
	if err := h.sameAuthority(s); err != nil {
		return nil, nil, err
	}
	st := stand(h, s)
	if !st.torn {
		return st, s, nil
	}
	s, err := a.read(ctx, h.resources())
	if err != nil {
		return nil, nil, err
	}
	return stand(h, s), s, nil
}

func (h *Hold) resources() []Resource {
	rs := make([]Resource, len(h.Members))
	for i, m := range h.Members {
		rs[i] = m.Resource
	}
	return rs
}

// generation is that of one member; 0 for what is none.
func (h *Hold) generation(r Resource) Generation {
	for _, m := range h.Members {
		if m.Resource == r {
			return m.Generation
		}
	}
	return 0
}

// has says whether the hold is on r.
func (h *Hold) has(r Resource) bool {
	return slices.ContainsFunc(h.Members, func(m Member) bool { return m.Resource == r })
}
