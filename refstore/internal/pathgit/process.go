package pathgit

import (
	"context"
	"io"
	"os/exec"

	"github.com/git-worklease/git-worklease/internal/gitexec"
	"github.com/git-worklease/git-worklease/refstore/internal/gitwire"
	"github.com/git-worklease/git-worklease/refstore/internal/procgroup"
)

// The services.
const (
	reader = "upload-pack"
	writer = "receive-pack"
)

// process is a running service of git. What is written to it is its request.
type process struct {
	ctx    context.Context //nolint:containedctx // of the command that it wraps
	args   []string
	answer *gitwire.Reader

	stdin   io.WriteCloser
	stdout  *io.PipeReader
	stderr  procgroup.Words
	done    chan error
	unwatch func() bool
	sent    bool // a request was begun
}

// start runs a service on the repository. The end of ctx kills a reader. A writer is hung up on instead, as it would be by a client
// that went away: killed in the middle, it could leave a lock, or half of what should be all or none.
func (t *transport) start(ctx context.Context, args ...string) (*process, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	p := &process{ctx: ctx, args: append(args, "--", t.path), done: make(chan error, 1)}
	life := ctx
	if args[0] == writer {
		life = context.WithoutCancel(ctx)
	}
	cmd := t.options.Git.Command(life, p.args...)
	cmd.Env = gitexec.Unbound(cmd.Env)
	if args[0] == reader {
		cmd.Env = append(cmd.Env, "GIT_PROTOCOL=version=2")
	} else {
		procgroup.Detach(cmd)
	}
	var err error
	if p.stdin, err = cmd.StdinPipe(); err != nil {
		return nil, err
	}
	out, in := io.Pipe()
	p.stdout, p.answer = out, gitwire.NewReader(out)
	cmd.Stdout, cmd.Stderr = in, &p.stderr
	if err := cmd.Start(); err != nil {
		return nil, gitexec.Failure(ctx, p.args, "", err)
	}
	p.unwatch = context.AfterFunc(ctx, p.cutOff)
	go p.wait(cmd, in)
	return p, nil
}

// cutOff ends all waiting for the process.
func (p *process) cutOff() {
	p.closeInput()
	_ = p.stdout.CloseWithError(p.ctx.Err())
}

// wait ends the answer when the process has ended, and leaves the process's error in done.
func (p *process) wait(cmd *exec.Cmd, in *io.PipeWriter) {
	err := cmd.Wait()
	_ = in.Close()
	p.done <- err
}

func (p *process) Write(b []byte) (int, error) {
	p.sent = true
	return p.stdin.Write(b)
}

func (p *process) closeInput() { _ = p.stdin.Close() }

// finish ends the exchange and returns how the process ended: nil or an [*gitexec.Error]. It does not wait beyond the context.
func (p *process) finish() error {
	p.unwatch()
	p.closeInput()
	_ = p.stdout.Close()
	select {
	case err := <-p.done:
		if err != nil {
			return gitexec.Failure(p.ctx, p.args, p.stderr.String(), err)
		}
		return nil
	case <-p.ctx.Done():
		return gitexec.Failure(p.ctx, p.args, "", p.ctx.Err())
	}
}

// hangUp says that no request will come.
func (p *process) hangUp() {
	_ = gitwire.WriteFlush(p.stdin)
	_ = p.finish()
}
