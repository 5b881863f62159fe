package session

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/git-worklease/git-worklease/internal/lockfile"
	"github.com/git-worklease/git-worklease/lease"
)

// Inspection is what is in the folder of a state, all sessions of the clone included.
type Inspection struct {
	// Exists says whether there is a folder yet.
	Exists bool
	// Sessions are those that have a file which can be used, and Claims how many of their claims have not ended.
	Sessions, Claims int
	// Pending are the writes of unknown outcome.
	Pending []PendingWrite
	// Problems say which files can't be used, and why: the errors that commands get which need them.
	Problems []error
	// Open are folders that others may look into, and files without keys that others may read.
	Open []string
}

// PendingWrite is an intent that was found.
type PendingWrite struct {
	Verb      lease.Verb
	Session   string
	Resources []lease.Resource
	// Since is when it was saved, by the clock of the file system.
	Since time.Time
	// Busy says that its writer is alive.
	Busy bool
}

// Inspect reads everything that commands might read, changes nothing and goes on after what it can't read.
func (s *State) Inspect() *Inspection {
	i := &Inspection{}
	if _, err := os.Lstat(s.dir); absent(err) {
		return i
	}
	i.Exists = true
	i.modes(s.dir)
	s.inspectSessions(i)
	s.inspectPending(i)
	_, err := s.Meta()
	i.problem(err)
	_, err = s.SeenAll()
	i.problem(err)
	s.inspectFolder(i, "remotes", func(path string) error {
		var f serverFile
		if data, err := readFile(path, open); err != nil || len(data) > 0 {
			return readJSON(path, open, &f)
		}
		return nil
	})
	return i
}

func (i *Inspection) problem(err error) {
	if err != nil && !absent(err) {
		i.Problems = append(i.Problems, err)
	}
}

// modes notes what others may look at below a folder.
func (i *Inspection) modes(root string) {
	if othersMask == 0 {
		return
	}
	_ = filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return nil //nolint:nilerr // what can't be read is a problem that others report
		}
		if info, err := d.Info(); err == nil && (info.IsDir() || info.Mode().IsRegular()) && info.Mode().Perm()&othersMask != 0 {
			i.Open = append(i.Open, path)
		}
		if d.IsDir() && strings.HasSuffix(path, ".git") { // git's own
			return fs.SkipDir
		}
		return nil
	})
}

// inspectFolder calls look for each JSON file of a folder, and notes what is wrong with the folder or its files.
func (s *State) inspectFolder(i *Inspection, name string, look func(path string) error) {
	dir := s.path(name)
	if err := checkDir(dir); err != nil {
		i.problem(err)
		return
	}
	entries, err := os.ReadDir(dir)
	if err != nil && !absent(err) {
		i.problem(&StateError{dir, err})
	}
	for _, e := range entries {
		if strings.HasSuffix(e.Name(), ".json") {
			i.problem(look(filepath.Join(dir, e.Name())))
		}
	}
}

func (s *State) inspectSessions(i *Inspection) {
	s.inspectFolder(i, "sessions", func(path string) error {
		name, ok := lease.DecodeName(strings.TrimSuffix(filepath.Base(path), ".json"))
		if !ok { // one whose name was too long says it itself
			var f sessionFile
			if err := readJSON(path, secret, &f); err != nil {
				return err
			}
			name = f.Session
		}
		f, err := s.readSession(name)
		if err != nil {
			return err
		}
		i.Sessions++
		i.Claims += len(slices.DeleteFunc(f.Holds, func(h lease.Hold) bool { return h.End != nil }))
		return nil
	})
}

func (s *State) inspectPending(i *Inspection) {
	s.inspectFolder(i, "pending", func(path string) error {
		info, err := os.Lstat(path)
		if err != nil {
			return err
		}
		f, err := s.readIntent(strings.TrimSuffix(filepath.Base(path), ".json"))
		if errors.Is(err, errUnfinished) { // it was never sent
			return nil
		}
		if err != nil {
			return err
		}
		i.Pending = append(i.Pending, PendingWrite{
			Verb: f.Intent.Verb, Session: f.Intent.Session, Resources: f.Intent.Resources, Since: info.ModTime(), Busy: s.writing(f.Intent.ID),
		})
		return nil
	})
}

// writing says whether the writer of an intent is alive.
func (s *State) writing(id string) bool {
	if _, err := os.Lstat(s.intentLock(id)); absent(err) {
		return false
	}
	unlock, err := lockfile.TryLock(s.intentLock(id))
	if err != nil {
		return errors.Is(err, lockfile.ErrLocked)
	}
	_ = unlock()
	return false
}

// CheckWritable says whether the state can be written, by a file that is made and removed again. Where there is no folder yet, it is made in the
// nearest folder above.
func (s *State) CheckWritable() error {
	dir := s.dir
	for {
		info, err := os.Lstat(dir)
		if err == nil && info.IsDir() {
			break
		}
		if up := filepath.Dir(dir); up != dir && absent(err) {
			dir = up
			continue
		}
		return &StateError{dir, errors.Join(err, errors.New("not a folder"))}
	}
	f, err := os.CreateTemp(dir, "worklease-check-*")
	if err != nil {
		return writeError(dir, err)
	}
	_, err = f.WriteString("x")
	return writeError(dir, errors.Join(err, f.Close(), os.Remove(f.Name())))
}
