//go:build unix

package session

import (
	"errors"
	"io/fs"
	"testing"

	"golang.org/x/sys/unix"
)

func TestWriteError(t *testing.T) {
	for _, c := range []struct {
		err  error
		want error
	}{
		{unix.ENOSPC, ErrFull}, {unix.EDQUOT, ErrFull}, {unix.EROFS, ErrReadOnly}, {unix.EACCES, ErrReadOnly}, {unix.EPERM, ErrReadOnly},
		{unix.EIO, ErrState},
	} {
		got := writeError("p", &fs.PathError{Op: "write", Path: "p", Err: c.err})
		if !errors.Is(got, c.want) || !errors.Is(got, c.err) {
			t.Errorf("%v: got %v", c.err, got)
		}
	}
	if writeError("p", nil) != nil {
		t.Error("an error of nothing")
	}
}
