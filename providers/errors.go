package providers

import (
	"errors"
	"fmt"
	"strings"
	"time"
)

// The conditions of a tracker. All are returned wrapped, with what was asked for.
var (
	// ErrNotKey is for text that no item of a tracker can be called.
	ErrNotKey = errors.New("not a key")
	// ErrNotFound is for an item that is not there, or not for this user's eyes.
	ErrNotFound = errors.New("no such item")
	// ErrUnauthorised is for a token that is missing, refused, or lacks a scope.
	ErrUnauthorised = errors.New("not authorised")
	// ErrRateLimited is for requests that the tracker wants fewer of; see [*RateLimitedError].
	ErrRateLimited = errors.New("rate limited")
	// ErrUnsupported is for what a tracker, or its version, can't do.
	ErrUnsupported = errors.New("not supported by the tracker")
	// ErrUnavailable is for a tracker that can't be reached, or answers that it has trouble of its own.
	ErrUnavailable = errors.New("the tracker is unavailable")
	// ErrBroken is for what a tracker says that makes no sense; see [*BrokenError].
	ErrBroken = errors.New("the tracker's data is broken")
	// ErrTaken is for an item that the tracker gave to somebody else meanwhile.
	ErrTaken = errors.New("taken by another")
	// ErrAmbiguous is for a key that several trackers know; see [*AmbiguousKeyError].
	ErrAmbiguous = errors.New("ambiguous key")
	// ErrNoProvider is for a key without a scheme where no tracker is set up that it could belong to.
	ErrNoProvider = errors.New("no provider is configured")
)

// KeyError is text that is nearly a key of a tracker. It is [ErrNotKey].
type KeyError struct {
	Provider, Text string
	// Fault says what is wrong with it, and Want what was expected.
	Fault, Want string
}

func (e *KeyError) Error() string {
	return fmt.Sprintf("%q is no key of %s: %s; expected %s", e.Text, e.Provider, e.Fault, e.Want)
}

// Is says that e is [ErrNotKey].
func (e *KeyError) Is(target error) bool { return target == ErrNotKey }

// RateLimitedError is [ErrRateLimited] with the time from when on the tracker may be asked again; zero where it does not say.
type RateLimitedError struct {
	Until time.Time
	// Request is what was refused.
	Request string
}

func (e *RateLimitedError) Error() string {
	if e.Until.IsZero() {
		return fmt.Sprintf("%s: %v", e.Request, ErrRateLimited)
	}
	return fmt.Sprintf("%s: %v until %s", e.Request, ErrRateLimited, e.Until.UTC().Format(time.RFC3339))
}

// Is says that e is [ErrRateLimited].
func (e *RateLimitedError) Is(target error) bool { return target == ErrRateLimited }

// BrokenError is [ErrBroken] with the place: a file and a line, or a request.
type BrokenError struct {
	Where string
	// Line counts from 1; 0 where no line is to blame.
	Line int
	Err  error
}

func (e *BrokenError) Error() string {
	if e.Line > 0 {
		return fmt.Sprintf("%s:%d: %v", e.Where, e.Line, e.Err)
	}
	return fmt.Sprintf("%s: %v", e.Where, e.Err)
}

// Is says that e is [ErrBroken].
func (e *BrokenError) Is(target error) bool { return target == ErrBroken }

func (e *BrokenError) Unwrap() error { return e.Err }

// AmbiguousKeyError is [ErrAmbiguous] with the keys that it could be, in the order of the trackers.
type AmbiguousKeyError struct {
	Text string
	Keys []Key
}

func (e *AmbiguousKeyError) Error() string {
	keys := make([]string, len(e.Keys))
	for i, k := range e.Keys {
		keys[i] = string(k)
	}
	return fmt.Sprintf("%q is several things: %s", e.Text, strings.Join(keys, ", "))
}

// Is says that e is [ErrAmbiguous].
func (e *AmbiguousKeyError) Is(target error) bool { return target == ErrAmbiguous }
