package session

import "github.com/git-worklease/git-worklease/lease"

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
			if worktree, known := sum.Worktrees[h.Claim]; h.End == nil && !h.Unconfirmed && (named || known && worktree == s.o.Place.Worktree) {
				holds = append(holds, h)
			}
		}
	}
	return holds, doubts, nil
}
