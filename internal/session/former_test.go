package session_test

import (
	"errors"
	"testing"

	"github.com/git-worklease/git-worklease/internal/session"
	"github.com/git-worklease/git-worklease/lease"
)

// inWorktree is a session of a linked worktree that was made at some time.
func inWorktree(t *testing.T, owner string, born int64) *session.State {
	t.Helper()
	o := options(owner, "wt-a")
	o.Place.Worktree, o.Place.Born = "a", born
	s, err := session.Open(o)
	must(t, err)
	return s
}

func TestFormerWorktree(t *testing.T) {
	owner := clone(t)
	first, second := inWorktree(t, owner, 1), inWorktree(t, owner, 2)
	must(t, first.SaveHold(real("wt-a", "task:1", "task:2")))
	must(t, second.SaveHold(real("wt-a", "task:3")))
	var former *session.FormerError
	if err := second.CheckClaimant(table{}, []lease.Resource{"task:9", "task:2"}); !errors.As(err, &former) || former.Resource != "task:2" || former.Worktree != "a" {
		t.Errorf("second: %v", err)
	}
	for _, s := range []*session.State{first, inWorktree(t, owner, 0), openState(t, owner, "wt-a")} {
		if err := s.CheckClaimant(table{}, []lease.Resource{"task:1"}); err != nil {
			t.Errorf("the same, unknown or another worktree: %v", err)
		}
	}
	own, others, err := second.Own(table{})
	if err != nil || len(own) != 1 || own[0].Members[0].Resource != "task:3" || len(others) != 1 || !errors.Is(others[0], session.ErrFormer) {
		t.Errorf("own %v, others %v, %v", own, others, err)
	}
	adopted, err := second.Adopt("box", false)
	if err != nil || len(adopted) != 1 || len(adopted[0].Claims) != 1 || adopted[0].From != (session.Home{}) || adopted[0].Claims[0].Place != "" {
		t.Errorf("adopted %+v, %v", adopted, err)
	}
	if err := second.CheckClaimant(table{}, []lease.Resource{"task:1", "task:3"}); err != nil {
		t.Errorf("after adopting: %v", err)
	}
	if adopted, err := second.Adopt("box", true); err != nil || len(adopted) != 0 {
		t.Errorf("once more: %+v, %v", adopted, err)
	}
}

// TestBoundToAFormerWorktree: the name that was bound to a worktree goes with it.
func TestBoundToAFormerWorktree(t *testing.T) {
	first := session.Place{Root: t.TempDir() + "/s", Worktree: "a", Born: 1}
	second := first
	second.Born = 2
	must(t, first.Bind("agent-1"))
	for _, c := range []struct {
		place session.Place
		want  string
	}{{first, "agent-1"}, {second, ""}} {
		if got, err := c.place.Bound(); err != nil || got != c.want {
			t.Errorf("born %d: %q, %v", c.place.Born, got, err)
		}
	}
}
