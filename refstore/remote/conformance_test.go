package remote_test

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/git-worklease/git-worklease/internal/gitexec"
	"github.com/git-worklease/git-worklease/internal/gitserver"
	"github.com/git-worklease/git-worklease/refstore"
	"github.com/git-worklease/git-worklease/refstore/refstoretest"
	"github.com/git-worklease/git-worklease/refstore/remote"
)

// TestConformance runs the suite against real servers, through the door that the command line uses.
func TestConformance(t *testing.T) {
	for name, serve := range map[string]func(t *testing.T) server{
		"http":             httpServer,
		"path":             pathServer,
		"ssh":              sshServer,
		"git over http":    func(t *testing.T) server { s := httpServer(t); s.throughGit, s.racers = true, 3; return s },
		"sha256 over http": sha256Server,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			refstoretest.Run(t, func(t *testing.T) refstoretest.Target { return serve(t).target() })
		})
	}
	t.Run("local", func(t *testing.T) {
		t.Parallel()
		refstoretest.Run(t, localTarget)
	})
}

// server is one empty repository behind one kind of server.
type server struct {
	repo       *gitserver.Repo
	url        string
	env        []string
	throughGit bool
	known      refstore.Server
	racers     int
	early      string
}

func httpServer(t *testing.T) server {
	t.Helper()
	s := gitserver.TestHTTP(t, gitserver.HTTPOptions{})
	repo := gitserver.TestRepo(t, s.Repos, "app")
	return server{repo: repo, url: s.URL("app")}
}

func pathServer(t *testing.T) server {
	t.Helper()
	repo := gitserver.TestRepo(t, gitserver.TestRepos(t), "app")
	return server{repo: repo, url: repo.Dir}
}

func sshServer(t *testing.T) server {
	t.Helper()
	s := gitserver.TestSSH(t, gitserver.SSHOptions{})
	repo := gitserver.TestRepo(t, s.Repos, "app")
	return server{repo: repo, url: s.URL("app"), env: s.Env(), racers: 4, early: "refs/worklease/"}
}

func sha256Server(t *testing.T) server {
	t.Helper()
	s := gitserver.TestHTTP(t, gitserver.HTTPOptions{})
	repo, err := s.Repos.NewSHA256Repo(t.Context(), "app")
	if err != nil {
		t.Fatal(err)
	}
	// a client that is new to such a server reads from it before it writes, and knows the format from then on
	return server{repo: repo, url: s.URL("app"), known: refstore.Server{Format: refstore.SHA256}, racers: 3}
}

func (s server) target() refstoretest.Target {
	return refstoretest.Target{
		Racers: s.racers,
		Open:   s.open,
		Damage: func(t *testing.T, ref string) {
			t.Helper()
			if err := s.repo.Damage(ref); err != nil {
				t.Fatal(err)
			}
		},
		Plant: func(t *testing.T, ref string) {
			t.Helper()
			if _, err := s.repo.Seed(t.Context()); err != nil {
				t.Fatal(err)
			}
			if _, err := s.repo.Git(t.Context(), "update-ref", ref, "refs/heads/main"); err != nil {
				t.Fatal(err)
			}
		},
	}
}

// open makes a client with a user, a configuration and a memory of its own.
func (s server) open(t *testing.T) refstore.Store {
	t.Helper()
	user, err := gitserver.NewUser(t.TempDir(), s.env...)
	if err != nil {
		t.Fatal(err)
	}
	git := &gitexec.Git{Dir: user.Dir, Env: user.Env}
	config, err := gitexec.ReadConfig(t.Context(), git)
	if err != nil {
		t.Fatal(err)
	}
	o := remote.Options{
		URL: s.url, Git: git, Config: config, Dir: filepath.Join(user.Home, "state"), Now: time.Now, ThroughGit: s.throughGit, Known: s.known, Early: s.early,
		SSHPersist: time.Minute, RuntimeDir: filepath.Join(user.Home, "run"),
	}
	for _, dir := range []string{o.Dir, o.RuntimeDir} {
		if err := os.MkdirAll(dir, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	store := remote.Open(o)
	t.Cleanup(func() {
		if err := store.Close(); err != nil {
			t.Errorf("close: %v", err)
		}
	})
	return store
}

func localTarget(t *testing.T) refstoretest.Target {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "local.git")
	return refstoretest.Target{Open: func(t *testing.T) refstore.Store {
		t.Helper()
		return remote.OpenLocal(dir, remote.Options{Git: &gitexec.Git{}, Now: time.Now, Early: "refs/worklease/"})
	}}
}
