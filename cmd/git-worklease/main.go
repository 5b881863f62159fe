// Command git-worklease claims pieces of work through the git remote that a team already has. git finds it on PATH, so that
// `git worklease` runs it.
package main

import (
	"context"
	"os"
	"os/signal"
	"syscall"

	"github.com/git-worklease/git-worklease/lease"
)

// version is set when the binary is linked.
var version = "dev"

// run is main with its exit status. Tests give it a clock of theirs; the program has no setting for it.
func run(clock lease.Clock) int {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
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
