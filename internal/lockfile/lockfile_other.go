//go:build !unix && !windows

package lockfile

import (
	"errors"
	"os"
)

const fileMode = 0o600

func open(path string) (*os.File, error) { return os.OpenFile(path, os.O_RDWR|os.O_CREATE, fileMode) }

func lock(*os.File) error { return errors.ErrUnsupported }

func free(*os.File) error { return nil }
