package gitserver

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"github.com/git-worklease/git-worklease/internal/gitexec"
)

// Checkout is the clone of one user, who has a home directory and a git configuration of their own.
type Checkout struct {
	// Dir is the work tree.
	Dir string
	// Home holds the configuration, ".gitconfig".
	Home string
	// Env is the whole environment of the user's commands.
	Env []string
}

// userConfig is the configuration that every user starts with.
const userConfig = "[user]\n\tname = Some One\n\temail = someone@example.com\n[init]\n\tdefaultBranch = main\n[advice]\n\tdetachedHead = false\n"

// NewUser makes a user in dir without a repository: Dir is an empty directory. Each env is NAME=value.
func NewUser(dir string, env ...string) (*Checkout, error) {
	c := &Checkout{Dir: filepath.Join(dir, "work"), Home: filepath.Join(dir, "home")}
	for _, path := range []string{c.Dir, c.Home} {
		if err := os.MkdirAll(path, 0o750); err != nil {
			return nil, fmt.Errorf("user: %w", err)
		}
	}
	config := filepath.Join(c.Home, ".gitconfig")
	if err := os.WriteFile(config, []byte(userConfig), 0o600); err != nil {
		return nil, fmt.Errorf("user: %w", err)
	}
	c.Env = append(inherited(),
		"HOME="+c.Home, "XDG_CONFIG_HOME="+filepath.Join(c.Home, ".config"), "XDG_STATE_HOME="+filepath.Join(c.Home, ".state"),
		"GIT_CONFIG_NOSYSTEM=1", "GIT_CONFIG_GLOBAL="+config, "GIT_TERMINAL_PROMPT=0", "LC_ALL=C", "TERM=dumb")
	c.Env = append(c.Env, env...)
	return c, nil
}

// inherited is what of this process's environment says where programs are, and nothing about git or the user.
func inherited() []string {
	var env []string
	for _, name := range []string{"PATH", "TMPDIR", "SYSTEMROOT", "SystemRoot", "TEMP", "TMP", "PATHEXT", "COMSPEC", "GOCOVERDIR"} {
		if value, ok := os.LookupEnv(name); ok {
			env = append(env, name+"="+value)
		}
	}
	return env
}

// NewClone makes a user in dir with a clone of url. Each env is NAME=value.
func NewClone(ctx context.Context, dir, url string, env ...string) (*Checkout, error) {
	c, err := NewUser(dir, env...)
	if err != nil {
		return nil, err
	}
	if _, err := c.Git(ctx, "clone", "--quiet", url, "."); err != nil {
		return nil, fmt.Errorf("clone: %w", err)
	}
	return c, nil
}

// Git runs git in the clone and returns its trimmed output. It returns a [*gitexec.Error].
func (c *Checkout) Git(ctx context.Context, args ...string) (string, error) {
	out, err := (&gitexec.Git{Dir: c.Dir, Env: c.Env}).Output(ctx, args...)
	return strings.TrimSpace(string(out)), err
}

// Command is a program in the clone, not yet started.
func (c *Checkout) Command(ctx context.Context, program string, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, program, args...)
	cmd.Dir, cmd.Env = c.Dir, c.Env
	return cmd
}

// Result is how a command ended.
type Result struct {
	Stdout, Stderr string
	// Code is the exit status; -1 where the program could not be started or was killed.
	Code int
}

// Run runs a program in the clone to its end, whatever that is.
func (c *Checkout) Run(ctx context.Context, program string, args ...string) Result {
	var stdout, stderr bytes.Buffer
	cmd := c.Command(ctx, program, args...)
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	err := cmd.Run()
	if cmd.ProcessState == nil {
		return Result{Stderr: err.Error(), Code: -1}
	}
	return Result{Stdout: stdout.String(), Stderr: stderr.String(), Code: cmd.ProcessState.ExitCode()}
}
