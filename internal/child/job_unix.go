//go:build unix

package child

import (
	"errors"
	"os"
	"os/exec"
	"os/signal"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
	"golang.org/x/term"
)

// system is what a job is on this kind of system. All of it belongs to the goroutine of run, which alone reaps and signals, so that no signal goes to a
// process that only has the number of an earlier one.
type system struct {
	// pid is the command's, and its group's.
	pid int
	tty *terminal
	// front says that the command had the terminal from the start.
	front bool
	// exited: the command was reaped. ending: it was told to end, and killed so that it had to.
	exited, ending, killed bool
	children, continued    chan os.Signal
	// stops are requests to stop from the terminal; this process was started to ignore them unless stoppable is set.
	stops     chan os.Signal
	stoppable bool
}

// asking are the signals that ask a process to end.
func asking() []os.Signal { return []os.Signal{unix.SIGINT, unix.SIGTERM, unix.SIGHUP, unix.SIGQUIT} }

// start starts the command in a group of its own. It has the terminal at once where we have it and are no part of a pipeline, whose other parts may
// need it; otherwise as soon as it wants it.
func (j *Job) start() error {
	cmd := exec.Command(j.command.Args[0], j.command.Args[1:]...) //nolint:gosec,noctx // the user's own command, which is ended by signals
	if errors.Is(cmd.Err, exec.ErrDot) {
		cmd.Err = nil // whoever has "." on PATH means it
	}
	cmd.Env, cmd.Dir = j.command.Env, j.command.Dir
	cmd.Stdin, cmd.Stdout, cmd.Stderr = j.command.streams()
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	j.tty = openTerminal()
	if j.front = j.tty.ours() && isTerminal(j.command.Stdin) && isTerminal(j.command.Stdout); j.front {
		j.tty.save()
		cmd.SysProcAttr.Foreground, cmd.SysProcAttr.Ctty = true, j.tty.fd
	}
	j.listen()
	if err := cmd.Start(); err != nil {
		if j.front {
			j.tty.take()
		}
		j.unlisten()
		return startError(j.command.Args[0], cmd.Path, err)
	}
	j.pid = cmd.Process.Pid
	_ = cmd.Process.Release() // it is waited for by its number
	return nil
}

func isTerminal(f *os.File) bool { return f != nil && term.IsTerminal(int(f.Fd())) }

// listen catches what a shell catches. What writes to a terminal that the command has, or takes it back, must not be stopped for it.
func (j *Job) listen() {
	j.children, j.continued, j.stops = make(chan os.Signal, 1), make(chan os.Signal, 1), make(chan os.Signal, 1)
	signal.Notify(j.children, unix.SIGCHLD)
	signal.Notify(j.continued, unix.SIGCONT)
	j.stoppable = !signal.Ignored(unix.SIGTSTP)
	j.catchStops()
	if j.tty != nil {
		signal.Ignore(unix.SIGTTOU)
	}
}

func (j *Job) catchStops() {
	if j.stoppable {
		signal.Notify(j.stops, unix.SIGTSTP)
	}
}

func (j *Job) unlisten() {
	for _, c := range []chan os.Signal{j.children, j.continued, j.stops} {
		signal.Stop(c)
	}
	if j.tty != nil {
		signal.Reset(unix.SIGTTOU)
	}
	j.tty.close()
}

// run follows the command to its end.
func (j *Job) run() {
	defer close(j.done)
	defer j.unlisten()
	for !j.exited {
		select {
		case <-j.children:
			j.reap()
		case sig := <-j.signals.caught:
			j.pass(sig)
		case <-j.stops:
			j.signal(unix.SIGTSTP)
		case <-j.terminate:
			j.end(unix.SIGTERM)
		case <-j.kill:
			j.end(unix.SIGKILL)
		}
	}
	if j.ending {
		j.outlive()
	}
}

// reap takes in all that has become of the command.
func (j *Job) reap() {
	for !j.exited {
		var ws unix.WaitStatus
		pid, err := unix.Wait4(j.pid, &ws, unix.WNOHANG|unix.WUNTRACED, nil)
		switch {
		case errors.Is(err, unix.EINTR):
		case err != nil || pid == 0:
			return
		case ws.Stopped():
			j.stopped(ws.StopSignal())
		default:
			j.exited = true
			j.status = Status{Code: ws.ExitStatus()}
			if ws.Signaled() {
				j.status = Status{Signal: int(ws.Signal())}
			}
			j.tty.back(ws.Signaled())
		}
	}
}

// outlive waits until nothing is left of a group that was told to end and whose leader is gone. As long as there are members, no other group can
// have the number.
func (j *Job) outlive() {
	tick := time.NewTicker(survey)
	defer tick.Stop()
	for !j.killed && unix.Kill(-j.pid, 0) == nil {
		select {
		case <-tick.C:
		case <-j.kill:
			j.end(unix.SIGKILL)
		case sig := <-j.signals.caught:
			j.pass(sig)
		}
	}
}

// end tells the whole group to end; a stopped one goes on for that.
func (j *Job) end(sig unix.Signal) {
	j.ending, j.killed = true, j.killed || sig == unix.SIGKILL
	j.signal(sig)
	j.signal(unix.SIGCONT)
}

// pass passes on a request to end. Who asks a second time means it.
func (j *Job) pass(sig os.Signal) {
	s, ok := sig.(unix.Signal)
	again := j.signals.seen(sig) && (s == unix.SIGINT || s == unix.SIGTERM)
	switch {
	case !ok || !j.signals.fresh(sig):
	case again:
		j.end(unix.SIGKILL)
	default:
		j.signal(s)
		if s != unix.SIGQUIT && s != unix.SIGINT {
			j.signal(unix.SIGCONT) // as a shell that hangs up
		}
	}
}

// signal sends a signal to the whole group, and where the command has left that, to the command.
func (j *Job) signal(sig unix.Signal) {
	if err := unix.Kill(-j.pid, sig); errors.Is(err, unix.ESRCH) && !j.exited {
		_ = unix.Kill(j.pid, sig) // it may have ended just now
	}
}
