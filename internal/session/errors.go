package session

import (
	"errors"
	"fmt"
	"io/fs"

	"github.com/git-worklease/git-worklease/internal/lockfile"
)

// The conditions of local state. Each is the target of errors.Is for the type of the same name.
var (
	// ErrState: a file is there and can't be read or understood. See [StateError].
	ErrState = errors.New("local state can't be read")
	// ErrNewer: a file was written by a newer version. See [NewerError].
	ErrNewer = errors.New("local state of a newer version")
	// ErrReadOnly: the folder of the state can't be written to. See [ReadOnlyError].
	ErrReadOnly = errors.New("local state can't be written")
	// ErrFull: the disk is full. What was there before is still there. See [FullError].
	ErrFull = errors.New("no space left for local state")
	// ErrLoose: others can read a file that holds a private key. See [LooseError].
	ErrLoose = errors.New("others can read a private key")
	// ErrCopied: the claims were made in another copy of this clone. See [CopiedError].
	ErrCopied = errors.New("local state was copied from elsewhere")
	// ErrOtherAuthority: the state belongs to another authority. See [OtherAuthorityError].
	ErrOtherAuthority = errors.New("local state of another authority")
	// ErrBusy: another process kept a lock for longer than a write can take.
	ErrBusy = errors.New("local state is locked by another process")
	// ErrSymlink: a file or folder of the state is a symbolic link.
	ErrSymlink = errors.New("is a symbolic link")
	// ErrNotBegun: the intent is not one that this process has begun or been given.
	ErrNotBegun = errors.New("the intent is not locked by this process")
)

// StateError names the file and what is wrong with it.
type StateError struct {
	Path string
	Err  error
}

func (e *StateError) Error() string { return fmt.Sprintf("%s: %v", e.Path, e.Err) }

// Is links the type to [ErrState].
func (e *StateError) Is(target error) bool { return target == ErrState }

func (e *StateError) Unwrap() error { return e.Err }

// NewerError names the file and the version of its format.
type NewerError struct {
	Path    string
	Version int
}

func (e *NewerError) Error() string { return fmt.Sprintf("%s: %v (%d)", e.Path, ErrNewer, e.Version) }

// Is links the type to [ErrNewer].
func (e *NewerError) Is(target error) bool { return target == ErrNewer }

// ReadOnlyError names the file that couldn't be written.
type ReadOnlyError struct {
	Path string
	Err  error
}

func (e *ReadOnlyError) Error() string { return fmt.Sprintf("%s: %v: %v", e.Path, ErrReadOnly, e.Err) }

// Is links the type to [ErrReadOnly].
func (e *ReadOnlyError) Is(target error) bool { return target == ErrReadOnly }

func (e *ReadOnlyError) Unwrap() error { return e.Err }

// FullError names the file that found no space.
type FullError struct {
	Path string
	Err  error
}

func (e *FullError) Error() string { return fmt.Sprintf("%s: %v", e.Path, ErrFull) }

// Is links the type to [ErrFull].
func (e *FullError) Is(target error) bool { return target == ErrFull }

func (e *FullError) Unwrap() error { return e.Err }

// LooseError names the file and its mode.
type LooseError struct {
	Path string
	Mode fs.FileMode
}

func (e *LooseError) Error() string {
	return fmt.Sprintf("%s: mode %04o: %v", e.Path, e.Mode, ErrLoose)
}

// Fix is the command that closes the file to others.
func (e *LooseError) Fix() []string { return []string{"chmod", "600", e.Path} }

// Is links the type to [ErrLoose].
func (e *LooseError) Is(target error) bool { return target == ErrLoose }

// CopiedError says where the file's claims were made, and where we are.
type CopiedError struct {
	Path     string
	Was, Now Home
}

func (e *CopiedError) Error() string {
	return fmt.Sprintf("%s: %v: made at %s, this is %s", e.Path, ErrCopied, e.Was, e.Now)
}

// Is links the type to [ErrCopied].
func (e *CopiedError) Is(target error) bool { return target == ErrCopied }

// OtherAuthorityError has the authority's ID that the state is bound to, and the one that was met.
type OtherAuthorityError struct{ Bound, Got string }

func (e *OtherAuthorityError) Error() string {
	return fmt.Sprintf("%v: bound to %s, not %s", ErrOtherAuthority, e.Bound, e.Got)
}

// Is links the type to [ErrOtherAuthority].
func (e *OtherAuthorityError) Is(target error) bool { return target == ErrOtherAuthority }

// writeError sorts out why path couldn't be written.
func writeError(path string, err error) error {
	switch {
	case err == nil:
		return nil
	case isFull(err):
		return &FullError{path, err}
	case errors.Is(err, lockfile.ErrSymlink):
		return &StateError{path, ErrSymlink}
	case errors.Is(err, fs.ErrPermission) || isReadOnly(err):
		return &ReadOnlyError{path, err}
	default:
		return &StateError{path, err}
	}
}
