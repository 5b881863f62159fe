// Package child runs one command as a job of its own: a process group that is signalled, stopped, continued and ended as a whole, and that has the
// terminal where this process has it. It knows nothing of claims.
//
// A command that outlives this process, because that was killed, goes on. Where the command itself ends, what it left behind in its group goes on
// as well, unless it was told to end.
package child

import (
	"io"
	"os"
	"time"
)

// Command is what is run.
type Command struct {
	// Args are the program, looked up on PATH, and its arguments.
	Args []string
	// Env is the whole environment; nil: this process's own.
	Env []string
	// Dir is where it runs; "": where this process does.
	Dir string
	// Stdin, Stdout and Stderr are passed on as they are. One that is nil is the null device.
	Stdin, Stdout, Stderr *os.File
	// Proceed is asked before a command goes on that was stopped together with this process, for however long; if it says no, the command is killed
	// instead. nil: it always goes on.
	Proceed func() bool
}

func (c *Command) proceeds() bool { return c.Proceed == nil || c.Proceed() }

// Status is how a command ended.
type Status struct {
	// Code is the exit status of a command that ended by itself.
	Code int
	// Signal is the number of the signal that ended it, or 0.
	Signal int
}

// Exit is the status as a shell gives it: that of the command, or 128 and the signal.
func (s Status) Exit() int {
	if s.Signal != 0 {
		return 128 + s.Signal
	}
	return s.Code
}

// Job is a command that was started. Its methods may be called by several goroutines.
type Job struct {
	command Command
	signals *Signals
	system
	terminate, kill chan struct{}
	done            chan struct{}
	status          Status
}

// survey is how often a group that was told to end is looked at once the command itself has gone.
const survey = 50 * time.Millisecond

// Start starts a command, to which the signals that ask this process to end are passed on from now on: each once, and a further interrupt or
// request to terminate kills the command. It returns a [*StartError] where the command can't be started. One job at a time may use signals.
func Start(c Command, signals *Signals) (*Job, error) {
	j := &Job{
		command: c, signals: signals,
		terminate: make(chan struct{}, 1), kill: make(chan struct{}, 1), done: make(chan struct{}),
	}
	if err := j.start(); err != nil {
		return nil, err
	}
	go j.run()
	return j, nil
}

// Terminate asks the command and all of its group to end. From now on the job has ended only when nothing of the group is left. It does not wait.
func (j *Job) Terminate() { order(j.terminate) }

// Kill ends the command and all of its group. It does not wait.
func (j *Job) Kill() { order(j.kill) }

func order(c chan struct{}) {
	select {
	case c <- struct{}{}:
	default: // given already
	}
}

// Done is closed when the job has ended.
func (j *Job) Done() <-chan struct{} { return j.done }

// Wait waits for the end of the job. A job that had the terminal has given it back by then.
func (j *Job) Wait() Status {
	<-j.done
	return j.status
}

// streams are the three files as os/exec wants them.
func (c *Command) streams() (in io.Reader, out, err io.Writer) {
	if c.Stdin != nil {
		in = c.Stdin
	}
	if c.Stdout != nil {
		out = c.Stdout
	}
	if c.Stderr != nil {
		err = c.Stderr
	}
	return in, out, err
}
