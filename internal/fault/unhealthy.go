package fault

import (
	"errors"
	"fmt"
)

// ErrUnhealthy is returned where doctor has found a problem. See [UnhealthyError].
var ErrUnhealthy = errors.New("not in order")

// UnhealthyError says how many problems there are, and the exit status of the worst.
type UnhealthyError struct {
	Problems int
	Exit     Exit
}

func (e *UnhealthyError) Error() string {
	if e.Problems == 1 {
		return "1 problem was found"
	}
	return fmt.Sprintf("%d problems were found", e.Problems)
}

// Is links the type to [ErrUnhealthy].
func (e *UnhealthyError) Is(target error) bool { return target == ErrUnhealthy }

func tellUnhealthy(f *Fault, err error, _ Scene) {
	var e *UnhealthyError
	if errors.As(err, &e) {
		f.Exit = e.Exit
	}
}
