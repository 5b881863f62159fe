package session

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/git-worklease/git-worklease/internal/config"
	"github.com/git-worklease/git-worklease/lease"
)

// Export is a session's claims with their private keys, on the way to another clone.
type Export struct {
	V       int    `json:"v"`
	Kind    string `json:"kind"`
	Session string `json:"session"`
	Agent   string `json:"agent"`
	// Authority and Prefix say where the claims are.
	Authority string       `json:"authority"`
	Prefix    string       `json:"prefix"`
	Claims    []lease.Hold `json:"claims"`
}

const (
	exportKind = "worklease-session"
	// maxExport bounds a file that is imported.
	maxExport = 16 << 20
)

// ErrFile is returned for a file of the user's that can't be written or read, or that no export has written. See [FileError].
var ErrFile = errors.New("not usable for an export")

// FileError names the file.
type FileError struct {
	Path string
	Err  error
}

func (e *FileError) Error() string {
	var path *fs.PathError
	if errors.As(e.Err, &path) {
		return fmt.Sprintf("%s: %v", e.Path, path.Err)
	}
	return fmt.Sprintf("%s: %v", e.Path, e.Err)
}

// Is links the type to [ErrFile].
func (e *FileError) Is(target error) bool { return target == ErrFile }

func (e *FileError) Unwrap() error { return e.Err }

// Export hands this session's claims that have not ended to save, and ends them here once save has returned nil, so that a crash in between
// leaves them in both places rather than in none. Their keys are forgotten. With writes of the session under way or left behind it is a
// [*lease.PendingError].
func (s *State) Export(x Export, end lease.End, save func(data []byte) error) ([]lease.Hold, error) {
	if err := makeDir(s.dir); err != nil {
		return nil, err
	}
	err := withLock(s.path("pending.lock"), func() error { // so that no write begins that does not see the claims end
		if err := s.checkSettled(); err != nil {
			return err
		}
		return s.take(&x, end, save)
	})
	return x.Claims, err
}

// take is Export once there are no writes.
func (s *State) take(x *Export, end lease.End, save func(data []byte) error) error {
	return s.changeSession(s.o.Session, s.readSession, func(f *sessionFile) error {
		for i := range f.Holds {
			if f.Holds[i].End == nil {
				x.Claims = append(x.Claims, f.Holds[i])
				f.Holds[i].End, f.Holds[i].Key = &end, nil
			}
		}
		if len(x.Claims) == 0 {
			return lease.ErrNotHeld
		}
		data, err := x.encode(s.o.Session)
		if err != nil {
			return err
		}
		return save(data)
	})
}

func (x *Export) encode(session string) ([]byte, error) {
	x.V, x.Kind, x.Session, x.Authority, x.Agent = version, exportKind, session, x.Claims[0].Authority, x.Claims[0].Holder.Agent
	data, err := json.Marshal(x)
	if err != nil {
		return nil, fmt.Errorf("export: %w", err)
	}
	return append(data, '\n'), nil
}

// checkSettled refuses while a write of this session is under way or was left behind. The caller has the lock of all intents.
func (s *State) checkSettled() error {
	files, err := s.intents(nil)
	if err != nil {
		return err
	}
	for _, f := range files {
		if i := f.Intent; i.Session == s.o.Session {
			return &lease.PendingError{Verb: i.Verb, Session: i.Session, Resources: i.Resources, Busy: s.writing(i.ID)}
		}
	}
	return nil
}

// Open says whether any write of this clone is under way, or was left behind.
func (s *State) Open() (bool, error) {
	ids, err := s.pendingIDs()
	return len(ids) > 0, err
}

// WriteExport writes a new file that nobody else can read, and returns once it would survive a loss of power. A file that is there is left alone.
func WriteExport(path string, data []byte) error {
	err := writeNew(path, data, whole)
	switch {
	case errors.Is(err, fs.ErrExist):
		return &FileError{path, err}
	case err == nil:
		err = syncDir(filepath.Dir(path))
	}
	if err == nil {
		return nil
	}
	_ = os.Remove(path)
	if isFull(err) {
		return &FullError{path, err}
	}
	return &FileError{path, err}
}

// OpenExport opens a file that nobody else may be able to read: otherwise it is a [*LooseError].
func OpenExport(path string) (io.ReadCloser, error) {
	f, err := openRegular(path, os.O_RDONLY, secret)
	var bad *StateError
	switch {
	case errors.As(err, &bad):
		return nil, &FileError{path, bad.Err}
	case absent(err):
		return nil, &FileError{path, err}
	case err != nil:
		return nil, err
	}
	return f, nil
}

// ReadExport reads what an export has written; name is for its errors. The claims are in order, of one session and one authority.
func ReadExport(name string, from io.Reader) (*Export, error) {
	var data bytes.Buffer
	if _, err := data.ReadFrom(io.LimitReader(from, maxExport+1)); err != nil {
		return nil, &FileError{name, err}
	}
	if data.Len() > maxExport {
		return nil, &FileError{name, fmt.Errorf("larger than %d bytes", maxExport)}
	}
	x := &Export{}
	var bad *StateError
	err := decodeJSON(name, data.Bytes(), x)
	if errors.As(err, &bad) {
		err = &FileError{name, errors.New("session export did not write it")} // the decoder's words might show some of it
	}
	if err == nil {
		err = x.check(name)
	}
	return x, err
}

func (x *Export) check(name string) error {
	if x.Kind != exportKind || !config.ValidName(x.Session) || len(x.Claims) == 0 {
		return &FileError{name, errors.New("session export did not write it")}
	}
	for i := range x.Claims {
		h := &x.Claims[i]
		if err := h.Check(); err != nil {
			return &FileError{name, err}
		}
		if h.Authority != x.Authority || h.Holder.Session != x.Session {
			return &FileError{name, errors.New("its claims are not of one session and one authority")}
		}
	}
	return nil
}
