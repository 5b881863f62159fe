package sshgit

import (
	"io"
	"os"
	"os/exec"
	"time"

	"github.com/git-worklease/git-worklease/refstore/internal/procgroup"
)

// tail takes what a program says on stderr, and never waits long for more: a process that ssh leaves in the background may hold it open.
type tail struct {
	procgroup.Words

	r, w *os.File
	done chan struct{}
}

// lastWords is how long to wait for what a program said just before it ended.
const lastWords = 200 * time.Millisecond

func newTail(cmd *exec.Cmd) (*tail, error) {
	r, w, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	cmd.Stderr = w
	return &tail{r: r, w: w, done: make(chan struct{})}, nil
}

func (t *tail) close() {
	_ = t.w.Close()
	_ = t.r.Close()
}

// follow reads in the background. The program has its own end of the pipe by now.
func (t *tail) follow() {
	_ = t.w.Close()
	go func() {
		defer close(t.done)
		_, _ = io.Copy(&t.Words, t.r)
	}()
}

// settle waits for the last words.
func (t *tail) settle() {
	timer := time.NewTimer(lastWords)
	defer timer.Stop()
	select {
	case <-t.done:
	case <-timer.C:
	}
	_ = t.r.Close()
}
