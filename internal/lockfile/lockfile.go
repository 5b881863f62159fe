// Package lockfile locks files between processes. A lock is advisory, belongs to whoever took it rather than to the
// process, and is freed when the process dies, however it dies. It is not meant for files of other hosts: over NFS a lock
// is as good as the mount's.
package lockfile

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"time"
)

// ErrLocked is returned where another holder, in this process or another, has the lock.
var ErrLocked = errors.New("locked by another process")

// ErrSymlink is returned for a path that is a symbolic link: a lock is never taken through one.
var ErrSymlink = errors.New("is a symbolic link")

// The pauses between two attempts of [Lock]: growing, with jitter, so that waiters don't march in step.
const (
	firstPause = time.Millisecond
	longPause  = 25 * time.Millisecond
)

// Lock waits for the lock on path, creates the file where it is missing (mode 0600), and returns what frees it. Where ctx
// ends first, the error is both [ErrLocked] and that of ctx. A file that was removed or replaced while we waited is not
// mistaken for the one at path now. unlock may be called once, and reports a failure to unlock or close.
func Lock(ctx context.Context, path string) (unlock func() error, err error) {
	for pause := firstPause; ; pause = min(2*pause, longPause) {
		unlock, err := TryLock(path)
		if !errors.Is(err, ErrLocked) {
			return unlock, err
		}
		wait := time.NewTimer(pause/2 + rand.N(pause)) //nolint:gosec // jitter, no secret
		select {
		case <-ctx.Done():
			wait.Stop()
			return nil, fmt.Errorf("%w: %w", err, ctx.Err())
		case <-wait.C:
		}
	}
}

// TryLock is Lock without waiting: [ErrLocked] where another has it.
func TryLock(path string) (unlock func() error, err error) {
	for {
		f, err := open(path)
		if err != nil {
			return nil, err
		}
		if err := lock(f); err != nil {
			return nil, errors.Join(wrap(path, err), f.Close())
		}
		current, err := isAt(f, path)
		if current {
			return func() error { return errors.Join(free(f), f.Close()) }, nil
		}
		if err := errors.Join(err, f.Close()); err != nil {
			return nil, err
		}
	}
}

// isAt says whether f is still the file at path.
func isAt(f *os.File, path string) (bool, error) {
	mine, err := f.Stat()
	if err != nil {
		return false, err
	}
	there, err := os.Lstat(path)
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	return err == nil && os.SameFile(mine, there), err
}

func wrap(path string, err error) error {
	return &fs.PathError{Op: "lock", Path: path, Err: err}
}
