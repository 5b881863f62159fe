//go:build unix

package child

import (
	"golang.org/x/sys/unix"
	"golang.org/x/term"
)

// terminal is the one that controls this process. nil is none.
type terminal struct {
	fd int
	// group is this process's.
	group int
	// given says that the command's group was put into the foreground.
	given bool
	// own and theirs are the terminal's modes as we and as the command want them; nil: not known.
	own, theirs *term.State
}

// openTerminal opens the controlling terminal, wherever the standard streams lead.
func openTerminal() *terminal {
	fd, err := unix.Open("/dev/tty", unix.O_RDWR|unix.O_CLOEXEC|unix.O_NOCTTY, 0)
	if err != nil {
		return nil
	}
	return &terminal{fd: fd, group: unix.Getpgrp()}
}

func (t *terminal) close() {
	if t != nil {
		_ = unix.Close(t.fd) // nothing was written
	}
}

// ours says whether this process's group is in the foreground.
func (t *terminal) ours() bool {
	if t == nil {
		return false
	}
	group, err := unix.IoctlGetInt(t.fd, unix.TIOCGPGRP)
	return err == nil && group == t.group
}

// save remembers the modes of a terminal that is about to be given away by the start of a command.
func (t *terminal) save() {
	t.own, _ = term.GetState(t.fd) // without them they are not restored
	t.given = true
}

// give puts a group into the foreground, with the modes that it had when it was there last.
func (t *terminal) give(group int) {
	t.save()
	if t.theirs != nil {
		_ = term.Restore(t.fd, t.theirs) // a terminal that has hung up
	}
	_ = unix.IoctlSetPointerInt(t.fd, unix.TIOCSPGRP, group) // likewise, or the group has ended
}

// take puts this process's group into the foreground.
func (t *terminal) take() {
	t.given = false
	_ = unix.IoctlSetPointerInt(t.fd, unix.TIOCSPGRP, t.group) // a terminal that has hung up
}

// back takes the terminal from a command that has it. Modes that the command may not have meant to leave behind are kept for its return, and
// replaced by ours.
func (t *terminal) back(restore bool) {
	if t == nil || !t.given {
		return
	}
	t.take()
	if !restore {
		return
	}
	t.theirs, _ = term.GetState(t.fd) // without them they stay as they are
	if t.own != nil {
		_ = term.Restore(t.fd, t.own) // likewise
	}
}
