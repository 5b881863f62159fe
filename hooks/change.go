package hooks

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"github.com/git-worklease/git-worklease/internal/gitexec"
)

// Change is what rules are asked about.
type Change struct {
	// Branch is without refs/heads/; empty where there is none. In the middle of a rebase it is the branch that is rebased.
	Branch string
	// Paths are the paths that differ from every parent, with slashes and relative to the top of the repository; both names of what was renamed.
	Paths []string
}

// rawDiff are the options of a diff that lists every path that changed, whatever git's configuration says.
var rawDiff = []string{"--raw", "-z", "-r", "--no-renames", "--no-relative", "--ignore-submodules=none"}

// Staged is the change that a commit of the index would be. It runs git where g does, so that within a hook it is the index that git is about to
// commit; gitDir is the git directory of that worktree. It returns a [*gitexec.Error] where git fails.
func Staged(ctx context.Context, g *gitexec.Git, gitDir string) (Change, error) {
	var (
		c                  Change
		branch             string
		branchErr, diffErr error
		all                sync.WaitGroup
	)
	all.Go(func() { branch, branchErr = Branch(ctx, g, gitDir) })
	c.Paths, diffErr = stagedAgainst(ctx, g, "HEAD")
	all.Wait()
	if diffErr != nil {
		c.Paths, diffErr = stagedOnUnborn(ctx, g, diffErr)
	}
	if err := errors.Join(branchErr, diffErr); err != nil {
		return Change{}, err
	}
	place := place(gitDir)
	if c.Branch = branch; branch == "" {
		c.Branch = place.rebased()
	}
	for _, parent := range place.merged() {
		if len(c.Paths) == 0 {
			break
		}
		paths, err := stagedAgainst(ctx, g, parent)
		if err != nil {
			return Change{}, err
		}
		c.Paths = common(c.Paths, paths)
	}
	return c, nil
}

// Branch is the branch that is checked out in the worktree of gitDir, where g is, without refs/heads/; empty for a detached HEAD.
func Branch(ctx context.Context, g *gitexec.Git, gitDir string) (string, error) {
	if name, told := place(gitDir).branch(); told {
		return name, nil
	}
	out, err := g.Output(ctx, "symbolic-ref", "-q", "HEAD")
	var failed *gitexec.Error
	if errors.As(err, &failed) && failed.Code == 1 && ctx.Err() == nil {
		return "", nil
	}
	if err != nil {
		return "", err
	}
	name, ok := strings.CutPrefix(strings.TrimSuffix(string(out), "\n"), "refs/heads/")
	if !ok {
		return "", nil
	}
	return name, nil
}

// stagedAgainst are the paths of the index that differ from a commit or tree.
func stagedAgainst(ctx context.Context, g *gitexec.Git, parent string) ([]string, error) {
	out, err := g.Output(ctx, slices.Concat([]string{"diff-index", "--cached", "--ita-invisible-in-index"}, rawDiff, []string{parent, "--"})...)
	if err != nil {
		return nil, err
	}
	r := rawReader{fields: splitNUL(out)}
	paths := r.paths()
	if len(r.fields) > 0 {
		return nil, fmt.Errorf("git diff-index: unexpected output %q", r.fields[0])
	}
	return paths, nil
}

// stagedOnUnborn are the paths of an initial commit. Where there is a HEAD to compare with, what went wrong before stays so.
func stagedOnUnborn(ctx context.Context, g *gitexec.Git, was error) ([]string, error) {
	if _, err := g.Output(ctx, "rev-parse", "-q", "--verify", "HEAD"); err == nil || ctx.Err() != nil {
		return nil, was
	}
	empty, err := g.Output(ctx, "hash-object", "-t", "tree", "--stdin")
	if err != nil {
		return nil, err
	}
	return stagedAgainst(ctx, g, strings.TrimSpace(string(empty)))
}

// common are the paths that both lists have, in the order of the first.
func common(paths, others []string) []string {
	in := make(map[string]bool, len(others))
	for _, path := range others {
		in[path] = true
	}
	return slices.DeleteFunc(paths, func(path string) bool { return !in[path] })
}

// place is the git directory of a worktree, where git keeps what it is in the middle of: in files, in every ref format.
type place string

// branch is what HEAD names, as far as its file tells. Where refs are in tables or HEAD is a link, it does not.
func (p place) branch() (name string, told bool) {
	head := filepath.Join(string(p), "HEAD")
	if info, err := os.Lstat(head); err != nil || !info.Mode().IsRegular() {
		return "", false
	}
	text, err := os.ReadFile(head)
	if err != nil {
		return "", false
	}
	name, told = strings.CutPrefix(string(text), "ref: refs/heads/")
	name = strings.TrimSuffix(name, "\n")
	return name, told && name != noBranch && name == strings.TrimSpace(name)
}

// noBranch is what the file of HEAD names where refs are in tables.
const noBranch = ".invalid"

// merged are the commits that are merged into HEAD, if a merge is under way.
func (p place) merged() []string {
	text, err := os.ReadFile(filepath.Join(string(p), "MERGE_HEAD"))
	if err != nil {
		return nil // no merge
	}
	return strings.Fields(string(text))
}

// rebased is the branch that is rebased, or "".
func (p place) rebased() string {
	for _, file := range []string{"rebase-merge/head-name", "rebase-apply/head-name"} {
		text, err := os.ReadFile(filepath.Join(string(p), filepath.FromSlash(file)))
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		name, _ := strings.CutPrefix(string(bytes.TrimSpace(text)), "refs/heads/")
		if name != "detached HEAD" {
			return name
		}
	}
	return ""
}

func splitNUL(out []byte) []string {
	return strings.Split(strings.TrimSuffix(string(out), "\x00"), "\x00")
}

// rawReader takes apart what git lists with --raw -z: for each path a field that begins with colons, and the path.
type rawReader struct{ fields []string }

// paths reads the entries that come next.
func (r *rawReader) paths() []string {
	var paths []string
	for len(r.fields) > 1 && strings.HasPrefix(strings.TrimPrefix(r.fields[0], "\n"), ":") {
		paths = append(paths, r.fields[1])
		r.fields = r.fields[2:]
	}
	if len(r.fields) == 1 && r.fields[0] == "" {
		r.fields = nil
	}
	return paths
}
