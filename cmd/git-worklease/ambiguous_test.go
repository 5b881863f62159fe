//go:build unix

package main

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/git-worklease/git-worklease/internal/gitserver"
)

// agent is a long-lived worker that starts commands: a shell that reads them.
type agent struct {
	cmd   *exec.Cmd
	stdin io.WriteCloser
	lines *bufio.Scanner
}

// agent starts one in the worker's worktree, without a name for its session.
func (w *worker) agent(t *testing.T) *agent {
	t.Helper()
	program := w.process(t, "")
	a := &agent{cmd: w.Command(t.Context(), "bash", "--norc", "--noprofile")}
	a.cmd.Env = slices.Concat(program.Env, []string{"PROGRAM=" + program.Path})
	stdout, err := a.cmd.StdoutPipe()
	if err == nil {
		a.stdin, err = a.cmd.StdinPipe()
	}
	if err == nil {
		err = a.cmd.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	a.lines = bufio.NewScanner(stdout)
	t.Cleanup(func() { a.leave(t) })
	return a
}

// do runs a command of the program and insists on its exit status. It returns what the command printed.
func (a *agent) do(t *testing.T, code int, args string) string {
	t.Helper()
	got, out, err := a.try(args)
	if err != nil || got != code {
		t.Fatalf("%s: exit %d, want %d: %v\n%s", args, got, code, err, out)
	}
	return out
}

func (a *agent) try(args string) (code int, out string, err error) {
	if _, err := fmt.Fprintf(a.stdin, "\"$PROGRAM\" %s 2>&1; echo \"exit $?\"\n", args); err != nil {
		return 0, "", err
	}
	for a.lines.Scan() {
		if status, ok := strings.CutPrefix(a.lines.Text(), "exit "); ok {
			code, err = strconv.Atoi(status)
			return code, out, err
		}
		out += a.lines.Text() + "\n"
	}
	return 0, out, fmt.Errorf("the agent is gone: %w", io.ErrUnexpectedEOF)
}

// leave ends the agent; what it holds stays.
func (a *agent) leave(t *testing.T) {
	t.Helper()
	_ = a.stdin.Close() // it may have left already
	if err := a.cmd.Wait(); err != nil && a.cmd.ProcessState == nil {
		t.Error(err)
	}
}

// TestCase42TwoAgentsInOneWorktree: no environment says who they are, and only one of them is told that it holds the claim.
func TestCase42TwoAgentsInOneWorktree(t *testing.T) {
	w := httpSite(t, gitserver.HTTPOptions{}).worker(t, "alice")
	first, second := w.agent(t), w.agent(t)
	first.do(t, 0, "claim task:a port:1")
	out := second.do(t, 3, "claim --json task:a")
	if !strings.Contains(out, `"reason":"session-ambiguous"`) || !strings.Contains(out, fmt.Sprint(first.cmd.Process.Pid)) {
		t.Errorf("the second is told %s", out)
	}
	second.do(t, 3, "claim port:1")
	first.do(t, 0, "claim task:a port:1")
	second.do(t, 0, "claim task:b")
	second.do(t, 3, "claim --session second task:a")
	first.do(t, 0, "release task:a")
	second.do(t, 0, "claim task:a")
	second.leave(t)
	first.do(t, 0, "claim task:a") // its maker is gone, and the worktree is all that is left to tell by
}

// TestCase42VerbsWithoutKey: what the second agent does to all of its claims leaves those of the first alone. Naming a key acts on it, as
// somebody would who has two terminals in one worktree.
func TestCase42VerbsWithoutKey(t *testing.T) {
	w := httpSite(t, gitserver.HTTPOptions{}).worker(t, "alice")
	first, second := w.agent(t), w.agent(t)
	first.do(t, 0, "claim task:a")
	for verb, code := range map[string]int{"verify": 4, "renew": 4, "heartbeat": 4, "heartbeat --watch": 4, "checkpoint {}": 4, "exec -- true": 125, "release": 4} {
		out := second.do(t, code, verb)
		if !strings.Contains(out, fmt.Sprintf("(%d); name it to act on it", first.cmd.Process.Pid)) || strings.Contains(out, verb+"d") {
			t.Errorf("%s: the second is told %s", verb, out)
		}
	}
	second.do(t, 3, "session export ../x.json")
	second.do(t, 0, "claim task:b")
	if out := second.do(t, 0, `exec -- sh -c 'echo "under $WORKLEASE_CLAIMS"'`); !strings.Contains(out, `"task:b"`) || strings.Contains(out, `"task:a"`) {
		t.Errorf("exec: the second runs %s", out)
	}
	for _, verb := range []string{"verify", "renew", "checkpoint {}", "release"} {
		if out := second.do(t, 0, verb); !strings.Contains(out, " task:b ·") || strings.Contains(out, " task:a ·") {
			t.Errorf("%s: the second is told %s", verb, out)
		}
	}
	first.do(t, 0, "verify")
	second.do(t, 0, "verify task:a")
	second.do(t, 0, "release task:a")
	first.do(t, 4, "verify")
}

// TestCase42AtOnce: two agents of one worktree claim at the same moment, and neither can know of the other.
func TestCase42AtOnce(t *testing.T) {
	w := httpSite(t, gitserver.HTTPOptions{}).worker(t, "alice")
	agents := []*agent{w.agent(t), w.agent(t)}
	for round := range 10 {
		var group sync.WaitGroup
		var codes [2]int
		var errs [2]error
		for i, a := range agents {
			group.Go(func() { codes[i], _, errs[i] = a.try(fmt.Sprintf("claim task:%d", round)) })
		}
		group.Wait()
		if errors.Join(errs[:]...) != nil || codes[0]+codes[1] != 3 || codes[0] != 0 && codes[1] != 0 {
			t.Fatalf("round %d: exits %v, %v", round, codes, errs)
		}
	}
}
