package session

import (
	"slices"

	"github.com/git-worklease/git-worklease/lease"
)

// Accepted are the claims of this clone that have not ended and that a guard accepts: those of this session and of the sessions above it where it is
// named, otherwise all that were made in this worktree. doubts say what could not be read of them.
func (s *State) Accepted(named bool) (holds []lease.Hold, doubts []error, err error) {
	all, err := s.Sessions()
	if err != nil {
		return nil, nil, err
	}
	for i := range all {
		sum := &all[i]
		if named && sum.Name != "" && sum.Name != s.o.Session && !IsAncestor(sum.Name, s.o.Session) {
			continue
		}
		if sum.Err != nil {
			doubts = append(doubts, sum.Err)
			continue
		}
		for _, h := range sum.Holds {
			if h.End == nil && !h.Unconfirmed && (named || s.madeHere(sum.made[h.Claim])) {
				holds = append(holds, h)
			}
		}
	}
	return holds, doubts, nil
}

// madeHere says whether a claim was made in this worktree, and not in an earlier one of the same ID.
func (s *State) madeHere(by Maker) bool { return by.Worktree == s.o.Place.Worktree && !s.former(by) }

// Claims says whether any session of this clone holds something. What can't be read may be a claim.
func (s *State) Claims() (bool, error) {
	all, err := s.Sessions()
	return slices.ContainsFunc(all, func(sum Summary) bool {
		return sum.Err != nil || slices.ContainsFunc(sum.Holds, func(h lease.Hold) bool { return h.End == nil })
	}), err
}
