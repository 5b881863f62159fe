package session

import (
	"time"

	"github.com/git-worklease/git-worklease/lease"
	"github.com/git-worklease/git-worklease/refstore"
)

// Point is a time by both clocks.
type Point struct {
	Wall time.Time     `json:"wall"`
	Boot lease.Instant `json:"boot"`
}

// Since is how long ago p was: by the clock that runs through suspend where it is the same boot, otherwise by the wall clock.
func (p Point) Since(now time.Time, at lease.Instant) time.Duration {
	if p.Boot.Boot != "" && p.Boot.Boot == at.Boot {
		return at.Since - p.Boot.Since
	}
	return now.Sub(p.Wall)
}

// PathClaim is a path that is claimed, as a guard has read it.
type PathClaim struct {
	Resource lease.Resource `json:"resource"`
	Claim    lease.ClaimID  `json:"claim"`
	Holder   lease.Holder   `json:"holder"`
	Purpose  string         `json:"purpose,omitempty"`
	// Expires is when the claim's time is up, and Takeable when others may take it, unless it is renewed, both on this machine's clock.
	Expires  time.Time `json:"expires"`
	Takeable time.Time `json:"takeable"`
	// Problem says why the record can't be judged, and Standing of which kind that is. Then there is nothing else; Resource is empty where not even that
	// is known.
	Problem  string         `json:"problem,omitempty"`
	Standing lease.Standing `json:"standing,omitempty"`
}

// Glance is what the guards of this clone have last seen of the remote, so that not each of them must look.
type Glance struct {
	V int `json:"v"`
	// At is where the claims are, hashed, because a URL may have a password.
	At string `json:"at"`
	// Read is when Paths were read; zero: never.
	Read  Point       `json:"read"`
	Paths []PathClaim `json:"paths,omitempty"`
	// Failed is when the remote last gave no answer; zero: it did. The others are what a [refstore.UnavailableError] says.
	Failed  Point            `json:"failed"`
	URL     string           `json:"url,omitempty"`
	Trouble refstore.Trouble `json:"trouble,omitempty"`
	Why     string           `json:"why,omitempty"`
}

func (s *State) glancePath() string { return s.path("glance.json") }

// Glance is what was saved last about where the claims are now; zero where that is nothing, or can't be read: then somebody has to look.
func (s *State) Glance() Glance {
	var g Glance
	data, err := readFile(s.glancePath(), open)
	if err != nil || decodeJSON(s.glancePath(), data, &g) != nil || g.At != hashName(s.o.Where) {
		return Glance{}
	}
	return g
}

// SaveGlance replaces what guards have seen; the last word counts.
func (s *State) SaveGlance(g Glance) error {
	g.V, g.At = version, hashName(s.o.Where)
	if err := makeDir(s.dir); err != nil {
		return err
	}
	return withLock(s.glancePath()+".lock", func() error { return writeJSON(s.glancePath(), &g, fleeting) })
}
