package session

import (
	"errors"
	"fmt"
	"slices"

	"github.com/git-worklease/git-worklease/lease"
)

// ErrHere is returned for a claim that is to be brought here and that a session of this clone has already, or whose resources it has by another claim. See
// [HereError].
var ErrHere = errors.New("held in this clone already")

// HereError names the resource and the session that has it.
type HereError struct {
	Resource lease.Resource
	Session  string
}

func (e *HereError) Error() string {
	return fmt.Sprintf("%s: %v, by session %s", e.Resource, ErrHere, e.Session)
}

// Is links the type to [ErrHere].
func (e *HereError) Is(target error) bool { return target == ErrHere }

// Receive stores claims that were brought here under this session's name, at a place of their own. It refuses with a [*HereError] where a session of this clone
// has one of the claims, or this one any of the resources. It returns the claims as they are here; their next renewal makes them this clone's.
func (s *State) Receive(holds []lease.Hold, host string) ([]lease.Hold, error) {
	if err := s.checkAuthorities(holds); err != nil {
		return nil, err
	}
	if err := s.CheckHere(holds); err != nil {
		return nil, err
	}
	place := newPlace()
	here := make([]lease.Hold, len(holds))
	for i, h := range holds {
		to := h.Holder
		to.Session, to.Host = s.o.Session, host
		here[i] = h.MoveTo(place, to)
	}
	err := s.changeSession(s.o.Session, s.readSession, func(f *sessionFile) error {
		for _, h := range here {
			f.Holds = slices.DeleteFunc(f.Holds, func(old lease.Hold) bool { return old.Claim == h.Claim && old.End != nil })
			f.put(h, s.self())
		}
		return nil
	})
	return here, err
}

// CheckHere refuses what [State.Receive] would, and changes nothing.
func (s *State) CheckHere(holds []lease.Hold) error {
	all, err := s.Sessions()
	if err != nil {
		return err
	}
	for _, sum := range all {
		for _, old := range sum.Holds {
			for _, h := range holds {
				if r, same := common(old, h); old.End == nil && (same || r != "" && sum.Name == s.o.Session) {
					return &HereError{Resource: r, Session: sum.Name}
				}
			}
		}
	}
	return nil
}

// common is a resource that two holds share, and whether they are the same claim.
func common(a, b lease.Hold) (r lease.Resource, same bool) {
	for _, m := range a.Members {
		if slices.ContainsFunc(b.Members, func(o lease.Member) bool { return o.Resource == m.Resource }) {
			return m.Resource, a.Claim == b.Claim
		}
	}
	return "", false
}
