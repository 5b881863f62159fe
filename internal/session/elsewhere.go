package session

import "github.com/git-worklease/git-worklease/lease"

// learn reads, before the lock of all intents is taken, what those are about that this process has not read yet. An intent never changes, so that with the
// lock only the newest and those that matter need be read: thirty processes that write at once would else wait for each other's reading.
func (s *State) learn() {
	ids, _ := s.pendingIDs() // what can't be read is read again with the lock, and then said
	for _, id := range ids {
		if s.about(id) != nil {
			continue
		}
		if f, err := s.readIntent(id); err == nil {
			s.mu.Lock()
			s.resources[id] = f.Intent.Resources
			s.mu.Unlock()
		}
	}
}

func (s *State) about(id string) []lease.Resource {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.resources[id]
}

// isElsewhere says whether an intent is known to touch none of resources.
func (s *State) isElsewhere(id string, resources []lease.Resource) bool {
	about := s.about(id)
	return about != nil && !touches(about, resources)
}
