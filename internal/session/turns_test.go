package session_test

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/git-worklease/git-worklease/lease"
)

// TestTurns: of two processes of a clone one has the turn, of all claims or of none, and nothing is left of it.
func TestTurns(t *testing.T) {
	owner := clone(t)
	a, b := openState(t, owner, "s"), openState(t, owner, "s")
	done, err := a.Turn("c1", "c2")
	if err != nil {
		t.Fatal(err)
	}
	for range 2 { // the second shows that the first kept nothing of c3
		if _, err := b.Turn("c3", "c2"); !errors.Is(err, lease.ErrIntentBusy) {
			t.Fatalf("a turn that another has: %v", err)
		}
	}
	if _, err := a.Turn("c1"); !errors.Is(err, lease.ErrIntentBusy) {
		t.Fatalf("a turn that the process itself has: %v", err)
	}
	other, err := b.Turn("c3")
	if err != nil {
		t.Fatal(err)
	}
	other()
	done()
	if done, err = b.Turn("c2", "c1"); err != nil {
		t.Fatal(err)
	}
	done()
	left, err := os.ReadDir(filepath.Join(a.Dir(), "turns"))
	if err != nil || len(left) != 0 {
		t.Fatalf("left over: %v, %v", left, err)
	}
}
