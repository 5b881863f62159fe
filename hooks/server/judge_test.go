package server

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/git-worklease/git-worklease/internal/gitexec"
	"github.com/git-worklease/git-worklease/internal/gitserver"
	"github.com/git-worklease/git-worklease/lease"
)

// bare is a repository whose hooks are asked directly.
type bare struct {
	*gitserver.Repo
	t *testing.T
	p *Push
}

func newBare(t *testing.T, sha256 bool) *bare {
	t.Helper()
	repos := gitserver.TestRepos(t)
	create := repos.NewRepo
	if sha256 {
		create = repos.NewSHA256Repo
	}
	repo, err := create(t.Context(), "app")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := repo.Seed(t.Context()); err != nil {
		t.Fatal(err)
	}
	git := &gitexec.Git{Dir: repo.Dir, Env: append(os.Environ(), "GIT_DIR="+repo.Dir)}
	return &bare{repo, t, &Push{Git: git, Dir: repo.Dir, Settings: Settings{Prefix: lease.DefaultPrefix}, Now: time.Now(), Version: "dev"}}
}

func (b *bare) git(args ...string) string {
	b.t.Helper()
	out, err := b.Git(b.t.Context(), args...)
	if err != nil {
		b.t.Fatal(err)
	}
	return out
}

// commit makes a commit with the empty tree.
func (b *bare) commit(message string, parents ...string) string {
	b.t.Helper()
	tree, err := b.Pipe(b.t.Context(), nil, "mktree")
	if err != nil {
		b.t.Fatal(err)
	}
	args := []string{"-c", "user.name=x", "-c", "user.email=x@example.com", "commit-tree", tree}
	for _, p := range parents {
		args = append(args, "-p", p)
	}
	out, err := b.Pipe(b.t.Context(), []byte(message), args...)
	if err != nil {
		b.t.Fatal(err)
	}
	return out
}

// judge asks about one change, and returns the words of its refusal.
func (b *bare) judge(ref, next string) string {
	b.t.Helper()
	none := strings.Repeat("0", len(b.git("rev-parse", "HEAD")))
	if next == "" {
		next = none
	}
	v, err := b.p.Judge(b.t.Context(), fmt.Appendf(nil, "%s %s %s\n", none, next, ref))
	if err != nil {
		b.t.Fatal(err)
	}
	var words strings.Builder
	v.Tell(&words)
	return words.String()
}

func (b *bare) wants(ref, next, words string) {
	b.t.Helper()
	if got := b.judge(ref, next); words == "" && got != "" || !strings.Contains(got, words) {
		b.t.Errorf("%s: %q, want %q", ref, got, words)
	}
}

// TestOtherRefs: beside claims there are probes, which are nobody's, and what grows by signed records. Nothing else has a place below the prefix.
func TestOtherRefs(t *testing.T) {
	for _, sha256 := range []bool{false, true} {
		b := newBare(t, sha256)
		probe := "refs/worklease/probes/20261129t150405z-0123456789ab-1"
		first := b.commit("probe of git-worklease doctor\n")
		b.wants(probe, first, "")
		b.git("update-ref", probe, first)
		b.wants(probe, b.commit("again\n", first), "")
		b.wants(probe, b.commit("again\n"), "not a signed record upon what stands there")
		b.wants(probe, b.git("rev-parse", "HEAD"), "not a signed record")
		b.wants(probe, "", "")
		b.wants("refs/worklease/probes/mine", first, "git-worklease keeps nothing at this ref")
		b.wants("refs/worklease/other", first, "git-worklease keeps nothing at this ref")
		b.wants("refs/worklease", first, "git-worklease keeps nothing at this ref")
		b.wants("refs/worklease/claims", first, "git-worklease keeps nothing at this ref")
		b.wants("refs/worklease/agents/alice", first, "corrupt record")
		b.git("update-ref", "refs/worklease/agents/alice", first)
		b.wants("refs/worklease/agents/alice", "", "this ref is not to be deleted")
		b.wants("refs/worklease/claims/task%3aa", first, "corrupt record")
		b.wants("refs/worklease/claims/task%3aa", b.git("rev-parse", "HEAD^{tree}"), "a tree")
		b.wants("refs/worklease/meta", first, "corrupt record")
		b.wants("refs/worklease/claims/none", "", "")
		b.wants("refs/heads/any", first, "")
		b.wants("refs/tags/any", first, "")
	}
}

// TestNamesakes: where a ref is not there, a tag or a branch that is called like it does not stand for it.
func TestNamesakes(t *testing.T) {
	b := newBare(t, false)
	ref := "refs/worklease/agents/alice"
	first := b.commit("hello\n")
	for _, namesake := range []string{"refs/tags/" + ref, "refs/heads/" + ref, "refs/remotes/" + ref} {
		b.git("update-ref", namesake, first)
		b.wants(ref, "", "")
		b.git("update-ref", "-d", namesake)
	}
	b.git("update-ref", ref, first)
	b.wants(ref, "", "not to be deleted")
}

// TestSymbolicRefs: a ref of ours is none.
func TestSymbolicRefs(t *testing.T) {
	b := newBare(t, false)
	b.wants("refs/worklease/claims/task%3aa", "ref:refs/heads/main", "a ref of claims can't be symbolic")
	b.wants("HEAD", "ref:refs/heads/other", "")
}

// TestPrunedRefs: git tells of packing as it does of deleting.
func TestPrunedRefs(t *testing.T) {
	b := newBare(t, false)
	b.p.Locked = true
	ref := "refs/worklease/agents/alice"
	b.git("update-ref", ref, b.commit("hello\n"))
	b.wants(ref, "", "not to be deleted")
	loose := filepath.Join(b.Dir, filepath.FromSlash(ref))
	was, err := os.ReadFile(loose)
	if err != nil {
		t.Fatal(err)
	}
	b.git("pack-refs", "--all")
	b.wants(ref, "", "not to be deleted") // there is nothing left to prune
	if err := os.MkdirAll(filepath.Dir(loose), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(loose, was, 0o600); err != nil {
		t.Fatal(err)
	}
	b.wants(ref, "", "")
	lock := filepath.Join(b.Dir, "packed-refs.lock")
	if err := os.WriteFile(lock, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	b.wants(ref, "", "not to be deleted")
	if err := os.Remove(lock); err != nil {
		t.Fatal(err)
	}
	b.p.Locked = false
	b.wants(ref, "", "not to be deleted")
}
