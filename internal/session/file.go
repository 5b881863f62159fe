package session

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"time"

	"github.com/git-worklease/git-worklease/internal/lockfile"
)

const (
	dirMode  fs.FileMode = 0o700
	fileMode fs.FileMode = 0o600

	// maxFile bounds a file that is read.
	maxFile = 64 << 20

	// lockWait is how long a lock may be waited for that is only ever held for a write.
	lockWait = 10 * time.Second
)

// secrecy says whether a file holds private keys.
type secrecy bool

const (
	open   secrecy = false
	secret secrecy = true
)

// readFile reads a file of the state. One that isn't there is fs.ErrNotExist; whatever else is wrong is a [*StateError], or a
// [*LooseError] for a secret one that others can read.
func readFile(path string, s secrecy) ([]byte, error) {
	f, err := openRegular(path, os.O_RDONLY, s)
	if err != nil {
		return nil, err
	}
	defer f.Close() //nolint:errcheck // nothing was written
	var data bytes.Buffer
	if info, err := f.Stat(); err == nil && info.Size() < maxFile {
		data.Grow(int(info.Size()) + bytes.MinRead)
	}
	_, err = data.ReadFrom(io.LimitReader(f, maxFile+1))
	if err == nil && data.Len() > maxFile {
		err = fmt.Errorf("larger than %d bytes", maxFile)
	}
	if err != nil {
		return nil, &StateError{path, err}
	}
	return data.Bytes(), nil
}

// openRegular opens an existing file, and refuses links, folders, pipes and, where s says so, modes that let others read.
func openRegular(path string, flag int, s secrecy) (*os.File, error) {
	f, err := os.OpenFile(path, flag|noFollow, 0) //nolint:gosec // our own folder
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, err
	case isLink(err):
		return nil, &StateError{path, ErrSymlink}
	case err != nil && flag != os.O_RDONLY:
		return nil, writeError(path, err)
	case err != nil:
		return nil, &StateError{path, err}
	}
	if err := checkRegular(f, path, s); err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return f, nil
}

func checkRegular(f *os.File, path string, s secrecy) error {
	info, err := f.Stat()
	switch {
	case err != nil:
		return &StateError{path, err}
	case !info.Mode().IsRegular():
		return &StateError{path, errors.New("not a regular file")}
	case s == secret && info.Mode().Perm()&othersMask != 0:
		return &LooseError{path, info.Mode().Perm()}
	}
	if there, err := os.Lstat(path); noFollow == 0 && err == nil && there.Mode()&fs.ModeSymlink != 0 {
		return &StateError{path, ErrSymlink}
	}
	return nil
}

// durability says what must survive a loss of power when a write returns.
type durability int

const (
	// fleeting: nothing; the file may even come back empty.
	fleeting durability = iota
	// whole: either what was there before, or the new content.
	whole
)

// writeFile replaces a file by rename. Writers of one path exclude each other by a lock, so that the name of the temporary file
// can be fixed, and one left by a killed process is used up by the next.
func writeFile(path string, data []byte, d durability) error {
	tmp := path + ".tmp"
	if err := os.Remove(tmp); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return writeError(path, err)
	}
	err := writeNew(tmp, data, d)
	if err == nil {
		err = os.Rename(tmp, path)
	}
	if err != nil {
		_ = os.Remove(tmp)
		return writeError(path, err)
	}
	return nil
}

func writeNew(path string, data []byte, d durability) error {
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, fileMode) //nolint:gosec // our own folder
	if err != nil {
		return err
	}
	_, err = f.Write(data)
	if err == nil && d != fleeting {
		err = f.Sync()
	}
	return errors.Join(err, f.Close())
}

// syncFile makes what was written to a file survive a loss of power.
func syncFile(path string) error {
	f, err := os.OpenFile(path, os.O_RDWR|noFollow, 0) //nolint:gosec // our own folder
	if err != nil {
		return err
	}
	return errors.Join(f.Sync(), f.Close())
}

// version is what each JSON file begins with.
const version = 1

// readJSON reads a file into v, after it has looked at the version of its format.
func readJSON(path string, s secrecy, v any) error {
	data, err := readFile(path, s)
	if err != nil {
		return err
	}
	return decodeJSON(path, data, v)
}

func decodeJSON(path string, data []byte, v any) error {
	var head struct {
		V int `json:"v"`
	}
	if err := json.Unmarshal(data, &head); err != nil {
		return &StateError{path, err}
	}
	switch {
	case head.V > version:
		return &NewerError{path, head.V}
	case head.V != version:
		return &StateError{path, errors.New("no version")}
	}
	if err := json.Unmarshal(data, v); err != nil {
		return &StateError{path, err}
	}
	return nil
}

func writeJSON(path string, v any, d durability) error {
	data, err := json.Marshal(v)
	if err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	return writeFile(path, append(data, '\n'), d)
}

// withLock runs do while this process has the lock at path.
func withLock(path string, do func() error) error {
	ctx, cancel := context.WithTimeout(context.Background(), lockWait)
	defer cancel()
	unlock, err := lockfile.Lock(ctx, path)
	switch {
	case errors.Is(err, lockfile.ErrLocked):
		return fmt.Errorf("%s: %w", path, ErrBusy)
	case err != nil:
		return writeError(path, err)
	}
	return errors.Join(do(), unlock())
}

// makeDir makes a folder of the state and those above it.
func makeDir(path string) error {
	if err := os.MkdirAll(path, dirMode); err != nil {
		return writeError(path, err)
	}
	return checkDir(path)
}

// checkDir refuses a folder that is a link. One that isn't there is fine.
func checkDir(path string) error {
	info, err := os.Lstat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil
	case err != nil:
		return &StateError{path, err}
	case info.Mode()&fs.ModeSymlink != 0:
		return &StateError{path, ErrSymlink}
	case !info.IsDir():
		return &StateError{path, errors.New("not a folder")}
	}
	return nil
}
