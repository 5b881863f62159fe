package session

import (
	"time"

	"github.com/git-worklease/git-worklease/refstore"
)

// serverFile is what is known of one server. It holds no URL: that may have a password.
type serverFile struct {
	V      int             `json:"v"`
	Server refstore.Server `json:"server"`
}

func (s *State) serverPath(url string) string { return s.path("remotes", hashName(url)+".json") }

// Server is what was remembered of the server of a URL; zero if nothing was, or if it was lost with the power.
func (s *State) Server(url string) (refstore.Server, error) {
	data, err := readFile(s.serverPath(url), open)
	if absent(err) || err == nil && len(data) == 0 {
		return refstore.Server{}, nil
	}
	var f serverFile
	if err == nil {
		err = decodeJSON(s.serverPath(url), data, &f)
	}
	return f.Server, err
}

// SaveServer remembers what is known of the server of a URL; the last word counts.
func (s *State) SaveServer(url string, server refstore.Server) error {
	if err := makeDir(s.path("remotes")); err != nil {
		return err
	}
	return withLock(s.path("remotes.lock"), func() error {
		return writeJSON(s.serverPath(url), &serverFile{V: version, Server: server}, fleeting)
	})
}

// FreshServer is what was remembered of the server of a URL and may still be used; of what is too old only what never changes.
func (s *State) FreshServer(url string, now time.Time) (refstore.Server, error) {
	known, err := s.Server(url)
	if now.Sub(known.Known).Abs() >= refstore.ServerLife {
		known = refstore.Server{Format: known.Format}
	}
	return known, err
}

// LearnServer remembers what a process has learned of the server of a URL beyond what it knew before.
func (s *State) LearnServer(url string, known, learned refstore.Server) error {
	if !news(learned, known) {
		return nil
	}
	return s.SaveServer(url, learned)
}

// news says whether what was learned of a server is worth writing down: more than that it is still the same.
func news(learned, known refstore.Server) bool {
	if age := learned.Known.Sub(known.Known); learned.Known.IsZero() || age >= time.Hour || age < 0 {
		return !learned.Known.IsZero()
	}
	learned.Known = known.Known
	return learned != known
}
