package gitserver

import (
	"context"
	"io"
)

// TB is what the functions for tests need of a *testing.T, named here so that programs can use this package without
// the testing package.
type TB interface {
	Helper()
	Fatalf(format string, args ...any)
	Cleanup(f func())
	Context() context.Context
	TempDir() string
}

// TestRepos makes an empty directory of repositories.
func TestRepos(t TB) *Repos {
	t.Helper()
	repos, err := NewRepos(t.TempDir())
	if err != nil {
		t.Fatalf("%v", err)
	}
	return repos
}

// TestRepo makes a repository with one commit on main. See [Repos.NewRepo].
func TestRepo(t TB, repos *Repos, name string, config ...string) *Repo {
	t.Helper()
	repo, err := repos.NewRepo(t.Context(), name, config...)
	if err != nil {
		t.Fatalf("%v", err)
	}
	if _, err := repo.Seed(t.Context()); err != nil {
		t.Fatalf("%v", err)
	}
	return repo
}

// TestHTTP runs an [HTTPServer] until the end of the test, with repositories of its own where opts names none.
func TestHTTP(t TB, opts HTTPOptions) *HTTPServer {
	t.Helper()
	if opts.Repos == nil {
		opts.Repos = TestRepos(t)
	}
	s, err := StartHTTP(t.Context(), opts)
	if err != nil {
		t.Fatalf("%v", err)
	}
	closeAtEnd(t, s)
	return s
}

// TestSSH runs an [SSHServer] until the end of the test, with repositories of its own where opts names none.
func TestSSH(t TB, opts SSHOptions) *SSHServer {
	t.Helper()
	if opts.Repos == nil {
		opts.Repos = TestRepos(t)
	}
	s, err := StartSSH(t.Context(), t.TempDir(), opts)
	if err != nil {
		t.Fatalf("%v", err)
	}
	closeAtEnd(t, s)
	return s
}

// TestProxy runs a [Proxy] to target, host:port, until the end of the test.
func TestProxy(t TB, target string, opts ProxyOptions) *Proxy {
	t.Helper()
	p, err := StartProxy(t.Context(), target, opts)
	if err != nil {
		t.Fatalf("%v", err)
	}
	closeAtEnd(t, p)
	return p
}

// Clone makes a user with a clone of url. Each env is NAME=value.
func Clone(t TB, url string, env ...string) *Checkout {
	t.Helper()
	c, err := NewClone(t.Context(), t.TempDir(), url, env...)
	if err != nil {
		t.Fatalf("%v", err)
	}
	return c
}

func closeAtEnd(t TB, c io.Closer) {
	t.Cleanup(func() {
		if err := c.Close(); err != nil {
			t.Fatalf("%v", err)
		}
	})
}
