package lease

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"github.com/git-worklease/git-worklease/refstore"
)

// MetaRules are what a step of the authority's record is judged by, beside the records themselves.
type MetaRules struct {
	// Tip is what stands at the ref, zero for nothing, and Corrupt says that it is no valid record.
	Tip     refstore.OID
	Corrupt bool
	// Authority is the ID that the claims of the repository carry; "" where there are none.
	Authority string
	// Highest is the highest generation of all claims.
	Highest Generation
	// Tolerance is how far a stamp may be from the time of the step; 0: 30 s.
	Tolerance time.Duration
}

// Rules are those of the claims that stand under m at the given time, by the server's clock.
func (m *Meta) Rules(at time.Time) TransitionRules {
	return TransitionRules{
		Authority: m.Authority, Floor: m.required(at), Top: m.Floor, Proven: m.proven(at.Add(clockTolerance), true),
	}
}

// required is the floor above which a ref is created at the given time: the floor, but for raises that a claimant need not have heard of yet.
func (m *Meta) required(at time.Time) Generation {
	var older Generation
	young := false
	for _, r := range m.Raises {
		if at.Sub(r.At) > floorLife+raiseTolerance {
			older = max(older, min(r.Floor, m.Floor))
		} else {
			young = true
		}
	}
	if young {
		return max(older, m.proven(at.Add(clockTolerance), true))
	}
	return m.Floor
}

// MetaTransition says whether the authority's record may go from old to next: nil, or a [*BreachError]. A nil old is one that is created, or one that is no
// valid record (rules.Corrupt); a nil next is one that is deleted. at is the server's clock. It is pure, and leaves the records' signatures to
// [CheckCommit].
func MetaTransition(old, next *Meta, at time.Time, rules MetaRules) error {
	rules.Tolerance = cmp.Or(rules.Tolerance, clockTolerance)
	breach := func(b Breach, format string, args ...any) error {
		return &BreachError{Breach: b, Why: fmt.Sprintf(format, args...)}
	}
	was := old
	if was == nil {
		was = &Meta{Authority: rules.Authority}
	}
	switch {
	case next == nil:
		return breach(BreachDeleted, "it has to stay")
	case next.Prev != rules.Tip:
		return breach(BreachChain, "it replaces %s, and %s stands there", orNothing(next.Prev), orNothing(rules.Tip))
	case was.Authority != "" && next.Authority != was.Authority:
		return breach(BreachAuthority, "this is authority %q, and not %q", was.Authority, next.Authority)
	case next.Floor < was.Floor:
		return breach(BreachBackwards, "floor %d does not come after %d", next.Floor, was.Floor)
	case next.Floor > max(was.Floor, rules.Highest)+mostLeap:
		return breach(BreachBackwards, "floor %d is out of all proportion to %d", next.Floor, max(was.Floor, rules.Highest))
	}
	return was.raisedTo(next, at, rules.Tolerance)
}

// raisedTo judges the raises that next remembers. What they say of their time decides what may be deleted, so each is either an old one, or the one that
// is made now.
func (m *Meta) raisedTo(next *Meta, at time.Time, tolerance time.Duration) error {
	made := 0
	for _, r := range next.Raises {
		if slices.ContainsFunc(m.Raises, func(o Raise) bool { return o.Floor == r.Floor && o.Dated == r.Dated && o.At.Equal(r.At) }) {
			continue
		}
		if off := r.At.Sub(at); off.Abs() > tolerance {
			return &BreachError{Breach: BreachStamp, Why: fmt.Sprintf("a raise of the floor stamped %s, which is off this server's clock by %s",
				r.At.UTC().Format(time.RFC3339), off.Round(time.Second))}
		}
		if made++; made > 1 || r.Floor != next.Floor {
			return &BreachError{Breach: BreachChanged, Why: "it remembers a raise of the floor that was never made"}
		}
	}
	return nil
}
