package session

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/git-worklease/git-worklease/internal/gitenv"
	"github.com/git-worklease/git-worklease/lease"
)

// ErrFormer is returned where a claim was made in a worktree that is gone, and nothing but the ID of the present one names the session. See
// [FormerError].
var ErrFormer = errors.New("claimed from an earlier worktree of the same name")

// FormerError names the resource and git's ID of both worktrees.
type FormerError struct {
	Resource lease.Resource
	Worktree string
}

func (e *FormerError) Error() string {
	return fmt.Sprintf("%s: %v: %s", e.Resource, ErrFormer, e.Worktree)
}

// Is links the type to [ErrFormer].
func (e *FormerError) Is(target error) bool { return target == ErrFormer }

// born is when a linked worktree was made, in nanoseconds since 1970. git writes its file commondir at that moment and never again, so that moving or
// repairing the worktree does not change the time. The number of an inode would not do: it is often given to the next folder that is made.
func born(repo *gitenv.Repo) int64 {
	if repo.Worktree == "" {
		return 0
	}
	info, err := os.Lstat(filepath.Join(repo.GitDir, "commondir"))
	if err != nil {
		return 0
	}
	return info.ModTime().UnixNano()
}

// differ says whether two worktrees of the same ID are known to be different ones.
func differ(a, b int64) bool { return a != 0 && b != 0 && a != b }

// former says whether a claim was made in an earlier worktree of the present one's ID.
func (s *State) former(by Maker) bool {
	return by.Worktree == s.o.Place.Worktree && differ(by.Born, s.o.Place.Born)
}
