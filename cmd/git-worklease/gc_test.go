package main

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/git-worklease/git-worklease/internal/gitserver"
	"github.com/git-worklease/git-worklease/lease"
)

// epochs remembers the last epoch of each resource that the server showed.
type epochs map[lease.Resource]struct {
	claim      lease.ClaimID
	generation lease.Generation
}

// look checks that a new epoch has a higher generation than all before it.
func (e epochs) look(t *testing.T, s *site, resources []lease.Resource) {
	t.Helper()
	for _, r := range resources {
		rec := s.record(t, r)
		was := e[r]
		if rec == nil || rec.Claim == was.claim {
			continue
		}
		if rec.Generation <= was.generation {
			t.Fatalf("%s: generation %d after %d", r, rec.Generation, was.generation)
		}
		was.claim, was.generation = rec.Claim, rec.Generation
		e[r] = was
	}
}

// TestRaceOfCollectors: processes claim and release while others collect, and the clock jumps days ahead in between. Claims are granted to one
// each, nobody fails, no generation comes twice, and tombstones go.
func TestRaceOfCollectors(t *testing.T) {
	t.Run("http", func(t *testing.T) {
		s := httpSite(t, gitserver.HTTPOptions{})
		raceCollectors(t, s, s.crowd(t, 6))
	})
	t.Run("path", func(t *testing.T) {
		s := pathSite(t)
		raceCollectors(t, s, s.crowd(t, 6))
	})
	t.Run("local", func(t *testing.T) {
		s, workers := localCrowd(t, 6)
		raceCollectors(t, s, workers)
	})
}

// localCrowd is a clone without a remote, and n sessions in it.
func localCrowd(t *testing.T, n int) (*site, []*worker) {
	t.Helper()
	clock := &worldClock{Clock: &lease.SystemClock{}}
	c, err := gitserver.NewUser(t.TempDir(), noExitPause)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := c.Git(t.Context(), "init", "--quiet"); err != nil {
		t.Fatal(err)
	}
	workers := make([]*worker, n)
	for i := range workers {
		session := *c
		name := fmt.Sprintf("racer%d", i)
		session.Env = append(session.Env[:len(session.Env):len(session.Env)], "WORKLEASE_AGENT="+name, "WORKLEASE_SESSION="+name)
		workers[i] = &worker{Checkout: &session, name: name, clock: clock, world: clock}
	}
	workers[0].must(t, 0, "claim", "task:first") // creates the repository
	repos, err := gitserver.NewRepos(filepath.Join(c.Dir, ".git", "worklease"))
	if err != nil {
		t.Fatal(err)
	}
	return &site{repo: repos.Repo("local"), clock: clock}, workers
}

func raceCollectors(t *testing.T, s *site, workers []*worker) {
	t.Helper()
	resources := []lease.Resource{"port:0", "port:1", "port:2", "port:3", "port:4", "port:5", "port:6"}
	seen := epochs{}
	gone := 0
	for round := range 12 {
		racers := claims(workers[:4], string(resources[round%7]), string(resources[(round+1)%7]))
		for _, w := range workers[4:] {
			racers = append(racers, &racer{worker: w, args: []string{"gc", "--apply", "--retention", "1d", "--json"}})
		}
		race(t, racers)
		for _, r := range racers {
			if r.Code != 0 && r.Code != 3 || r.args[0] == "gc" && r.Code != 0 {
				t.Fatalf("round %d: %s: %v: exit %d\n%s%s", round, r.name, r.args, r.Code, r.Stdout, r.Stderr)
			}
			if r.args[0] == "gc" && !strings.Contains(r.Stdout, `"deleted":0`) {
				gone++
			}
		}
		seen.look(t, s, resources)
		for _, r := range racers[:4] {
			if r.Code == 0 {
				r.must(t, 0, "verify", r.args[1])
				r.must(t, 0, "release")
			}
		}
		s.clock.advance([]time.Duration{25 * time.Hour, 50 * time.Hour, time.Hour, 150 * time.Hour}[round%4])
	}
	if gone == 0 {
		t.Error("nothing was ever collected")
	}
	s.sound(t)
}

// TestKilledCollector: gc is killed at every step of it, and the next one does the rest.
func TestKilledCollector(t *testing.T) {
	s := httpSite(t, gitserver.HTTPOptions{})
	alice := s.worker(t, "alice")
	args := []string{"gc", "--apply", "--retention", "1d"}
	for n := 1; ; n++ {
		keys := []string{fmt.Sprintf("port:%d", n), fmt.Sprintf("task:%d", n)}
		alice.must(t, 0, append([]string{"claim"}, keys...)...)
		alice.must(t, 0, "release")
		s.clock.advance(25 * time.Hour)
		died := dies(t, alice.process(t, fmt.Sprintf("reads=true step=%d", n), args...))
		alice.must(t, 0, args...)
		s.clock.advance(49 * time.Hour)
		died = dies(t, alice.process(t, fmt.Sprintf("reads=true step=%d", n), args...)) || died
		alice.must(t, 0, args...)
		for _, key := range keys {
			if rec := s.record(t, lease.Resource(key)); rec != nil {
				t.Fatalf("step %d: %s is still there", n, key)
			}
		}
		if !died {
			break
		}
	}
	s.sound(t)
}
