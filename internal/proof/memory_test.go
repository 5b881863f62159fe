package proof

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/git-worklease/git-worklease/internal/proof/tally"
	"github.com/git-worklease/git-worklease/lease"
	"github.com/git-worklease/git-worklease/refstore"
	"github.com/git-worklease/git-worklease/refstore/memory"
)

// The terms of all runs in memory.
const (
	ttl   = time.Minute
	grace = 20 * time.Second
)

// troubles are the kinds of faults, and all of them together.
var troubles = map[string]trouble{
	"none":          {},
	"lost requests": {lostRequest: 120, unreachable: 60},
	"lost replies":  {lostReply: 200},
	"late requests": {late: 150},
	"mostly late":   {late: 700},
	"refusals":      {refused: 150},
	"kills":         {kill: 60},
	"torn listings": {torn: 300},
	"outages":       {outage: 40},
	"all":           {lostRequest: 30, lostReply: 60, late: 50, refused: 30, unreachable: 30, kill: 20, torn: 100, outage: 10},
}

// TestProofInMemory: workers of several sessions and clones claim, renew, verify, hand over and release on a wire with each kind of fault, by clocks that
// are wrong. What comes of it is a register, and no two believe to hold at once what excludes each other. Each run can be repeated by its seed.
//
// PROOF_SEED is the first seed, PROOF_STEP how far it is to the next, and PROOF_RUNS says how many runs there are of each kind.
func TestProofInMemory(t *testing.T) {
	many := uint64(6)
	if tally.Full() {
		many = 120
	}
	first, step, runs := number(t, "PROOF_SEED", 0), number(t, "PROOF_STEP", 1), number(t, "PROOF_RUNS", many)
	for fault := range troubles {
		t.Run(fault, func(t *testing.T) {
			sum := tally.Row{Part: "linearizable", Server: "memory", Fault: fault}
			for seed := first; seed < first+runs*step && sum.Violations == 0; seed += step {
				one := newRun(seed, troubles[fault]).all(t)
				for _, v := range one.broken {
					t.Errorf("seed %d, %s: %s", seed, one.manner, v)
				}
				sum.Add(one.history.row(one.sea.faults, len(one.broken)))
			}
			tally.Add(t, sum)
		})
	}
}

// number is what a variable of the environment says, or what holds where it says nothing.
func number(t *testing.T, name string, otherwise uint64) uint64 {
	t.Helper()
	text := os.Getenv(name)
	if text == "" {
		return otherwise
	}
	n, err := strconv.ParseUint(text, 10, 64)
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// manner is how the clocks of a run are.
type manner string

const (
	dated    manner = "corrected by Date" // and wrong by up to ten minutes
	undated  manner = "not corrected"     // and wrong by less than half of the grace
	observed manner = "observed"          // and wrong by up to ten minutes
)

// run is one run in memory.
type run struct {
	turns   *turns
	sea     *sea
	repo    *memory.Repository
	manner  manner
	history *history
	beliefs beliefs
	// days: it goes on for days, and somebody collects old tombstones.
	days      bool
	processes int
	recorders []*recorder
	broken    []string
	checks    checks
}

// checks are the records that were checked already. What a check says depends on nothing else, and signatures take most of a run's time.
type checks struct{ known sync.Map }

func (c *checks) check(commit refstore.Commit) error {
	if err, ok := c.known.Load(commit.OID); ok {
		err, _ := err.(error)
		return err
	}
	err := lease.CheckCommit(commit)
	c.known.Store(commit.OID, err)
	return err
}

// daysStep is how far it is from the seed of a run that goes on for days to the next.
const daysStep = 4

func newRun(seed uint64, faults trouble) *run {
	turns := newTurns(seed)
	r := &run{
		turns: turns, repo: &memory.Repository{}, manner: []manner{dated, undated, observed}[seed%3], days: seed%daysStep == daysStep-1,
		sea:     &sea{turns: turns, random: rand.New(rand.NewPCG(seed, 2)), trouble: faults, latest: 90 * time.Second},
		history: newHistory(turns.now),
	}
	r.history.deletes = r.days
	return r
}

// clone is what processes of one machine share.
type clone struct {
	name  string
	local *lease.MemoryLocal
	off   time.Duration
}

// offset is how wrong a clock is.
func (r *run) offset() time.Duration {
	most := 10 * time.Minute
	if r.manner == undated {
		most = grace/2 - time.Second
	}
	return time.Duration(r.turns.random.Int64N(int64(2*most))) - most
}

// all runs to the end, and judges.
func (r *run) all(t *testing.T) *run {
	t.Helper()
	agents := []string{"alice", "bob", "carol"}
	for _, agent := range agents {
		c := &clone{name: agent, local: lease.NewMemoryLocal(agent + "-1"), off: r.offset()}
		r.live(t.Context(), c, agent+"-1", agents)
		switch agent {
		case "alice": // another process of the same session
			r.live(t.Context(), c, agent+"-1", agents)
		case "bob": // another session of the same clone
			r.live(t.Context(), c, agent+"-2", agents)
		}
	}
	if r.days {
		r.collect(t.Context(), &clone{name: "dave", local: lease.NewMemoryLocal("dave"), off: r.offset()})
	}
	r.turns.run()
	r.broken = append(r.broken, r.atTheEnd(t)...)
	return r
}

// lives is what a session does: one process after another, each until it is killed.
const actions = 40

func (r *run) live(ctx context.Context, c *clone, session string, agents []string) {
	random := rand.New(rand.NewPCG(r.turns.random.Uint64(), 3))
	r.turns.begin(time.Duration(random.Int64N(int64(ttl))), func(k *task) {
		left := actions
		for left > 0 {
			w := r.process(k, c, session, agents, random)
			if untilKilled(func() {
				for ; left > 0; left-- {
					k.wait(r.between(random))
					w.act(ctx)
				}
			}) {
				left--
				r.beliefs.die(w.id, r.turns.now())
				w.local.(*lease.MemoryLocal).Die()
				k.wait(r.between(random))
			}
		}
	})
}

// untilKilled says whether a process was killed at it.
func untilKilled(do func()) (dead bool) {
	defer func() {
		switch p := recover(); p.(type) {
		case nil:
		case killed:
			dead = true
		default:
			panic(p)
		}
	}()
	do()
	return false
}

// between is how long a worker does something else: often for a moment, sometimes until its claim is stale, and where it goes on for days, for hours.
func (r *run) between(random *rand.Rand) time.Duration {
	upTo := func(d time.Duration) time.Duration { return time.Duration(random.Int64N(int64(d))) }
	switch n := random.IntN(20); {
	case n < 6 && r.days:
		return upTo(20 * time.Hour)
	case n < 2:
		return ttl + upTo(5*ttl)
	case n < 8:
		return upTo(ttl)
	}
	return upTo(3 * time.Second)
}

// wanted are the resources of a run. Where tombstones are collected they are many, so that most are new to a clone.
func (r *run) wanted() []lease.Resource {
	if !r.days {
		return resources
	}
	var many []lease.Resource
	for i := range 40 {
		many = append(many, lease.Resource(fmt.Sprintf("task:%d", i)))
	}
	return many
}

// process is a new process of a session.
func (r *run) process(k *task, c *clone, session string, agents []string, random *rand.Rand) *worker {
	clock := &turnClock{turns: r.turns, task: k, boot: c.name, off: c.off}
	local := c.local.Process(session)
	r.processes++
	id := r.processes
	store := newRecorder(r.store(k, clock), r.history, id)
	r.recorders = append(r.recorders, store)
	terms := lease.Terms{TTL: ttl, Grace: new(time.Duration)}
	*terms.Grace = grace
	if r.manner == observed {
		terms.Expiry = lease.ExpiryObserved
	}
	a, err := lease.New(lease.Options{
		Store: store, Local: local, Clock: clock, MayCreate: true, Holder: lease.Holder{Agent: c.name, Session: session, Host: c.name}, Terms: terms,
		Rand: source{random}, Within: r.turns.within,
	})
	if err != nil {
		panic(err)
	}
	return &worker{
		id: id, a: a, store: store, local: local, clock: clock, h: r.history, held: &r.beliefs, wanted: r.wanted(), others: agents, random: random, now: r.turns.now,
		fail: func(verb string, err error) { r.broken = append(r.broken, fmt.Sprintf("%s: %v", verb, err)) },
	}
}

// store is a process's store. The server tells its Date where clocks are corrected by it.
func (r *run) store(k *task, clock *turnClock) refstore.Store {
	server := r.repo.Transport()
	if r.manner == dated {
		server = &datedTransport{Transport: server, off: -clock.off}
	}
	return refstore.New(&wire{Transport: server, sea: r.sea, task: k}, refstore.Options{
		Check: r.checks.check, Sleep: clock.Sleep,
		Jitter: func(most time.Duration) time.Duration { return time.Duration(r.sea.random.Int64N(int64(most))) },
	})
}

// datedTransport is one to a server that tells its Date, off by nothing.
type datedTransport struct {
	refstore.Transport
	off time.Duration
}

func (t *datedTransport) Skew() (offset time.Duration, known bool) { return t.off, true }

// source makes keys of a run's random numbers.
type source struct{ random *rand.Rand }

func (s source) Read(b []byte) (int, error) {
	for i := range b {
		b[i] = byte(s.random.Uint32())
	}
	return len(b), nil
}

// collect deletes old tombstones, now and then.
func (r *run) collect(ctx context.Context, c *clone) {
	random := rand.New(rand.NewPCG(r.turns.random.Uint64(), 4))
	r.turns.begin(0, func(k *task) {
		for range actions / 2 {
			w := r.process(k, c, "dave", nil, random)
			if untilKilled(func() {
				k.wait(time.Duration(random.Int64N(int64(30 * time.Hour))))
				if _, err := w.a.Collect(ctx, lease.CollectRequest{Retention: lease.MinRetention, Apply: true}); err != nil {
					w.told(begun{}, "collect", err)
				}
			}) {
				w.local.(*lease.MemoryLocal).Die()
			}
		}
	})
}

// atTheEnd reads what stands, and judges the whole.
func (r *run) atTheEnd(t *testing.T) []string {
	t.Helper()
	reader := newRecorder(refstore.New(r.repo.Transport(), refstore.Options{Check: lease.CheckCommit}), r.history, 0)
	var patterns []string
	for _, res := range r.wanted() {
		patterns = append(patterns, refOf(res))
	}
	if _, err := reader.List(t.Context(), patterns...); err != nil {
		t.Fatal(err)
	}
	found := violations(r.history, &r.beliefs)
	if !r.days { // then what was deleted is not in the past of anything
		found = append(found, whole(t, r.history, r.recorders, reader.Store)...)
	}
	return found
}
