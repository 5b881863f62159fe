package cligit_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/git-worklease/git-worklease/internal/gitexec"
	"github.com/git-worklease/git-worklease/internal/gitserver"
	"github.com/git-worklease/git-worklease/refstore"
	"github.com/git-worklease/git-worklease/refstore/internal/cligit"
	"github.com/git-worklease/git-worklease/refstore/refstoretest"
)

const ref = "refs/worklease/claims/a"

// client is somebody with a repository of their own, who reaches url.
type client struct {
	*gitserver.Checkout
	url   string
	known refstore.Server
}

func newClient(t *testing.T, url string) *client {
	t.Helper()
	user, err := gitserver.NewUser(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	c := &client{Checkout: user, url: url}
	c.git(t, "init", "--quiet", ".")
	return c
}

func (c *client) git(t *testing.T, args ...string) string {
	t.Helper()
	out, err := c.Git(t.Context(), args...)
	if err != nil {
		t.Fatalf("git %s: %v", args, err)
	}
	return out
}

func (c *client) options() cligit.Options {
	return cligit.Options{
		URL: c.url, Git: &gitexec.Git{Dir: c.Dir, Env: c.Env}, Dir: filepath.Join(c.Home, "state", "push.git"), Known: c.known, Now: time.Now,
	}
}

func (c *client) open() refstore.Store {
	return refstore.New(cligit.New(c.options()), refstore.Options{})
}

// plant makes ref hold a commit with a file in it.
func plant(t *testing.T, repo *gitserver.Repo, ref string) {
	t.Helper()
	commit, err := repo.Seed(t.Context())
	if err == nil {
		_, err = repo.Git(t.Context(), "update-ref", ref, commit)
	}
	if err != nil {
		t.Fatal(err)
	}
}

func target(repo *gitserver.Repo, url string) refstoretest.Target {
	return refstoretest.Target{
		Open: func(t *testing.T) refstore.Store { return newClient(t, url).open() },
		Damage: func(t *testing.T, ref string) {
			t.Helper()
			if err := repo.Damage(ref); err != nil {
				t.Fatal(err)
			}
		},
		Plant:  func(t *testing.T, ref string) { plant(t, repo, ref) },
		Racers: 3,
	}
}

func TestConformanceSHA256(t *testing.T) {
	refstoretest.Run(t, func(t *testing.T) refstoretest.Target {
		repo, err := gitserver.TestRepos(t).NewSHA256Repo(t.Context(), "r")
		if err != nil {
			t.Fatal(err)
		}
		tgt := target(repo, "file://"+repo.Dir)
		tgt.Open = func(t *testing.T) refstore.Store {
			s := newClient(t, "file://"+repo.Dir).open()
			// The format is found out by the first read; the suite builds transactions before it reads.
			if _, err := s.List(t.Context(), ref); err != nil {
				t.Fatal(err)
			}
			return s
		}
		return tgt
	})
}

func TestConformanceHTTP(t *testing.T) {
	refstoretest.Run(t, func(t *testing.T) refstoretest.Target {
		server := gitserver.TestHTTP(t, gitserver.HTTPOptions{})
		repo, err := server.Repos.NewRepo(t.Context(), "r")
		if err != nil {
			t.Fatal(err)
		}
		return target(repo, server.URL("r"))
	})
}

func newRepo(t *testing.T, config ...string) *gitserver.Repo {
	t.Helper()
	repo, err := gitserver.TestRepos(t).NewRepo(t.Context(), "r", config...)
	if err != nil {
		t.Fatal(err)
	}
	return repo
}

func change(ref string, old refstore.OID, text string) refstore.Change {
	return refstore.Change{Ref: ref, Old: old, Message: []byte(text + "\n"), When: time.Unix(1767323045, 0)}
}

func swap(t *testing.T, s refstore.Store, changes ...refstore.Change) (refstore.OID, error) {
	t.Helper()
	tx, err := s.Build(changes...)
	if err != nil {
		t.Fatal(err)
	}
	return tx.Updates[0].New, s.Swap(t.Context(), tx, nil)
}

// untouched checks what a repository holds after everything: sound objects, and in the user's own repository nothing of ours.
func (c *client) untouched(t *testing.T, repo *gitserver.Repo) {
	t.Helper()
	if _, err := repo.Git(t.Context(), "fsck", "--strict"); err != nil {
		t.Errorf("the server: %v", err)
	}
	if got := c.git(t, "for-each-ref"); got != "" {
		t.Errorf("the user's repository has refs: %s", got)
	}
	if got := c.git(t, "count-objects"); !strings.HasPrefix(got, "0 objects") {
		t.Errorf("the user's repository has %s", got)
	}
	for _, name := range []string{"FETCH_HEAD", "shallow", "packed-refs"} {
		if matches, _ := filepath.Glob(filepath.Join(c.Dir, ".git", name)); len(matches) > 0 {
			t.Errorf("the user's repository has %s", name)
		}
	}
	if left, _ := filepath.Glob(filepath.Join(c.Home, "state", "*", "[ft][er][ta]*-*")); len(left) > 0 {
		t.Errorf("left behind: %s", left)
	}
}

// TestLostByTheServer: what a server has lost is left out, as it is by the other transports, and the rest is read.
func TestLostByTheServer(t *testing.T) {
	s := gitserver.TestHTTP(t, gitserver.HTTPOptions{})
	repo := gitserver.TestRepo(t, s.Repos, "r")
	refs := []string{"refs/worklease/claims/a", "refs/worklease/claims/b", "refs/worklease/claims/c", "refs/worklease/claims/d", "refs/worklease/claims/e"}
	tips := make([]string, len(refs))
	for i, name := range refs {
		oid, err := repo.Git(t.Context(), "-c", "user.name=a", "-c", "user.email=a", "commit-tree", "-m", name, "4b825dc642cb6eb9a060e54bf8d69288fbee4904")
		if err == nil {
			tips[i] = strings.TrimSpace(oid)
			_, err = repo.Git(t.Context(), "update-ref", name, tips[i])
		}
		if err != nil {
			t.Fatal(err)
		}
		if i != 2 {
			if err := os.Remove(filepath.Join(repo.Dir, "objects", tips[i][:2], tips[i][2:])); err != nil {
				t.Fatal(err)
			}
		}
	}
	c := newClient(t, s.URL("r"))
	transport := cligit.New(c.options())
	var wants []refstore.OID
	for _, tip := range tips {
		wants = append(wants, refstore.OID(tip))
	}
	objects, err := transport.Commits(t.Context(), wants, 1)
	if err != nil || len(objects) != 1 || objects[0].OID != wants[2] {
		t.Errorf("%d objects, %v", len(objects), err)
	}
}
