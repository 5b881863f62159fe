//go:build unix

package child

import (
	"bufio"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"golang.org/x/sys/unix"
)

// started is a job whose output is read by the test. The output ends when the last process has gone that holds it.
type started struct {
	*Job
	signals  *Signals
	out, err *bufio.Reader
}

// shell starts a script.
func shell(t *testing.T, script string) *started {
	t.Helper()
	s := &started{signals: Catch()}
	out, toOut := pipe(t)
	errs, toErr := pipe(t)
	s.out, s.err = bufio.NewReader(out), bufio.NewReader(errs)
	var err error
	s.Job, err = Start(Command{Args: []string{"sh", "-c", script}, Stdout: toOut, Stderr: toErr}, s.signals)
	for _, f := range []*os.File{toOut, toErr} {
		if cerr := f.Close(); cerr != nil {
			t.Fatal(cerr)
		}
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		s.Kill()
		s.Wait()
		s.signals.Release()
	})
	return s
}

func pipe(t *testing.T) (r, w *os.File) {
	t.Helper()
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = r.Close() })
	return r, w
}

// line waits for the next line of output.
func (s *started) line(t *testing.T) string {
	t.Helper()
	text, err := s.out.ReadString('\n')
	if err != nil {
		t.Fatalf("%q: %v", text, err)
	}
	return text[:len(text)-1]
}

// gone waits for the end of a stream: whoever had it has gone.
func gone(t *testing.T, r io.Reader) {
	t.Helper()
	if _, err := io.Copy(io.Discard, r); err != nil {
		t.Fatal(err)
	}
}

func TestStatus(t *testing.T) {
	for script, want := range map[string]Status{
		"true":           {},
		"exit 7":         {Code: 7},
		"exit 255":       {Code: 255},
		"kill -9 $$":     {Signal: 9},
		"kill -TERM $$":  {Signal: 15},
		"sh -c 'exit 3'": {Code: 3},
		"exec sleep 0":   {},
	} {
		if got := shell(t, script).Wait(); got != want {
			t.Errorf("%s: %+v, want %+v", script, got, want)
		}
	}
	if got := (Status{Signal: 2}).Exit(); got != 130 {
		t.Errorf("exit %d", got)
	}
}

// TestEndsAtOnce: a command may be gone before anybody looks.
func TestEndsAtOnce(t *testing.T) {
	for i := range 50 {
		if got := shell(t, "exit "+strconv.Itoa(i)).Wait(); got.Code != i {
			t.Fatalf("%+v, want %d", got, i)
		}
	}
}

func TestCannotStart(t *testing.T) {
	dir := t.TempDir()
	file := func(name, text string, mode os.FileMode) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(text), mode); err != nil {
			t.Fatal(err)
		}
		return path
	}
	signals := Catch()
	defer signals.Release()
	for program, want := range map[string]error{
		"no-such-program-anywhere":    ErrNotFound,
		filepath.Join(dir, "missing"): ErrNotFound,
		dir:                           ErrDirectory,
		file("plain", "text", 0o600):  ErrNotExecutable,
		file("format", "text", 0o700): ErrNotExecutable,
		file("interpreter", "#!/no/such/interpreter\n", 0o700): ErrInterpreter,
		file("long", "#!/bin/sh\n", 0o700):                     ErrNotStarted,
	} {
		c := Command{Args: []string{program}}
		if errors.Is(want, ErrNotStarted) {
			c.Args = append(c.Args, strings.Repeat("x", 4<<20)) // longer than an argument may be
		}
		_, err := Start(c, signals)
		var start *StartError
		if !errors.Is(err, want) || !errors.As(err, &start) || start.Program != program {
			t.Errorf("%s: %v, want %v", program, err, want)
		}
	}
}

// TestTerminateIsHeard: who handles the request has the time for it.
func TestTerminateIsHeard(t *testing.T) {
	s := shell(t, `trap 'echo bye; exit 3' TERM; sh -c 'echo ready; exec sleep 1000' & while :; do wait; done`)
	s.line(t)
	s.Terminate()
	if got := s.line(t); got != "bye" {
		t.Error(got)
	}
	gone(t, s.out)
	if got := s.Wait(); got != (Status{Code: 3}) {
		t.Errorf("%+v", got)
	}
}

// TestLeaderIgnoresTerm: the request is ignored by all, and killing ends all of the group.
func TestLeaderIgnoresTerm(t *testing.T) {
	s := shell(t, `trap '' TERM; sleep 1000 & sh -c 'echo ready; sleep 1000' & wait; sleep 1000`)
	s.line(t)
	s.Terminate()
	s.Kill()
	if got := s.Wait(); got != (Status{Signal: 9}) {
		t.Errorf("%+v", got)
	}
	gone(t, s.out)
}

// TestLeaderLeavesOthers: the leader ends when asked to, what it started does not, and the job has not ended before all of it has.
func TestLeaderLeavesOthers(t *testing.T) {
	s := shell(t, `(trap '' TERM; echo ready; exec sleep 1000) 2>/dev/null & wait`)
	s.line(t)
	s.Terminate()
	gone(t, s.err) // the leader's
	select {
	case <-s.Done():
		t.Fatal("it is said to have ended")
	default:
	}
	s.Kill()
	gone(t, s.out)
	if got := s.Wait(); got != (Status{Signal: 15}) {
		t.Errorf("%+v", got)
	}
}

// TestRestIsLeftAlone: a command that ends by itself may leave something behind.
func TestRestIsLeftAlone(t *testing.T) {
	s := shell(t, `sleep 1000 & echo $!`)
	pid, err := strconv.Atoi(s.line(t))
	if err != nil {
		t.Fatal(err)
	}
	if got := s.Wait(); got != (Status{}) {
		t.Errorf("%+v", got)
	}
	if err := unix.Kill(pid, unix.SIGKILL); err != nil {
		t.Errorf("it is gone: %v", err)
	}
	gone(t, s.out)
}

// ask sends this process a signal, which must be caught.
func ask(t *testing.T, sig unix.Signal) {
	t.Helper()
	if err := unix.Kill(unix.Getpid(), sig); err != nil {
		t.Fatal(err)
	}
}

// later makes the signals that have come be long ago.
func (s *Signals) later() {
	s.mu.Lock()
	defer s.mu.Unlock()
	for sig, at := range s.last {
		s.last[sig] = at.Add(-echo)
	}
}

// TestSignalsArePassedOn: each kind to all of the group, and what comes again kills.
func TestSignalsArePassedOn(t *testing.T) {
	script := `report() { echo $1; }; for s in INT TERM HUP QUIT; do trap "report $s" $s; done; (trap "" INT TERM HUP QUIT; exec sleep 1000) & echo ready; while :; do wait; done`
	s := shell(t, script)
	s.line(t)
	for name, sig := range map[string]unix.Signal{"INT": unix.SIGINT, "TERM": unix.SIGTERM, "HUP": unix.SIGHUP, "QUIT": unix.SIGQUIT} {
		ask(t, sig)
		if got := s.line(t); got != name {
			t.Errorf("%s came as %s", name, got)
		}
	}
	s.signals.later()
	ask(t, unix.SIGHUP) // is no reason to kill
	if got := s.line(t); got != "HUP" {
		t.Error(got)
	}
	s.signals.later()
	ask(t, unix.SIGINT)
	if got := s.Wait(); got != (Status{Signal: 9}) {
		t.Errorf("%+v", got)
	}
}

// TestEchoIsOneRequest: git passes on a signal that its whole group was sent.
func TestEchoIsOneRequest(t *testing.T) {
	s := Catch()
	defer s.Release()
	if !s.fresh(unix.SIGINT) || s.fresh(unix.SIGINT) || !s.fresh(unix.SIGTERM) {
		t.Error("the echo counts, or another signal does not")
	}
	s.later()
	if !s.fresh(unix.SIGINT) {
		t.Error("a later one does not count")
	}
}

// TestSignalBeforeStart: a signal that nobody has looked at yet reaches the command.
func TestSignalBeforeStart(t *testing.T) {
	s := Catch()
	defer s.Release()
	ask(t, unix.SIGTERM)
	j, err := Start(Command{Args: []string{"sleep", "1000"}}, s)
	if err != nil {
		t.Fatal(err)
	}
	if got := j.Wait(); got != (Status{Signal: 15}) {
		t.Errorf("%+v", got)
	}
}

// TestContextEndsAtSignal, and leaves later ones to others.
func TestContextEndsAtSignal(t *testing.T) {
	s := Catch()
	defer s.Release()
	ctx, stop := s.Context(t.Context())
	ask(t, unix.SIGHUP)
	<-ctx.Done()
	stop()
	ask(t, unix.SIGTERM)
	if got := <-s.caught; got != unix.SIGTERM {
		t.Error(got)
	}
}

// TestStoppedCommandIsEnded: one that somebody has stopped hears that it is to end.
func TestStoppedCommandIsEnded(t *testing.T) {
	s := shell(t, `trap 'exit 5' TERM; echo ready; kill -STOP $$; sleep 1000`)
	s.line(t)
	s.Terminate()
	if got := s.Wait(); got != (Status{Code: 5}) {
		t.Errorf("%+v", got)
	}
	s = shell(t, `echo ready; kill -STOP $$; sleep 1000`)
	s.line(t)
	s.Kill()
	if got := s.Wait(); got != (Status{Signal: 9}) {
		t.Errorf("%+v", got)
	}
}
