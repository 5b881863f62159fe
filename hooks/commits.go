package hooks

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/git-worklease/git-worklease/internal/gitexec"
)

// ErrShallow is returned where the clone's history is cut short within a range, so that nobody can say what its commits change.
var ErrShallow = errors.New("the clone is shallow")

// Commit is a commit as rules are asked about it.
type Commit struct {
	ID      string
	Parents []string
	// Author is the author's name. Anybody may write any.
	Author string
	// Claims are the values of its trailers [TrailerKey], as they were written, and Overrides those of [OverrideKey].
	Claims, Overrides []string
	// Paths are the paths that differ from every parent; both names of what was renamed.
	Paths []string
}

// Merge says whether the commit has several parents.
func (c *Commit) Merge() bool { return len(c.Parents) > 1 }

// logFormat are the fields of a commit. Values of trailers are separated by line breaks, which they have none of.
const logFormat = "--format=%H%x00%P%x00%an%x00" +
	"%(trailers:key=" + TrailerKey + ",valueonly,unfold,separator=%x0A)%x00" +
	"%(trailers:key=" + OverrideKey + ",valueonly,unfold,separator=%x0A)"

const logFields = 5

// Commits are the commits that `git rev-list` lists for these arguments, newest first: ranges, and options such as --not and --remotes=origin. What comes
// from others must have been checked not to be an option. It returns [ErrShallow], wrapped, where a commit's parents are missing, and a
// [*gitexec.Error] where git fails, as for a commit that isn't there.
func Commits(ctx context.Context, g *gitexec.Git, revisions ...string) ([]Commit, error) {
	return commits(ctx, g, nil, revisions)
}

// CommitsBeyond are the commits of a tip that none of the others has, however many these are; those that aren't there have none.
func CommitsBeyond(ctx context.Context, g *gitexec.Git, tip string, others []string) ([]Commit, error) {
	var lines strings.Builder
	for _, other := range others {
		lines.WriteString("^" + other + "\n")
	}
	return commits(ctx, g, []byte(lines.String()), []string{tip, "--ignore-missing", "--stdin"})
}

func commits(ctx context.Context, g *gitexec.Git, stdin []byte, revisions []string) ([]Commit, error) {
	args := slices.Concat(
		[]string{"--no-replace-objects", "-c", "log.showRoot=true", "log", "-c", "--no-color", "--no-show-signature", "--no-notes", "--encoding=UTF-8", logFormat},
		rawDiff, revisions, []string{"--"},
	)
	out, err := g.Pipe(ctx, stdin, args...)
	if err != nil || len(out) == 0 {
		return nil, err
	}
	commits, err := parseLog(out)
	if err == nil {
		err = checkRoots(ctx, g, commits)
	}
	if err != nil {
		return nil, err
	}
	return commits, nil
}

// ChangeOf is what commits change together on a branch.
func ChangeOf(branch string, commits []Commit) Change {
	c := Change{Branch: branch}
	seen := map[string]bool{}
	for i := range commits {
		for _, path := range commits[i].Paths {
			if !seen[path] {
				seen[path] = true
				c.Paths = append(c.Paths, path)
			}
		}
	}
	return c
}

func parseLog(out []byte) ([]Commit, error) {
	r := rawReader{fields: splitNUL(out)}
	var commits []Commit
	for len(r.fields) > 0 {
		switch paths := r.paths(); {
		case len(paths) > 0 && len(commits) > 0:
			commits[len(commits)-1].Paths = paths
		case len(paths) > 0:
			return nil, fmt.Errorf("git log: %q is of no commit", paths[0])
		case len(r.fields) == 0:
		case r.fields[0] == "": // between a commit and its paths, or the next one
			r.fields = r.fields[1:]
		case len(r.fields) < logFields || !isID(r.fields[0]):
			return nil, fmt.Errorf("git log: unexpected output %q", r.fields[0])
		default:
			f := r.fields[:logFields]
			r.fields = r.fields[logFields:]
			commits = append(commits, Commit{ID: f[0], Parents: strings.Fields(f[1]), Author: f[2], Claims: values(f[3]), Overrides: values(f[4])})
		}
	}
	return commits, nil
}

func isID(s string) bool { return len(s) >= 40 && strings.Trim(s, "0123456789abcdef") == "" }

// values are the lines of a field.
func values(field string) []string {
	return slices.DeleteFunc(strings.Split(field, "\n"), func(s string) bool { return s == "" })
}

// checkRoots refuses a commit that has no parents because the history is cut short there: all that it has would look changed.
func checkRoots(ctx context.Context, g *gitexec.Git, commits []Commit) error {
	root := slices.IndexFunc(commits, func(c Commit) bool { return len(c.Parents) == 0 })
	if root < 0 {
		return nil
	}
	out, err := g.Output(ctx, "rev-parse", "--git-path", "shallow")
	if err != nil {
		return err
	}
	file := strings.TrimSuffix(string(out), "\n")
	if !filepath.IsAbs(file) {
		file = filepath.Join(g.Dir, file)
	}
	text, err := os.ReadFile(file)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	cut := strings.Fields(string(text))
	for i := range commits {
		if c := &commits[i]; len(c.Parents) == 0 && slices.Contains(cut, c.ID) {
			return fmt.Errorf("commit %.12s: %w", c.ID, ErrShallow)
		}
	}
	return nil
}
