package sshgit

import (
	"context"
	"errors"
	"io"
	"os/exec"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/git-worklease/git-worklease/internal/gitexec"
	"github.com/git-worklease/git-worklease/refstore/internal/gitwire"
	"github.com/git-worklease/git-worklease/refstore/internal/procgroup"
)

// lingering is how long an ssh that has been told to end may take.
const lingering = 2 * time.Second

// session is one program run on the server through ssh. It outlives the context that it was started with; [session.within] ties it to one for the time
// of an exchange.
type session struct {
	answer *gitwire.Reader
	advert *gitwire.Advert
	role   role

	args   []string
	cmd    *exec.Cmd
	stdin  io.WriteCloser
	stdout io.ReadCloser
	stderr *tail
	// sent: a request was begun.
	sent bool
	// opened tells others that the connection can be shared now, or can't.
	opened func()

	release func()
	once    sync.Once
	ended   chan struct{} // closed when the program has ended and err is set
	err     error
}

// start runs service, "git-upload-pack" for example, on the server. The error is nil or tells why nothing was started.
func (t *transport) start(ctx context.Context, service string, v2 bool) (*session, error) {
	s := &session{opened: func() {}, release: func() {}, ended: make(chan struct{})}
	if err := t.share(ctx, s); err != nil {
		return nil, err
	}
	if err := t.run(s, service, v2); err != nil {
		s.opened()
		s.release()
		return nil, err
	}
	t.live.Add(1)
	free := s.release
	s.release = func() {
		free()
		t.live.Done()
	}
	return s, nil
}

// share gets the session its place on the shared connection. Where that can't be had for reasons of this machine, it goes without.
func (t *transport) share(ctx context.Context, s *session) error {
	if !t.sharing.on() {
		return ctx.Err()
	}
	release, err := t.sharing.slot(ctx)
	if errors.Is(err, errGaveUp) {
		return err
	}
	if err != nil {
		return nil //nolint:nilerr // a connection of one's own does as well
	}
	r, opened, err := t.sharing.join(ctx)
	if err != nil {
		release()
		if errors.Is(err, errGaveUp) {
			return err
		}
		return nil
	}
	s.role, s.opened, s.release = r, sync.OnceFunc(opened), release
	return nil
}

// run starts ssh.
func (t *transport) run(s *session, service string, v2 bool) error {
	env := slices.DeleteFunc(slices.Clone(t.program.env), func(v string) bool { return strings.HasPrefix(v, "GIT_PROTOCOL=") })
	if v2 {
		env = append(env, "GIT_PROTOCOL=version=2")
	}
	s.args = t.arguments(s.role, v2)
	s.args = append(s.args, t.address.host, service+" "+t.address.quoted())
	s.cmd = t.program.command(env, s.args...)
	if !t.o.Git.Interactive {
		procgroup.Alone(s.cmd)
	}
	var err error
	if s.stdin, err = s.cmd.StdinPipe(); err != nil {
		return err
	}
	if s.stdout, err = s.cmd.StdoutPipe(); err != nil {
		return err
	}
	s.answer = gitwire.NewReader(s.stdout)
	if s.stderr, err = newTail(s.cmd); err != nil {
		return err
	}
	if err := s.cmd.Start(); err != nil {
		s.stderr.close()
		return err
	}
	s.stderr.follow()
	return nil
}

// arguments are ssh's options for a call.
func (t *transport) arguments(r role, v2 bool) []string {
	p, args := t.program, []string(nil)
	if p.variant == openssh {
		if v2 {
			args = append(args, "-o", "SendEnv=GIT_PROTOCOL")
		}
		if !t.o.Git.Interactive {
			args = append(args, "-o", "BatchMode=yes")
		}
		args = append(args, t.sharing.options(r)...)
	}
	if p.variant == tortoise || p.variant == plink && !t.o.Git.Interactive {
		args = append(args, "-batch")
	}
	if t.address.port != "" {
		flag := "-p"
		if p.variant != openssh {
			flag = "-P"
		}
		args = append(args, flag, t.address.port)
	}
	return args
}

// within makes the end of ctx end the session, until stop is called.
func (s *session) within(ctx context.Context) (stop func()) {
	unwatch := context.AfterFunc(ctx, s.kill)
	return func() { unwatch() }
}

// kill ends the session at once.
func (s *session) kill() {
	select {
	case <-s.ended: // its ID may be another's by now
	default:
		_ = procgroup.Kill(s.cmd)
	}
	_ = s.stdin.Close()
	_ = s.stdout.Close()
}

// Write sends a part of a request.
func (s *session) Write(b []byte) (int, error) {
	s.sent = true
	return s.stdin.Write(b)
}

// finish says that no further request will come, and lets the program end by itself, unless that takes too long. Nobody need wait for it.
func (s *session) finish() {
	s.once.Do(func() {
		s.opened()
		_ = s.stdin.Close()
		go s.reap()
	})
}

func (s *session) reap() {
	defer close(s.ended)
	defer s.release()
	timer := time.AfterFunc(lingering, s.kill)
	defer timer.Stop()
	_, _ = io.Copy(io.Discard, s.stdout)
	s.err = s.cmd.Wait()
	s.stderr.settle()
}

// failure ends the session and tells how the program ended: its exit status, and what it said.
func (s *session) failure(ctx context.Context) *gitexec.Error {
	s.finish()
	<-s.ended
	return gitexec.Failure(ctx, s.args, s.stderr.String(), s.err)
}
