//go:build unix

package lockfile

import (
	"errors"
	"os"

	"golang.org/x/sys/unix"
)

// fileMode is the mode of a new lock file.
const fileMode = 0o600

func open(path string) (*os.File, error) {
	// O_NONBLOCK: a named pipe in the file's place must not hang us.
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE|unix.O_NOFOLLOW|unix.O_NONBLOCK, fileMode) //nolint:gosec // the caller's path
	if errors.Is(err, unix.ELOOP) {
		return nil, wrap(path, ErrSymlink)
	}
	return f, err
}

func lock(f *os.File) error {
	for {
		err := unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB) //nolint:gosec // a descriptor fits
		switch {
		case err == nil:
			return nil
		case errors.Is(err, unix.EINTR):
		case errors.Is(err, unix.EWOULDBLOCK):
			return ErrLocked
		default:
			return err
		}
	}
}

// free unlocks before the file is closed: a process that is being started has a copy of the descriptor until its program runs, and the lock with it.
func free(f *os.File) error { return unix.Flock(int(f.Fd()), unix.LOCK_UN) } //nolint:gosec // a descriptor fits
