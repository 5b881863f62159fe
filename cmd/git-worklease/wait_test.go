package main

import (
	"fmt"
	"os"
	"regexp"
	"strings"
	"syscall"
	"testing"

	"github.com/git-worklease/git-worklease/internal/gitserver"
	"github.com/git-worklease/git-worklease/lease"
)

// waitingScene is a resource that bob may be waiting for, in a clone that has seen the server before.
func waitingScene(t *testing.T, s *site) (alice, bob *worker) {
	t.Helper()
	alice, bob = s.worker(t, "alice"), s.worker(t, "bob")
	alice.must(t, 0, "claim", "task:demo")
	bob.must(t, 3, "claim", "task:demo")
	return alice, bob
}

// wait starts bob's wait for the resource in a process of its own.
func (w *worker) wait(t *testing.T) *job {
	t.Helper()
	j, err := startJob(nil, w.Command(t.Context(), "git-worklease", "claim", "task:demo", "--wait", "1h"))
	if err != nil {
		t.Fatal(err)
	}
	return j
}

// interrupted sends a signal and waits for the end, which has to be that of an interrupted command.
func (j *job) interrupted(t *testing.T, s os.Signal) {
	t.Helper()
	if err := j.cmd.Process.Signal(s); err != nil {
		t.Fatal(err)
	}
	<-j.ended
	if code := j.cmd.ProcessState.ExitCode(); code != 130 || !strings.Contains(j.stderr.String(), "git-worklease: interrupted") {
		t.Fatalf("exit %d\n%s%s", code, &j.stdout, &j.stderr)
	}
}

// claims are the refs of all claims, with what they hold.
func (s *site) claims(t *testing.T) string {
	t.Helper()
	return s.git(t, "for-each-ref", lease.DefaultPrefix+"claims")
}

// TestCase08CancelledWaiter: a process that waits is told to stop, whatever it is doing: it ends with 130, and no ref has changed, except that what
// a swap took that was under way is given back.
func TestCase08CancelledWaiter(t *testing.T) {
	for _, s := range []os.Signal{os.Interrupt, syscall.SIGTERM} {
		t.Run(fmt.Sprint(s), func(t *testing.T) {
			t.Parallel()
			t.Run("in a pause", func(t *testing.T) { cancelInPause(t, s) })
			t.Run("in a read", func(t *testing.T) { cancelInRead(t, s) })
			t.Run("in a swap", func(t *testing.T) { cancelInSwap(t, s) })
		})
	}
}

var isWaiting = regexp.MustCompile("waiting for task:demo")

func cancelInPause(t *testing.T, signal os.Signal) {
	s := httpSite(t, gitserver.HTTPOptions{})
	_, bob := waitingScene(t, s)
	before := s.claims(t)
	j := bob.wait(t)
	if err := j.stderr.await(isWaiting); err != nil {
		t.Fatal(err)
	}
	j.interrupted(t, signal)
	if after := s.claims(t); after != before {
		t.Errorf("the refs were\n%s\nand are\n%s", before, after)
	}
	s.sound(t)
}

func cancelInRead(t *testing.T, signal os.Signal) {
	s := httpSite(t, gitserver.HTTPOptions{})
	_, bob := waitingScene(t, s)
	before := s.claims(t)
	hold := gitserver.NewHold()
	s.http.Inject(gitserver.Fault{When: gitserver.Fetch, Nth: 1, Do: hold.Do})
	j := bob.wait(t)
	<-hold.Arrived()
	j.interrupted(t, signal)
	hold.Release()
	<-hold.Landed()
	if after := s.claims(t); after != before {
		t.Errorf("the refs were\n%s\nand are\n%s", before, after)
	}
	s.sound(t)
}

func cancelInSwap(t *testing.T, signal os.Signal) {
	s := httpSite(t, gitserver.HTTPOptions{})
	alice, bob := waitingScene(t, s)
	hold := gitserver.NewHold()
	alice.must(t, 0, "release")
	s.http.Inject(gitserver.Fault{When: gitserver.Push, Nth: 1, Do: hold.Do})
	j := bob.wait(t)
	<-hold.Arrived()
	if err := j.cmd.Process.Signal(signal); err != nil {
		t.Fatal(err)
	}
	hold.Release()
	<-j.ended
	if code := j.cmd.ProcessState.ExitCode(); code != 130 || !strings.Contains(j.stderr.String(), "given back") {
		t.Fatalf("exit %d\n%s%s", code, &j.stdout, &j.stderr)
	}
	rec := s.record(t, "task:demo")
	if !rec.Released() || rec.Holder.Agent != "bob" || rec.Release.Outcome != lease.OutcomeAbandoned {
		t.Errorf("%s", brief(rec))
	}
	if v := bob.must(t, 0, "status", "task:demo").views(t)[0]; v.State != lease.StandingReleased || v.Mine {
		t.Errorf("%+v", v)
	}
	bob.must(t, 4, "renew", "task:demo")
	alice.must(t, 0, "claim", "task:demo")
	s.sound(t)
}
