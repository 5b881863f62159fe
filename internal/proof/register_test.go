package proof

import (
	"fmt"
	"time"

	"github.com/anishathalye/porcupine"

	"github.com/git-worklease/git-worklease/lease"
	"github.com/git-worklease/git-worklease/refstore"
)

// register is the lease of one resource as it should be: what stands at its ref, by whose claim, and since when.
type register struct {
	tip    refstore.OID
	claim  lease.ClaimID
	active bool
	// generation is that of the record, top the highest that ever was.
	generation, top lease.Generation
	revision        uint64
	// stamp and since are when it was renewed, by its writer's clock and at the earliest in truth.
	stamp, since time.Time
	ttl, grace   time.Duration
	// reserved is for whom a release keeps it, until when by the writer's clock.
	reserved string
	until    time.Time
}

// model is the register for porcupine. A swap of unknown fate gives both states: with it, and without.
func model() porcupine.Model {
	return (&porcupine.NondeterministicModel{
		Init: func() []any { return []any{register{}} },
		Step: func(state, input, _ any) []any {
			return step(state.(register), input.(*event))
		},
		DescribeOperation: func(input, _ any) string { return input.(*event).String() },
		DescribeState:     func(state any) string { return fmt.Sprintf("%+v", state) },
	}).ToModel()
}

func step(s register, e *event) []any {
	switch e.fact {
	case swapped:
		next, ok := s.swap(e)
		switch {
		case e.fate == perhaps && ok:
			return []any{s, next}
		case e.fate == perhaps:
			return []any{s}
		case !ok:
			return nil
		}
		return []any{next}
	case stood:
		return when(s.tip == e.new, s)
	case held:
		return when(s.claim == e.claim && s.active, s)
	case over:
		return when(s.claim != e.claim || !s.active, s)
	default:
		return when(s.claim == e.claim, s)
	}
}

func when(ok bool, s register) []any {
	if !ok {
		return nil
	}
	return []any{s}
}

// swap is the register after a swap, if that may be.
func (s register) swap(e *event) (next register, ok bool) {
	switch {
	case s.tip != e.old:
		return s, false
	case e.rec == nil:
		return register{top: s.top}, !s.tip.IsZero() && !s.active
	}
	r := e.rec
	next = register{
		tip: e.new, claim: r.Claim, active: !r.Released(), generation: r.Generation, top: max(s.top, r.Generation), revision: r.Revision,
		stamp: r.RenewedAt, since: e.from, ttl: r.TTL(), grace: r.Grace(),
	}
	if r.Released() && r.Release.ReservedFor != "" {
		next.reserved, next.until = r.Release.ReservedFor, r.Release.ReservedUntil
	}
	if s.claim == r.Claim {
		// A renewal needs a claim that was not released. A release may be written again, to add to what it says.
		return next, (s.active || r.Released()) && r.Generation == s.generation && r.Revision > s.revision
	}
	if r.Released() { // ended by another
		return next, r.Generation == s.generation && (r.Release.Forced || s.takeable(e))
	}
	return next, r.Generation > s.top && s.takeable(e)
}

// takeable says whether the writer of e may end what stands there: by the stamps of both, or because it was there for long enough in truth.
func (s register) takeable(e *event) bool {
	if !s.active {
		return s.reserved == "" || s.reserved == e.rec.Holder.Agent || !e.rec.ClaimedAt.Before(s.until.Add(s.grace))
	}
	wait := s.ttl + max(s.grace, e.rec.Grace())
	at := e.rec.RenewedAt
	if e.rec.Released() {
		at = e.rec.Release.At
	}
	return at.Sub(s.stamp) >= wait || e.to.Sub(s.since) >= wait
}

func (e *event) String() string {
	names := [...]string{"swap", "stood", "held", "over", "foreign"}
	what := fmt.Sprintf("%d %s %s", e.who, names[e.fact], e.ref[len(e.ref)-min(len(e.ref), 12):])
	switch {
	case e.fact == stood:
		return fmt.Sprintf("%s %s [%d,%d]", what, e.new.Short(), e.call, e.ret)
	case e.fact != swapped:
		return fmt.Sprintf("%s %.6s [%d,%d]", what, e.claim, e.call, e.ret)
	case e.rec == nil:
		return fmt.Sprintf("%s %s→deleted fate %d [%d,%d]", what, e.old.Short(), e.fate, e.call, e.ret)
	}
	return fmt.Sprintf("%s %s→%s %.6s %s gen %d rev %d %s fate %d [%d,%d] %s", what, e.old.Short(), e.new.Short(), e.rec.Claim, e.rec.State,
		e.rec.Generation, e.rec.Revision, e.rec.RenewedAt.Format("15:04:05.000"), e.fate, e.call, e.ret, e.to.Format("15:04:05.000"))
}
