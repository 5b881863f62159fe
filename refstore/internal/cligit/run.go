package cligit

import (
	"bytes"
	"context"

	"github.com/git-worklease/git-worklease/internal/gitexec"
	"github.com/git-worklease/git-worklease/refstore/internal/procgroup"
)

// outcome is what a command of git left.
type outcome struct {
	stdout []byte
	stderr string
	// started says that git was started.
	started bool
	// ended says that neither git nor any process that it had started runs on.
	ended bool
}

// run runs git. Where nobody is to be asked it has no terminal, and it is ended with all its helpers when the context ends: a git that is
// killed alone leaves a helper behind that goes on to send. The error is a [*gitexec.Error].
func run(ctx context.Context, g *gitexec.Git, args []string, stdin []byte) (outcome, error) {
	var stdout, stderr bytes.Buffer
	cmd := g.Command(ctx, args...)
	cmd.Stdin = bytes.NewReader(stdin)
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	whole := false
	if !g.Interactive {
		whole = procgroup.Alone(cmd)
	}
	if whole {
		cmd.Cancel = func() error { return procgroup.Kill(cmd) }
	}
	err := cmd.Run()
	out := outcome{stdout: stdout.Bytes(), stderr: stderr.String(), started: cmd.Process != nil, ended: ctx.Err() == nil || whole}
	if err != nil {
		return out, gitexec.Failure(ctx, args[1:], out.stderr, err)
	}
	return out, nil
}
