package session

import (
	"bytes"
	"encoding/json"
	"errors"
	"os"
	"time"

	"github.com/git-worklease/git-worklease/lease"
)

// Override is a person's passing by a guard.
type Override struct {
	V      int          `json:"v"`
	At     time.Time    `json:"at"`
	By     lease.Holder `json:"by"`
	Hook   string       `json:"hook"`
	Reason string       `json:"reason"`
	// Passed is what the guard had said.
	Passed []string `json:"passed"`
}

func (s *State) overridesPath() string { return s.path("overrides") }

// RecordOverride adds one to the record that this clone keeps, one line each.
func (s *State) RecordOverride(o *Override) error {
	o.V = version
	line, err := json.Marshal(o)
	if err != nil {
		return err
	}
	if err := makeDir(s.dir); err != nil {
		return err
	}
	path := s.overridesPath()
	return withLock(path+".lock", func() error {
		f, err := os.OpenFile(path, os.O_WRONLY|os.O_APPEND|os.O_CREATE|noFollow, fileMode) //nolint:gosec // our own folder
		if err != nil {
			return writeError(path, err)
		}
		_, err = f.Write(append(line, '\n'))
		return writeError(path, errors.Join(err, f.Sync(), f.Close()))
	})
}

// Overrides are those on record, oldest first. A line that can't be read is left out.
func (s *State) Overrides() ([]Override, error) {
	data, err := readFile(s.overridesPath(), open)
	if absent(err) {
		return nil, nil
	}
	var all []Override
	for line := range bytes.Lines(data) {
		var o Override
		if json.Unmarshal(line, &o) == nil && o.V == version {
			all = append(all, o)
		}
	}
	return all, err
}
