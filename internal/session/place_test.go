package session_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/git-worklease/git-worklease/internal/gitenv"
	"github.com/git-worklease/git-worklease/internal/session"
)

func TestLocate(t *testing.T) {
	dir := t.TempDir()
	inside := &gitenv.Repo{GitDir: filepath.Join(dir, "g", "worktrees", "w"), CommonDir: filepath.Join(dir, "g"), Worktree: "w"}
	outside := &gitenv.Repo{}
	home := getenv("HOME="+dir, "XDG_STATE_HOME=relative")
	xdg := getenv("HOME="+dir, "XDG_STATE_HOME="+filepath.Join(dir, "xdg"))
	cases := []struct {
		name      string
		repo      *gitenv.Repo
		stateDir  string
		env       func(string) string
		wantRoot  string
		wantOwner string
	}{
		{"repository", inside, "", home, filepath.Join("g", "worklease"), "g"},
		{"repository, another folder", inside, filepath.Join(dir, "s"), home, "s", "g"},
		{"outside", outside, "", xdg, filepath.Join("xdg", "git-worklease", "*"), "*"},
		{"outside, no XDG", outside, "", home, filepath.Join(".local", "state", "git-worklease", "*"), "*"},
		{"outside, another folder", outside, filepath.Join(dir, "s"), home, filepath.Join("s", "*"), "*"},
	}
	for _, c := range cases {
		place, err := session.Locate(c.repo, c.stateDir, "https://h/r", c.env)
		if err != nil {
			t.Errorf("%s: %v", c.name, err)
			continue
		}
		root, _ := filepath.Rel(dir, place.Root)
		owner, _ := filepath.Rel(dir, place.Owner)
		if strings.HasSuffix(c.wantRoot, "*") {
			root = filepath.Join(filepath.Dir(root), "*")
			owner = "*"
			if place.Owner != place.Root {
				t.Errorf("%s: owner %s", c.name, place.Owner)
			}
		}
		if root != c.wantRoot || owner != c.wantOwner || place.Worktree != c.repo.Worktree {
			t.Errorf("%s: got %+v", c.name, place)
		}
	}
	if _, err := session.Locate(outside, "", "u", getenv()); !errors.Is(err, session.ErrNoHome) {
		t.Errorf("no home: %v", err)
	}
}

// TestOutsideARepository: each URL has a state of its own, and the folder is made by the first write.
func TestOutsideARepository(t *testing.T) {
	env := getenv("HOME=" + t.TempDir())
	for _, url := range []string{"https://h/one", "https://h/two"} {
		place, err := session.Locate(&gitenv.Repo{}, "", url, env)
		must(t, err)
		s, err := session.Open(session.Options{Place: place, Session: "@main", HostName: "box"})
		must(t, err)
		if _, err := os.Stat(place.Root); !errors.Is(err, os.ErrNotExist) {
			t.Fatalf("%s: there already: %v", url, err)
		}
		i := intent("@main", "task:1")
		must(t, s.Begin(i))
		must(t, s.SaveHold(i.Hold))
		must(t, s.End(i))
		if holds, err := s.Holds(); err != nil || len(holds) != 1 {
			t.Errorf("%s: %v, %v", url, holds, err)
		}
	}
}
