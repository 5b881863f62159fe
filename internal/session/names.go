package session

import (
	"os"
	"slices"
	"strings"
)

// SessionNames are the names of the sessions that have a file, sorted. Files that can't be read are left out: it is for completion.
func (s *State) SessionNames() []string {
	dir := s.path("sessions")
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil
	}
	var names []string
	for _, entry := range entries {
		var f sessionFile
		if strings.HasSuffix(entry.Name(), ".json") && readJSON(s.path("sessions", entry.Name()), secret, &f) == nil {
			names = append(names, f.Session)
		}
	}
	slices.Sort(names)
	return names
}
