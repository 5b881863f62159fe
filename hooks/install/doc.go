// Package install puts this program's hooks where git runs hooks in a clone, takes them away again byte for byte, and says whether they run. What
// a hook does when it runs is not its business: an installed hook calls `git-worklease hooks run NAME` with its arguments and standard input.
//
// Where git is new enough, hooks are entries of the clone's configuration beside whatever hooks there are. Otherwise they are files in the folder
// where git looks for hooks. A file that is there already is kept beside, and run first; nothing of it is changed. What belongs to a manager of
// hooks is left to that: git's older hook goes where pre-commit runs it, and for husky, lefthook and folders that are committed or
// shared there is a [Spot.Snippet] for whoever owns them.
//
// Nothing here guarantees that hooks run: git has --no-verify, and other programs write to the same files. [Clone.Look] tells.
package install

import (
	"github.com/git-worklease/git-worklease/internal/gitenv"
	"github.com/git-worklease/git-worklease/internal/gitexec"
)

// Hook is the name of a hook of git's.
type Hook string

// The hooks that are installed.
const (
	PreCommit  Hook = "pre-commit"
	CommitMsg  Hook = "commit-msg"
	PostCommit Hook = "post-commit"
	PrePush    Hook = "pre-push"
)

// Hooks are all of them, in the order in which git runs them.
func Hooks() []Hook { return []Hook{PreCommit, CommitMsg, PostCommit, PrePush} }

// configured is the first version of git that runs hooks from its configuration.
var configured = gitexec.Version{2, 54}

// Clone is where hooks are installed.
type Clone struct {
	// Repo is the repository as seen from the worktree that is asked about: worktrees may have different settings.
	Repo *gitenv.Repo
	// Git runs git there.
	Git *gitexec.Git
	// Version is git's; zero is older than all.
	Version gitexec.Version
	// Program is the absolute path of this program, for the hooks to call.
	Program string
}

// top is where git runs hooks, which is what a relative core.hooksPath is relative to.
func (c *Clone) top() string {
	if c.Repo.WorkTree != "" {
		return c.Repo.WorkTree
	}
	return c.Repo.GitDir
}

// ByFiles says that git is too old to run hooks from its configuration.
func (c *Clone) ByFiles() bool { return c.Version.Before(configured) }
