package sim

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/git-worklease/git-worklease/internal/fault"
)

// Report is what a simulation has come to.
type Report struct {
	Workers   int    `json:"workers"`
	Resources int    `json:"resources"`
	Clones    int    `json:"clones"`
	Seed      uint64 `json:"seed"`
	// Seconds is how long the workers worked.
	Seconds float64 `json:"seconds"`
	// Dated says that the server tells its Date, and Atomic that it changes several refs at once; without that nobody claims several resources or paths.
	Dated  bool  `json:"dated"`
	Atomic bool  `json:"atomic"`
	Grace  int64 `json:"grace_seconds"`

	Claims          int     `json:"claims"`
	ClaimsPerSecond float64 `json:"claims_per_second"`
	Refusals        int     `json:"refusals"`
	// TakeOvers are claims of others that were taken over or ended, and Handed those that were released for whoever got them.
	TakeOvers int `json:"take_overs"`
	Handed    int `json:"handed_on"`
	// Kept are the renewals by keepers; Late those of claims whose time had been up; Lost how often a worker was told that its claim is over or expired,
	// and TooLate how often one found in time that it had to stop.
	Kept    int `json:"renewals_by_keepers"`
	Late    int `json:"late_renewals"`
	Lost    int `json:"losses"`
	TooLate int `json:"stopped_in_time"`
	Deaths  int `json:"deaths"`
	// Pushes are the requests that changed refs, or may have; Reads the looks at refs.
	Pushes          int     `json:"pushes"`
	PushesPerMinute float64 `json:"pushes_per_minute"`
	Reads           int     `json:"reads"`
	ReadsPerSecond  float64 `json:"reads_per_second"`
	// Unknown are the calls whose outcome nobody knew, Failed those that the remote did not answer, or whose refs kept changing. Troubles are the
	// reasons of both.
	Unknown  int            `json:"unknown_outcomes"`
	Failed   int            `json:"failed_calls"`
	Troubles map[string]int `json:"troubles,omitempty"`

	// Increases is how often workers wrote what they had read, increased, while they believed to hold it.
	Increases uint64 `json:"increases"`
	// What must be 0.
	LostUpdates         uint64   `json:"lost_updates"`
	DoubleHolds         int      `json:"double_holds"`
	EarlyLosses         int      `json:"early_losses"`
	RepeatedGenerations int      `json:"repeated_generations"`
	Fouls               []string `json:"fouls,omitempty"`

	Verbs []Latency `json:"verbs"`
	Kinds []Share   `json:"kinds"`
	// Left is how many refs could not be deleted again, -1 where that is not known.
	Left int `json:"refs_left"`

	prefix  string
	leftErr error
}

// Latency is how long the calls of a verb took whose outcome was known, in milliseconds.
type Latency struct {
	Verb    string `json:"verb"`
	Count   int    `json:"count"`
	Median  int64  `json:"p50_ms"`
	P99     int64  `json:"p99_ms"`
	Longest int64  `json:"longest_ms"`
}

// Share is what the workers of a kind got.
type Share struct {
	Kind    string `json:"kind"`
	Workers int    `json:"workers"`
	Claims  int    `json:"claims"`
	// Least and Most are the claims of the worker who got the fewest and of the one who got the most.
	Least    int `json:"least"`
	Most     int `json:"most"`
	Refusals int `json:"refusals"`
	// Evenness is Jain's index of the claims: 1 where all got the same, 1/workers where one got all.
	Evenness float64 `json:"evenness"`
}

func (s *Sim) report(took time.Duration) *Report {
	m, seconds := s.meter, max(took.Seconds(), 0.001)
	r := &Report{
		Workers: s.o.Workers, Resources: s.o.Resources, Clones: len(s.clones), Seed: s.o.Seed, Seconds: round(took.Seconds()),
		Dated: s.ground.dated, Atomic: s.ground.atomic(), Grace: int64(s.grace.Seconds()), prefix: s.ground.prefix,
		Pushes: int(m.pushes.Load()), Reads: int(m.reads.Load()), Troubles: m.troubles,
	}
	t := m.tally
	r.Claims, r.Refusals, r.TakeOvers, r.Handed, r.Kept = t.claims, t.refusals, t.takeovers, t.handed, t.kept
	r.Late, r.Lost, r.TooLate, r.Deaths, r.Unknown, r.Failed = t.late, t.losses, t.tooLate, t.deaths, t.unknown, t.failed
	r.ClaimsPerSecond, r.ReadsPerSecond = round(float64(r.Claims)/seconds), round(float64(r.Reads)/seconds)
	r.PushesPerMinute = round(60 * float64(r.Pushes) / seconds)
	var f fouls
	r.Increases, r.LostUpdates, f = s.referee.verdict()
	r.DoubleHolds, r.EarlyLosses, r.RepeatedGenerations, r.Fouls = f.doubles, f.early, f.repeated, f.words
	for _, v := range verbs {
		r.Verbs = append(r.Verbs, m.latency(v))
	}
	for _, k := range kinds {
		r.Kinds = append(r.Kinds, s.share(k))
	}
	return r
}

// share is what the workers of a kind got.
func (s *Sim) share(k kind) Share {
	share := Share{Kind: k.name}
	var got []int
	for _, w := range s.workers {
		if w.kind.name == k.name {
			got = append(got, w.claims)
			share.Claims, share.Refusals = share.Claims+w.claims, share.Refusals+w.refusals
		}
	}
	if share.Workers = len(got); len(got) > 0 {
		share.Least, share.Most = slices.Min(got), slices.Max(got)
	}
	share.Evenness = round(evenness(got))
	return share
}

// round leaves two decimals.
func round(f float64) float64 { return math.Round(f*100) / 100 }

// Err is what the run is to end with: that claims did not keep their promises, or that refs were left behind; nil where all is well.
func (r *Report) Err() error {
	var errs []error
	if n := r.LostUpdates + uint64(r.DoubleHolds) + uint64(r.EarlyLosses) + uint64(r.RepeatedGenerations); n > 0 {
		errs = append(errs, &fault.NotExclusiveError{
			LostUpdates: r.LostUpdates, DoubleHolds: r.DoubleHolds, EarlyLosses: r.EarlyLosses, RepeatedGenerations: r.RepeatedGenerations,
		})
	}
	if r.Left != 0 {
		errs = append(errs, &fault.LeftBehindError{Prefix: r.prefix, Refs: r.Left, Err: r.leftErr})
	}
	return errors.Join(errs...)
}

// Progress is how far a run has come.
type Progress struct {
	Left                        time.Duration
	Claims, Refusals, TakeOvers int
	LostUpdates                 uint64
}

// Progress says how far the run has come. It may be called at any time, by several goroutines.
func (s *Sim) Progress() Progress {
	s.meter.mu.Lock()
	p := Progress{Claims: s.meter.tally.claims, Refusals: s.meter.tally.refusals, TakeOvers: s.meter.tally.takeovers}
	if !s.meter.ending.IsZero() {
		p.Left = max(s.meter.ending.Sub(s.meter.now()), 0)
	}
	s.meter.mu.Unlock()
	if referee := s.watching.Load(); referee != nil {
		_, p.LostUpdates, _ = referee.verdict()
	}
	return p
}

// String is for a line of a terminal.
func (p Progress) String() string {
	return fmt.Sprintf("%d claims · %d refused · %d taken over · %d lost updates", p.Claims, p.Refusals, p.TakeOvers, p.LostUpdates)
}
