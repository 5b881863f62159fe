//go:build unix

package main

import (
	"os"
	"syscall"
	"testing"
	"time"

	"github.com/git-worklease/git-worklease/internal/gitserver"
	"github.com/git-worklease/git-worklease/lease"
)

// TestCase08CancelledOverAPath: git-receive-pack is a child of the waiter's, and its hook is slow. The swap lands after the interrupt, and is given
// back.
func TestCase08CancelledOverAPath(t *testing.T) {
	for _, signal := range []os.Signal{os.Interrupt, syscall.SIGTERM} {
		s := pathSite(t)
		alice, bob := waitingScene(t, s)
		alice.must(t, 0, "release")
		pipe := s.pipes(t)
		j := bob.wait(t)
		pipe("arrived", os.O_RDONLY)
		if err := j.cmd.Process.Signal(signal); err != nil {
			t.Fatal(err)
		}
		pipe("go", os.O_WRONLY)
		pipe("landed", os.O_RDONLY)
		pipe("arrived", os.O_RDONLY) // of the release
		pipe("go", os.O_WRONLY)
		<-j.ended
		if code := j.cmd.ProcessState.ExitCode(); code != 130 {
			t.Fatalf("exit %d\n%s%s", code, &j.stdout, &j.stderr)
		}
		if rec := s.record(t, "task:demo"); !rec.Released() || rec.Holder.Agent != "bob" || rec.Release.Outcome != lease.OutcomeAbandoned {
			t.Errorf("%s", brief(rec))
		}
		if v := bob.must(t, 0, "status", "task:demo").views(t)[0]; v.State != lease.StandingReleased {
			t.Errorf("%+v", v)
		}
	}
}

// TestASecondInterruptEndsAtOnce: nobody has to wait for a server that does not answer. What was under way is settled by the next command.
func TestASecondInterruptEndsAtOnce(t *testing.T) {
	s := httpSite(t, gitserver.HTTPOptions{})
	alice, bob := waitingScene(t, s)
	alice.must(t, 0, "release")
	hold := gitserver.NewHold()
	s.http.Inject(gitserver.Fault{When: gitserver.Push, Nth: 1, Do: hold.Do})
	j := bob.wait(t)
	<-hold.Arrived()
	for ended := false; !ended; {
		_ = j.cmd.Process.Signal(os.Interrupt) // it may have ended
		select {
		case <-j.ended:
			ended = true
		case <-time.After(50 * time.Millisecond):
		}
	}
	if status, ok := j.cmd.ProcessState.Sys().(syscall.WaitStatus); !ok || status.Signal() != syscall.SIGINT {
		t.Errorf("%v\n%s%s", j.cmd.ProcessState, &j.stdout, &j.stderr)
	}
	if v := bob.must(t, 2, "status", "task:demo").views(t)[0]; v.State != lease.StandingPending {
		t.Errorf("%+v", v)
	}
	hold.Release()
	<-hold.Landed()
	bob.must(t, 0, "claim", "task:demo")
	s.sound(t)
}
