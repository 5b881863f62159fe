package lockfile_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/git-worklease/git-worklease/internal/lockfile"
)

// holdEnv makes the test binary lock the file it names, say so, and wait to be killed.
const holdEnv = "LOCKFILE_TEST_HOLD"

func TestMain(m *testing.M) {
	if path := os.Getenv(holdEnv); path != "" {
		if _, err := lockfile.TryLock(path); err != nil {
			fmt.Println(err)
			os.Exit(1)
		}
		fmt.Println("held")
		select {} //nolint:revive // killed by the test
	}
	os.Exit(m.Run())
}

func TestExcludesWithinTheProcess(t *testing.T) {
	path := filepath.Join(t.TempDir(), "l")
	unlock, err := lockfile.TryLock(path)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := lockfile.TryLock(path); !errors.Is(err, lockfile.ErrLocked) {
		t.Fatalf("second lock: %v, want ErrLocked", err)
	}
	if err := unlock(); err != nil {
		t.Fatal(err)
	}
	if unlock, err = lockfile.TryLock(path); err != nil {
		t.Fatalf("after unlock: %v", err)
	}
	if err := unlock(); err != nil {
		t.Fatal(err)
	}
}

func TestFreedWhenTheProcessIsKilled(t *testing.T) {
	path := filepath.Join(t.TempDir(), "l")
	cmd := exec.Command(os.Args[0]) //nolint:gosec // this test
	cmd.Env = append(os.Environ(), holdEnv+"="+path)
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	if line, _ := bufio.NewReader(out).ReadString('\n'); line != "held\n" {
		t.Fatalf("child said %q", line)
	}
	if _, err := lockfile.TryLock(path); !errors.Is(err, lockfile.ErrLocked) {
		t.Fatalf("while the child lives: %v, want ErrLocked", err)
	}
	if err := cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = cmd.Wait()
	unlock, err := lockfile.TryLock(path)
	if err != nil {
		t.Fatalf("after the kill: %v", err)
	}
	_ = unlock()
}

func TestLockWaitsAndGivesUp(t *testing.T) {
	path := filepath.Join(t.TempDir(), "l")
	unlock, err := lockfile.TryLock(path)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := lockfile.Lock(ctx, path); !errors.Is(err, lockfile.ErrLocked) || !errors.Is(err, context.Canceled) {
		t.Fatalf("got %v, want ErrLocked and Canceled", err)
	}
	done := make(chan error)
	go func() {
		unlock, err := lockfile.Lock(t.Context(), path)
		if err == nil {
			err = unlock()
		}
		done <- err
	}()
	if err := unlock(); err != nil {
		t.Fatal(err)
	}
	if err := <-done; err != nil {
		t.Fatal(err)
	}
}

func TestRefusesSymlink(t *testing.T) {
	dir := t.TempDir()
	target := filepath.Join(dir, "target")
	if err := os.Symlink(target, filepath.Join(dir, "l")); err != nil {
		t.Fatal(err)
	}
	if _, err := lockfile.TryLock(filepath.Join(dir, "l")); !errors.Is(err, lockfile.ErrSymlink) {
		t.Fatalf("got %v, want ErrSymlink", err)
	}
	if _, err := os.Lstat(target); !errors.Is(err, os.ErrNotExist) {
		t.Fatalf("the link's target was made: %v", err)
	}
}

// TestRemovedFileIsNoLock: holders that remove the file before they unlock must still exclude each other.
func TestRemovedFileIsNoLock(t *testing.T) {
	path := filepath.Join(t.TempDir(), "l")
	var group sync.WaitGroup
	var inside atomic.Int32
	for range 8 {
		group.Go(func() {
			for range 20 {
				unlock, err := lockfile.Lock(t.Context(), path)
				if err != nil {
					t.Error(err)
					return
				}
				if n := inside.Add(1); n != 1 {
					t.Errorf("%d inside at once", n)
				}
				inside.Add(-1)
				_ = os.Remove(path)
				_ = unlock()
			}
		})
	}
	group.Wait()
}

func TestMissingFolder(t *testing.T) {
	if _, err := lockfile.TryLock(filepath.Join(t.TempDir(), "no", "l")); !errors.Is(err, os.ErrNotExist) {
		t.Fatalf("got %v, want ErrNotExist", err)
	}
}

// TestUnlockedBesideStarts: what was unlocked is free at once, also while this process starts others, which have copies of its files for a moment.
func TestUnlockedBesideStarts(t *testing.T) {
	path := filepath.Join(t.TempDir(), "l")
	var starters sync.WaitGroup
	var enough atomic.Bool
	for range 2 {
		starters.Go(func() {
			for !enough.Load() {
				if err := exec.CommandContext(t.Context(), "true").Run(); err != nil {
					t.Error(err)
					return
				}
			}
		})
	}
	defer starters.Wait()
	defer enough.Store(true)
	for n := range 20000 {
		unlock, err := lockfile.TryLock(path)
		if err != nil {
			t.Fatalf("attempt %d: %v", n, err)
		}
		if err := unlock(); err != nil {
			t.Fatal(err)
		}
	}
}
