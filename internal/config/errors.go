package config

import (
	"errors"
	"fmt"
)

// ErrConfig is returned for a setting or a policy file that can't be used. See [Error].
var ErrConfig = errors.New("bad configuration")

// Error says where a bad value stands, and what was expected.
type Error struct {
	Origin Origin
	// Key is the setting as its source writes it ("worklease.ttl", "lease.ttl"); empty where a file can't be read as a whole.
	Key string
	// Value is the bad value as it was written, unescaped.
	Value string
	// Want is what was expected, to follow "want".
	Want string
	// Err is the cause, where there is one.
	Err error
}

func (e *Error) Error() string {
	where := e.Origin.String()
	if e.Key != "" && (e.Origin.Source == SourceGit || e.Origin.Source == SourcePolicy) {
		where += ": " + e.Key
	}
	if e.Key == "" {
		return fmt.Sprintf("%s: want %s", where, e.Want)
	}
	return fmt.Sprintf("%s: %q: want %s", where, e.Value, e.Want)
}

// Is links the type to [ErrConfig].
func (e *Error) Is(target error) bool { return target == ErrConfig }

func (e *Error) Unwrap() error { return e.Err }

// ErrRequires is returned where the policy requires another version of this program. See [RequiresError].
var ErrRequires = errors.New("the policy requires another version")

// RequiresError carries the policy's constraint and the version that runs.
type RequiresError struct {
	Origin     Origin
	Constraint string
	Version    string
}

func (e *RequiresError) Error() string {
	return fmt.Sprintf("%s: requires %q, this is %s", e.Origin, e.Constraint, e.Version)
}

// Is links the type to [ErrRequires].
func (e *RequiresError) Is(target error) bool { return target == ErrRequires }

// Unknown is a key that this version doesn't know. It is a warning in hooks, and an error for `config show --check`.
type Unknown struct {
	Key    string
	Origin Origin
}
