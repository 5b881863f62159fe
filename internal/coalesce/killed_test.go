package coalesce

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/git-worklease/git-worklease/internal/gitexec"
	"github.com/git-worklease/git-worklease/internal/gitserver"
	"github.com/git-worklease/git-worklease/lease"
	"github.com/git-worklease/git-worklease/refstore"
	"github.com/git-worklease/git-worklease/refstore/remote"
)

// asWriter in the environment makes the test binary a process of a clone, which writes some records and tells of each. It is started in the clone's
// folder, and its arguments are the URL, its name, and how much it writes.
const asWriter = "COALESCE_TEST_WRITER"

func TestMain(m *testing.M) {
	if os.Getenv(asWriter) != "" {
		rounds, _ := strconv.Atoi(os.Args[3])
		if err := write(os.Args[1], os.Args[2], rounds); err != nil {
			fmt.Println("failed:", err)
			os.Exit(1)
		}
		return
	}
	os.Exit(m.Run())
}

// write puts some records on top of each other at a ref, and says of each what came of it.
func write(url, name string, rounds int) error {
	ctx := context.Background()
	git := &gitexec.Git{Env: os.Environ()}
	inner := remote.Open(remote.Options{URL: url, Git: git, Config: &gitexec.Config{}, Dir: ".", Now: time.Now})
	s := New(inner, "renewals", &lease.SystemClock{})
	ref := "refs/worklease/claims/" + name
	old := refstore.OID("")
	for n := range rounds {
		tx, err := s.Build(refstore.Change{Ref: ref, Old: old, Message: fmt.Appendf(nil, "%s %d\n", name, n), When: time.Unix(1_800_000_000, 0)})
		if err != nil {
			return err
		}
		fmt.Println("posting", tx.Updates[0].New)
		err = s.Gather(ctx, refstore.Patience{Wait: 2 * time.Second, Life: time.Minute}, tx)[0]
		if err != nil && !errors.Is(err, refstore.ErrUndecided) {
			return err
		}
		refs, lerr := s.List(ctx, ref)
		if lerr != nil {
			return lerr
		}
		now := refstore.OID("")
		if len(refs) > 0 {
			now = refs[0].Commit.OID
		}
		if err == nil && now != tx.Updates[0].New {
			return fmt.Errorf("%d: told that it landed, and at the ref is %q", n, now)
		}
		old = now
	}
	return nil
}

// writer is a process that writes.
type writer struct {
	cmd *exec.Cmd
	out *bufio.Scanner
	// posted is the last record that it said it would write.
	posted string
	doomed bool
}

// TestKilledWriters: ten processes write together, and some of them are killed, whichever part they have at that moment. The others are told the
// truth, and no record of the dead is written after the last that they posted.
func TestKilledWriters(t *testing.T) {
	repo := gitserver.TestRepo(t, gitserver.TestRepos(t), "app")
	dir := t.TempDir()
	writers := make([]*writer, 10)
	for i := range writers {
		writers[i] = startWriter(t, dir, repo.Dir, i, i%2 == 1)
	}
	var group sync.WaitGroup
	for i, w := range writers {
		group.Go(func() { w.follow(i) })
	}
	group.Wait()
	for i, w := range writers {
		if err := w.cmd.Wait(); (err != nil) != w.doomed {
			t.Errorf("writer %d: %v; it said %q", i, err, w.posted)
		}
	}
	lastOnes(t, repo.Dir)
	refs, err := repo.Refs(t.Context(), "refs/worklease/")
	if err != nil {
		t.Fatal(err)
	}
	for i, w := range writers {
		tip := refs[fmt.Sprintf("refs/worklease/claims/w%d", i)]
		if !w.doomed && tip != w.posted {
			t.Errorf("writer %d: %s instead of %s", i, tip, w.posted)
		}
	}
	// Nobody writes for the dead later.
	s := startWriter(t, dir, repo.Dir, len(writers), false)
	s.follow(0)
	if err := s.cmd.Wait(); err != nil {
		t.Errorf("the last: %v, %s", err, s.posted)
	}
	after, err := repo.Refs(t.Context(), "refs/worklease/")
	if err != nil {
		t.Fatal(err)
	}
	for name, tip := range refs {
		if after[name] != tip {
			t.Errorf("%s was written after the death of its writer", name)
		}
	}
}

// lastOnes waits until git is done in a repository: what a process had sent before it was killed may take longer than the process.
func lastOnes(t *testing.T, dir string) {
	t.Helper()
	for busy := true; busy; <-time.After(10 * time.Millisecond) {
		lines, err := filepath.Glob("/proc/[0-9]*/cmdline")
		if err != nil || t.Context().Err() != nil {
			t.Fatal(err, t.Context().Err())
		}
		busy = slices.ContainsFunc(lines, func(path string) bool {
			line, _ := os.ReadFile(path) // it may have ended
			return bytes.Contains(line, []byte("receive-pack")) && bytes.Contains(line, []byte(dir))
		})
	}
}

// startWriter starts a writer. One that is doomed does not end before it is killed.
func startWriter(t *testing.T, dir, url string, i int, doomed bool) *writer {
	t.Helper()
	rounds := 4
	if doomed {
		rounds = 1000
	}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	w := &writer{cmd: exec.CommandContext(t.Context(), self, url, fmt.Sprintf("w%d", i), strconv.Itoa(rounds)), doomed: doomed}
	w.cmd.Dir = dir
	w.cmd.Env = append(os.Environ(), asWriter+"=1", "GORACE=atexit_sleep_ms=0")
	out, err := w.cmd.StdoutPipe()
	if err == nil {
		err = w.cmd.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	w.out = bufio.NewScanner(out)
	return w
}

// follow reads what the writer says, and kills a doomed one some milliseconds after one of its posts.
func (w *writer) follow(i int) {
	for posts := 0; w.out.Scan(); {
		word, text, _ := strings.Cut(w.out.Text(), " ")
		w.posted = text
		if posts++; w.doomed && word == "posting" && posts == 1+i/3 {
			time.AfterFunc(time.Duration(i*i)*12*time.Millisecond, func() { _ = w.cmd.Process.Kill() })
		}
	}
}
