//go:build unix

package main

import (
	"bufio"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/git-worklease/git-worklease/internal/gitserver"
	"github.com/git-worklease/git-worklease/internal/session"
	"github.com/git-worklease/git-worklease/lease"
)

// execution that a test follows: the program in a process of its own, on the clock of the site.
type running struct {
	t      *testing.T
	cmd    *exec.Cmd
	stdin  io.WriteCloser
	stdout *bufio.Reader
	stderr strings.Builder
}

// clockPath is the file that puts the worker's processes forward together with the site.
func (w *worker) clockPath() string { return filepath.Join(w.Home, "clock") }

// pass lets time pass for everybody.
func (w *worker) pass(t *testing.T, d time.Duration) {
	t.Helper()
	w.world.advance(d)
	if err := writeOffset(w.clockPath(), time.Duration(w.world.passed.Load())); err != nil {
		t.Fatal(err)
	}
}

// exec starts a script under claims, and waits until it says that it is ready.
func (w *worker) exec(t *testing.T, flags, script string) *running {
	t.Helper()
	r := w.start(t, append(strings.Fields(flags), "--", "sh", "-c", script)...)
	r.line("ready")
	return r
}

func (w *worker) start(t *testing.T, args ...string) *running {
	t.Helper()
	r := &running{t: t, cmd: w.Command(t.Context(), "git-worklease", append([]string{"exec"}, args...)...)}
	r.cmd.Env = append(r.cmd.Env[:len(r.cmd.Env):len(r.cmd.Env)], clockFile+"="+w.clockPath())
	r.cmd.Stderr = &r.stderr
	stdout, err := r.cmd.StdoutPipe()
	if err == nil {
		r.stdin, err = r.cmd.StdinPipe()
	}
	if err == nil {
		err = r.cmd.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	r.stdout = bufio.NewReader(stdout)
	return r
}

// line waits for the script's next line.
func (r *running) line(want string) {
	r.t.Helper()
	if got, err := r.stdout.ReadString('\n'); err != nil || strings.TrimSpace(got) != want {
		_ = r.cmd.Wait()
		r.t.Fatalf("%q instead of %q: %v\n%s", got, want, err, r.stderr.String())
	}
}

// ends waits for the end of the program and of all that has its output, and checks how it ended and what it said.
func (r *running) ends(code int, says ...string) {
	r.t.Helper()
	if _, err := io.Copy(io.Discard, r.stdout); err != nil {
		r.t.Fatal(err)
	}
	_ = r.cmd.Wait() // its status tells
	if got := r.cmd.ProcessState.ExitCode(); got != code {
		r.t.Errorf("exit %d, want %d\n%s", got, code, r.stderr.String())
	}
	for _, text := range says {
		if !strings.Contains(r.stderr.String(), text) {
			r.t.Errorf("it does not say %q:\n%s", text, r.stderr.String())
		}
	}
}

func (r *running) signal(sig syscall.Signal) {
	r.t.Helper()
	if err := r.cmd.Process.Signal(sig); err != nil {
		r.t.Fatal(err)
	}
}

// refs is all that the server has.
func (s *site) refs(t *testing.T) string {
	t.Helper()
	return s.git(t, "for-each-ref")
}

// TestCase11ExecRenews: a command that takes longer than its claim's time keeps it.
func TestCase11ExecRenews(t *testing.T) {
	s := httpSite(t, gitserver.HTTPOptions{})
	alice, bob := s.worker(t, "alice"), s.worker(t, "bob")
	r := alice.exec(t, "--claim task:demo --ttl 10m", "echo ready; read x; exit 0")
	wait := s.landings(t)
	for range 4 {
		alice.pass(t, 5*time.Minute)
		wait()
		bob.must(t, 3, "claim", "task:demo")
	}
	s.calm(t)
	if err := r.stdin.Close(); err != nil {
		t.Fatal(err)
	}
	r.ends(0)
	rec := s.record(t, "task:demo")
	if !rec.Released() || rec.Generation != 1 || rec.Revision < 6 || rec.Release.Outcome != lease.OutcomeDone {
		t.Errorf("%s", brief(rec))
	}
	if r.stderr.Len() > 0 {
		t.Errorf("it says %s", r.stderr.String())
	}
}

// landings makes the server tell of each push, which waits for being told of.
func (s *site) landings(t *testing.T) (wait func()) {
	t.Helper()
	if err := unix.Mkfifo(filepath.Join(s.repo.Dir, "landed"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := s.repo.Hook("post-receive", "#!/bin/sh\ncat > landed\n"); err != nil {
		t.Fatal(err)
	}
	return func() {
		t.Helper()
		if _, err := os.ReadFile(filepath.Join(s.repo.Dir, "landed")); err != nil {
			t.Fatal(err)
		}
	}
}

// calm lets pushes land without telling of them.
func (s *site) calm(t *testing.T) {
	t.Helper()
	if err := os.Remove(filepath.Join(s.repo.Dir, "hooks", "post-receive")); err != nil {
		t.Fatal(err)
	}
}

// TestCase51ReleaseBesideExec: what the user releases while a command runs under it stays released, and the command is ended, whatever it does with
// the request.
func TestCase51ReleaseBesideExec(t *testing.T) {
	for name, script := range map[string]string{
		"hears":   "trap 'exit 0' TERM; sh -c 'echo ready; exec sleep 1000' & while :; do wait; done",
		"ignores": "trap '' TERM; sleep 1000 & echo ready; wait; sleep 1000",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := httpSite(t, gitserver.HTTPOptions{})
			alice, bob := s.worker(t, "alice"), s.worker(t, "bob")
			r := alice.exec(t, "--claim task:demo --ttl 10s", script)
			alice.must(t, 0, "release", "task:demo")
			released := s.refs(t)
			r.ends(125, "git-worklease: task:demo was released while the command ran")
			if now := s.refs(t); now != released {
				t.Errorf("the refs were\n%s\nand are\n%s", released, now)
			}
			bob.must(t, 0, "claim", "task:demo")
		})
	}
}

// TestCase49StoppedForTooLong: whoever wakes after its time ends its command, writes nothing, and knows who has the claim.
func TestCase49StoppedForTooLong(t *testing.T) {
	for name, taken := range map[string]bool{"lost": true, "expired": false} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := httpSite(t, gitserver.HTTPOptions{})
			alice, bob := s.worker(t, "alice"), s.worker(t, "bob")
			bob.must(t, 0, "claim", "task:other")
			r := alice.exec(t, "--claim task:demo --ttl 10m", "trap '' TERM; sleep 1000 & echo ready; wait; sleep 1000")
			r.signal(syscall.SIGSTOP)
			var ws unix.WaitStatus
			if _, err := unix.Wait4(r.cmd.Process.Pid, &ws, unix.WUNTRACED, nil); err != nil || !ws.Stopped() {
				t.Fatalf("%v, %v", ws, err)
			}
			alice.pass(t, 2*time.Hour)
			says := "git-worklease: task:demo: the claim has expired"
			if taken {
				bob.must(t, 0, "claim", "task:demo")
				says = "git-worklease: the claim on task:demo was lost: taken over by bob/@main on bobs-laptop"
			}
			before, pushes := s.refs(t), s.pushes()
			r.signal(syscall.SIGCONT)
			r.ends(125, says)
			if after := s.refs(t); after != before || s.pushes() != pushes {
				t.Errorf("the refs were\n%s\nand are\n%s; %d pushes", before, after, s.pushes()-pushes)
			}
		})
	}
}

// TestExecCannotRenew: without the remote the command is asked to end before its claim does, and killed when it has.
func TestExecCannotRenew(t *testing.T) {
	for name, script := range map[string]string{
		"hears":   "trap 'echo asked; exit 0' TERM; sh -c 'echo ready; exec sleep 1000' & while :; do wait; done",
		"ignores": "trap 'echo asked' TERM; (trap '' TERM; exec sleep 1000) & echo ready; while :; do wait; done",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := httpSite(t, gitserver.HTTPOptions{})
			alice := s.worker(t, "alice")
			r := alice.exec(t, "--claim task:demo --ttl 10m", script)
			s.http.Inject(gitserver.Fault{Do: gitserver.Answer(503, "text/plain", "down\n")})
			alice.pass(t, 10*time.Minute-8*time.Second)
			r.line("asked")
			if name == "hears" {
				r.ends(125, "task:demo: could not be renewed, and the command was ended before the claim's time was up", "the command is told to end")
				return
			}
			alice.pass(t, 10*time.Second)
			r.ends(125, "git-worklease: task:demo: the claim has expired")
		})
	}
}

// TestExecSignals: what asks us to end asks the command, and what we claimed is released afterwards.
func TestExecSignals(t *testing.T) {
	heard := make(chan os.Signal, 1) // whoever runs the tests may have them ignore it, and so what they start
	signal.Notify(heard, syscall.SIGHUP)
	t.Cleanup(func() { signal.Stop(heard) })
	for sig, code := range map[syscall.Signal]int{syscall.SIGINT: 130, syscall.SIGTERM: 143, syscall.SIGHUP: 129} {
		t.Run(sig.String(), func(t *testing.T) {
			t.Parallel()
			s := httpSite(t, gitserver.HTTPOptions{})
			r := s.worker(t, "alice").exec(t, "--claim task:demo", "echo ready; exec sleep 1000")
			r.signal(sig)
			r.ends(code)
			if rec := s.record(t, "task:demo"); !rec.Released() || rec.Release.Outcome != lease.OutcomeAbandoned {
				t.Errorf("%s", brief(rec))
			}
		})
	}
}

// TestExecInterruptedBeforeStart: a signal while it claims leaves nothing behind.
func TestExecInterruptedBeforeStart(t *testing.T) {
	s := httpSite(t, gitserver.HTTPOptions{})
	alice, bob := s.worker(t, "alice"), s.worker(t, "bob")
	bob.must(t, 0, "claim", "task:other")
	alice.must(t, 0, "status", "task:other")
	hold := gitserver.NewHold()
	s.http.Inject(gitserver.Fault{When: gitserver.Push, Nth: 1, Do: hold.Do})
	r := alice.start(t, "--claim", "task:demo", "--", "echo", "started")
	<-hold.Arrived()
	r.signal(syscall.SIGTERM)
	r.ends(130, "git-worklease: interrupted")
	hold.Release()
	<-hold.Landed()
	bob.must(t, 0, "claim", "task:demo")
}

// TestExecMaxDuration: the command is asked to end when its time is up, and what was claimed is released.
func TestExecMaxDuration(t *testing.T) {
	s := httpSite(t, gitserver.HTTPOptions{})
	alice := s.worker(t, "alice")
	r := alice.exec(t, "--claim task:demo --ttl 2h --max-duration 1h", "trap 'exit 0' TERM; sh -c 'echo ready; exec sleep 1000' & while :; do wait; done")
	alice.pass(t, time.Hour+time.Second)
	r.ends(124, "git-worklease: sh: longer than --max-duration of 1h")
	if rec := s.record(t, "task:demo"); !rec.Released() || rec.Release.Outcome != lease.OutcomeAbandoned {
		t.Errorf("%s", brief(rec))
	}
}

// forgetful is local state whose claims can't be had any more once one was saved.
type forgetful struct {
	lease.Local
	saved *atomic.Bool
	err   error
}

func (f forgetful) SaveHold(h lease.Hold) error {
	defer f.saved.Store(true)
	return f.Local.SaveHold(h)
}

func (f forgetful) Holds() ([]lease.Hold, error) {
	if f.saved.Load() {
		return nil, f.err
	}
	return f.Local.Holds()
}

// TestExecWithoutItsFile: the session's file vanishes, or can't be read any more, before the keeper has begun. The command is ended.
func TestExecWithoutItsFile(t *testing.T) {
	alice := httpSite(t, gitserver.HTTPOptions{}).worker(t, "alice")
	for name, err := range map[string]error{"gone": nil, "unreadable": session.ErrLoose} {
		e := &env{args: []string{"exec", "--claim", "task:" + name, "--", "sleep", "600"}}
		e.local = func(l lease.Local) lease.Local { return forgetful{l, &atomic.Bool{}, err} }
		if r := alice.run(t, e); r.Code != 125 {
			t.Errorf("%s: exit %d\n%s", name, r.Code, r.Stderr)
		}
	}
}
