package session

import (
	"errors"
	"fmt"
	"slices"

	"github.com/git-worklease/git-worklease/lease"
)

// ErrAmbiguous is returned where a claim was made by another living worker of the same worktree, and nothing but the worktree names the
// session. See [AmbiguousError].
var ErrAmbiguous = errors.New("claimed from this worktree by another process")

// AmbiguousError names the resource and the process on whose behalf it was claimed.
type AmbiguousError struct {
	Resource lease.Resource
	By       Claimant
}

func (e *AmbiguousError) Error() string {
	return fmt.Sprintf("%s: %v: %s (%d)", e.Resource, ErrAmbiguous, e.By.Name, e.By.PID)
}

// Is links the type to [ErrAmbiguous].
func (e *AmbiguousError) Is(target error) bool { return target == ErrAmbiguous }

// CheckClaimant returns an [*AmbiguousError] where a claim of this session on any of resources was made by another worker of this worktree who still
// lives: two that share a session by default would both be told that they hold it. It is for sessions that nobody named.
func (s *State) CheckClaimant(processes Processes, resources []lease.Resource) error {
	f, err := s.readSession(s.o.Session)
	if err != nil {
		return err
	}
	for _, h := range f.Holds {
		by := f.Made[h.Claim]
		if h.End != nil || by.Worktree != s.o.Place.Worktree || !Ambiguous(processes, by.Process, s.o.Process) {
			continue
		}
		for _, m := range h.Members {
			if slices.Contains(resources, m.Resource) {
				return &AmbiguousError{Resource: m.Resource, By: by.Process}
			}
		}
	}
	return nil
}
