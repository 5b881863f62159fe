package fault

import (
	"errors"
	"fmt"
	"strings"

	"github.com/git-worklease/git-worklease/internal/term"
)

// ErrNotExclusive is returned where a simulation saw claims fail to exclude each other. See [NotExclusiveError].
var ErrNotExclusive = errors.New("claims did not exclude each other")

// NotExclusiveError says what a simulation has seen that must not happen.
type NotExclusiveError struct {
	LostUpdates                                   uint64
	DoubleHolds, EarlyLosses, RepeatedGenerations int
}

func (e *NotExclusiveError) Error() string {
	var words []string
	for _, seen := range []struct {
		n    uint64
		what string
	}{
		{e.LostUpdates, "lost updates"}, {uint64(e.DoubleHolds), "double holds"}, {uint64(e.EarlyLosses), "claims lost before their time was up"},
		{uint64(e.RepeatedGenerations), "repeated generations"},
	} {
		if seen.n > 0 {
			words = append(words, fmt.Sprintf("%s: %d", seen.what, seen.n))
		}
	}
	return fmt.Sprintf("%v: %s", ErrNotExclusive, strings.Join(words, ", "))
}

// Is links the type to [ErrNotExclusive].
func (e *NotExclusiveError) Is(target error) bool { return target == ErrNotExclusive }

// ErrLeftBehind is returned where a simulation could not delete its refs again. See [LeftBehindError].
var ErrLeftBehind = errors.New("refs are left behind")

// LeftBehindError says which refs, and why.
type LeftBehindError struct {
	// Prefix is what the names of the refs begin with.
	Prefix string
	// Refs is how many there are, -1 where that is not known.
	Refs int
	Err  error
}

func (e *LeftBehindError) Error() string {
	if e.Err == nil {
		return e.what()
	}
	return fmt.Sprintf("%s: %v", e.what(), e.Err)
}

func (e *LeftBehindError) what() string {
	switch {
	case e.Refs < 0:
		return "refs may be left behind below " + e.Prefix
	case e.Refs == 1:
		return "1 ref is left behind below " + e.Prefix
	default:
		return fmt.Sprintf("%d refs are left behind below %s", e.Refs, e.Prefix)
	}
}

// Is links the type to [ErrLeftBehind].
func (e *LeftBehindError) Is(target error) bool { return target == ErrLeftBehind }

func (e *LeftBehindError) Unwrap() error { return e.Err }

// tellSimulation says first what is worse, and why refs could not be deleted.
func tellSimulation(f *Fault, err error, _ Scene) {
	var words []string
	var broken *NotExclusiveError
	if errors.As(err, &broken) {
		words = append(words, broken.Error())
	}
	var left *LeftBehindError
	if errors.As(err, &left) {
		words = append(words, left.what())
		if left.Err != nil {
			words = append(words, left.Err.Error())
		}
	}
	f.Message = term.Clean(words[0])
	for _, line := range words[1:] {
		f.Lines = append(f.Lines, term.Clean(line))
	}
}
