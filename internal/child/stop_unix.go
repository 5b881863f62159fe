//go:build unix

package child

import (
	"os/signal"

	"golang.org/x/sys/unix"
)

// stopped decides what follows where the command has stopped.
func (j *Job) stopped(sig unix.Signal) {
	wants := sig == unix.SIGTTIN || sig == unix.SIGTTOU
	switch {
	case wants && j.tty.ours():
		j.tty.give(j.pid)
		j.signal(unix.SIGCONT)
	case j.ending:
		if !wants { // otherwise it would only stop again
			j.signal(unix.SIGCONT)
		}
	case j.tty == nil, sig == unix.SIGSTOP && !j.tty.given:
		// Nobody's shell waits for us, or somebody has stopped the command alone: whoever did it will let it go on.
	default:
		j.suspend(wants)
	}
}

// suspend stops this process as the command was stopped, so that whoever runs us notices, and lets the command go on afterwards.
func (j *Job) suspend(wants bool) {
	had := j.tty.given
	j.tty.back(true)
	if !orphaned() {
		j.stopSelf()
	}
	if !j.command.proceeds() {
		j.end(unix.SIGKILL)
		return
	}
	if (had || wants || j.front) && j.tty.ours() {
		j.tty.give(j.pid)
	}
	j.signal(unix.SIGCONT)
}

// stopSelf stops our whole group, which git is in that ran us, until it is continued. The others get what the terminal would have sent them; for this
// process, which may handle that signal or have been told to ignore it, there is one that it can't.
func (j *Job) stopSelf() {
	select {
	case <-j.continued: // by an earlier one
	default:
	}
	signal.Ignore(unix.SIGTSTP)
	_ = unix.Kill(0, unix.SIGTSTP) // a group that we are in is there
	_ = unix.Kill(unix.Getpid(), unix.SIGSTOP)
	<-j.continued
	j.catchStops()
}

// orphaned says whether our group has no shell that would notice its stop and let it go on: it is the first of its session, or who started it has
// gone. The system does not stop such a group at a key either.
func orphaned() bool {
	session, err := unix.Getsid(0)
	if err != nil || session == unix.Getpgrp() {
		return true
	}
	parents, err := unix.Getsid(unix.Getppid())
	return err != nil || parents != session
}
