package session

import (
	"time"

	"github.com/git-worklease/git-worklease/lease"
)

// metaFile binds the state to an authority.
type metaFile struct {
	V    int                `json:"v"`
	Meta lease.MetaSighting `json:"meta"`
	// At is where it was read, hashed, because a URL may have a password.
	At string `json:"at,omitempty"`
}

// Meta is what was last read of the authority's meta ref; zero if never. Where that was elsewhere, it is without the time of reading, so that it
// counts as old: what is here has yet to be seen.
func (s *State) Meta() (lease.MetaSighting, error) {
	var f metaFile
	if err := readJSON(s.path("meta.json"), open, &f); err != nil && !absent(err) {
		return lease.MetaSighting{}, err
	}
	if f.At != hashName(s.o.Where) {
		f.Meta.At = time.Time{}
	}
	return f.Meta, nil
}

// SeeMeta remembers what was read of the meta ref. The first one binds the state to its authority; after that another
// is an [*OtherAuthorityError].
func (s *State) SeeMeta(m lease.MetaSighting) error {
	if err := makeDir(s.dir); err != nil {
		return err
	}
	return withLock(s.path("meta.lock"), func() error {
		was, err := s.Meta()
		switch {
		case err != nil:
			return err
		case was.Authority != "" && was.Authority != m.Authority:
			return &OtherAuthorityError{Bound: was.Authority, Got: m.Authority}
		case was == m:
			return nil
		}
		return writeJSON(s.path("meta.json"), &metaFile{V: version, Meta: m, At: hashName(s.o.Where)}, whole)
	})
}
