package lease

import (
	"fmt"
	"slices"

	"github.com/git-worklease/git-worklease/refstore"
)

// reasonOverlapped is the reason of a release by which a claim of a path ends others that it overlaps with.
const reasonOverlapped = "overlapped"

// paths is the pattern of the refs of all path claims. Names that are too long keep their beginning.
func (n refs) paths() string { return n.claim(schemePath+":") + "*" }

// readPaths is read for resources some of which are paths: the claims of paths that overlap with them are there as well.
func (a *Authority) readPaths(ctx Context, resources []Resource) (*snapshot, error) {
	s, doubtful, err := a.readOverlapping(ctx, resources, nil)
	if err == nil && len(doubtful) > 0 {
		s, _, err = a.readOverlapping(ctx, resources, doubtful)
	}
	return s, err
}

// readOverlapping reads once. Which paths overlap is known only by then, so what this clone has seen of them is looked up afterwards;
// where that is newer than what was read, it can't be told which came first, and the path is doubtful. What was doubtful the last time
// is compared with what had been seen before.
func (a *Authority) readOverlapping(ctx Context, resources, doubtful []Resource) (s *snapshot, more []Resource, err error) {
	asked := slices.Concat(resources, doubtful)
	s, listed, err := a.readWith(ctx, asked, a.refs.paths())
	if err != nil {
		return nil, nil, err
	}
	for _, r := range doubtful {
		s.others = append(s.others, s.tips[r])
	}
	unknown := &snapshot{before: map[Resource]Sighting{}, tips: map[Resource]*tip{}}
	m, known := a.moment(), append(a.refs.of(asked), a.refs.meta())
	for _, ref := range listed {
		if slices.Contains(known, ref.Name) {
			continue
		}
		t := a.tipOf(ref, s.meta.Authority, nil, m)
		if !overlaps(t, resources) {
			continue
		}
		if t.err == nil {
			unknown.tips[t.resource] = t
		}
		s.others = append(s.others, t)
	}
	more, err = a.recall(unknown)
	return s, more, err
}

// overlaps says whether what stands at a ref of a path overlaps with resources. What can't be told does.
func overlaps(t *tip, resources []Resource) bool {
	if t.resource == "" {
		return anyPath(resources)
	}
	return overlapAny(t.resource, resources)
}

// recall adds what this clone has seen of the tips of s, and remembers those that are new. It returns those of which it has seen more.
func (a *Authority) recall(s *snapshot) (doubtful []Resource, err error) {
	var rs []Resource
	for r := range s.tips {
		rs = append(rs, r)
	}
	if len(rs) == 0 {
		return nil, nil
	}
	if s.before, err = a.local.Seen(rs...); err != nil {
		return nil, err
	}
	for r, t := range s.tips {
		switch was := s.before[r]; {
		case was.Tip == t.oid, was.older(t.seen):
			t.seen = was.Merge(t.seen)
		default:
			doubtful = append(doubtful, r)
			delete(s.tips, r)
		}
	}
	a.see(s)
	return doubtful, nil
}

// inTheWay goes through the claims of others that overlap with resources. It returns those that may be ended, or why the first of the others
// keeps resources from being claimed. Claims of this session, by the keys in its file, are in nobody's way.
func (a *Authority) inTheWay(s *snapshot, resources []Resource, m moment) (takeable []*tip, refusal error, err error) {
	if len(s.others) == 0 {
		return nil, nil, nil
	}
	holds, err := a.local.Holds()
	if err != nil {
		return nil, nil, err
	}
	for _, t := range s.others {
		switch {
		case t.err != nil && t.resource == "":
			return nil, fmt.Errorf("what stands at a ref of a path: %w", t.err), nil
		case t.err != nil:
			return nil, t.err, nil
		case t.gone:
			return nil, t.vanished(), nil
		case t.rec == nil || owns(holds, t.rec.Claim):
			continue
		}
		v := judge(t.rec, t.seen, a.stance(m))
		switch {
		case !v.takeable:
			return nil, v.overlapping(t.rec, resources, m), nil
		case !t.rec.Released():
			takeable = append(takeable, t)
		}
	}
	return takeable, nil, nil
}

// owns says whether a claim is one of those in a session's file that have not ended.
func owns(holds []Hold, claim ClaimID) bool {
	return slices.ContainsFunc(holds, func(h Hold) bool { return h.Claim == claim && h.End == nil })
}

// overlapping is the refusal that v means for resources that overlap with r.
func (v verdict) overlapping(r *Record, resources []Resource, m moment) *HeldError {
	held := v.held(r, m)
	held.Wanted = resources[slices.IndexFunc(resources, func(w Resource) bool { return Overlap(w, r.Resource) })]
	return held
}

// ending are the changes that end the given claims of others in the swap that makes hold, whose key signs them.
func (a *Authority) ending(hold Hold, ended []*tip) ([]refstore.Change, error) {
	by := hold.Holder
	changes := make([]refstore.Change, len(ended))
	for i, t := range ended {
		r := t.rec.tombstone(t.oid, t.rec.Revision+1, Release{Reason: reasonOverlapped, Outcome: OutcomeAbandoned, At: hold.ClaimedAt, By: &by})
		r.Claim = hold.Claim
		var err error
		if changes[i], err = a.change(r, hold); err != nil {
			return nil, err
		}
	}
	return changes, nil
}
