package session

import "github.com/git-worklease/git-worklease/lease"

// prepareMove makes sure, before a claim is handed to another session, that the other's file can take it. On whose behalf the other session will
// use it is not known.
func (s *State) prepareMove(i *lease.Intent) error {
	to := i.Hold.Holder.Session
	if to == i.Session {
		return nil
	}
	if _, err := s.readSession(to); err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.made[i.Hold.Claim] = Maker{}
	return nil
}
