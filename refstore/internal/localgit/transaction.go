package localgit

import (
	"bytes"
	"context"
	"io"
	"os/exec"
	"sync"

	"github.com/git-worklease/git-worklease/internal/gitexec"
	"github.com/git-worklease/git-worklease/refstore/internal/procgroup"
)

// transaction is one run of `git update-ref`, which does nothing before it is told by its standard input, and nothing at all if that ends without
// a word.
type transaction struct {
	cmd            *exec.Cmd
	stdin          io.WriteCloser
	stdout, stderr bytes.Buffer
	// err says why it could not be started.
	err error
}

// launch starts git. No context ends it.
func (t *transport) launch() *transaction {
	args := t.args("update-ref", "--stdin", "-z")
	run := &transaction{cmd: t.git.Command(context.Background(), args...)}
	if run.stdin, run.err = run.cmd.StdinPipe(); run.err != nil {
		return run
	}
	run.cmd.Stdout, run.cmd.Stderr = &run.stdout, &run.stderr
	procgroup.Detach(run.cmd)
	if err := run.cmd.Start(); err != nil {
		run.err = gitexec.Failure(context.Background(), args, "", err)
	}
	return run
}

// end lets git finish what it was told, and says when it has.
func (run *transaction) end() <-chan error {
	_ = run.stdin.Close()
	ended := make(chan error, 1)
	go func() { ended <- run.cmd.Wait() }()
	return ended
}

// early is a transaction that was started before there was anything to tell it, since that takes as long as all the rest of a local claim.
type early struct {
	mu  sync.Mutex
	run chan *transaction // nil if there is none, or no longer
}

func (e *early) start(launch func() *transaction) {
	run := make(chan *transaction, 1)
	e.run = run
	go func() { run <- launch() }()
}

// take is the transaction, once; nil if there is none.
func (e *early) take() *transaction {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.run == nil {
		return nil
	}
	run := <-e.run
	e.run = nil
	return run
}

// drop ends the transaction, unless it was taken.
func (e *early) drop() {
	if run := e.take(); run != nil && run.err == nil {
		run.end()
	}
}
