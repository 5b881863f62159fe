package sim

import (
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/git-worklease/git-worklease/internal/fault"
)

// meter counts what the workers do, and how long it takes.
type meter struct {
	now           func() time.Time
	pushes, reads atomic.Int64

	mu     sync.Mutex
	ending time.Time
	took   map[verb][]time.Duration
	tally  tally
	// troubles are why calls failed or their outcome is unknown, by their reasons.
	troubles map[string]int
}

// tally is what the workers have met.
type tally struct {
	claims, refusals, takeovers, handed, late, losses, tooLate, deaths, unknown, failed, kept int
}

// verb is what a call is for.
type verb string

// The verbs, in the order in which they are shown. A refused claim is one of its own: it takes less.
const (
	verbClaim   verb = "claim"
	verbRefused verb = "refused claim"
	verbRenew   verb = "renew"
	verbVerify  verb = "verify"
	verbMove    verb = "move"
	verbRelease verb = "release"
)

var verbs = []verb{verbClaim, verbRefused, verbRenew, verbVerify, verbMove, verbRelease}

func newMeter(now func() time.Time) *meter {
	return &meter{now: now, took: map[verb][]time.Duration{}, troubles: map[string]int{}}
}

func (m *meter) begin(span time.Duration) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.ending = m.now().Add(span)
}

func (m *meter) pushed() { m.pushes.Add(1) }
func (m *meter) read()   { m.reads.Add(1) }

// count counts something.
func (m *meter) count(what func(*tally)) {
	m.mu.Lock()
	defer m.mu.Unlock()
	what(&m.tally)
}

// called notes a call and what came of it.
func (m *meter) called(v verb, out outcome, err error, took time.Duration) {
	m.mu.Lock()
	defer m.mu.Unlock()
	switch out {
	case done:
		m.took[v] = append(m.took[v], took)
	case refused:
		m.took[verbRefused] = append(m.took[verbRefused], took)
		m.tally.refusals++
	case lost:
		m.tally.losses++
	default:
		m.trouble(out, err)
	}
}

// waited notes a claim that was waited for: how long that took says nothing of the remote.
func (m *meter) waited(out outcome, err error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if out == refused {
		m.tally.refusals++
	}
	m.trouble(out, err)
}

// trouble counts what may have happened, and what did not because of the remote.
func (m *meter) trouble(out outcome, err error) {
	switch out {
	case unknown:
		m.tally.unknown++
	case failed:
		m.tally.failed++
	default:
		return
	}
	m.troubles[fault.Explain(err, fault.Scene{}).Reason]++
}

// renewalFailed notes what a keeper tells.
func (m *meter) renewalFailed(err error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.trouble(judge(err), err)
}

// inDoubt says whether a request may be on its way yet.
func (m *meter) inDoubt() bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.tally.unknown > 0
}

// latency is how long the calls of a verb took.
func (m *meter) latency(v verb) Latency {
	m.mu.Lock()
	defer m.mu.Unlock()
	sorted := slices.Sorted(slices.Values(m.took[v]))
	return Latency{
		Verb: string(v), Count: len(sorted), Median: percentile(sorted, 50).Milliseconds(), P99: percentile(sorted, 99).Milliseconds(),
		Longest: percentile(sorted, 100).Milliseconds(),
	}
}

// percentile is the least of sorted values that so many in a hundred are not above; 0 where there are none.
func percentile(sorted []time.Duration, p int) time.Duration {
	if len(sorted) == 0 {
		return 0
	}
	return sorted[max((len(sorted)*p+99)/100-1, 0)]
}

// evenness is Jain's index: 1 where all got the same, 1/n where one got all. It is 1 where nobody got anything.
func evenness(got []int) float64 {
	sum, squares := 0.0, 0.0
	for _, n := range got {
		sum += float64(n)
		squares += float64(n) * float64(n)
	}
	if squares == 0 {
		return 1
	}
	return sum * sum / (float64(len(got)) * squares)
}
