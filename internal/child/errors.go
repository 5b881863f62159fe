package child

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"syscall"
)

// Why a command can't be started. Each comes in a [*StartError].
var (
	ErrNotFound      = errors.New("command not found")
	ErrNotExecutable = errors.New("not an executable program")
	ErrDirectory     = errors.New("is a directory")
	// ErrInterpreter: the program is there, and what its first line names is not.
	ErrInterpreter = errors.New("its interpreter was not found")
	// ErrNotStarted: the system would not start it, for a reason that is none of the others.
	ErrNotStarted = errors.New("could not be started")
)

// StartError says which program can't be started, and why.
type StartError struct {
	Program string
	// Kind is one of the errors above.
	Kind error
	// Err is the system's error.
	Err error
}

func (e *StartError) Error() string {
	if errors.Is(e.Kind, ErrNotStarted) {
		return fmt.Sprintf("%s: %v: %v", e.Program, e.Kind, cause(e.Err))
	}
	return fmt.Sprintf("%s: %v", e.Program, e.Kind)
}

// Is links the type to its kind.
func (e *StartError) Is(target error) bool { return target == e.Kind }

func (e *StartError) Unwrap() error { return e.Err }

// cause is a system's error without the call and the path that it was about.
func cause(err error) error {
	var errno syscall.Errno
	if errors.As(err, &errno) {
		return errno
	}
	return err
}

// startError tells apart why a command can't be started. path is where the program was found, or what was looked for.
func startError(program, path string, err error) *StartError {
	e := &StartError{Program: program, Kind: ErrNotStarted, Err: err}
	info, missing := os.Stat(path)
	switch {
	case errors.Is(err, exec.ErrNotFound):
		e.Kind = ErrNotFound
	case missing == nil && info.IsDir():
		e.Kind = ErrDirectory
	case errors.Is(err, fs.ErrNotExist) && missing == nil:
		e.Kind = ErrInterpreter
	case errors.Is(err, fs.ErrNotExist):
		e.Kind = ErrNotFound
	case errors.Is(err, fs.ErrPermission), errors.Is(err, syscall.ENOEXEC):
		e.Kind = ErrNotExecutable
	}
	return e
}
