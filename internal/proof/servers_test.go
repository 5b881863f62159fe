package proof

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/http"
	"os"
	"os/exec"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/git-worklease/git-worklease/internal/gitserver"
	"github.com/git-worklease/git-worklease/internal/proof/tally"
	"github.com/git-worklease/git-worklease/lease"
)

// assault is a kind of fault of real servers.
type assault struct {
	// at are the kinds of servers that can have it; "": all.
	at string
	// begin makes it so until ctx ends.
	begin func(t *testing.T, f *fight)
	// kill is how often, of a thousand, a process is killed at a swap.
	kill int
	// hasty: some verbs are given less time than the server takes.
	hasty bool
}

var assaults = map[string]assault{
	"none":  {begin: func(*testing.T, *fight) {}},
	"kills": {begin: func(*testing.T, *fight) {}, kill: 80},
	// receive-pack is killed before it changes anything, or once all is done.
	"lost requests": {at: "http ssh path git", begin: hook("pre-receive", `[ $dice -ge 40 ] || { echo x >> faults; kill -9 $PPID; }`)},
	"lost replies":  {at: "http ssh path git", begin: hook("post-receive", `[ $dice -ge 50 ] || { echo x >> faults; kill -9 $PPID; }`)},
	"refusals":      {at: "http ssh path git", begin: hook("pre-receive", `[ $dice -ge 40 ] || { echo x >> faults; exit 1; }`)},
	// What was sent lands after its sender has gone.
	"late requests": {at: "http ssh path git", begin: hook("pre-receive", `[ $dice -ge 80 ] || { echo x >> faults; sleep 0.4; }`), hasty: true},
	"broken http":   {at: "http git", begin: brokenHTTP},
	"server's gc":   {begin: collectGarbage},
}

// hook installs a hook with a die of 256 sides. A fault is a line in the file faults.
func hook(name, body string) func(*testing.T, *fight) {
	return func(t *testing.T, f *fight) {
		script := "#!/bin/sh\ncat > /dev/null\ndice=$(od -An -N1 -tu1 /dev/urandom)\n" + body + "\nexit 0\n"
		if err := f.place.repo.Hook(name, script); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() {
			data, _ := os.ReadFile(f.place.repo.Dir + "/faults") // none: there were none
			f.faults.Add(int64(strings.Count(string(data), "\n")))
		})
	}
}

// brokenHTTP answers as gateways and portals do, or not at all, and cuts replies short.
func brokenHTTP(_ *testing.T, f *fight) {
	var mu sync.Mutex
	random := rand.New(rand.NewPCG(f.seed, 6))
	actions := []gitserver.Action{
		gitserver.LoseReply, gitserver.RefuseConnection, gitserver.TooMany(), gitserver.HTMLPage(), gitserver.CutReply(0), gitserver.CutReply(30),
		gitserver.Answer(http.StatusBadGateway, "text/plain", "bad gateway\n"), gitserver.Answer(http.StatusServiceUnavailable, "text/plain", "busy\n"),
	}
	f.place.http.Inject(gitserver.Fault{Do: func(w http.ResponseWriter, r *http.Request, backend http.Handler, done <-chan struct{}) {
		mu.Lock()
		n := random.IntN(len(actions) * 8)
		mu.Unlock()
		if n < len(actions) {
			f.faults.Add(1)
			actions[n](w, r, backend, done)
			return
		}
		backend.ServeHTTP(w, r)
	}})
}

// collectGarbage packs refs and prunes at once what nothing reaches, again and again.
func collectGarbage(t *testing.T, f *fight) {
	dir := f.place.url
	if f.place.repo != nil {
		dir = f.place.repo.Dir
	}
	f.group.Go(func() {
		for f.ctx.Err() == nil {
			if _, err := os.Stat(dir); err != nil { // not yet made
				_ = f.clock.system.Sleep(f.ctx, 10*time.Millisecond)
				continue
			}
			out, err := exec.CommandContext(f.ctx, "git", "--git-dir", dir, "gc", "--quiet", "--prune=now").CombinedOutput()
			f.faults.Add(1)
			switch {
			case err == nil || f.ctx.Err() != nil || strings.Contains(string(out), "lock"):
			case strings.Contains(string(out), "valid object"):
				// git prunes what a push has brought and no ref has yet: its manual warns of that. From here on nobody can be told anything good.
				t.Logf("the repository is damaged by its own gc: %s", out)
				f.damaged.Store(true)
				return
			default:
				t.Errorf("gc: %v: %s", err, out)
				return
			}
		}
	})
}

// fight is one run against a real server.
type fight struct {
	seed    uint64
	place   *place
	manner  manner
	assault assault
	// offsets are how wrong the clocks of the users are.
	offsets []time.Duration
	clock   worldClock
	history *history
	beliefs beliefs
	faults  atomic.Int64
	ids     atomic.Int64
	// damaged says that the server has lost objects that refs point to.
	damaged atomic.Bool

	ctx   context.Context
	group sync.WaitGroup

	mu        sync.Mutex
	broken    []string
	noticed   int
	recorders []*recorder
}

// TestProofServers: as TestProofInMemory, with workers that are at it at once, against every kind of server, under the faults that it can have.
func TestProofServers(t *testing.T) {
	for kind := range places {
		for fault, a := range assaults {
			if a.at != "" && !strings.Contains(" "+a.at+" ", " "+kind+" ") {
				continue
			}
			if !tally.Full() && (kind == "git" || fault == "late requests" && kind == "ssh") {
				continue // slow; at full size it is there
			}
			t.Run(kind+"/"+fault, func(t *testing.T) {
				sum := tally.Row{Part: "linearizable", Server: kind, Fault: fault}
				for seed := range fights() {
					sum.Add(wage(t, kind, seed, a, usual(kind, seed)))
				}
				tally.Add(t, sum)
			})
		}
	}
}

// fights is how many runs there are of each kind.
func fights() uint64 {
	if tally.Full() {
		return 2
	}
	return 1
}

// usual is how clocks are at a kind of server: corrected where it tells its Date, otherwise not, or not relied on.
func usual(kind string, seed uint64) manner {
	switch {
	case kind == "http": // git, which asks for us, does not tell it
		return dated
	case kind == "local" || seed%2 == 0:
		return undated
	}
	return observed
}

// wage runs workers against a server, and judges.
func wage(t *testing.T, kind string, seed uint64, a assault, m manner, offsets ...time.Duration) tally.Row {
	t.Helper()
	f := &fight{seed: seed, manner: m, assault: a, offsets: offsets}
	f.place, f.history = places[kind](t, f.clock.Now), newHistory(f.clock.Now)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	f.ctx = ctx
	var workers sync.WaitGroup
	t.Run("at work", func(t *testing.T) { // its end is the end of what the fault has begun
		a.begin(t, f)
		f.group.Go(func() { f.clock.pass(ctx, seed) })
		f.muster(t, &workers)
		workers.Wait()
		cancel()
		f.group.Wait()
	})
	f.broken = append(f.broken, f.atTheEnd(t)...)
	for _, v := range f.broken {
		t.Errorf("seed %d, %s: %s", seed, m, v)
	}
	row := f.history.row(int(f.faults.Load()), len(f.broken))
	row.Noticed = f.noticed
	return row
}

// muster lets the workers begin: two sessions of one clone, one of them with two processes, and one of another, or more.
func (f *fight) muster(t *testing.T, workers *sync.WaitGroup) {
	t.Helper()
	agents := []string{"alice", "bob", "carol"}
	random := rand.New(rand.NewPCG(f.seed, 7))
	for i, agent := range agents {
		off := f.offset(random)
		if i < len(f.offsets) {
			off = f.offsets[i]
		}
		u := f.place.user(t, agent, agent, &machineClock{world: &f.clock, boot: agent, off: off})
		sessions := []string{agent}
		switch agent {
		case "alice":
			sessions = append(sessions, agent)
		case "bob":
			sessions = append(sessions, agent+"-2")
		}
		for n, session := range sessions {
			own := rand.New(rand.NewPCG(f.seed, uint64(10*i+n)))
			workers.Go(func() { f.live(t, u, session, agents, own) })
		}
	}
}

// offset is how wrong a clock is.
func (f *fight) offset(random *rand.Rand) time.Duration {
	switch {
	case f.place.local:
		return 0 // there is one clock
	case f.manner == undated:
		return time.Duration(random.Int64N(int64(grace-4*time.Second))) - (grace/2 - 2*time.Second)
	}
	return time.Duration(random.Int64N(int64(20*time.Minute))) - 10*time.Minute
}

// blows is how much each worker does.
func blows() int {
	if tally.Full() {
		return 40
	}
	return 12
}

// live is what a session does: one process after another, each until it is killed.
func (f *fight) live(t *testing.T, u *user, session string, agents []string, random *rand.Rand) {
	t.Helper()
	for left := blows(); left > 0; {
		w := f.process(t, u, session, agents, random)
		dead := untilKilled(func() {
			for ; left > 0; left-- {
				f.blow(w)
				_ = f.clock.system.Sleep(f.ctx, time.Duration(random.Int64N(int64(40*time.Millisecond))))
			}
		})
		if dead {
			left--
			f.beliefs.die(w.id, f.clock.Now())
			w.local.(*lease.MemoryLocal).Die()
		}
		if err := w.store.Close(); err != nil {
			w.fail("close", err)
		}
	}
}

// blow is one thing that a worker does, in its time.
func (f *fight) blow(w *worker) {
	f.clock.still.RLock()
	defer f.clock.still.RUnlock()
	limit := 30 * time.Second
	if f.assault.hasty && w.random.IntN(3) == 0 {
		limit = 200 * time.Millisecond
	}
	ctx, cancel := context.WithTimeout(f.ctx, limit)
	defer cancel()
	w.act(ctx)
}

func (f *fight) process(t *testing.T, u *user, session string, agents []string, random *rand.Rand) *worker {
	t.Helper()
	id := int(f.ids.Add(1))
	store := newRecorder(u.open(f.place), f.history, id)
	w := &worker{
		id: id, store: store, local: u.local.Process(session), clock: u.clock, h: f.history, held: &f.beliefs, wanted: resources, others: agents, random: random,
		now: f.clock.Now, fail: f.fail,
	}
	terms := lease.Terms{TTL: ttl, Grace: new(time.Duration)}
	*terms.Grace = grace
	if f.manner == observed {
		terms.Expiry = lease.ExpiryObserved
	}
	a, err := lease.New(lease.Options{
		Store: &mortal{Store: store, random: random, kill: f.assault.kill, faults: &f.faults}, Local: w.local, Clock: u.clock, MayCreate: true,
		Holder: lease.Holder{Agent: u.name, Session: session, Host: u.name}, Terms: terms, LocalMode: f.place.local,
	})
	if err != nil {
		t.Fatal(err)
	}
	w.a = a
	f.mu.Lock()
	defer f.mu.Unlock()
	f.recorders = append(f.recorders, store)
	return w
}

func (f *fight) fail(verb string, err error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.damaged.Load() && errors.Is(err, lease.ErrCorrupt) {
		f.noticed++
		return
	}
	f.broken = append(f.broken, fmt.Sprintf("%s: %v", verb, err))
}

// atTheEnd reads what stands once nobody is at it any more, and judges the whole.
func (f *fight) atTheEnd(t *testing.T) []string {
	t.Helper()
	if f.place.http != nil {
		f.place.http.Heal()
	}
	u := f.place.user(t, "reader", "reader", &machineClock{world: &f.clock, boot: "reader"})
	reader := newRecorder(u.open(f.place), f.history, 0)
	defer func() {
		if err := reader.Close(); err != nil {
			t.Error(err)
		}
	}()
	var patterns []string
	for _, res := range resources {
		patterns = append(patterns, refOf(res))
	}
	if _, err := reader.List(t.Context(), patterns...); err != nil {
		t.Fatal(err)
	}
	found := violations(f.history, &f.beliefs)
	return append(found, whole(t, f.history, f.recorders, reader)...)
}
