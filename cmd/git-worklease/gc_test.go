package main

import (
	"fmt"
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
		s := localSite(t)
		raceCollectors(t, s, s.crowd(t, 6))
	})
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

// TestProofCollectorKilledAtEveryStep: gc is killed at every step of it, and the next one does the rest.
func TestProofCollectorKilledAtEveryStep(t *testing.T) {
	everywhere(t, []string{"http", "path", "ssh", "local"}, func(t *testing.T, kind string) { sites[kind](t).killCollectors(t) })
}

func (s *site) killCollectors(t *testing.T) {
	t.Helper()
	alice := s.worker(t, "alice")
	book := s.account(t, "kill points", "SIGKILL in gc")
	args := []string{"gc", "--apply", "--retention", "1d"}
	dies := func(n int) bool {
		died := dies(t, alice.process(t, fmt.Sprintf("reads=true step=%d", n), args...))
		if died {
			book.struck(-1)
		}
		return died
	}
	for n := 1; ; n++ {
		keys := []string{fmt.Sprintf("port:%d", n), fmt.Sprintf("task:%d", n)}
		alice.must(t, 0, append([]string{"claim"}, keys...)...)
		alice.must(t, 0, "release")
		s.clock.advance(25 * time.Hour)
		died := dies(n)
		alice.must(t, 0, args...)
		s.clock.advance(longer[s.kind])
		died = dies(n) || died
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

// longer is for how long a floor must have stood before gc deletes: where nothing corrects the clocks, for six days.
var longer = map[string]time.Duration{"http": 49 * time.Hour, "git": 7 * 24 * time.Hour, "path": 7 * 24 * time.Hour, "ssh": 7 * 24 * time.Hour, "local": 7 * 24 * time.Hour}
