// Package gitenv finds out which repository a command runs in, and which remote its claims live at. It asks the system's
// git, in one process in the most usual repository, in two that run at the same time elsewhere, and in one more only where the answer rests on rules that are git's own
// (insteadOf). It changes nothing and reaches no network.
package gitenv

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/git-worklease/git-worklease/internal/gitexec"
)

// ErrNotRepository is returned where neither the directory nor any above it is a git repository.
var ErrNotRepository = errors.New("not a git repository")

// ErrRepository is returned where there is a repository that git refuses to use: owned by somebody else, or broken. See
// [RepositoryError].
var ErrRepository = errors.New("git can't use the repository")

// RepositoryError carries git's own words on a repository that it refuses.
type RepositoryError struct {
	// Words is what git wrote, several lines for people, unescaped.
	Words string
	Err   error
}

func (e *RepositoryError) Error() string {
	first, _, _ := strings.Cut(e.Words, "\n")
	return fmt.Sprintf("%v: %s", ErrRepository, strings.TrimPrefix(first, "fatal: "))
}

// Is links the type to [ErrRepository].
func (e *RepositoryError) Is(target error) bool { return target == ErrRepository }

func (e *RepositoryError) Unwrap() error { return e.Err }

// Repo is a repository as seen from one directory. Its paths are absolute.
type Repo struct {
	// GitDir is the git directory of this worktree: in a linked one <common>/worktrees/<id>.
	GitDir string
	// CommonDir is the git directory that all worktrees share.
	CommonDir string
	// WorkTree is the top of the work tree; empty in a bare repository and inside a git directory.
	WorkTree string
	// Worktree is git's ID of a linked worktree; empty in the main one.
	Worktree string
	// Bare says that the repository has no work tree at all.
	Bare bool
	// Shallow says that history was cut off when it was fetched.
	Shallow bool
	// Config is git's configuration as it holds here.
	Config *gitexec.Config

	git *gitexec.Git
}

// Discover finds the repository of g's directory, following GIT_DIR and whatever else git follows. Outside a repository
// it returns [ErrNotRepository] and, beside it, a Repo that has the global configuration alone. What git refuses is a
// [*RepositoryError], a git that can't be run a [*gitexec.Error].
func Discover(ctx context.Context, g *gitexec.Git) (*Repo, error) {
	if top := findPlain(g); top != "" {
		if repo, ok := plain(ctx, g, top); ok {
			return repo, nil
		}
	}
	return discover(ctx, g)
}

// discover asks git for everything.
func discover(ctx context.Context, g *gitexec.Git) (*Repo, error) {
	type configResult struct {
		config *gitexec.Config
		err    error
	}
	read := make(chan configResult, 1)
	go func() {
		config, err := gitexec.ReadConfig(ctx, g)
		read <- configResult{config, err}
	}()
	repo, err := locate(ctx, g)
	result := <-read
	if err != nil && !errors.Is(err, ErrNotRepository) {
		return nil, err
	}
	if result.err != nil {
		return nil, result.err
	}
	repo.Config, repo.git = result.config, g
	return repo, err
}

// questions are asked in this order: yes-or-no answers, then paths, and last the one that fails in a bare repository, when
// git has already written the others.
var questions = []string{
	"rev-parse", "--is-bare-repository", "--is-shallow-repository",
	"--path-format=absolute", "--git-dir", "--git-common-dir", "--show-toplevel",
}

func locate(ctx context.Context, g *gitexec.Git) (*Repo, error) {
	plain := *g
	// Git's words are looked at below, so they must not be translated.
	plain.Env = append(slices.Clip(g.Environ()), "LC_ALL=C")
	out, err := plain.Output(ctx, questions...)
	repo, parseErr := parseAnswers(string(out))
	var failure *gitexec.Error
	switch {
	case parseErr == nil && (err == nil || repo.WorkTree == "" && ctx.Err() == nil):
		return repo, nil
	case !errors.As(err, &failure):
		return nil, errors.Join(err, parseErr)
	case failure.Code < 0:
		return nil, failure
	case outside(failure.Stderr):
		return &Repo{}, ErrNotRepository
	default:
		return nil, &RepositoryError{Words: failure.Stderr, Err: failure}
	}
}

// outside tells git's word on a directory without a repository from that on a GIT_DIR or .git file that leads nowhere.
func outside(words string) bool { return strings.Contains(words, "not a git repository (or any") }

// parseAnswers reads the answers to questions, of which the last may be missing.
func parseAnswers(out string) (*Repo, error) {
	lines := strings.Split(strings.TrimSuffix(out, "\n"), "\n")
	if len(lines) != 4 && len(lines) != 5 {
		return nil, fmt.Errorf("git rev-parse: %d lines", len(lines))
	}
	repo := &Repo{
		Bare: lines[0] == "true", Shallow: lines[1] == "true",
		GitDir: filepath.FromSlash(lines[2]), CommonDir: filepath.FromSlash(lines[3]),
	}
	if len(lines) == 5 {
		repo.WorkTree = filepath.FromSlash(lines[4])
	}
	for _, path := range []string{repo.GitDir, repo.CommonDir} {
		if !filepath.IsAbs(path) {
			return nil, fmt.Errorf("git rev-parse: %q is not an absolute path", path)
		}
	}
	if repo.GitDir != repo.CommonDir {
		repo.Worktree = filepath.Base(repo.GitDir)
	}
	return repo, nil
}
