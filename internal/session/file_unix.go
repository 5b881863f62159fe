//go:build unix

package session

import (
	"errors"
	"io/fs"
	"os"

	"golang.org/x/sys/unix"
)

// noFollow are flags of open: refuse a link, and don't hang on a named pipe.
const noFollow = unix.O_NOFOLLOW | unix.O_NONBLOCK

// othersMask are the mode bits that a file with a key must not have.
const othersMask fs.FileMode = 0o077

func isLink(err error) bool { return errors.Is(err, unix.ELOOP) }

func isFull(err error) bool { return errors.Is(err, unix.ENOSPC) || errors.Is(err, unix.EDQUOT) }

func isReadOnly(err error) bool { return errors.Is(err, unix.EROFS) }

// syncDir makes the names in a folder durable.
func syncDir(path string) error {
	d, err := os.Open(path) //nolint:gosec // our own folder
	if err != nil {
		return err
	}
	err = d.Sync()
	if errors.Is(err, unix.EINVAL) || errors.Is(err, unix.ENOTSUP) {
		err = nil // a file system that can't
	}
	return errors.Join(err, d.Close())
}

// inode is the number of a file or folder within its file system.
func inode(path string) (uint64, error) {
	var st unix.Stat_t
	if err := unix.Stat(path, &st); err != nil {
		return 0, &fs.PathError{Op: "stat", Path: path, Err: err}
	}
	return uint64(st.Ino), nil //nolint:unconvert,nolintlint // not everywhere 64 bits
}
