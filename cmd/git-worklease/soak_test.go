package main

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/git-worklease/git-worklease/internal/gitserver"
)

// TestSoak: thirty sessions in thirty linked worktrees of one clone, half of them over http and half over ssh to the same repository. Each claims what
// is its own and what all want, has a keeper keep it, verifies, renews, is refused, releases, and is sometimes killed. Nobody may hold what
// another living session holds, no living session may lose anything, and no command may fail.
//
// SOAK says for how long, such as 5m; without it, it is a few seconds with fewer sessions. `make soak` prints the figures.
func TestSoak(t *testing.T) {
	sessions, span := 6, 6*time.Second
	if text := os.Getenv("SOAK"); text != "" {
		var err error
		if span, err = time.ParseDuration(text); err != nil {
			t.Fatal(err)
		}
		sessions = 30
	}
	k := newSoak(t, sessions)
	k.patient = os.Getenv("SOAK") == ""
	began := time.Now()
	k.until = began.Add(span)
	var group sync.WaitGroup
	for i, w := range k.workers {
		group.Go(func() {
			_ = w.clock.Sleep(t.Context(), span/4*time.Duration(i)/time.Duration(sessions)) // they don't all come at once
			for round := 0; time.Now().Before(k.until) && !t.Failed(); round++ {
				k.life(w, fmt.Sprintf("%s-%d", w.name, round), rand.New(rand.NewPCG(uint64(i), uint64(round)))) //nolint:gosec // not for secrets
			}
		})
	}
	group.Wait()
	k.report(time.Since(began))
	k.site.sound(t)
}

// soak is one soak: where it happens, and who holds what.
type soak struct {
	t       *testing.T
	site    *site
	clone   *worker
	workers []*worker
	until   time.Time
	// patient: claims last for minutes, so that a busy machine that runs other tests doesn't let them lapse.
	patient bool
	umpire  umpire
	// The figures.
	commands, claims, refusals, renewals, takeovers, deaths, failures atomic.Int64
}

func newSoak(t *testing.T, sessions int) *soak {
	t.Helper()
	s := httpSite(t, gitserver.HTTPOptions{})
	ssh := gitserver.TestSSH(t, gitserver.SSHOptions{Repos: s.http.Repos})
	clone := s.worker(t, "agents", append(ssh.Env(), "XDG_RUNTIME_DIR="+shortDir(t), "WORKLEASE_GRACE=2s", "WORKLEASE_TIMEOUT=60s")...)
	clone.must(t, 0, "claim", "task:first")
	clone.must(t, 0, "release", "task:first")
	k := &soak{t: t, site: s, clone: clone, workers: clone.worktrees(t, sessions), umpire: umpire{held: map[string]holding{}}}
	for i, w := range k.workers {
		if i%2 == 1 {
			w.Env = append(w.Env, "WORKLEASE_REMOTE="+ssh.URL("app"))
		}
	}
	return k
}

// life is one session, from its first claim to its release or death.
func (k *soak) life(w *worker, session string, random *rand.Rand) {
	there := *w.Checkout
	there.Env = append(slices.Clone(w.Env), "WORKLEASE_SESSION="+session)
	l := &living{soak: k, worker: &worker{Checkout: &there, name: session, clock: w.clock, world: w.world}, random: random, ttl: 30 + random.IntN(61), pause: 15 * time.Second}
	if k.patient {
		l.ttl, l.pause = 10*l.ttl, time.Second
	}
	own := "task:own-" + session
	if !l.claim(own) {
		k.t.Errorf("%s was refused what nobody else wants", session)
		return
	}
	keeper := l.worker.keeper(k.t, "--json")
	said := make(chan []string, 1)
	go func() { said <- keeper.drain() }()
	for range 2 + random.IntN(3) {
		l.think()
		l.work(own)
	}
	if random.IntN(4) == 0 {
		k.deaths.Add(1)
		k.umpire.dies(session)
		_ = keeper.cmd.Process.Kill()
	} else {
		k.umpire.leaves(session)
		l.expect(0, "release")
		_ = keeper.cmd.Process.Signal(syscall.SIGTERM)
	}
	k.judge(session, <-said, keeper)
}

// judge checks what a keeper said and how it ended.
func (k *soak) judge(session string, said []string, keeper *keeperProcess) {
	for _, line := range said {
		switch {
		case strings.Contains(line, `"event":"renewed"`):
			k.renewals.Add(1)
		case strings.Contains(line, `"event":"over"`) && strings.Contains(line, `"reason":"not-held"`): // released
		case strings.Contains(line, `"event":"failed"`): // it is tried again
			k.failures.Add(1)
			k.t.Logf("the keeper of %s: %s", session, line)
		default:
			k.t.Errorf("the keeper of %s: %s", session, line)
		}
	}
	if err := keeper.cmd.Wait(); err != nil && keeper.cmd.ProcessState.ExitCode() != -1 {
		k.t.Errorf("the keeper of %s: %v", session, err)
	}
}

// living is a session that works.
type living struct {
	*soak
	worker *worker
	random *rand.Rand
	// ttl is in seconds.
	ttl   int
	pause time.Duration
}

// work is one piece of work: something that all want, if it can be had, beside what is the session's own.
func (l *living) work(own string) {
	shared := fmt.Sprintf("task:shared-%d", l.random.IntN(len(l.workers)/4+1))
	had := l.claim(shared)
	l.expect(0, "verify", own)
	if l.random.IntN(2) == 0 {
		l.expect(0, "renew")
	}
	if !had {
		return
	}
	l.expect(0, "verify", shared)
	if l.random.IntN(2) == 0 {
		l.umpire.leave(l.worker.name, shared)
		l.expect(0, "release", shared)
	}
}

// think is what a worker does between two commands. Sessions that did not would only measure how many processes the machine can start.
func (l *living) think() {
	_ = l.worker.clock.Sleep(l.t.Context(), l.pause/4+time.Duration(l.random.Int64N(int64(l.pause))))
}

// expect runs a command that must end with the given status.
func (l *living) expect(code int, args ...string) {
	if r := l.run(args...); r.Code != code {
		l.t.Errorf("%s: %v: exit %d instead of %d\n%s%s", l.worker.name, args, r.Code, code, r.Stdout, r.Stderr)
	}
}

// run runs a command in a process of its own.
func (l *living) run(args ...string) gitserver.Result {
	l.commands.Add(1)
	var out, err strings.Builder
	cmd := l.worker.process(l.t, "", args...)
	cmd.Stdout, cmd.Stderr = &out, &err
	_ = cmd.Run() // its status tells
	return gitserver.Result{Stdout: out.String(), Stderr: err.String(), Code: cmd.ProcessState.ExitCode()}
}

// claim claims one resource, and says whether that was granted.
func (l *living) claim(key string) bool {
	r := l.run("claim", key, "--ttl", fmt.Sprintf("%ds", l.ttl))
	switch r.Code {
	case 0:
		l.claims.Add(1)
		switch was, err := l.umpire.enter(l, key); {
		case err != nil:
			l.t.Errorf("%v; asked whether it still holds it, the first ends with exit %d", err, was.run("verify", key).Code)
		case was != nil:
			l.takeovers.Add(1)
		}
		return true
	case 3:
		l.refusals.Add(1)
	default:
		l.t.Errorf("%s: claim %s: exit %d\n%s%s", l.worker.name, key, r.Code, r.Stdout, r.Stderr)
	}
	return false
}

// report checks what the clone keeps, and prints the figures.
func (k *soak) report(took time.Duration) {
	k.t.Helper()
	if data, err := os.ReadFile(filepath.Join(k.clone.Dir, ".git", "worklease", "pushes")); err != nil {
		k.t.Error(err)
	} else {
		pushes := strings.Count(string(data), "\n")
		k.t.Logf("%d sessions, %s: %d commands, %d claims, %d refusals, %d take-overs, %d deaths, %d renewals by keepers, %d of which needed another try; %d pushes, %.0f a minute",
			len(k.workers), took.Round(time.Second), k.commands.Load(), k.claims.Load(), k.refusals.Load(), k.takeovers.Load(), k.deaths.Load(),
			k.renewals.Load(), k.failures.Load(), pushes, float64(pushes)/took.Minutes())
		if pushes < k.site.pushes() {
			k.t.Errorf("%d pushes were counted, and the http server alone had %d", pushes, k.site.pushes())
		}
	}
	if left, err := os.ReadDir(filepath.Join(k.clone.Dir, ".git", "worklease", "pending")); err != nil || len(left) > 2*int(k.deaths.Load()) {
		k.t.Errorf("pending: %v, %v", left, err)
	}
}

// umpire knows who holds what, as the sessions were told.
type umpire struct {
	mu   sync.Mutex
	held map[string]holding
}

// holding is a resource in somebody's hands.
type holding struct {
	by *living
	// died is when the holder was killed; zero while it lives.
	died time.Time
}

// enter notes that a session was granted a resource. It is a double hold where another living session has it, and a robbery where a dead one's time
// can't be up. was is the session that had it until now, if another did.
func (r *umpire) enter(l *living, key string) (was *living, err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	before, found := r.held[key]
	r.held[key] = holding{by: l}
	if !found || before.by == l {
		return nil, nil //nolint:nilnil // nobody had it
	}
	was = before.by
	switch dead := time.Since(before.died); {
	case before.died.IsZero():
		err = fmt.Errorf("%w: %s was granted %s, and %s lives and was not told that it lost it", errFoul, l.worker.name, key, was.worker.name)
	case dead < time.Duration(was.ttl)*time.Second/3:
		err = fmt.Errorf("%w: %s took %s %s after the death of %s", errFoul, l.worker.name, key, dead, was.worker.name)
	}
	return was, err
}

var errFoul = errors.New("foul")

// leave notes that a session is about to give a resource back.
func (r *umpire) leave(session, key string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if h, found := r.held[key]; found && h.by.worker.name == session {
		delete(r.held, key)
	}
}

// leaves is leave for all that a session holds.
func (r *umpire) leaves(session string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for key, h := range r.held {
		if h.by.worker.name == session {
			delete(r.held, key)
		}
	}
}

// dies notes the death of a session.
func (r *umpire) dies(session string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for key, h := range r.held {
		if h.by.worker.name == session {
			h.died = time.Now()
			r.held[key] = h
		}
	}
}
