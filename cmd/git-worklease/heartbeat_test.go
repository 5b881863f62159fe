package main

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/git-worklease/git-worklease/internal/gitserver"
	"github.com/git-worklease/git-worklease/lease"
)

// worktrees are n workers, each in a linked worktree of this worker's clone and with a session of its own.
func (w *worker) worktrees(t *testing.T, n int) []*worker {
	t.Helper()
	workers := make([]*worker, n)
	for i := range workers {
		name := fmt.Sprintf("%s-%d", w.name, i)
		dir := filepath.Join(w.Home, name)
		if _, err := w.Git(t.Context(), "worktree", "add", "--quiet", "--detach", dir); err != nil {
			t.Fatal(err)
		}
		there := *w.Checkout
		there.Dir, there.Env = dir, append(slices.Clone(w.Env), "WORKLEASE_SESSION="+name)
		workers[i] = &worker{Checkout: &there, name: name, clock: w.clock, world: w.world}
	}
	return workers
}

// keeperProcess is a `heartbeat --watch` in a process of its own, and what it has said.
type keeperProcess struct {
	cmd   *exec.Cmd
	lines *bufio.Scanner
}

// keeper starts a keeper and returns once it has said its first line.
func (w *worker) keeper(t *testing.T, args ...string) *keeperProcess {
	t.Helper()
	k := &keeperProcess{cmd: w.process(t, "", append([]string{"heartbeat", "--watch"}, args...)...)}
	out, err := k.cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	k.cmd.Stderr = k.cmd.Stdout
	if err := k.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	k.lines = bufio.NewScanner(out)
	k.await(t, "")
	return k
}

// await reads until a line that begins with the given words.
func (k *keeperProcess) await(t *testing.T, words string) string {
	t.Helper()
	for k.lines.Scan() {
		if strings.HasPrefix(k.lines.Text(), words) {
			return k.lines.Text()
		}
	}
	t.Errorf("the keeper ended before it said %q", words)
	return ""
}

// drain reads whatever else the keeper says, so that it is never held up.
func (k *keeperProcess) drain() (all []string) {
	for k.lines.Scan() {
		all = append(all, k.lines.Text())
	}
	return all
}

// TestCase47DeadSessionLapses: kill -9 of one session's keeper beside another that is busy in the same clone. The dead one's claim is renewed no
// more, expires and is taken over; the busy one's lives on.
func TestCase47DeadSessionLapses(t *testing.T) {
	s := httpSite(t, gitserver.HTTPOptions{})
	agents := s.worker(t, "agents").worktrees(t, 2)
	bob := s.worker(t, "bob", "WORKLEASE_GRACE=0s")
	ttls := []string{"10s", "30s"}
	keepers := make([]*keeperProcess, 2)
	for i, w := range agents {
		w.must(t, 0, "claim", fmt.Sprintf("task:%d", i), "--ttl", ttls[i], "--grace", "0s")
		keepers[i] = w.keeper(t)
	}
	keepers[0].await(t, "renewed task:0")
	if err := keepers[0].cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = keepers[0].cmd.Wait()
	killedAt := s.record(t, "task:0").Revision
	done := make(chan []string)
	go func() { done <- keepers[1].drain() }()
	took := takeWhenFree(t, bob, "task:0")
	pre := took.claimed(t).Predecessors
	if len(pre) != 1 || pre[0].Holder.Session != "agents-0" || pre[0].Revision > killedAt+1 {
		t.Errorf("revision %d when it was killed, then %+v", killedAt, pre)
	}
	agents[1].must(t, 0, "verify", "task:1")
	agents[0].must(t, 4, "renew", "task:0")
	if err := keepers[1].cmd.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	said := <-done
	if err := keepers[1].cmd.Wait(); err != nil {
		t.Errorf("after SIGTERM: %v", err)
	}
	if n := len(said); n < 1 || slices.ContainsFunc(said, func(line string) bool { return !strings.HasPrefix(line, "renewed task:1") }) {
		t.Errorf("%q", said)
	}
	s.sound(t)
}

// takeWhenFree claims until that is granted.
func takeWhenFree(t *testing.T, w *worker, key string) *ran {
	t.Helper()
	limit := time.Now().Add(time.Minute)
	for {
		r := w.do(t, "claim", key)
		if r.Code == 0 {
			return r
		}
		if r.Code != 3 || time.Now().After(limit) {
			t.Fatalf("exit %d\n%s", r.Code, r.Stdout)
		}
	}
}

// inProcess runs `heartbeat --watch` in this process, by the site's clock. Lines arrive as they are printed.
func (w *worker) inProcess(ctx context.Context, lines chan<- string, args ...string) int {
	in, out := io.Pipe()
	var group sync.WaitGroup
	group.Go(func() {
		for scan := bufio.NewScanner(in); scan.Scan(); {
			lines <- scan.Text()
		}
	})
	var stderr bytes.Buffer
	e := &env{
		args: append([]string{"heartbeat", "--watch"}, args...), in: strings.NewReader(""), out: out, err: &stderr,
		environ: w.Env, dir: w.Dir, clock: w.clock, version: "test", runner: os.Getpid(),
	}
	code := execute(ctx, e)
	_ = out.Close()
	group.Wait()
	return code
}

// TestHeartbeatEndsWithItsKeys: a keeper of named resources ends once the last of them is over, and says how.
func TestHeartbeatEndsWithItsKeys(t *testing.T) {
	s := httpSite(t, gitserver.HTTPOptions{})
	alice := s.worker(t, "alice")
	for _, key := range []string{"task:a", "task:b", "task:c"} {
		alice.must(t, 0, "claim", key)
	}
	lines, exit := make(chan string), make(chan int, 1)
	go func() { exit <- alice.inProcess(t.Context(), lines, "task:a", "task:b") }()
	for range 2 {
		if line := <-lines; !strings.HasPrefix(line, "renewed task:") {
			t.Errorf("%q", line)
		}
	}
	for _, key := range []string{"task:a", "task:b"} {
		alice.must(t, 0, "release", key)
		if line, want := <-lines, "over "+key+": "; !strings.HasPrefix(line, want) {
			t.Errorf("%q, want %q", line, want)
		}
	}
	if code := <-exit; code != 4 {
		t.Errorf("exit %d", code)
	}
	alice.must(t, 0, "verify", "task:c")
}

// TestThirtyKeepersFewPushes: thirty half-hour claims of thirty sessions in thirty worktrees of one clone. When they are due, they cost a push or
// two together, not thirty.
func TestThirtyKeepersFewPushes(t *testing.T) {
	const n = 30
	s := httpSite(t, gitserver.HTTPOptions{})
	agents := s.worker(t, "agents").worktrees(t, n)
	ctx, cancel := context.WithCancel(t.Context())
	lines := make(chan string)
	var group sync.WaitGroup
	for i, w := range agents {
		w.must(t, 0, "claim", fmt.Sprintf("task:%d", i), "--ttl", "30m")
		group.Go(func() {
			if code := w.inProcess(ctx, lines); code != 130 {
				t.Errorf("%s: exit %d", w.name, code)
			}
		})
	}
	awaitAll := func(what string) {
		t.Helper()
		for seen := map[string]bool{}; len(seen) < n; {
			line := <-lines
			if !strings.HasPrefix(line, what) {
				t.Fatalf("%q", line)
			}
			seen[strings.Fields(line)[1]] = true
		}
	}
	awaitAll("renewed task:")
	for range 2 {
		before := s.pushes()
		s.clock.advance(10 * time.Minute)
		awaitAll("renewed task:")
		pushes := s.pushes() - before
		t.Logf("%d pushes for %d renewals", pushes, n)
		if pushes > 4 {
			t.Errorf("%d pushes for %d renewals", pushes, n)
		}
	}
	cancel()
	go func() {
		for range lines { //nolint:revive // whatever is still said
		}
	}()
	group.Wait()
	close(lines)
	for i := range n {
		if rec := s.record(t, lease.Resource(fmt.Sprintf("task:%d", i))); rec.Revision != 4 || rec.Released() {
			t.Errorf("task:%d: %s", i, brief(rec))
		}
	}
	s.sound(t)
}
