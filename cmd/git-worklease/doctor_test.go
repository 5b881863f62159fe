package main

import (
	"bytes"
	"context"
	"fmt"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/git-worklease/git-worklease/refstore"
)

// TestDoctorKilledAtEveryStep: what a killed doctor leaves is no claim, and is gone after the first run of the day after.
func TestDoctorKilledAtEveryStep(t *testing.T) {
	t.Parallel()
	s := pathSite(t)
	alice := s.worker(t, "alice")
	alice.must(t, 0, "claim", "task:a", "--ttl", "24h")
	before := s.git(t, "for-each-ref")
	left := 0
	for n := 1; ; n++ {
		died := dies(t, alice.process(t, fmt.Sprintf("step=%d", n), "doctor"))
		after := s.git(t, "for-each-ref")
		if !died {
			if after != before {
				t.Errorf("a run to the end has changed refs:\n%s\ninstead of\n%s", after, before)
			}
			break
		}
		if after == before {
			continue
		}
		left++
		if r := alice.must(t, 0, "list"); strings.Contains(r.Stdout, "probes") {
			t.Errorf("step %d: %s", n, r.Stdout)
		}
		if left == 1 {
			alice.must(t, 0, "doctor")
			if got := s.git(t, "for-each-ref"); got != after {
				t.Errorf("step %d: refs of a run that may go on were swept:\n%s\ninstead of\n%s", n, got, after)
			}
		}
		s.clock.advance(25 * time.Hour)
		if r := alice.must(t, 0, "doctor"); !strings.Contains(r.Stdout, "that was killed deleted") {
			t.Errorf("step %d: nothing is said of what was swept:\n%s", n, r.Stdout)
		}
		if got := s.git(t, "for-each-ref"); got != before {
			t.Errorf("step %d: after a day there is\n%s\ninstead of\n%s", n, got, before)
		}
	}
	if left < 3 {
		t.Errorf("%d kills left something behind", left)
	}
}

// interruptedStore ends the run's context before the n-th swap, or right after it.
type interruptedStore struct {
	refstore.Store
	n    int64
	late bool
	done *atomic.Int64
	stop func()
}

func (s interruptedStore) Swap(ctx context.Context, tx *refstore.Tx, ours func(refstore.Ref) bool) error {
	now := s.done.Add(1) == s.n
	if now && !s.late {
		s.stop()
	}
	err := s.Store.Swap(ctx, tx, ours)
	if now && s.late {
		s.stop()
	}
	return err
}

// TestDoctorInterrupted: Ctrl-C at any swap of the probe leaves no ref behind, and is exit 130.
func TestDoctorInterrupted(t *testing.T) {
	t.Parallel()
	s := pathSite(t)
	alice := s.worker(t, "alice")
	before := s.git(t, "for-each-ref")
	for n := int64(1); n <= 5; n++ {
		for _, late := range []bool{false, true} {
			ctx, stop := context.WithCancel(t.Context())
			var out bytes.Buffer
			e := &env{
				args: []string{"doctor"}, in: strings.NewReader(""), out: &out, err: &out, environ: alice.Env, dir: alice.Dir, clock: alice.clock, version: "test",
				store: func(st refstore.Store) refstore.Store { return interruptedStore{st, n, late, &atomic.Int64{}, stop} },
			}
			if code := execute(ctx, e); code != 130 || !strings.Contains(out.String(), "interrupted") {
				t.Errorf("swap %d: exit %d\n%s", n, code, &out)
			}
			stop()
			if got := s.git(t, "for-each-ref"); got != before {
				t.Errorf("swap %d: there is\n%s\ninstead of\n%s", n, got, before)
			}
		}
	}
}

// TestDoctorOnReadOnlyRemote: who may not write is told so, reading goes on, and nothing else is called a problem.
func TestDoctorOnReadOnlyRemote(t *testing.T) {
	u := newPlainUser(t)
	u.run(0, "claimed task:a", "claim", "task:a")
	repo := filepath.Join(filepath.Dir(filepath.Dir(u.Dir)), "server", "app.git")
	open := u.closeTree(repo)
	u.run(6, "1 resource held", "doctor")
	u.run(0, "not tried: --no-write", "doctor", "--no-write")
	open()
	u.run(0, "refs below refs/worklease/ can be written", "doctor")
}

// TestDoctorOnClosedState: a state folder that can't be written or read is named, and the remote is examined nevertheless.
func TestDoctorOnClosedState(t *testing.T) {
	u := newPlainUser(t)
	u.run(0, "claimed task:a", "claim", "task:a")
	open := u.closeTree(filepath.Join(u.Dir, ".git", "worklease"))
	u.run(2, "git config worklease.stateDir PATH", "doctor")
	u.run(2, "the remote answers", "doctor")
	open()
	sessions := filepath.Join(u.Dir, ".git", "worklease", "sessions")
	u.mode(sessions, 0)
	u.run(2, "permission denied", "doctor")
	u.mode(sessions, 0o700)
}
