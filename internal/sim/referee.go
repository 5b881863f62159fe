package sim

import (
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/git-worklease/git-worklease/lease"
)

// referee watches, by one clock, what each worker believes to hold. Its counters are what the work is: a worker reads them when it gets a claim, and
// writes what it has read, increased, while it believes to hold it. Where claims exclude each other, no increase is ever lost.
//
// A belief ends when the worker gives the claim up, is told that it is over, dies, or when the claim's time is up as the worker's own clocks tell it.
type referee struct {
	now     func() time.Time
	cellsOf func(lease.Resource) []cell

	mu     sync.Mutex
	began  time.Time
	spans  map[lease.ClaimID]*span
	holder map[cell][]*span
	// counters and writes are what the cells hold, and how often they were written.
	counters, writes map[cell]uint64
	// given are the claims that had each generation, and highest the newest generation.
	given   map[epoch]lease.ClaimID
	highest map[lease.Resource]lease.Generation
	fouls   fouls
}

// span is the time in which a worker believes that it holds a claim.
type span struct {
	claim lease.ClaimID
	who   string
	cells []cell
	until time.Time
	// clashed are the claims that it was seen to overlap with.
	clashed []lease.ClaimID
}

// epoch is one generation of a resource.
type epoch struct {
	resource   lease.Resource
	generation lease.Generation
}

// fouls are what must not happen.
type fouls struct {
	// doubles are pairs of workers who believed to hold the same at the same time; early are claims that were lost while their holders' time was not up;
	// repeated are generations that came twice, or below an earlier one.
	doubles, early, repeated int
	// words describe the first of them.
	words []string
}

// mostWords is how many fouls are described.
const mostWords = 20

// reading is what a worker has read of the counters.
type reading map[cell]uint64

func newReferee(now func() time.Time, cellsOf func(lease.Resource) []cell) *referee {
	return &referee{
		now: now, cellsOf: cellsOf, began: now(), spans: map[lease.ClaimID]*span{}, holder: map[cell][]*span{},
		counters: map[cell]uint64{}, writes: map[cell]uint64{}, given: map[epoch]lease.ClaimID{}, highest: map[lease.Resource]lease.Generation{},
	}
}

// holds notes that a worker was told that it holds a claim, of which so much was left at the given time.
func (r *referee) holds(who string, h *lease.Hold, at time.Time, left time.Duration) {
	r.mu.Lock()
	defer r.mu.Unlock()
	now, until := r.now(), at.Add(left)
	s := r.spans[h.Claim]
	if s == nil {
		s = &span{claim: h.Claim, cells: r.cellsOfHold(h)}
	}
	s.who = who
	r.number(s, h, until.After(now))
	if !until.After(now) {
		return
	}
	s.until = until
	r.enter(s, now)
}

func (r *referee) cellsOfHold(h *lease.Hold) []cell {
	var cells []cell
	for _, m := range h.Members {
		cells = append(cells, r.cellsOf(m.Resource)...)
	}
	slices.Sort(cells)
	return slices.Compact(cells)
}

// number checks the generations of a claim. One that is over by the time that its holder hears of it may come after its successor.
func (r *referee) number(s *span, h *lease.Hold, stands bool) {
	for _, m := range h.Members {
		e := epoch{m.Resource, m.Generation}
		other, was := r.given[e]
		if was && other != h.Claim || stands && m.Generation < r.highest[m.Resource] {
			r.fouls.repeated++
			r.say("%s got generation %d of %s, which has come to %d", s.who, m.Generation, m.Resource, r.highest[m.Resource])
		}
		r.given[e] = h.Claim
		r.highest[m.Resource] = max(r.highest[m.Resource], m.Generation)
	}
}

// enter lets a belief stand beside those of others, none of whom may share a cell with it.
func (r *referee) enter(s *span, now time.Time) {
	r.spans[s.claim] = s
	for _, c := range s.cells {
		others := slices.DeleteFunc(r.holder[c], func(o *span) bool { return o == s || !o.until.After(now) })
		for _, o := range others {
			r.clash(s, o, c)
		}
		r.holder[c] = append(others, s)
	}
}

func (r *referee) clash(s, o *span, c cell) {
	if slices.Contains(s.clashed, o.claim) {
		return
	}
	s.clashed, o.clashed = append(s.clashed, o.claim), append(o.clashed, s.claim)
	r.fouls.doubles++
	r.say("%s and %s both hold %s", o.who, s.who, c)
}

func (r *referee) say(format string, args ...any) {
	if len(r.fouls.words) < mostWords {
		r.fouls.words = append(r.fouls.words, fmt.Sprintf("after %s: ", r.now().Sub(r.began).Round(time.Millisecond))+fmt.Sprintf(format, args...))
	}
}

// leaves notes that a worker does not rely on a claim any more.
func (r *referee) leaves(claim lease.ClaimID) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.leave(claim)
}

func (r *referee) leave(claim lease.ClaimID) {
	s := r.spans[claim]
	if s == nil {
		return
	}
	delete(r.spans, claim)
	for _, c := range s.cells {
		r.holder[c] = slices.DeleteFunc(r.holder[c], func(o *span) bool { return o == s })
	}
}

// loses notes that a worker was told that its claim is over. Nobody may take it before its time is up.
func (r *referee) loses(claim lease.ClaimID, why error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if s := r.spans[claim]; s != nil && s.until.After(r.now()) {
		r.fouls.early++
		r.say("%s lost its claim %s before its time was up: %v", s.who, s.until.Sub(r.now()).Round(time.Millisecond), why)
	}
	r.leave(claim)
}

// read is what the counters of a claim hold now; nil where nobody believes to hold it.
func (r *referee) read(claim lease.ClaimID) reading {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.readSpan(r.spans[claim])
}

func (r *referee) readSpan(s *span) reading {
	if s == nil {
		return nil
	}
	read := make(reading, len(s.cells))
	for _, c := range s.cells {
		read[c] = r.counters[c]
	}
	return read
}

// write stores what was read, increased, and reads again. It does not once the claim's time is up: then a worker has to stop.
func (r *referee) write(claim lease.ClaimID, read reading) (next reading, ok bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	s := r.spans[claim]
	if s == nil || !s.until.After(r.now()) || read == nil {
		return nil, false
	}
	for c, value := range read {
		r.counters[c] = value + 1
		r.writes[c]++
	}
	return r.readSpan(s), true
}

// verdict is what came of it all: how many increases there were and how many were lost, and the fouls.
func (r *referee) verdict() (increases, lost uint64, f fouls) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for c, n := range r.writes {
		increases += n
		lost += n - min(n, r.counters[c])
	}
	f = r.fouls
	f.words = slices.Clone(f.words)
	return increases, lost, f
}
