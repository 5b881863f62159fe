package sshgit_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/git-worklease/git-worklease/internal/gitserver"
	"github.com/git-worklease/git-worklease/refstore/internal/sshgit"
)

// TestRide: git pushes over the connection that is open, while there is one and a place on it.
func TestRide(t *testing.T) {
	s := newSite(t, gitserver.SSHOptions{})
	s.o.Persist = time.Minute // longer than the test; the server's end ends it
	if env, done := sshgit.Ride(t.Context(), s.o); env != nil {
		t.Errorf("a ride on nothing: %q", env)
		done()
	}
	if _, err := s.open(t).List(t.Context(), ref); err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	push := func(env []string) {
		t.Helper()
		for _, args := range [][]string{{"init", "-q"}, {"-c", "user.name=a", "-c", "user.email=a@example.com", "commit", "-q", "--allow-empty", "-m", "x"}, {"push", "-q", "--dry-run", s.o.URL, "HEAD:refs/heads/a"}} {
			cmd := exec.CommandContext(t.Context(), "git", args...)
			cmd.Dir, cmd.Env = dir, append(s.o.Git.Environ(), env...)
			if out, err := cmd.CombinedOutput(); err != nil {
				t.Fatalf("%v: %v: %s", args, err, out)
			}
		}
	}
	logins := s.Logins()
	var all []func()
	for {
		env, done := sshgit.Ride(t.Context(), s.o)
		if env == nil {
			break
		}
		all = append(all, done)
		if len(all) == 1 {
			push(env)
		}
	}
	if got := s.Logins() - logins; got != 0 || len(all) != 4 {
		t.Errorf("%d logins, %d rides at once", got, len(all))
	}
	for _, done := range all {
		done()
	}
	push(nil)
	if got := s.Logins() - logins; got != 1 {
		t.Errorf("%d logins of a push by itself", got)
	}
}

// TestRideToNoOtherPlace: what a hook calls in that environment uses the connection for this repository alone.
func TestRideToNoOtherPlace(t *testing.T) {
	s := newSite(t, gitserver.SSHOptions{})
	s.o.Persist = time.Minute // longer than the test; the server's end ends it
	log := filepath.Join(t.TempDir(), "calls")
	script := filepath.Join(t.TempDir(), "it's ssh", "ssh")
	if err := os.MkdirAll(filepath.Dir(script), 0o700); err != nil {
		t.Fatal(err)
	}
	text := "#!/bin/sh\nprintf '%s ' \"$@\" >>'" + log + "'\necho >>'" + log + "'\nexec " + s.Command() + " \"$@\"\n"
	if err := os.WriteFile(script, []byte(text), 0o700); err != nil { //nolint:gosec // it is run
		t.Fatal(err)
	}
	s.o.Git.Env = append(s.o.Git.Env, `GIT_SSH_COMMAND="`+script+`"`)
	if _, err := s.open(t).List(t.Context(), ref); err != nil {
		t.Fatal(err)
	}
	env, done := sshgit.Ride(t.Context(), s.o)
	if env == nil {
		t.Fatal("no ride")
	}
	defer done()
	if _, err := s.Repos.NewRepo(t.Context(), "other"); err != nil {
		t.Fatal(err)
	}
	ride := strings.TrimPrefix(env[0], "GIT_SSH_COMMAND=")
	for _, call := range []struct {
		url, service string
		shared       bool
	}{{s.o.URL, "git-receive-pack", true}, {s.o.URL, "git-upload-pack", false}, {s.URL("other"), "git-receive-pack", false}} {
		if err := os.Remove(log); err != nil {
			t.Fatal(err)
		}
		argv := []string{"ls-remote", "--upload-pack=" + call.service, call.url}
		cmd := exec.CommandContext(t.Context(), "git", argv...)
		cmd.Env = append(s.o.Git.Environ(), "GIT_SSH_COMMAND="+ride, "GIT_SSH_VARIANT=ssh", "GIT_PROTOCOL=version=0", "GIT_CONFIG_COUNT=1", "GIT_CONFIG_KEY_0=protocol.version", "GIT_CONFIG_VALUE_0=0")
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("%v: %v: %s", argv, err, out)
		}
		calls, err := os.ReadFile(log)
		if err != nil {
			t.Fatal(err)
		}
		if got := strings.Contains(string(calls), "ControlPath"); got != call.shared {
			t.Errorf("%s of %s: %s", call.service, call.url, calls)
		}
	}
}
