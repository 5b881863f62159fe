package gitserver_test

import (
	"fmt"
	"os/exec"
	"strings"
	"testing"

	"github.com/git-worklease/git-worklease/internal/gitserver"
)

func TestSSHServesGit(t *testing.T) {
	s := gitserver.TestSSH(t, gitserver.SSHOptions{})
	repo := gitserver.TestRepo(t, s.Repos, "app")
	c := gitserver.Clone(t, s.URL("app"), s.Env()...)
	oid := commit(t, c, "one")
	git(t, c, "push", "origin", "HEAD:refs/worklease/claims/a")
	if got := tip(t, repo, "refs/worklease/claims/a"); got != oid {
		t.Errorf("the server has %q, want %s", got, oid)
	}
	if s.Logins() != 2 || s.Refused() != 0 {
		t.Errorf("%d logins, %d refused: %s", s.Logins(), s.Refused(), s.Log())
	}
}

func TestSSHProtocol(t *testing.T) {
	for _, accepts := range []bool{false, true} {
		t.Run(fmt.Sprintf("accepts %v", accepts), func(t *testing.T) {
			s := gitserver.TestSSH(t, gitserver.SSHOptions{Protocol: accepts})
			gitserver.TestRepo(t, s.Repos, "app")
			c := gitserver.Clone(t, s.URL("app"), append(s.Env(), "GIT_TRACE_PACKET=1")...)
			read := c.Run(t.Context(), "git", "ls-remote", "origin")
			if got := strings.Contains(read.Stderr, "< version 2"); got != accepts {
				t.Errorf("protocol v2: %v, want %v: %s", got, accepts, read.Stderr)
			}
		})
	}
}

func TestSSHCloseEndsItsConnections(t *testing.T) {
	s := gitserver.TestSSH(t, gitserver.SSHOptions{})
	c := gitserver.Clone(t, seeded(t, s), s.Env()...)
	login := c.Command(t.Context(), "sh", "-c", "exec "+s.Command()+` "$@"`, "ssh", "-p", port(s), "127.0.0.1", "echo in; exec cat")
	stdin, err := login.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	stdout, err := login.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := login.Start(); err != nil {
		t.Fatal(err)
	}
	if _, err := stdout.Read(make([]byte, len("in\n"))); err != nil {
		t.Fatalf("no login: %v", err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	var failed *exec.ExitError
	if err := login.Wait(); err == nil {
		t.Errorf("the connection ended well: %v", failed)
	}
	_ = stdin.Close()
	if _, err := c.Git(t.Context(), "fetch"); err == nil {
		t.Error("the server still answers")
	}
}

// seeded makes a repository on the server and returns its URL.
func seeded(t *testing.T, s *gitserver.SSHServer) string {
	t.Helper()
	gitserver.TestRepo(t, s.Repos, "app")
	return s.URL("app")
}

func port(s *gitserver.SSHServer) string {
	_, port, _ := strings.Cut(s.Addr(), ":")
	return port
}
