package lease

import (
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/git-worklease/git-worklease/refstore"
)

// Standing is what may be said of a resource. How long ago its holder was heard of is [Liveness].
type Standing string

// The standings.
const (
	StandingFree       Standing = "free"        // nobody ever had it, or that was collected
	StandingHeld       Standing = "held"        // a claim that was not released, whatever its age
	StandingReleased   Standing = "released"    // free, with a past
	StandingReserved   Standing = "reserved"    // released, and kept for an agent
	StandingOverlapped Standing = "overlapped"  // a path that is free by itself, while another has one that overlaps with it
	StandingPending    Standing = "pending"     // a write of this clone may land yet
	StandingCorrupt    Standing = "corrupt"     // no valid record
	StandingNewer      Standing = "newer"       // a record of a later version
	StandingForeign    Standing = "foreign"     // a record of another authority
	StandingRolledBack Standing = "rolled-back" // an earlier state than this clone has seen, or a ref that should be there and is not
)

// View is one resource as it was read, and stale as soon as it was.
type View struct {
	Resource Resource
	// Ref is the resource's ref. It is all there is to name a record that can't be read at a ref whose name is a hash.
	Ref   string
	State Standing
	// Liveness is set for StandingHeld.
	Liveness Liveness
	// Mine: this session has the key of the claim.
	Mine bool
	// Takeable: this session may claim it now. A claim of its own is renewed instead.
	Takeable bool
	// Record is what stands at the ref, where it could be read.
	Record *Record
	// Tip is what the ref holds.
	Tip refstore.OID
	// Left is until the claim expires, negative since when; for a claim of this session by whichever clock ends it first.
	Left time.Duration
	// Deadline is the end of Left, and TakeableAt the time from which this session could take it, both on this machine's clock. They are
	// zero where they don't apply.
	Deadline, TakeableAt time.Time
	// Rival is the claim of a path that overlaps with this one and keeps it from being claimed. Where the state is StandingOverlapped, Left and
	// Deadline are the rival's.
	Rival *HeldError
	// Observed: the age counts from when this clone first saw the record, because of its terms or because its stamp is in the future.
	Observed bool
	// Problem says why the state is not free, held, released, reserved or overlapped.
	Problem error
}

// Status is what stands at the given resources, in their order, a pool's slots in its place; none given: at those of this session's claims. What dead writers of this
// clone left is settled first. It writes no ref.
func (a *Authority) Status(ctx Context, resources ...Resource) ([]View, error) {
	for _, r := range resources {
		if err := checkText(string(r), MaxResource); err != nil {
			return nil, fmt.Errorf("%w: %w", ErrBadResource, err)
		}
	}
	resources, err := a.Slots(resources)
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
	holds, err := a.local.Holds()
	if err != nil {
		return nil, err
	}
	if len(resources) == 0 {
		if resources = a.own(holds, open); len(resources) == 0 {
			return nil, nil
		}
	}
	s, err := a.readFor(ctx, resources)
	if err != nil {
		return nil, err
	}
	return a.views(resources, s, holds, open)
}

// own are the resources that this session's claims, and its writes of unknown outcome, are about.
func (a *Authority) own(holds []Hold, open []*PendingError) []Resource {
	var rs []Resource
	for _, h := range holds {
		if h.End == nil {
			rs = append(rs, h.resources()...)
		}
	}
	for _, p := range open {
		if p.Session == a.o.Holder.Session {
			rs = append(rs, p.Resources...)
		}
	}
	slices.Sort(rs)
	return slices.Compact(rs)
}

func (a *Authority) views(resources []Resource, s *snapshot, holds []Hold, open []*PendingError) ([]View, error) {
	m := a.moment()
	views := make([]View, len(resources))
	for i, r := range resources {
		views[i] = a.view(s.tips[r], holds, m)
		views[i].Ref = a.refs.claim(r)
		for _, p := range open {
			if slices.Contains(p.Resources, r) && views[i].unsettled(p) {
				views[i].State, views[i].Problem, views[i].Takeable = StandingPending, p, false
			}
		}
		if err := a.bar(&views[i], s, resources, m); err != nil {
			return nil, err
		}
	}
	return views, nil
}

// unsettled says whether an open write makes the state unknown. A renewal does not, nor a move: they leave the claim with this clone.
func (v *View) unsettled(p *PendingError) bool {
	switch p.Verb {
	case VerbRenew, VerbPush, VerbMove:
		return false
	case VerbClaim:
		return v.Problem == nil && (v.State != StandingHeld || v.Takeable)
	default:
		return v.State == StandingHeld
	}
}

// view judges one tip.
func (a *Authority) view(t *tip, holds []Hold, m moment) View {
	v := View{Resource: t.resource, Record: t.rec, Tip: t.oid, Problem: t.err}
	switch {
	case t.err != nil:
		v.State = problemState(t.err)
	case t.gone:
		v.State, v.Problem = StandingRolledBack, t.vanished()
	case t.rec == nil:
		v.State, v.Takeable = StandingFree, true
	default:
		a.judgeView(&v, t, holds, m)
	}
	return v
}

func problemState(err error) Standing {
	switch {
	case errors.Is(err, ErrNewer):
		return StandingNewer
	case errors.Is(err, ErrWrongAuthority):
		return StandingForeign
	case errors.Is(err, ErrRolledBack):
		return StandingRolledBack
	default:
		return StandingCorrupt
	}
}

func (a *Authority) judgeView(v *View, t *tip, holds []Hold, m moment) {
	j := judge(t.rec, t.seen, a.stance(m))
	v.Takeable = j.takeable
	if t.rec.Released() {
		v.State = StandingReleased
		if j.reserved {
			v.State, v.Left = StandingReserved, j.expiresIn
			v.Deadline, v.TakeableAt = m.wall.Add(j.expiresIn), m.wall.Add(j.takeableIn)
		}
		return
	}
	v.State, v.Liveness, v.Left = StandingHeld, j.liveness, j.expiresIn
	v.Observed = j.future || t.rec.Expiry != ExpiryClock || a.o.Terms.Expiry != ExpiryClock
	v.TakeableAt = m.wall.Add(j.takeableIn)
	if i := slices.IndexFunc(holds, func(h Hold) bool { return h.Claim == t.rec.Claim && h.End == nil && h.stays(t.rec) }); i >= 0 && holds[i].Unconfirmed {
		v.State, v.Problem, v.Takeable = StandingPending, holds[i].unconfirmed(), false
	} else if i >= 0 {
		v.Mine, v.Left = true, holds[i].Left(m.now(), m.at)
		if v.Left <= 0 && v.Liveness == Live {
			v.Liveness = Expired
		}
	}
	v.Deadline = m.wall.Add(v.Left)
}
