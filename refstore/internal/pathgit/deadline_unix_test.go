//go:build unix

package pathgit

import (
	"context"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/git-worklease/git-worklease/refstore"
)

// A push whose context ends while a hook runs is in doubt; receive-pack is left to end by itself, and lands.
func TestPushIsNotKilled(t *testing.T) {
	dir := newRepo(t)
	for _, name := range []string{"started", "go", "done"} {
		if err := syscall.Mkfifo(filepath.Join(dir, name), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	writeHook(t, dir, "pre-receive", "echo >started; read line <go; exit 0")
	writeHook(t, dir, "reference-transaction", "[ $1 != committed ] || echo >done")
	ctx, cancel := context.WithCancel(t.Context())
	tr := open(dir, known)
	failed := make(chan error)
	go func() {
		_, err := tr.Push(ctx, txOf(change(refA, "", "one")))
		failed <- err
	}()
	waitFor(t, dir, "started")
	cancel()
	checkUnavailable(t, <-failed, refstore.TroubleDeadline, true)
	if len(refs(t, tr)) != 0 {
		t.Error("the hook did not hold the push")
	}
	if err := os.WriteFile(filepath.Join(dir, "go"), []byte("go\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	waitFor(t, dir, "done")
	if len(refs(t, tr)) != 1 {
		t.Error("the push was killed")
	}
}

// waitFor reads a line that a hook writes to a FIFO.
func waitFor(t *testing.T, dir, name string) {
	t.Helper()
	if _, err := os.ReadFile(filepath.Join(dir, name)); err != nil {
		t.Fatal(err)
	}
}
