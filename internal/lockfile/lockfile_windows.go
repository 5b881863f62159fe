//go:build windows

package lockfile

import (
	"errors"
	"io/fs"
	"os"

	"golang.org/x/sys/windows"
)

// open shares the file for deletion, so that a lock file can be removed while somebody looks at it.
func open(path string) (*os.File, error) {
	if info, err := os.Lstat(path); err == nil && info.Mode()&fs.ModeSymlink != 0 {
		return nil, wrap(path, ErrSymlink)
	}
	name, err := windows.UTF16PtrFromString(path)
	if err != nil {
		return nil, wrap(path, err)
	}
	const share = windows.FILE_SHARE_READ | windows.FILE_SHARE_WRITE | windows.FILE_SHARE_DELETE
	const flags = windows.FILE_ATTRIBUTE_NORMAL | windows.FILE_FLAG_OPEN_REPARSE_POINT
	h, err := windows.CreateFile(name, windows.GENERIC_READ|windows.GENERIC_WRITE, share, nil, windows.OPEN_ALWAYS, flags, 0)
	if err != nil {
		return nil, wrap(path, err)
	}
	return os.NewFile(uintptr(h), path), nil
}

func lock(f *os.File) error {
	const how = windows.LOCKFILE_EXCLUSIVE_LOCK | windows.LOCKFILE_FAIL_IMMEDIATELY
	err := windows.LockFileEx(windows.Handle(f.Fd()), how, 0, 1, 0, new(windows.Overlapped))
	if errors.Is(err, windows.ERROR_LOCK_VIOLATION) || errors.Is(err, windows.ERROR_IO_PENDING) {
		return ErrLocked
	}
	return err
}

// free does nothing: no other process has the handle, and closing it unlocks.
func free(*os.File) error { return nil }
