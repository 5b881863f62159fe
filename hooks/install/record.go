package install

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/git-worklease/git-worklease/internal/gitexec"
)

// record remembers what was installed, so that hooks which something else has displaced are missed.
type record struct {
	V     int    `json:"v"`
	Hooks []Hook `json:"hooks"`
	// Folder is where files were written.
	Folder string `json:"folder"`
	// Git is the version of git that was there.
	Git gitexec.Version `json:"git"`
}

const recordVersion = 1

// stateDir is the clone's own folder, which worktrees share as they share hooks.
func (c *Clone) stateDir() string { return filepath.Join(c.Repo.CommonDir, "worklease") }

func (c *Clone) recordPath() string { return filepath.Join(c.stateDir(), "hooks.json") }

// readRecord is what was installed; nil: nothing.
func (c *Clone) readRecord() (*record, error) {
	data, err := os.ReadFile(c.recordPath())
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil //nolint:nilnil // no record is an answer
	}
	if err != nil {
		return nil, fmt.Errorf("what hooks were installed: %w", err)
	}
	rec := &record{}
	if err := json.Unmarshal(data, rec); err != nil || rec.V != recordVersion {
		// Written by a later version, or damaged: the hooks that there are count, whatever was remembered.
		return &record{V: recordVersion, Hooks: Hooks()}, nil //nolint:nilerr // see above
	}
	return rec, nil
}

func (c *Clone) saveRecord(rec *record) error {
	if err := os.MkdirAll(c.stateDir(), 0o700); err != nil {
		return err
	}
	rec.V = recordVersion
	data, err := json.Marshal(rec)
	if err != nil {
		return err
	}
	return replace(c.recordPath(), append(data, '\n'), 0o600)
}

// replace writes a file as a whole.
func replace(path string, data []byte, mode fs.FileMode) error {
	f, err := os.CreateTemp(filepath.Dir(path), ".worklease-*")
	if err != nil {
		return err
	}
	_, err = f.Write(data)
	err = errors.Join(err, f.Chmod(mode), f.Close())
	if err == nil {
		err = os.Rename(f.Name(), path)
	}
	if err != nil {
		_ = os.Remove(f.Name()) // it is ours, and worth nothing
	}
	return err
}
