package session_test

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/git-worklease/git-worklease/internal/session"
	"github.com/git-worklease/git-worklease/lease"
)

// move makes the intent of handing a claim of one session to another.
func move(from, to string, revision uint64, resources ...lease.Resource) *lease.Intent {
	i := intent("a", resources...)
	i.Verb, i.Session, i.Hold.Holder.Session, i.Hold.Revision = lease.VerbMove, from, to, revision
	return i
}

// end is a claim as the file has it once it was handed on.
func end(i *lease.Intent) lease.Hold {
	h := i.Hold
	h.Holder.Session, h.Key = i.Session, nil
	h.End = &lease.End{How: lease.EndMoved, At: h.RenewedAt, Reason: i.Hold.Holder.Session}
	return h
}

// TestMoveBetweenFiles: the claim ends in one file and stands in the other, and back. On whose behalf it is used there is not known, so that
// nobody is taken for another worker.
func TestMoveBetweenFiles(t *testing.T) {
	owner := clone(t)
	o := options(owner, "a")
	o.Process = session.Claimant{PID: os.Getpid(), Start: "now", Name: "agent"}
	a, err := session.Open(o)
	must(t, err)
	o.Process = session.Claimant{PID: 1, Start: "then", Name: "other"}
	o.Session = "b"
	b, err := session.Open(o)
	must(t, err)
	must(t, a.SaveHold(hold("a", "task:1")))
	must(t, a.SaveHold(hold("a", "task:2")))
	for n, s := range []*session.State{a, b, a} {
		from, to := "a", "b"
		if s == b {
			from, to = "b", "a"
		}
		i := move(from, to, uint64(n+2), "task:1") //nolint:gosec // small
		must(t, s.Begin(i))
		must(t, s.SaveHold(i.Hold))
		must(t, s.SaveHold(end(i)))
		must(t, s.End(i))
		stale := hold("a", "task:1")
		stale.Holder.Session, stale.Revision = from, i.Hold.Revision
		must(t, s.SaveHold(stale)) // of a process that does not know it yet
		for name, st := range map[string]*session.State{"a": a, "b": b} {
			holds, err := st.Holds()
			must(t, err)
			at := slices.IndexFunc(holds, func(h lease.Hold) bool { return h.Claim == i.Hold.Claim })
			if at < 0 || (holds[at].End == nil) != (name == to) || (len(holds[at].Key) > 0) != (name == to) {
				t.Fatalf("move %d: %s has %+v", n, name, holds)
			}
			if name == to && at != len(holds)-1 {
				t.Errorf("move %d: it is not the newest of %s", n, name)
			}
			if err := st.CheckClaimant(processes{}, []lease.Resource{"task:1"}); err != nil {
				t.Errorf("move %d: %v", n, err)
			}
		}
	}
}

// processes are all alive.
type processes struct{}

func (processes) Lookup(pid int) (session.Process, bool) {
	return session.Process{PID: pid, Start: map[bool]string{true: "now", false: "then"}[pid == os.Getpid()]}, true
}

// TestMoveLeftBehind: another session ends what a dead one began, and on whose behalf the claim is used stays unknown.
func TestMoveLeftBehind(t *testing.T) {
	owner := clone(t)
	a, c := openState(t, owner, "a"), openState(t, owner, "c")
	must(t, a.SaveHold(hold("a", "task:1")))
	i := move("a", "b", 2, "task:1")
	must(t, a.Begin(i))
	must(t, a.Leave(i))
	left, _, err := c.Pending("task:1")
	must(t, err)
	if len(left) != 1 || left[0].Session != "a" || left[0].Hold.Holder.Session != "b" {
		t.Fatalf("%+v", left)
	}
	must(t, c.SaveHold(left[0].Hold))
	must(t, c.SaveHold(end(left[0])))
	must(t, c.End(left[0]))
	if holds, err := openState(t, owner, "b").Holds(); err != nil || len(holds) != 1 || holds[0].End != nil {
		t.Errorf("%+v, %v", holds, err)
	}
	if names := c.SessionNames(); !slices.Equal(names, []string{"a", "b"}) {
		t.Errorf("sessions %q", names)
	}
}

// TestMoveIntoAFileThatCantBeRead begins nothing.
func TestMoveIntoAFileThatCantBeRead(t *testing.T) {
	owner := clone(t)
	a := openState(t, owner, "a")
	must(t, a.SaveHold(hold("a", "task:1")))
	must(t, os.WriteFile(filepath.Join(a.Dir(), "sessions", "b.json"), []byte("{"), 0o600))
	if err := a.Begin(move("a", "b", 2, "task:1")); !errors.Is(err, session.ErrState) {
		t.Errorf("begin: %v", err)
	}
	if names := a.SessionNames(); !slices.Equal(names, []string{"a"}) {
		t.Errorf("sessions %q", names)
	}
	if left, busy, err := a.Pending(); err != nil || len(left)+len(busy) != 0 {
		t.Errorf("%d, %d, %v", len(left), len(busy), err)
	}
}
