package session_test

import (
	"errors"
	"testing"

	"github.com/git-worklease/git-worklease/internal/session"
	"github.com/git-worklease/git-worklease/lease"
)

// TestConfirmedStaysConfirmed: whoever saves late what was read before a claim of paths was confirmed does not undo that.
func TestConfirmedStaysConfirmed(t *testing.T) {
	s, err := session.Open(options(clone(t), "a"))
	must(t, err)
	h := hold("a", "path:src")
	h.Unconfirmed = true
	for _, step := range []struct{ save, want bool }{{true, true}, {false, false}, {true, false}} {
		h.Unconfirmed = step.save
		must(t, s.SaveHold(h))
		holds, err := s.Holds()
		must(t, err)
		if len(holds) != 1 || holds[0].Unconfirmed != step.want {
			t.Errorf("saved %t: %d claims, %t", step.save, len(holds), holds[0].Unconfirmed)
		}
	}
}

// TestCheckClaimantOfPaths: two workers of one worktree, known by it alone, may not share what overlaps either.
func TestCheckClaimantOfPaths(t *testing.T) {
	owner := clone(t)
	as := func(pid int) *session.State {
		o := options(owner, "@main")
		o.Process = session.Claimant{PID: pid, Start: "s"}
		s, err := session.Open(o)
		must(t, err)
		return s
	}
	must(t, as(7).SaveHold(hold("@main", "path:src")))
	alive := living{7: "s", 9: "s"}
	var ambiguous *session.AmbiguousError
	if err := as(9).CheckClaimant(alive, []lease.Resource{"path:SRC/a"}); !errors.As(err, &ambiguous) || ambiguous.Resource != "path:src" {
		t.Errorf("%v", err)
	}
	must(t, as(9).CheckClaimant(alive, []lease.Resource{"path:srcs"}))
}
