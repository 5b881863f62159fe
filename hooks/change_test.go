package hooks

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/git-worklease/git-worklease/internal/gitexec"
	"github.com/git-worklease/git-worklease/internal/gitserver"
)

// repo is a user's repository, with a configuration that would mislead a naive reader of git's output.
type repo struct {
	t    *testing.T
	user *gitserver.Checkout
}

var misleading = []string{
	"diff.renames=copies", "log.showRoot=false", "log.diffMerges=off", "log.showSignature=true", "diff.noprefix=true", "core.quotePath=true", "color.ui=always",
	"diff.relative=true", "diff.ignoreSubmodules=all", "log.decorate=full", "format.pretty=oneline", "i18n.logOutputEncoding=latin1", "log.mailmap=true",
}

func newRepo(t *testing.T, init ...string) *repo {
	t.Helper()
	user, err := gitserver.NewUser(filepath.Join(t.TempDir(), "user"))
	if err != nil {
		t.Fatal(err)
	}
	r := &repo{t, user}
	r.git(append([]string{"init", "-q", "-b", "main"}, init...)...)
	for _, setting := range misleading {
		key, value, _ := strings.Cut(setting, "=")
		r.git("config", key, value)
	}
	return r
}

func (r *repo) git(args ...string) string {
	r.t.Helper()
	out, err := r.user.Git(r.t.Context(), args...)
	if err != nil {
		r.t.Fatal(err)
	}
	return out
}

// fails runs a git command that must not succeed.
func (r *repo) fails(args ...string) {
	r.t.Helper()
	if out, err := r.user.Git(r.t.Context(), args...); err == nil {
		r.t.Fatalf("git %v succeeded: %s", args, out)
	}
}

func (r *repo) write(name, text string) {
	r.t.Helper()
	path := filepath.Join(r.user.Dir, filepath.FromSlash(name))
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		r.t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		r.t.Fatal(err)
	}
}

// commit commits files of which each is given by its name, with a text of its own.
func (r *repo) commit(message string, names ...string) {
	r.t.Helper()
	for _, name := range names {
		r.write(name, message+name)
		r.git("add", "--", name)
	}
	r.git("commit", "-q", "-m", message)
}

func (r *repo) exec() *gitexec.Git { return &gitexec.Git{Dir: r.user.Dir, Env: r.user.Env} }

func (r *repo) gitDir() string {
	r.t.Helper()
	return filepath.FromSlash(r.git("rev-parse", "--absolute-git-dir"))
}

func (r *repo) staged() Change {
	r.t.Helper()
	c, err := Staged(r.t.Context(), r.exec(), r.gitDir())
	if err != nil {
		r.t.Fatal(err)
	}
	slices.Sort(c.Paths)
	return c
}

func (r *repo) stages(branch string, paths ...string) {
	r.t.Helper()
	if got := r.staged(); got.Branch != branch || !slices.Equal(got.Paths, paths) {
		r.t.Errorf("staged %q on %q, want %q on %q", got.Paths, got.Branch, paths, branch)
	}
}

func TestStaged(t *testing.T) {
	cases := []struct {
		name string
		test func(r *repo)
	}{
		{"initial commit", func(r *repo) {
			r.stages("main")
			r.write("a b", "1")
			r.write("é\n\"x", "1")
			r.write("later", "1")
			r.git("add", "a b", "é\n\"x")
			r.git("add", "--intent-to-add", "later")
			r.stages("main", "a b", "é\n\"x")
		}},
		{"change, rename, deletion, mode", func(r *repo) {
			r.commit("one", "old", "gone", "kept", "run", "mod")
			r.git("mv", "old", "new")
			r.git("rm", "-q", "gone")
			r.git("update-index", "--chmod=+x", "run")
			r.write("mod", "2")
			r.git("add", "mod")
			r.write("kept", "not staged")
			r.stages("main", "gone", "mod", "new", "old", "run")
		}},
		{"below the top", func(r *repo) {
			r.commit("one", "sub/a", "b")
			r.write("b", "2")
			r.git("add", "b")
			c, err := Staged(r.t.Context(), &gitexec.Git{Dir: filepath.Join(r.user.Dir, "sub"), Env: r.user.Env}, r.gitDir())
			if err != nil || !slices.Equal(c.Paths, []string{"b"}) {
				r.t.Errorf("got %+v, %v", c, err)
			}
		}},
		{"detached", func(r *repo) {
			r.commit("one", "a")
			r.git("checkout", "-q", "--detach")
			r.stages("")
		}},
		{"another index", func(r *repo) {
			r.commit("one", "a")
			r.write("a", "2")
			r.git("add", "a")
			r.user.Env = append(r.user.Env, "GIT_INDEX_FILE="+filepath.Join(r.t.TempDir(), "index"))
			r.git("read-tree", "HEAD")
			r.stages("main")
		}},
		{"submodule", func(r *repo) {
			r.commit("one", "a")
			r.git("update-index", "--add", "--cacheinfo", "160000,"+strings.TrimSpace(r.git("rev-parse", "HEAD"))+",sub")
			r.stages("main", "sub")
		}},
		{"linked worktree", func(r *repo) {
			r.commit("one", "a")
			other := filepath.Join(r.t.TempDir(), "other")
			r.git("worktree", "add", "-q", "-b", "side", other)
			r.user.Dir = other
			r.write("b", "1")
			r.git("add", "b")
			r.stages("side", "b")
		}},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) { c.test(newRepo(t)) })
	}
}

// diverged is a repository in which main and side have both changed "both", and one file each.
func diverged(t *testing.T) *repo {
	r := newRepo(t)
	r.commit("base", "both", "ours", "theirs", "dropped")
	r.git("checkout", "-q", "-b", "side")
	r.commit("side", "both", "ours")
	r.git("checkout", "-q", "main")
	r.git("rm", "-q", "dropped")
	r.commit("main", "both", "theirs")
	r.git("checkout", "-q", "side")
	return r
}

// TestCase56MergeIsJudgedByWhatIsItsOwn: files that came from main unchanged are no change of a merge, before it is committed and after.
func TestCase56MergeIsJudgedByWhatIsItsOwn(t *testing.T) {
	r := diverged(t)
	r.fails("merge", "-q", "main")
	r.write("both", "resolved")
	r.write("extra", "1")
	r.git("add", "both", "extra")
	r.stages("side", "both", "extra")
	r.git("commit", "-q", "-m", "merge")
	if got := r.commits("main..side"); !slices.Equal(got[0].Paths, []string{"both", "extra"}) || !got[0].Merge() {
		t.Errorf("the merge changes %q", got[0].Paths)
	}
}

func TestCleanMergeChangesNothing(t *testing.T) {
	r := newRepo(t)
	r.commit("base", "a")
	r.git("checkout", "-q", "-b", "side")
	r.commit("side", "b")
	r.git("checkout", "-q", "main")
	r.commit("main", "a")
	r.git("merge", "-q", "--no-commit", "side")
	r.stages("main")
}

func TestOctopusMerge(t *testing.T) {
	r := newRepo(t)
	r.commit("base", "a")
	for _, branch := range []string{"x", "y"} {
		r.git("checkout", "-q", "-b", branch, "main")
		r.commit(branch, branch)
	}
	r.git("checkout", "-q", "main")
	r.commit("main", "m")
	r.git("merge", "-q", "--no-commit", "x", "y")
	r.stages("main")
	r.write("own", "1")
	r.git("add", "own")
	r.stages("main", "own")
}

func TestRebaseIsOfItsBranch(t *testing.T) {
	r := diverged(t)
	r.fails("rebase", "-q", "main")
	r.write("both", "resolved")
	r.git("add", "both")
	r.stages("side", "both", "ours")
	r.git("rebase", "--abort")
	r.git("checkout", "-q", "--detach")
	r.fails("rebase", "-q", "--apply", "main")
	if got := r.staged().Branch; got != "" {
		t.Errorf("a detached rebase is of branch %q", got)
	}
}

func (r *repo) commits(revisions ...string) []Commit {
	r.t.Helper()
	commits, err := Commits(r.t.Context(), r.exec(), revisions...)
	if err != nil {
		r.t.Fatal(err)
	}
	for i := range commits {
		slices.Sort(commits[i].Paths)
	}
	return commits
}

func TestCommits(t *testing.T) {
	r := newRepo(t)
	r.commit("initial", "a", "é\n:x", "gone")
	r.git("mv", "a", "b")
	r.git("rm", "-q", "gone")
	r.git("commit", "-q", "-m", "second\n\nWorklease-Claim: task:x\n  y 3\nWorklease-Override: hot fix\nWorklease-Claim: path:q 4", "--author", "Zoë [bot] <z@example.com>")
	r.git("commit", "-q", "--allow-empty", "-m", "empty\n\nWorklease-Claim: no trailer 1\n\nlast words")
	got := r.commits("main")
	if len(got) != 3 {
		t.Fatalf("got %d commits", len(got))
	}
	if c := got[0]; len(c.Paths) != 0 || len(c.Claims) != 0 || c.Merge() {
		t.Errorf("empty: %+v", c)
	}
	c := got[1]
	if !slices.Equal(c.Paths, []string{"a", "b", "gone"}) || !slices.Equal(c.Claims, []string{"task:x y 3", "path:q 4"}) ||
		!slices.Equal(c.Overrides, []string{"hot fix"}) || c.Author != "Zoë [bot]" || c.Parents[0] != got[2].ID {
		t.Errorf("second: %+v", c)
	}
	if c := got[2]; !slices.Equal(c.Paths, []string{"a", "gone", "é\n:x"}) || len(c.Parents) != 0 {
		t.Errorf("initial: %+v", c)
	}
	if got := r.commits("main..main"); len(got) != 0 {
		t.Errorf("an empty range has %+v", got)
	}
	if got := r.commits("main", "--not", "main~1"); len(got) != 1 {
		t.Errorf("with options: %+v", got)
	}
	all := ChangeOf("main", got)
	if slices.Sort(all.Paths); !slices.Equal(all.Paths, []string{"a", "b", "gone", "é\n:x"}) || all.Branch != "main" {
		t.Errorf("together: %+v", all)
	}
	var failed *gitexec.Error
	if _, err := Commits(t.Context(), r.exec(), "nowhere..main"); !errors.As(err, &failed) {
		t.Errorf("a range that isn't there: %v", err)
	}
}

func TestShallowHistory(t *testing.T) {
	r := newRepo(t)
	r.commit("one", "a")
	r.commit("two", "b")
	r.commit("three", "c")
	other := filepath.Join(t.TempDir(), "shallow")
	r.git("clone", "-q", "--depth", "2", "file://"+r.user.Dir, other)
	whole := r.user.Dir
	r.user.Dir = other
	if got := r.commits("HEAD~1..HEAD"); len(got) != 1 || !slices.Equal(got[0].Paths, []string{"c"}) {
		t.Errorf("what is there: %+v", got)
	}
	if _, err := Commits(t.Context(), r.exec(), "HEAD"); !errors.Is(err, ErrShallow) {
		t.Errorf("over the edge: %v", err)
	}
	r.git("fetch", "-q", "--unshallow", "file://"+whole)
	if got := r.commits("HEAD"); len(got) != 3 {
		t.Errorf("the whole: %+v", got)
	}
}

func TestSHA256(t *testing.T) {
	r := newRepo(t, "--object-format=sha256")
	r.write("a", "1")
	r.git("add", "a")
	r.stages("main", "a")
	r.git("commit", "-q", "-m", "one")
	if got := r.commits("HEAD"); len(got) != 1 || !slices.Equal(got[0].Paths, []string{"a"}) {
		t.Errorf("got %+v", got)
	}
}

func TestStagedWithoutRepository(t *testing.T) {
	r := newRepo(t)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := Staged(ctx, r.exec(), filepath.Join(r.user.Dir, ".git")); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
	r.user.Dir = t.TempDir()
	var failed *gitexec.Error
	if _, err := Staged(t.Context(), r.exec(), filepath.Join(r.user.Dir, ".git")); !errors.As(err, &failed) {
		t.Errorf("no repository: %v", err)
	}
}

func TestTrailer(t *testing.T) {
	for _, want := range []Trailer{{"task:login", 3}, {"task:two words", 17}, {"path:a b/c 4", 1}} {
		if got, err := ParseTrailer(want.String()); err != nil || got != want {
			t.Errorf("%q: %+v, %v", want, got, err)
		}
	}
	for _, bad := range []string{"", "task:x", "3", " 3", "task:x 0", "task:x -1", "task:x 3.5", "task:x 99999999999999999999", "no scheme 3", "path:/x 3"} {
		if got, err := ParseTrailer(bad); err == nil {
			t.Errorf("%q: %+v", bad, got)
		}
	}
}

func FuzzParseLog(f *testing.F) {
	id := strings.Repeat("a", 40)
	f.Add([]byte(id + "\x00\x00me\x00\x00\x00\n:100644 100644 1 2 M\x00a\x00\x00" + id + "\x00" + id + "\x00me\x00task:x 1\ntask:y 2\x00\x00"))
	f.Add([]byte("::100644 M\x00:\x00"))
	f.Fuzz(func(t *testing.T, out []byte) {
		commits, err := parseLog(out)
		if err == nil && len(out) > 0 && strings.Trim(string(out), "\x00") != "" && len(commits) == 0 {
			t.Errorf("%q was passed over", out)
		}
	})
}
