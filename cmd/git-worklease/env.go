package main

import (
	"io"
	"os"
	"strings"

	"golang.org/x/term"

	"github.com/git-worklease/git-worklease/internal/gitexec"
	"github.com/git-worklease/git-worklease/lease"
	"github.com/git-worklease/git-worklease/refstore"
)

// env is all that a run takes from the world. Tests and the demonstration make their own.
type env struct {
	args     []string
	in       io.Reader
	out, err io.Writer
	environ  []string
	// dir is where the run happens; empty: the process's own directory.
	dir string
	// runner is the process that runs the command; 0: the parent of this one.
	runner  int
	clock   lease.Clock
	version string
	// local and store, where they are set, stand between package lease and what it works with: tests stop the program at each step of a verb.
	local func(lease.Local) lease.Local
	store func(refstore.Store) refstore.Store
}

// getenv is the value of an environment variable; the last one counts, as in execve's children.
func (e *env) getenv(key string) string {
	for i := len(e.environ) - 1; i >= 0; i-- {
		if name, value, ok := strings.Cut(e.environ[i], "="); ok && name == key {
			return value
		}
	}
	return ""
}

// git runs the system's git where the run happens.
func (e *env) git() *gitexec.Git {
	return &gitexec.Git{Dir: e.dir, Env: e.environ, Interactive: e.interactive()}
}

// interactive says whether somebody is there to be asked for a password.
func (e *env) interactive() bool {
	return isTerminal(e.in) && isTerminal(e.err) && e.getenv("GIT_TERMINAL_PROMPT") != "0"
}

// isTerminal says whether a stream is a terminal.
func isTerminal(stream any) bool {
	f, ok := stream.(*os.File)
	return ok && term.IsTerminal(int(f.Fd())) //nolint:gosec // a file descriptor fits
}
