package lease

import (
	"time"
)

// Liveness is how long ago a holder was heard of, measured by the terms of its lease.
type Liveness string

// The livenesses, by the age of a lease.
const (
	Live    Liveness = "live"    // younger than ttl: the holder's
	Expired Liveness = "expired" // younger than ttl + grace: nobody's, so that clocks may differ
	Stale   Liveness = "stale"   // younger than 4·ttl + grace: takeable
	Dead    Liveness = "dead"    // takeable by the strictest terms
)

// LivenessAt is the liveness of a lease of the given age.
func LivenessAt(age, ttl, grace time.Duration) Liveness {
	switch {
	case age < ttl:
		return Live
	case age < ttl+grace:
		return Expired
	case age < 4*ttl+grace:
		return Stale
	default:
		return Dead
	}
}

// moment is one reading of all clocks.
type moment struct {
	// wall is this machine's clock.
	wall time.Time
	// skew is the server's clock minus this machine's, where it is known by its Date.
	skew  time.Duration
	dated bool
	// at is the clock that runs through suspend.
	at Instant
}

// now is the wall clock, corrected where that can be done. Records are stamped and judged by it.
func (m moment) now() time.Time { return m.wall.Add(m.skew) }

// stamp is now, as precisely as records have it.
func (m moment) stamp() time.Time { return m.now().UTC().Truncate(time.Millisecond) }

// date is the server's Date; zero where it is not known.
func (m moment) date() time.Time {
	if !m.dated {
		return time.Time{}
	}
	return m.stamp()
}

// observed is for how long a clone has seen the tip of s unchanged; 0 where that can't be told.
func (s Sighting) observed(m moment) time.Duration {
	if s.First.Boot != "" && s.First.Boot == m.at.Boot {
		return max(0, m.at.Since-s.First.Since)
	}
	if m.dated && !s.FirstDate.IsZero() {
		return max(0, m.now().Sub(s.FirstDate))
	}
	return 0
}

// Left is for how long a hold still stands, by whichever clock ends it first; negative once it expired. now is the wall clock, corrected
// where that is possible.
func (h *Hold) Left(now time.Time, at Instant) time.Duration {
	left := h.RenewedAt.Add(h.TTL).Sub(now)
	if h.Deadline.Boot != "" && h.Deadline.Boot == at.Boot {
		left = min(left, h.Deadline.Since-at.Since)
	}
	return left
}
