package session

import (
	"errors"
	"os"
	"path/filepath"

	"github.com/git-worklease/git-worklease/lease"
)

// entries are the names of all that is ever kept in the folder of a state.
var entries = []string{
	"glance.json", "glance.json.lock", "local", "local.git", "meta.json", "meta.lock", "overrides", "overrides.lock", "pending", "pending.lock", "pushes", "pushes.lock",
	"records", "remotes", "remotes.lock", "renewals", "seen", "seen.lock", "sessions", "store.git", "turns", "use", "use.lock",
}

// Remove removes the state of a clone with all claims' keys: the folder, or of a folder that somebody has named only what is ours.
func (p Place) Remove() error {
	if err := checkDir(p.Root); err != nil {
		return err
	}
	if p.Root == p.Owner || p.Root == filepath.Join(p.Owner, "worklease") {
		return writeError(p.Root, os.RemoveAll(p.Root))
	}
	var errs []error
	for _, name := range entries {
		path := filepath.Join(p.Root, name)
		errs = append(errs, writeError(path, os.RemoveAll(path)))
	}
	_ = os.Remove(p.Root) // which fails where something else is in it
	return errors.Join(errs...)
}

// Left is what would be lost with the state: resources of claims of any session that have not ended, and of writes that may land yet. What can't be read is
// an error.
func (s *State) Left() ([]lease.Resource, error) {
	sessions, err := s.Sessions()
	if err != nil {
		return nil, err
	}
	var left []lease.Resource
	for _, sum := range sessions {
		var copied *CopiedError
		if sum.Err != nil && !errors.As(sum.Err, &copied) {
			return nil, sum.Err
		}
		for _, h := range sum.Holds {
			for _, m := range h.Members {
				if h.End == nil && sum.Err == nil {
					left = append(left, m.Resource)
				}
			}
		}
	}
	for _, w := range s.Inspect().Pending {
		left = append(left, w.Resources...)
	}
	return left, nil
}
