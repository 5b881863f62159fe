package main

import (
	"bytes"
	"fmt"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/git-worklease/git-worklease/internal/gitserver"
	"github.com/git-worklease/git-worklease/lease"
)

// racer is one process of a race.
type racer struct {
	*worker
	args []string
	// environ is added to the worker's.
	environ []string
	cmd     *exec.Cmd
	out     [2]bytes.Buffer
	ran
}

// race starts all processes at once and waits for them.
func race(t *testing.T, racers []*racer) {
	t.Helper()
	startRace(t, racers)
	for _, r := range racers {
		r.wait()
	}
}

// startRace starts all processes at once.
func startRace(t *testing.T, racers []*racer) {
	t.Helper()
	for _, r := range racers {
		r.cmd = r.process(t, "", r.args...)
		r.cmd.Env = append(r.cmd.Env, r.environ...)
		r.cmd.Stdout, r.cmd.Stderr = &r.out[0], &r.out[1]
	}
	for _, r := range racers {
		if err := r.cmd.Start(); err != nil {
			t.Fatal(err)
		}
	}
}

// wait waits for a process.
func (r *racer) wait() {
	_ = r.cmd.Wait() // the status tells
	r.ran = ran{args: r.args, Result: gitserver.Result{Stdout: r.out[0].String(), Stderr: r.out[1].String(), Code: r.cmd.ProcessState.ExitCode()}}
}

// crowd makes n workers with clones of their own.
func (s *site) crowd(t *testing.T, n int, env ...string) []*worker {
	t.Helper()
	workers := make([]*worker, n)
	for i := range workers {
		workers[i] = s.worker(t, fmt.Sprintf("racer%d", i), env...)
	}
	return workers
}

// claims makes racers of workers. The key of each is that of the list at its place, counted round.
func claims(workers []*worker, keys ...string) []*racer {
	racers := make([]*racer, len(workers))
	for i, w := range workers {
		racers[i] = &racer{worker: w, args: append([]string{"claim"}, strings.Fields(keys[i%len(keys)])...)}
	}
	return racers
}

// oneWinner checks that one racer holds the resource and that all others were refused and told by whom.
func (s *site) oneWinner(t *testing.T, r lease.Resource, racers []*racer) *racer {
	t.Helper()
	var winner *racer
	for _, r := range racers {
		if r.Code == 0 && winner == nil {
			winner = r
		} else if r.Code != 3 {
			t.Fatalf("%s: exit %d beside a winner or for no reason:\n%s%s", r.name, r.Code, r.Stdout, r.Stderr)
		}
	}
	if winner == nil {
		t.Fatalf("all %d were refused: %s", len(racers), racers[0].Stderr)
	}
	if rec := s.record(t, r); rec == nil || rec.Holder.Agent != winner.name || rec.Released() {
		t.Fatalf("%s won, and at the server stands %s", winner.name, brief(rec))
	}
	for _, other := range racers {
		if other != winner && !strings.Contains(other.Stderr, "held by "+winner.name+"/") {
			t.Fatalf("%s was refused without being told by whom:\n%s", other.name, other.Stderr)
		}
	}
	return winner
}

// forget makes servers and clones look as if nothing had ever been claimed.
func (s *site) forget(t *testing.T, workers []*worker) {
	t.Helper()
	var dels strings.Builder
	for line := range strings.Lines(s.git(t, "for-each-ref", "--format=%(refname)", lease.DefaultPrefix)) {
		fmt.Fprintf(&dels, "delete %s\n", strings.TrimSpace(line))
	}
	if _, err := s.repo.Pipe(t.Context(), []byte(dels.String()), "update-ref", "--stdin"); err != nil {
		t.Fatal(err)
	}
	for _, w := range workers {
		w.forget(t)
	}
}

// TestCase01OneOfTwenty: twenty processes in twenty clones claim one resource at once over http, twenty times: where nothing was ever claimed
// and the authority itself has to be created, where the resource is new, and where it was just released.
func TestCase01OneOfTwenty(t *testing.T) {
	s := httpSite(t, gitserver.HTTPOptions{})
	workers := s.crowd(t, 20)
	before := cleanlinessOf(t, workers)
	const demo = lease.Resource("task:demo")
	for round := range 20 {
		resource, generation := demo, lease.Generation(1)
		switch {
		case round < 7:
			s.forget(t, workers)
		case round < 14:
			resource = lease.Resource(fmt.Sprintf("task:round-%d", round))
		default:
			generation = lease.Generation(round - 14 + 2)
		}
		racers := claims(workers, string(resource))
		race(t, racers)
		winner := s.oneWinner(t, resource, racers)
		if got := s.record(t, resource).Generation; got != generation {
			t.Fatalf("round %d: generation %d, want %d", round, got, generation)
		}
		winner.must(t, 0, "release", string(resource))
	}
	before.unchanged(t, workers)
	s.sound(t)
}

// TestRaceOfBundles: overlapping bundles, named in different orders. Nobody waits for ever, whoever holds has a whole bundle, and no two
// have a resource in common.
func TestRaceOfBundles(t *testing.T) {
	s := httpSite(t, gitserver.HTTPOptions{})
	workers := s.crowd(t, 8)
	workers[0].must(t, 0, "claim", "task:first")
	for name, bundles := range map[string][]string{
		"two ways round": {"port:1 port:2", "port:2 port:1"},
		"in a ring":      {"port:1 port:2", "port:2 port:3", "port:3 port:1"},
		"of three":       {"port:1 port:2 port:3", "port:3 port:2", "port:2 port:4", "port:4 port:1"},
	} {
		t.Run(name, func(t *testing.T) {
			for range 3 {
				racers := claims(workers, bundles...)
				race(t, racers)
				s.disjoint(t, racers)
				for _, r := range racers {
					if r.Code == 0 {
						r.must(t, 0, "release", r.args[1])
					}
				}
			}
		})
	}
	s.sound(t)
}

// disjoint checks that at least one racer holds its whole bundle and that nobody holds a part of another's.
func (s *site) disjoint(t *testing.T, racers []*racer) {
	t.Helper()
	holders := map[string]string{}
	for _, r := range racers {
		switch r.Code {
		case 0:
			for _, key := range r.args[1:] {
				if other := holders[key]; other != "" {
					t.Fatalf("%s and %s both hold %s", other, r.name, key)
				}
				holders[key] = r.name
			}
		case 3:
		default:
			t.Fatalf("%s: %v: exit %d\n%s%s", r.name, r.args, r.Code, r.Stdout, r.Stderr)
		}
	}
	if len(holders) == 0 {
		t.Fatal("nobody won")
	}
	for _, key := range []string{"port:1", "port:2", "port:3", "port:4"} {
		rec := s.record(t, lease.Resource(key))
		switch holder := holders[key]; {
		case holder == "" && rec != nil && !rec.Released():
			t.Fatalf("%s holds %s at the server, and was refused", rec.Holder.Agent, key)
		case holder != "" && (rec == nil || rec.Released() || rec.Holder.Agent != holder):
			t.Fatalf("%s won %s, and at the server stands %s", holder, key, brief(rec))
		}
	}
}

// TestRaceElsewhere: one winner over a path and through the system's git as well, cold and warm.
func TestRaceElsewhere(t *testing.T) {
	for name, c := range map[string]struct {
		site    func(t *testing.T) *site
		racers  int
		environ []string
	}{
		"path": {func(t *testing.T) *site { t.Helper(); return pathSite(t) }, 12, nil},
		"git over http": {func(t *testing.T) *site { t.Helper(); return httpSite(t, gitserver.HTTPOptions{}) },
			6, []string{"WORKLEASE_TRANSPORT=git"}},
		"git over a path": {func(t *testing.T) *site { t.Helper(); return pathSite(t) }, 6, []string{"WORKLEASE_TRANSPORT=git"}},
	} {
		t.Run(name, func(t *testing.T) {
			s := c.site(t)
			workers := s.crowd(t, c.racers, c.environ...)
			for range 3 {
				racers := claims(workers, "task:demo")
				race(t, racers)
				s.oneWinner(t, "task:demo", racers).must(t, 0, "release")
			}
			s.sound(t)
		})
	}
}

// TestCase03EqualCommits: two clones claim with the same names at the same instant, so that nothing tells their records apart but the key of
// each claim. Both push without having looked, and one of them is refused.
func TestCase03EqualCommits(t *testing.T) {
	s := httpSite(t, gitserver.HTTPOptions{})
	clock := &stoppedClock{Clock: s.clock, at: s.clock.Now()}
	twins := []*worker{s.worker(t, "twin"), s.worker(t, "twin")}
	for i, w := range twins {
		w.clock = clock
		w.must(t, 0, "claim", fmt.Sprintf("task:warm-%d", i)) // from now on it knows the server
	}
	first := twins[0].must(t, 0, "claim", "task:demo")
	pushes := s.pushes()
	twins[1].must(t, 3, "claim", "task:demo")
	if s.pushes() == pushes {
		t.Fatal("the second did not push, so nothing was put to the test")
	}
	if got, want := s.record(t, "task:demo").Claim, first.claimed(t).Claim; got != want {
		t.Fatalf("the server has claim %s, the winner %s", got, want)
	}
	twins[1].must(t, 4, "verify", "task:demo")
	twins[0].must(t, 0, "verify", "task:demo")
}

// TestCase05LoserTouchesNothing: whoever loses, at whatever point, leaves the winner's record as it was.
func TestCase05LoserTouchesNothing(t *testing.T) {
	s := httpSite(t, gitserver.HTTPOptions{})
	alice, bob := s.worker(t, "alice"), s.worker(t, "bob")
	alice.must(t, 0, "claim", "task:warm")
	bob.must(t, 0, "claim", "task:warm-too")

	t.Run("a bundle that can't be had", func(t *testing.T) {
		bob.must(t, 0, "claim", "port:2")
		won := s.tip(t, "port:2")
		alice.must(t, 3, "claim", "port:1", "port:2", "port:3")
		if got := s.tip(t, "port:2"); got != won {
			t.Fatalf("port:2 went from %s to %s", won, got)
		}
		for _, free := range []lease.Resource{"port:1", "port:3"} {
			if rec := s.record(t, free); rec != nil {
				t.Fatalf("something is left on %s: %s", free, brief(rec))
			}
		}
	})
	t.Run("a claim that was taken over", func(t *testing.T) {
		alice.must(t, 0, "claim", "task:demo", "task:other", "--ttl", "10s", "--grace", "0s")
		bob.must(t, 3, "claim", "task:demo")
		s.clock.advance(time.Minute)
		bob.must(t, 0, "claim", "task:demo")
		won := s.tip(t, "task:demo")
		alice.must(t, 4, "release", "task:demo")
		alice.must(t, 4, "renew", "task:other")
		if got := s.tip(t, "task:demo"); got != won {
			t.Fatalf("the loser moved the winner's ref from %s to %s", won, got)
		}
		if rec := s.record(t, "task:other"); !rec.Released() || rec.Holder.Agent != "alice" {
			t.Fatalf("the rest of the lost claim was not given back: %s", brief(rec))
		}
		bob.must(t, 0, "verify", "task:demo")
	})
}

// TestProofCase06ReplyLost: each verb's write lands, and its reply does not come. The verb ends as it would have with the reply.
func TestProofCase06ReplyLost(t *testing.T) {
	s := httpSite(t, gitserver.HTTPOptions{})
	alice, bob := s.worker(t, "alice"), s.worker(t, "bob")
	book := s.account(t, "troubles", "reply lost after the swap")
	for _, key := range []string{"task:first", "task:second"} { // without and with knowledge of the server
		for _, args := range [][]string{{"claim", key}, {"renew", key}, {"release", key}} {
			s.http.Inject(gitserver.Fault{When: gitserver.Push, Nth: 1, Do: gitserver.LoseReply})
			book.struck(alice.must(t, 0, args...).Code)
			s.http.Heal()
			if args[0] == "release" {
				continue
			}
			alice.must(t, 0, "verify", key)
			bob.must(t, 3, "claim", key)
		}
		if rec := s.record(t, lease.Resource(key)); !rec.Released() || rec.Revision != 3 {
			t.Fatalf("%s: %d writes, released: %t", key, rec.Revision, rec.Released())
		}
	}
	s.sound(t)
}

// tip is the object at a resource's ref.
func (s *site) tip(t *testing.T, r lease.Resource) string {
	t.Helper()
	return s.git(t, "rev-parse", lease.DefaultPrefix+"claims/"+lease.EncodeName(string(r)))
}
