package session

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/git-worklease/git-worklease/internal/config"
	"github.com/git-worklease/git-worklease/lease"
)

// boundFile names the session that was bound to a worktree.
type boundFile struct {
	V       int    `json:"v"`
	Session string `json:"session"`
	// Born is that of the worktree, see [Place].
	Born int64 `json:"born,omitempty"`
}

func (p Place) boundPath() string {
	return filepath.Join(p.Root, "use", lease.EncodeName(defaultSession(p.Worktree))+".json")
}

// Bound is the session that was bound to this worktree; "" where none was, or to an earlier worktree of the same ID alone.
func (p Place) Bound() (string, error) {
	if err := checkDir(p.Root); err != nil {
		return "", err
	}
	var f boundFile
	err := readJSON(p.boundPath(), open, &f)
	switch {
	case errors.Is(err, fs.ErrNotExist), err == nil && differ(f.Born, p.Born):
		return "", nil
	case err == nil && !config.ValidName(f.Session):
		return "", &StateError{p.boundPath(), fmt.Errorf("%w: %q", ErrSessionName, f.Session)}
	}
	return f.Session, err
}

// Bind binds a session's name to this worktree; "" unbinds it.
func (p Place) Bind(session string) error {
	path := p.boundPath()
	if session == "" {
		if err := os.Remove(path); err != nil && !absent(err) {
			return writeError(path, err)
		}
		return nil
	}
	if !config.ValidName(session) {
		return fmt.Errorf("%w: %q", ErrSessionName, session)
	}
	if err := makeDir(filepath.Dir(path)); err != nil {
		return err
	}
	return withLock(filepath.Join(p.Root, "use.lock"), func() error {
		return writeJSON(path, &boundFile{V: version, Session: session, Born: p.Born}, whole)
	})
}
