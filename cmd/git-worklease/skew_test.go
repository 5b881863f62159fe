package main

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/git-worklease/git-worklease/internal/gitserver"
	"github.com/git-worklease/git-worklease/lease"
)

// TestCase13SkewedClocks: the holder's and the contender's clocks are ten minutes off, each way, and the server's Date sets them right: stamps are
// true, the clock is named, and at no time do both hold the resource.
func TestCase13SkewedClocks(t *testing.T) {
	for _, skews := range [][2]time.Duration{{10, 10}, {10, -10}, {-10, 10}, {-10, -10}, {10, 0}, {0, 10}, {0, -10}} {
		t.Run(fmt.Sprintf("holder %+d min, contender %+d min", skews[0], skews[1]), func(t *testing.T) {
			t.Parallel()
			s := httpSite(t, gitserver.HTTPOptions{})
			alice, bob := s.worker(t, "alice"), s.worker(t, "bob")
			alice.clock = &skewedClock{s.clock, skews[0] * time.Minute}
			bob.clock = &skewedClock{s.clock, skews[1] * time.Minute}
			bob.must(t, 0, "claim", "task:first")
			for i, key := range []string{"task:cold", "task:warm"} { // the server's Date is known before the claim, and only after it
				s.clock.advance(time.Second)
				named(t, alice.must(t, 0, "claim", key, "--ttl", "2m"), skews[0] != 0)
				s.stamped(t, lease.Resource(key))
				named(t, bob.must(t, 3, "claim", key), skews[1] != 0)
				s.handOver(t, alice, bob, key)
				if rec := s.record(t, lease.Resource(key)); rec.Generation != 2 {
					t.Fatalf("%d: %s", i, brief(rec))
				}
			}
		})
	}
}

// named checks whether a command has named the machine's clock as wrong.
func named(t *testing.T, r *ran, wrong bool) {
	t.Helper()
	says := strings.Contains(strings.Join(r.doc.Notices, "\n"), "clock is 10 min")
	if says != wrong {
		t.Fatalf("%v: notices %q", r.args, r.doc.Notices)
	}
}

// stamped checks that a record's stamps are those of the server's clock.
func (s *site) stamped(t *testing.T, r lease.Resource) {
	t.Helper()
	rec := s.record(t, r)
	if off := s.clock.Now().Sub(rec.RenewedAt).Abs(); off > 15*time.Second {
		t.Fatalf("%s: the stamp is %s off: %s", r, off, brief(rec))
	}
}

// handOver lets time pass until the contender has the resource. The holder's proof must have ended before that.
func (s *site) handOver(t *testing.T, alice, bob *worker, key string) {
	t.Helper()
	expired := false
	for range 30 {
		s.clock.advance(15 * time.Second)
		verified := alice.do(t, "verify", key).Code
		claimed := bob.do(t, "claim", key).Code
		switch {
		case claimed == 0 && verified == 0, claimed != 0 && claimed != 3:
			t.Fatalf("alice's verify: exit %d, bob's claim: exit %d", verified, claimed)
		case claimed == 0 && !expired:
			t.Fatal("bob had it before alice could know that it had expired")
		case claimed == 0:
			alice.must(t, 4, "renew", key)
			return
		}
		expired = expired || verified == 4
	}
	t.Fatal("bob never got it")
}

// TestCase13WithoutDate: over a path nothing corrects clocks. By observation a claim is still never taken too early.
func TestCase13WithoutDate(t *testing.T) {
	for _, skew := range []time.Duration{20, -20} {
		t.Run(fmt.Sprintf("%+d min", skew), func(t *testing.T) {
			s := pathSite(t)
			alice, bob := s.worker(t, "alice"), s.worker(t, "bob", "WORKLEASE_EXPIRY=observed", "WORKLEASE_GRACE=30s")
			bob.clock = &skewedClock{s.clock, skew * time.Minute}
			alice.must(t, 0, "claim", "task:demo", "--ttl", "2m", "--grace", "30s")
			s.handOver(t, alice, bob, "task:demo")
		})
	}
}
