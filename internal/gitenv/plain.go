package gitenv

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/git-worklease/git-worklease/internal/gitexec"
)

// ties are the variables that lead git elsewhere than its own search from the current directory does.
var ties = []string{
	"GIT_DIR", "GIT_WORK_TREE", "GIT_COMMON_DIR", "GIT_CEILING_DIRECTORIES", "GIT_DISCOVERY_ACROSS_FILESYSTEM", "GIT_CONFIG", "GIT_IMPLICIT_WORK_TREE",
}

// findPlain looks for the most usual repository by itself: a directory .git above the current one. It is only a guess, which spares a process
// where git's own configuration confirms it; "" is none.
func findPlain(g *gitexec.Git) (top string) {
	tied := slices.ContainsFunc(g.Environ(), func(v string) bool {
		name, _, _ := strings.Cut(v, "=")
		return slices.Contains(ties, name)
	})
	if tied {
		return ""
	}
	dir, err := filepath.Abs(g.Dir)
	if err == nil {
		dir, err = filepath.EvalSymlinks(dir)
	}
	for err == nil {
		if isGitDir(dir) { // bare, or inside of .git
			return ""
		}
		if info, err := os.Lstat(filepath.Join(dir, ".git")); err == nil {
			if info.IsDir() && isGitDir(filepath.Join(dir, ".git")) {
				return dir
			}
			return ""
		}
		parent := filepath.Dir(dir)
		if parent == dir {
			return ""
		}
		dir = parent
	}
	return ""
}

func isGitDir(dir string) bool {
	for _, name := range []string{"HEAD", "objects", "refs"} {
		if _, err := os.Lstat(filepath.Join(dir, name)); err != nil {
			return false
		}
	}
	return true
}

// plain confirms a guess by git's configuration: git has read that of the repository there, so it has found it and trusts it, and nothing in it puts
// the work tree elsewhere.
func plain(ctx context.Context, g *gitexec.Git, top string) (*Repo, bool) {
	config, err := gitexec.ReadConfig(ctx, g)
	if err != nil {
		return nil, false
	}
	gitDir := filepath.Join(top, ".git")
	bare, ok := config.Get("core.bare")
	if _, elsewhere := config.Get("core.worktree"); elsewhere || !ok || bare.Value != "false" || bare.Scope != "local" {
		return nil, false
	}
	path, isFile := strings.CutPrefix(bare.Origin, "file:")
	if !filepath.IsAbs(path) { // git has gone to the top by then
		path = filepath.Join(top, path)
	}
	if !isFile || !sameFile(path, filepath.Join(gitDir, "config")) {
		return nil, false
	}
	_, err = os.Lstat(filepath.Join(gitDir, "shallow"))
	return &Repo{GitDir: gitDir, CommonDir: gitDir, WorkTree: top, Shallow: err == nil, Config: config, git: g}, true
}

func sameFile(a, b string) bool {
	x, err := os.Stat(a)
	if err != nil {
		return false
	}
	y, err := os.Stat(b)
	return err == nil && os.SameFile(x, y)
}
