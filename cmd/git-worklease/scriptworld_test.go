package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/git-worklease/git-worklease/internal/gitserver"
)

// world is what one script has: servers, users, and a clock that all of them share.
type world struct {
	ctx   context.Context //nolint:containedctx // the script's life
	dir   string
	repos *gitserver.Repos
	// open and closed are the http servers, the latter with passwords.
	open, closed *gitserver.HTTPServer
	ssh          *gitserver.SSHServer
	// asked is how many requests to the open one were counted before.
	asked int
	// repo is the one that the last server command was about.
	repo  *gitserver.Repo
	users map[string]*scriptUser
	// jobs are the commands in the background.
	jobs map[string]*job
}

// scriptUser is a user and the refs that the clone had before the program was used.
type scriptUser struct {
	*gitserver.Checkout
	refs string
}

type worldKey struct{}

func worldOf(ts *testscript.TestScript) *world {
	w, ok := ts.Value(worldKey{}).(*world)
	if !ok {
		ts.Fatalf("no world")
	}
	return w
}

func setUpWorld(e *testscript.Env) error {
	t, ok := e.T().(testing.TB)
	if !ok {
		return errors.New("not run by the testing package")
	}
	repos, err := gitserver.NewRepos(filepath.Join(e.WorkDir, "server"))
	if err != nil {
		return err
	}
	w := &world{ctx: t.Context(), dir: e.WorkDir, repos: repos, users: map[string]*scriptUser{}, jobs: map[string]*job{}}
	e.Values[worldKey{}] = w
	e.Defer(func() {
		if err := w.close(); err != nil {
			t.Errorf("the servers' end: %v", err)
		}
	})
	e.Setenv(clockFile, w.clock())
	e.Setenv("GORACE", "atexit_sleep_ms=0")
	contrib, err := filepath.Abs(filepath.Join("..", "..", "contrib"))
	e.Setenv("CONTRIB", contrib)
	return err
}

func (w *world) close() error {
	var errs []error
	for _, s := range []*gitserver.HTTPServer{w.open, w.closed} {
		if s != nil {
			errs = append(errs, s.Close())
		}
	}
	if w.ssh != nil {
		errs = append(errs, w.ssh.Close())
	}
	return errors.Join(errs...)
}

func (w *world) clock() string { return filepath.Join(w.dir, "clock") }

// date is the time by the servers' clocks.
func (w *world) date() time.Time { return time.Now().Add(readOffset(w.clock())) }

// environment is what every user has beside a home.
func (w *world) environment(name string) []string {
	env := []string{
		clockFile + "=" + w.clock(), "GORACE=atexit_sleep_ms=0", "TZ=UTC", "XDG_RUNTIME_DIR=" + filepath.Join(w.dir, "run"),
		"WORKLEASE_AGENT=" + name, "WORKLEASE_HOST=" + name + "s-laptop", "GIT_CEILING_DIRECTORIES=" + w.dir,
	}
	if w.ssh != nil {
		env = append(env, w.ssh.Env()...)
	}
	return env
}

// hookEnvironment is what the program needs where a server's hook runs it.
func (w *world) hookEnvironment() []string {
	return []string{clockFile + "=" + w.clock(), "GORACE=atexit_sleep_ms=0"}
}

// users that the server with passwords knows.
var passwords = map[string]string{"alice": "secret-of-alice", "bob": "secret-of-bob"}

// serve makes the repository of that name reachable and returns its URL.
func (w *world) serve(kind, name string) (string, error) {
	var err error
	switch kind {
	case "path":
		return w.repos.Repo(name).Dir, nil
	case "http":
		if w.open == nil {
			w.open, err = gitserver.StartHTTP(w.ctx, gitserver.HTTPOptions{Repos: w.repos, Date: w.date, Env: w.hookEnvironment()})
		}
		return orURL(w.open, name, err)
	case "http-auth":
		if w.closed == nil {
			w.closed, err = gitserver.StartHTTP(w.ctx, gitserver.HTTPOptions{Repos: w.repos, Date: w.date, Users: passwords, Env: w.hookEnvironment()})
		}
		return orURL(w.closed, name, err)
	case "ssh":
		return w.serveSSH(name)
	default:
		return "", fmt.Errorf("no server of kind %q", kind)
	}
}

func orURL(s *gitserver.HTTPServer, name string, err error) (string, error) {
	if err != nil {
		return "", err
	}
	return s.URL(name), nil
}

func (w *world) serveSSH(name string) (string, error) {
	if w.ssh == nil {
		dir := filepath.Join(w.dir, "sshd")
		if err := os.MkdirAll(dir, 0o700); err != nil {
			return "", err
		}
		var err error
		if w.ssh, err = gitserver.StartSSH(w.ctx, dir, gitserver.SSHOptions{Repos: w.repos, Env: w.hookEnvironment()}); err != nil {
			return "", err
		}
	}
	return w.ssh.URL(name), nil
}

// create makes the repository, unless there is one of that name.
func (w *world) create(name string, config []string) error {
	w.repo = w.repos.Repo(name)
	if _, err := os.Stat(w.repo.Dir); err == nil {
		return nil
	}
	create := w.repos.NewRepo
	if len(config) > 0 && config[0] == "sha256" {
		create, config = w.repos.NewSHA256Repo, config[1:]
	}
	repo, err := create(w.ctx, name, config...)
	if err != nil {
		return err
	}
	_, err = repo.Seed(w.ctx)
	return err
}

// snapshot is all refs of a user's clone.
func (w *world) snapshot(u *scriptUser) (string, error) {
	if _, err := os.Stat(filepath.Join(u.Dir, ".git")); err != nil {
		return "", nil //nolint:nilerr // no clone
	}
	out, err := u.Git(w.ctx, "for-each-ref")
	return strings.TrimSpace(out), err
}
