// Command git-worklease claims pieces of work through the git remote that a team already has. git finds it on PATH, so that
// `git worklease` runs it.
package main

import (
	"context"
	"os"
	"os/signal"
	"slices"
	"syscall"

	"github.com/git-worklease/git-worklease/lease"
)

// version is set when the binary is linked.
var version = "dev"

// run is main with its exit status. Tests give it a clock of theirs; the program has no setting for it.
func run(clock lease.Clock) int {
	ctx, stop := interruptible()
	defer stop()
	e := &env{
		args:    os.Args[1:],
		in:      os.Stdin,
		out:     os.Stdout,
		err:     os.Stderr,
		environ: os.Environ(),
		clock:   clock,
		version: version,
	}
	return execute(ctx, e)
}

// interruptible is a context that ends when the user or a supervisor asks for that. A signal that the program was started to ignore, as in the
// background of a script, stays ignored.
func interruptible() (context.Context, context.CancelFunc) {
	signals := slices.DeleteFunc([]os.Signal{os.Interrupt, syscall.SIGTERM}, signal.Ignored)
	if len(signals) == 0 {
		return context.WithCancel(context.Background())
	}
	return signal.NotifyContext(context.Background(), signals...)
}
