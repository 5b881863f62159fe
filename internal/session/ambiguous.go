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

// CheckClaimant returns an [*AmbiguousError] where a claim of this session on any of resources, or on a path that overlaps, was made by another worker of
// this worktree who still lives: two that share a session by default would both be told that they hold it. It returns a [*FormerError] where it was
// made in an earlier worktree of the same ID. It is for sessions that nobody named.
func (s *State) CheckClaimant(processes Processes, resources []lease.Resource) error {
	f, err := s.readSession(s.o.Session)
	if err != nil {
		return err
	}
	for _, h := range f.Holds {
		for _, m := range h.Members {
			if h.End != nil || !slices.ContainsFunc(resources, func(r lease.Resource) bool { return lease.Overlap(r, m.Resource) }) {
				continue
			}
			if err := s.stranger(processes, m.Resource, f.Made[h.Claim]); err != nil {
				return err
			}
		}
	}
	return nil
}

// stranger says why a claim is not that of the worker who asks; nil where it may be.
func (s *State) stranger(processes Processes, r lease.Resource, by Maker) error {
	switch {
	case by.Worktree != s.o.Place.Worktree:
		return nil
	case s.former(by):
		return &FormerError{Resource: r, Worktree: by.Worktree}
	case Ambiguous(processes, by.Process, s.o.Process):
		return &AmbiguousError{Resource: r, By: by.Process}
	}
	return nil
}

// Own are the claims of this session that have not ended and may be those of the worker who asks, and why the others are not, one error for each. It is for
// sessions that nobody named.
func (s *State) Own(processes Processes) (own []lease.Hold, others []error, err error) {
	f, err := s.readSession(s.o.Session)
	if err != nil {
		return nil, nil, err
	}
	for _, h := range f.Holds {
		if h.End != nil {
			continue
		}
		if other := s.stranger(processes, h.Members[0].Resource, f.Made[h.Claim]); other != nil {
			others = append(others, other)
			continue
		}
		own = append(own, h)
	}
	return own, others, nil
}
