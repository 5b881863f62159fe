package lease

import "time"

// Takeover is the liveness from which a claim may be taken over. One that this version doesn't know counts as dead.
type Takeover string

// The take-over terms.
const (
	TakeoverStale Takeover = "stale"
	TakeoverDead  Takeover = "dead"
)

// Expiry is how the age of a lease is judged. A way that this version doesn't know counts as observed.
type Expiry string

// The ways to judge an age.
const (
	// ExpiryClock compares the record's stamp with the corrected wall clock.
	ExpiryClock Expiry = "clock"
	// ExpiryObserved counts only for how long this clone has seen the record unchanged.
	ExpiryObserved Expiry = "observed"
)

// stance is a contender as far as it matters for what it may take.
type stance struct {
	agent    string
	grace    time.Duration
	takeover Takeover
	expiry   Expiry
	moment   moment
	// supersede: what another session of the same agent holds may be taken once it is stale, whatever the terms of taking over.
	supersede bool
}

// verdict is what a stance makes of a record.
type verdict struct {
	takeable bool
	// reserved: released, and kept for another agent.
	reserved bool
	liveness Liveness
	// future: the stamp is too far ahead to be judged by the wall clock.
	future bool
	// expiresIn and takeableIn are how long it is until then if nothing is written; negative: since when.
	expiresIn, takeableIn time.Duration
}

// judge is the one rule of what may be taken: released and not kept for another, or old enough by the stricter of the record's terms
// and the contender's. seen is what the contender's clone has seen of the resource before.
func judge(r *Record, tip Sighting, s stance) verdict {
	if r.Released() {
		return judgeReleased(r, tip, s)
	}
	now := s.moment.now()
	grace := max(r.Grace(), s.grace)
	age, future := ageOf(r, tip, s, now, grace)
	v := verdict{liveness: LivenessAt(age, r.TTL(), grace), future: future}
	need := r.TTL() + grace
	own := s.supersede && r.Holder.Agent == s.agent
	if !own && (r.Takeover != TakeoverStale || s.takeover != TakeoverStale) {
		need = 4*r.TTL() + grace
	}
	v.expiresIn, v.takeableIn = r.TTL()-age, need-age
	v.takeable = v.takeableIn <= 0
	return v
}

// ageOf is how old a lease is at least. To have seen a record unchanged proves its age whatever the clocks say; the wall clock does only
// where both parties accept it and the stamp is not ahead of it by more than the grace.
func ageOf(r *Record, tip Sighting, s stance, now time.Time, grace time.Duration) (age time.Duration, future bool) {
	age = tip.observed(s.moment)
	wall := now.Sub(r.RenewedAt)
	future = wall < -grace
	if future || r.Expiry != ExpiryClock || s.expiry != ExpiryClock {
		return age, future
	}
	return max(age, wall), false
}

// judgeReleased honours a reservation until its end and the grace, but never for longer than a lease may last. Where it was written in the
// future, that counts from when it was seen.
func judgeReleased(r *Record, tip Sighting, s stance) verdict {
	v := verdict{takeable: true, liveness: Dead}
	rel := r.Release
	if rel.ReservedFor == "" || rel.ReservedFor == s.agent {
		return v
	}
	end := rel.ReservedUntil
	if longest := rel.At.Add(MaxTTL); end.After(longest) {
		end = longest
	}
	grace := max(r.Grace(), s.grace)
	v.expiresIn = end.Sub(s.moment.now())
	if rel.At.Sub(s.moment.now()) > grace {
		v.expiresIn = min(v.expiresIn, MaxTTL-tip.observed(s.moment))
	}
	v.takeableIn = v.expiresIn + grace
	v.reserved = v.takeableIn > 0
	v.takeable = !v.reserved
	return v
}

// held is the refusal that v means.
func (v verdict) held(r *Record, m moment) *HeldError {
	return &HeldError{
		Resource: r.Resource, Record: r, Liveness: v.liveness, Reserved: v.reserved,
		Until: m.wall.Add(v.expiresIn), TakeableAt: m.wall.Add(v.takeableIn),
	}
}
