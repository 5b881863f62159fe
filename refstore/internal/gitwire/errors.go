package gitwire

import (
	"errors"
	"fmt"
	"io"
	"strings"
)

// What goes wrong in an exchange. Each is the target of errors.Is.
var (
	// ErrMalformed: what came is not git's protocol.
	ErrMalformed = errors.New("not git's protocol")
	// ErrTooLarge: the answer is larger than anything that refs with small commits need.
	ErrTooLarge = errors.New("the answer is too large")
	// ErrRemote: the server said that it failed. See [RemoteError].
	ErrRemote = errors.New("the server failed")
)

// RemoteError carries the server's words on why it gave up, unescaped.
type RemoteError struct {
	Words string
}

func (e *RemoteError) Error() string {
	return fmt.Sprintf("%v: %s", ErrRemote, strings.TrimSpace(e.Words))
}

// Is links the type to [ErrRemote].
func (e *RemoteError) Is(target error) bool { return target == ErrRemote }

func malformed(format string, args ...any) error {
	return fmt.Errorf("%w: %s", ErrMalformed, fmt.Sprintf(format, args...))
}

// cut turns an end where none may be into io.ErrUnexpectedEOF.
func cut(err error) error {
	if errors.Is(err, io.EOF) {
		return io.ErrUnexpectedEOF
	}
	return err
}
