package main

import (
	"fmt"
	"testing"

	"github.com/git-worklease/git-worklease/lease"
)

// TestProofMoveKilledAtEveryStep: SIGKILL at each step of handing a claim to another session. Exactly one of the two has it once somebody has
// looked, whichever comes first, and it is that one's to release.
func TestProofMoveKilledAtEveryStep(t *testing.T) {
	everywhere(t, []string{"path", "http", "ssh", "local"}, func(t *testing.T, kind string) { sites[kind](t).killMoves(t) })
}

func (s *site) killMoves(t *testing.T) {
	t.Helper()
	alice, bob := s.worker(t, "alice"), s.worker(t, "bob")
	bob.must(t, 0, "claim", "task:first")
	book := s.account(t, "kill points", "SIGKILL in move")
	steps := 0
	for died := true; died; steps++ {
		key := fmt.Sprintf("task:%d", steps)
		alice.must(t, 0, "claim", "--session", "one", key)
		died = dies(t, alice.process(t, fmt.Sprintf("step=%d reads=%t", steps+1, thorough()), "release", "--session", "one", "--to-session", "two", key))
		if died {
			book.struck(-1)
		}
		looks := []string{"one", "two"}
		if steps%2 == 1 {
			looks = []string{"two", "one"}
		}
		var holders []string
		for _, session := range looks {
			r := alice.do(t, "renew", "--session", session, key)
			switch {
			case r.Code == 0:
				holders = append(holders, session)
			case r.Code != 4 || r.doc.Error.Reason != "not-held":
				t.Fatalf("step %d: renew by %s: exit %d\n%s", steps+1, session, r.Code, r.Stdout)
			}
		}
		if len(holders) != 1 {
			t.Fatalf("step %d: %q hold it", steps+1, holders)
		}
		if rec := s.record(t, lease.Resource(key)); rec.Generation != 1 || rec.Released() {
			t.Fatalf("step %d: %s", steps+1, brief(rec))
		}
		alice.must(t, 0, "release", "--session", holders[0], key)
	}
	if steps < 8 {
		t.Errorf("only %d steps", steps)
	}
}
