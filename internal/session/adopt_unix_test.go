//go:build unix

package session_test

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/git-worklease/git-worklease/internal/session"
	"github.com/git-worklease/git-worklease/lease"
)

// copyOf is a clone that has the same files in its state.
func copyOf(t *testing.T, s *session.State) string {
	t.Helper()
	owner := clone(t)
	must(t, os.CopyFS(filepath.Join(owner, "worklease"), os.DirFS(s.Dir())))
	must(t, filepath.Walk(owner, func(path string, info os.FileInfo, err error) error {
		if err == nil && !info.IsDir() {
			err = os.Chmod(path, 0o600)
		}
		return err
	}))
	return owner
}

func TestAdopt(t *testing.T) {
	s := openState(t, clone(t), "a")
	over := real("a", "task:over")
	over.End = &lease.End{How: lease.EndReleased}
	must(t, s.SaveHold(over))
	must(t, s.SaveHold(real("a", "task:1")))
	must(t, s.SaveHold(real("b", "task:2")))
	for _, i := range []*lease.Intent{intent("a", "task:5"), intent("b", "task:6")} {
		must(t, s.Begin(i))
		must(t, s.Leave(i))
	}
	owner := copyOf(t, s)
	there := openState(t, owner, "a")

	adopted, err := there.Adopt("laptop", false)
	must(t, err)
	if len(adopted) != 1 || adopted[0].Session != "a" || len(adopted[0].Claims) != 1 || adopted[0].Intents != 1 || adopted[0].From.Path != filepath.Dir(s.Dir()) {
		t.Fatalf("adopted %+v", adopted)
	}
	holds, err := there.Holds()
	must(t, err)
	if len(holds) != 2 || holds[0].Place != "" || holds[1].Place == "" || holds[1].Holder.Host != "laptop" || holds[1].From[0] != "" {
		t.Errorf("holds %+v", holds)
	}
	if _, err := openState(t, owner, "b").Holds(); !errors.Is(err, session.ErrCopied) {
		t.Errorf("the other session: %v", err)
	}
	if _, _, err := there.Pending(); !errors.Is(err, session.ErrCopied) {
		t.Errorf("the other session's write: %v", err)
	}

	adopted, err = there.Adopt("laptop", true)
	must(t, err)
	if len(adopted) != 1 || adopted[0].Session != "b" || len(adopted[0].Claims) != 1 || adopted[0].Intents != 1 {
		t.Fatalf("adopted %+v", adopted)
	}
	left, busy, err := there.Pending()
	if err != nil || len(left) != 2 || len(busy) != 0 {
		t.Fatalf("pending: %v, %d, %v", left, len(busy), err)
	}
	for _, i := range left {
		if i.Hold.Place == "" || i.Hold.Holder.Host != "laptop" || len(i.Tx.Updates) != 1 {
			t.Errorf("intent: %+v", i.Hold)
		}
		must(t, there.SaveHold(i.Hold))
		must(t, there.End(i))
	}
	if adopted, err := there.Adopt("laptop", true); err != nil || len(adopted) != 0 {
		t.Errorf("once more: %+v, %v", adopted, err)
	}
	must(t, s.SaveHold(real("a", "task:1"))) // the original goes on, until the remote tells it otherwise
}

// TestAdoptTwoWritesOfOneClaim: a renewal that was under way is settled for the claim as it is here, and an adoption that was cut short goes on.
func TestAdoptTwoWritesOfOneClaim(t *testing.T) {
	s := openState(t, clone(t), "a")
	h := real("a", "task:1")
	must(t, s.SaveHold(h))
	i := intent("a", "task:1")
	i.Verb, i.Hold = lease.VerbRenew, h
	i.Hold.Revision = 2
	must(t, s.Begin(i))
	must(t, s.Leave(i))
	there := openState(t, copyOf(t, s), "a")
	_, err := there.Adopt("laptop", false)
	must(t, err)
	left, _, err := there.Pending()
	must(t, err)
	must(t, there.SaveHold(left[0].Hold))
	must(t, there.End(left[0]))
	if got := live(t, there); len(got) != 1 || got[0].Revision != 2 || got[0].Place == "" {
		t.Errorf("settled: %+v", got)
	}
}

// TestSessions lists what there is, also what can't be used.
func TestSessions(t *testing.T) {
	s := openState(t, clone(t), "a")
	if all, err := s.Sessions(); err != nil || len(all) != 0 {
		t.Errorf("none: %v, %v", all, err)
	}
	must(t, s.SaveHold(real("b", "task:2")))
	must(t, s.SaveHold(real("a", "task:1")))
	must(t, s.SaveHold(real("a", "task:3")))
	there := openState(t, copyOf(t, s), "x")
	must(t, s.SaveHold(real("c", "task:4")))
	must(t, os.WriteFile(filepath.Join(s.Dir(), "sessions", "c.json"), []byte("rubbish"), 0o600))
	all, err := s.Sessions()
	must(t, err)
	if len(all) != 3 || all[0].Name != "" || all[0].File != "c.json" || !errors.Is(all[0].Err, session.ErrState) || all[1].Name != "a" || len(all[1].Holds) != 2 || all[2].Name != "b" || all[2].Err != nil {
		t.Errorf("got %+v", all)
	}
	all, err = there.Sessions()
	must(t, err)
	if len(all) != 2 || all[0].Name != "a" || !errors.Is(all[0].Err, session.ErrCopied) || len(all[0].Holds) != 2 {
		t.Errorf("copied: %+v", all)
	}
}
