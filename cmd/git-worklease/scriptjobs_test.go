package main

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"syscall"

	"github.com/rogpeppe/go-internal/testscript"
)

// job is a command in the background.
type job struct {
	user   *scriptUser
	cmd    *exec.Cmd
	stdout bytes.Buffer
	stderr transcript
	ended  chan struct{}
}

// transcript is what a process has printed so far. Others can wait for it to print something.
type transcript struct {
	mu    sync.Mutex
	more  sync.Cond
	text  []byte
	ended bool
}

// Write adds to the transcript.
func (t *transcript) Write(b []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.text = append(t.text, b...)
	t.more.Broadcast()
	return len(b), nil
}

// end says that nothing more will come.
func (t *transcript) end() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.ended = true
	t.more.Broadcast()
}

func (t *transcript) String() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return string(t.text)
}

// await waits until the text matches.
func (t *transcript) await(pattern *regexp.Regexp) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	for !pattern.Match(t.text) {
		if t.ended {
			return fmt.Errorf("it ended without printing %s:\n%s", pattern, t.text)
		}
		t.more.Wait()
	}
	return nil
}

// startJob starts a command in the background.
func startJob(user *scriptUser, cmd *exec.Cmd) (*job, error) {
	j := &job{user: user, cmd: cmd, ended: make(chan struct{})}
	j.stderr.more.L = &j.stderr.mu
	cmd.Stdout, cmd.Stderr = &j.stdout, &j.stderr
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	go func() {
		_ = cmd.Wait() // its status tells
		j.stderr.end()
		close(j.ended)
	}()
	return j, nil
}

func cmdBegin(_ *testscript.TestScript, w *world, args []string) error {
	if err := need(args, 3); err != nil {
		return err
	}
	c, err := w.parseCall(args[1:])
	if err != nil {
		return err
	}
	there := *c.user.Checkout
	there.Dir, there.Env = c.dir, append(there.Env[:len(there.Env):len(there.Env)], c.env...)
	w.jobs[args[0]], err = startJob(c.user, there.Command(w.ctx, "git-worklease", c.args...))
	return err
}

func (w *world) job(args []string, least int) (*job, error) {
	if err := need(args, least); err != nil {
		return nil, err
	}
	j, ok := w.jobs[args[0]]
	if !ok {
		return nil, fmt.Errorf("nothing in the background is called %q", args[0])
	}
	return j, nil
}

func cmdAwait(_ *testscript.TestScript, w *world, args []string) error {
	j, err := w.job(args, 2)
	if err != nil {
		return err
	}
	pattern, err := regexp.Compile(args[1])
	if err != nil {
		return err
	}
	return j.stderr.await(pattern)
}

func cmdSignal(_ *testscript.TestScript, w *world, args []string) error {
	j, err := w.job(args, 2)
	if err != nil {
		return err
	}
	signals := map[string]os.Signal{"INT": os.Interrupt, "TERM": syscall.SIGTERM, "KILL": os.Kill}
	s, ok := signals[args[1]]
	if !ok {
		return fmt.Errorf("no signal %q", args[1])
	}
	return j.cmd.Process.Signal(s)
}

func cmdEnd(ts *testscript.TestScript, w *world, args []string) error {
	j, err := w.job(args, 1)
	if err != nil {
		return err
	}
	want, pushed := 0, false
	for _, arg := range args[1:] {
		if arg == "pushed" {
			pushed = true
		} else if want, err = strconv.Atoi(strings.TrimPrefix(arg, "exit=")); err != nil {
			return err
		}
	}
	<-j.ended
	fmt.Fprint(ts.Stdout(), j.stdout.String())
	fmt.Fprint(ts.Stderr(), j.stderr.String())
	if code := j.cmd.ProcessState.ExitCode(); code != want {
		return fmt.Errorf("exit %d instead of %d", code, want)
	}
	if pushed {
		j.user.refs, err = w.snapshot(j.user)
		return err
	}
	return w.sameRefs(j.user)
}
