package fault

import "errors"

// ErrUsage is an error of the command line. See [UsageError].
var ErrUsage = errors.New("usage")

// UsageError says what is wrong with a call, and what to type instead.
type UsageError struct {
	Message string
	// Hint may be empty.
	Hint string
}

func (e *UsageError) Error() string { return e.Message }

// Is links the type to [ErrUsage].
func (e *UsageError) Is(target error) bool { return target == ErrUsage }

// ErrMaxDuration is returned where a command was ended because it took too long.
var ErrMaxDuration = errors.New("longer than --max-duration")

// ErrNothing is returned where what was asked for does not exist.
var ErrNothing = errors.New("nothing found")
