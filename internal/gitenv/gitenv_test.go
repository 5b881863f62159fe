package gitenv_test

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/git-worklease/git-worklease/internal/gitenv"
	"github.com/git-worklease/git-worklease/internal/gitexec"
)

// box is a folder for repositories and an environment that sees no configuration but the test's.
type box struct {
	t   *testing.T
	dir string
	env []string
}

func newBox(t *testing.T) *box {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	env := []string{
		"PATH=" + os.Getenv("PATH"), "HOME=" + dir, "GIT_CONFIG_NOSYSTEM=1", "GIT_CEILING_DIRECTORIES=" + dir,
		"GIT_AUTHOR_NAME=a", "GIT_AUTHOR_EMAIL=a@b", "GIT_COMMITTER_NAME=a", "GIT_COMMITTER_EMAIL=a@b", "LC_ALL=C",
	}
	return &box{t: t, dir: dir, env: env}
}

func (b *box) path(name string) string { return filepath.Join(b.dir, filepath.FromSlash(name)) }

// git runs git in a folder of the box, which it makes.
func (b *box) git(dir string, args ...string) string {
	b.t.Helper()
	if err := os.MkdirAll(b.path(dir), 0o700); err != nil {
		b.t.Fatal(err)
	}
	cmd := exec.Command("git", args...) //nolint:gosec // a test
	cmd.Dir, cmd.Env = b.path(dir), b.env
	out, err := cmd.CombinedOutput()
	if err != nil {
		b.t.Fatalf("git %v: %v\n%s", args, err, out)
	}
	return strings.TrimSpace(string(out))
}

func (b *box) at(dir string, env ...string) *gitexec.Git {
	return &gitexec.Git{Dir: b.path(dir), Env: append(b.env[:len(b.env):len(b.env)], env...)}
}

func (b *box) discover(dir string, env ...string) *gitenv.Repo {
	b.t.Helper()
	repo, err := gitenv.Discover(b.t.Context(), b.at(dir, env...))
	if err != nil {
		b.t.Fatal(err)
	}
	return repo
}

func TestDiscover(t *testing.T) {
	b := newBox(t)
	b.git("main", "init", "-q")
	b.git("main", "commit", "-q", "--allow-empty", "-m", "x")
	b.git("main", "worktree", "add", "-q", "../linked")
	b.git("bare.git", "init", "-q", "--bare")
	b.git("super", "init", "-q")
	b.git("super", "-c", "protocol.file.allow=always", "submodule", "add", "-q", b.path("main"), "sub")
	b.git(".", "clone", "-q", "--depth=1", "file://"+b.path("main"), "shallow")
	b.git("main/deep/er", "version")

	type want struct {
		gitDir, commonDir, workTree, worktree string
		bare, shallow                         bool
	}
	cases := []struct {
		name, dir, gitDirEnv string
		want                 want
	}{
		{"main worktree", "main", "", want{gitDir: "main/.git", commonDir: "main/.git", workTree: "main"}},
		{"folder below", "main/deep/er", "", want{gitDir: "main/.git", commonDir: "main/.git", workTree: "main"}},
		{"git directory", "main/.git", "", want{gitDir: "main/.git", commonDir: "main/.git"}},
		{"linked worktree", "linked", "", want{
			gitDir: "main/.git/worktrees/linked", commonDir: "main/.git", workTree: "linked", worktree: "linked",
		}},
		{"bare", "bare.git", "", want{gitDir: "bare.git", commonDir: "bare.git", bare: true}},
		{"submodule", "super/sub", "", want{
			gitDir: "super/.git/modules/sub", commonDir: "super/.git/modules/sub", workTree: "super/sub",
		}},
		{"shallow", "shallow", "", want{gitDir: "shallow/.git", commonDir: "shallow/.git", workTree: "shallow", shallow: true}},
		{"GIT_DIR", ".", "main/.git", want{gitDir: "main/.git", commonDir: "main/.git", workTree: "."}},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			var env []string
			if c.gitDirEnv != "" {
				env = append(env, "GIT_DIR="+b.path(c.gitDirEnv))
			}
			repo := b.discover(c.dir, env...)
			got := want{
				gitDir: b.short(repo.GitDir), commonDir: b.short(repo.CommonDir), workTree: b.short(repo.WorkTree),
				worktree: repo.Worktree, bare: repo.Bare, shallow: repo.Shallow,
			}
			if got != c.want {
				t.Errorf("got %+v\nwant %+v", got, c.want)
			}
		})
	}
}

// short is path relative to the box, with slashes; "" stays "".
func (b *box) short(path string) string {
	if path == "" {
		return ""
	}
	rel, err := filepath.Rel(b.dir, path)
	if err != nil {
		b.t.Fatal(err)
	}
	return filepath.ToSlash(rel)
}

func TestDiscoverOutsideARepository(t *testing.T) {
	b := newBox(t)
	b.git(".", "config", "--global", "worklease.remote", "https://example.test/r.git")
	repo, err := gitenv.Discover(t.Context(), b.at("."))
	if !errors.Is(err, gitenv.ErrNotRepository) || errors.Is(err, gitenv.ErrRepository) {
		t.Fatalf("got %v, want ErrNotRepository", err)
	}
	if got := repo.Config.Value("worklease.remote"); got != "https://example.test/r.git" {
		t.Errorf("global configuration: %q", got)
	}
	if repo.GitDir != "" {
		t.Errorf("git directory %q", repo.GitDir)
	}
}

func TestDiscoverRefused(t *testing.T) {
	b := newBox(t)
	b.git("main", "init", "-q")
	if err := os.Mkdir(b.path("broken"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(b.path("broken/.git"), []byte("gitdir: ../gone\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	cases := []struct{ name, dir, env, words string }{
		{"somebody else's", "main", "GIT_TEST_ASSUME_DIFFERENT_OWNER=1", "safe.directory"},
		{"GIT_DIR leads nowhere", "main", "GIT_DIR=nowhere", "nowhere"},
		{".git file leads nowhere", "broken", "A=b", "gone"},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			_, err := gitenv.Discover(t.Context(), b.at(c.dir, c.env))
			var refused *gitenv.RepositoryError
			if !errors.As(err, &refused) || !errors.Is(err, gitenv.ErrRepository) || errors.Is(err, gitenv.ErrNotRepository) {
				t.Fatalf("got %v, want a RepositoryError", err)
			}
			if !strings.Contains(refused.Words, c.words) {
				t.Errorf("git's words %q lack %q", refused.Words, c.words)
			}
		})
	}
}

func TestDiscoverWithoutGit(t *testing.T) {
	b := newBox(t)
	_, err := gitenv.Discover(t.Context(), &gitexec.Git{Program: b.path("no-git"), Dir: b.dir, Env: b.env})
	var failure *gitexec.Error
	if !errors.As(err, &failure) || errors.Is(err, gitenv.ErrNotRepository) || errors.Is(err, gitenv.ErrRepository) {
		t.Fatalf("got %v, want a gitexec.Error", err)
	}
}

func TestDiscoverCancelled(t *testing.T) {
	b := newBox(t)
	b.git("main", "init", "-q")
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := gitenv.Discover(ctx, b.at("main")); !errors.Is(err, context.Canceled) {
		t.Fatalf("got %v, want Canceled", err)
	}
}
