// Package gitexec runs the system's git, reads its configuration, and reads URLs as it does. It knows nothing of what the answers mean.
package gitexec

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os/exec"
	"strings"
	"time"
)

// Git is how to run the system's git for one repository, or for none. Its zero value runs git in the current
// directory with the process's environment, and never prompts.
type Git struct {
	// Program is git's path; empty: "git" on PATH.
	Program string
	// Dir is the directory to run in; empty: the current one.
	Dir string
	// Env is the whole environment; nil: the process's own.
	Env []string
	// Interactive lets git and its helpers ask the user on the terminal.
	Interactive bool
	// Asking, where it is set, is told that the user may be asked something now, and by the function that it returns that this is over: the time in
	// between is the user's.
	Asking func() (answered func())
}

// Ask says that what follows may ask the user, until answered is called.
func (g *Git) Ask() (answered func()) {
	if !g.Interactive || g.Asking == nil {
		return func() {}
	}
	return g.Asking()
}

// Error is a git command that failed.
type Error struct {
	// Args is the command line without the program.
	Args []string
	// Code is the exit status; -1 where git could not be started or was killed.
	Code int
	// Stderr is what git wrote, trimmed and unescaped.
	Stderr string
	Err    error
}

func (e *Error) Error() string {
	name := "git"
	if len(e.Args) > 0 {
		name += " " + e.Args[0]
	}
	if e.Stderr != "" {
		return name + ": " + firstLine(e.Stderr)
	}
	return fmt.Sprintf("%s: %v", name, e.Err)
}

func (e *Error) Unwrap() error { return e.Err }

// stopGrace is how long a git whose context ended may take to go away before it is killed and its pipes are closed.
const stopGrace = 2 * time.Second

// Command is git with args, not yet started. Its context kills it.
func (g *Git) Command(ctx context.Context, args ...string) *exec.Cmd {
	program := g.Program
	if program == "" {
		program = "git"
	}
	cmd := exec.CommandContext(ctx, program, args...) //nolint:gosec // the program is git
	cmd.Dir = g.Dir
	cmd.Env = g.environ(cmd)
	cmd.WaitDelay = stopGrace
	return cmd
}

// quiet keeps git, its credential helpers and ssh from asking anybody.
var quiet = []string{"GIT_TERMINAL_PROMPT=0", "GCM_INTERACTIVE=never", "GIT_ASKPASS=", "SSH_ASKPASS="}

func (g *Git) environ(cmd *exec.Cmd) []string {
	env := g.Env
	if env == nil {
		env = cmd.Environ()
	}
	if g.Interactive {
		return env
	}
	return append(env[:len(env):len(env)], quiet...)
}

// Output runs git with args and returns what it wrote to standard output. It returns an [*Error].
func (g *Git) Output(ctx context.Context, args ...string) ([]byte, error) {
	return g.Pipe(ctx, nil, args...)
}

// Pipe is Output with stdin as standard input.
func (g *Git) Pipe(ctx context.Context, stdin []byte, args ...string) ([]byte, error) {
	var stdout, stderr bytes.Buffer
	cmd := g.Command(ctx, args...)
	cmd.Stdin = bytes.NewReader(stdin)
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	if err := cmd.Run(); err != nil {
		return stdout.Bytes(), Failure(ctx, args, stderr.String(), err)
	}
	return stdout.Bytes(), nil
}

// Failure makes the [*Error] of a command that was run by hand and ended with err. Where the context has ended, that is the cause.
func Failure(ctx context.Context, args []string, stderr string, err error) *Error {
	e := &Error{Args: args, Code: -1, Stderr: strings.TrimSpace(stderr), Err: err}
	var exit *exec.ExitError
	if errors.As(err, &exit) {
		e.Code = exit.ExitCode()
	}
	if ctx.Err() != nil {
		e.Err = ctx.Err()
	}
	return e
}

func firstLine(s string) string {
	line, rest, _ := strings.Cut(s, "\n")
	if strings.HasSuffix(line, ":") { // the reason follows
		rest, _, _ = strings.Cut(rest, "\n")
		line += " " + strings.TrimSpace(rest)
	}
	return line
}
