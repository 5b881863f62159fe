package fault

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/git-worklease/git-worklease/internal/term"
	"github.com/git-worklease/git-worklease/lease"
)

// ErrKeysLeft is returned where the keys of claims would be removed that have not ended. See [KeysLeftError].
var ErrKeysLeft = errors.New("this clone holds claims")

// KeysLeftError names their resources.
type KeysLeftError struct{ Resources []lease.Resource }

func (e *KeysLeftError) Error() string { return fmt.Sprintf("%v: %v", ErrKeysLeft, e.Resources) }

// Is links the type to [ErrKeysLeft].
func (e *KeysLeftError) Is(target error) bool { return target == ErrKeysLeft }

func tellKeysLeft(f *Fault, err error, _ Scene) {
	var e *KeysLeftError
	if !errors.As(err, &e) {
		return
	}
	f.Message = "this clone holds claims, whose keys would be lost: " + resources(e.Resources)
	f.Details = map[string]any{"resources": e.Resources}
}

// ErrEndPerson is returned where an agent asks to end an authority. See [EndPersonError].
var ErrEndPerson = errors.New("ending an authority is for people")

// EndPersonError names the agent runtime.
type EndPersonError struct{ Runtime string }

func (e *EndPersonError) Error() string { return fmt.Sprintf("%v: %s", ErrEndPerson, e.Runtime) }

// Is links the type to [ErrEndPerson].
func (e *EndPersonError) Is(target error) bool { return target == ErrEndPerson }

func tellEndPerson(f *Fault, err error, _ Scene) {
	var e *EndPersonError
	if errors.As(err, &e) {
		f.Message = "an agent (" + term.Clean(e.Runtime) + ") does not end an authority that others use"
	}
}

// EndRefusedError is a server's refusal to have an authority ended.
type EndRefusedError struct{ Err error }

func (e *EndRefusedError) Error() string { return e.Err.Error() }
func (e *EndRefusedError) Unwrap() error { return e.Err }

// tellEndRefused knows what to do where our own hook has refused it, whose hint is about claims, one at a time.
func tellEndRefused(f *Fault, err error) {
	var e *EndRefusedError
	if !errors.As(err, &e) || !slices.ContainsFunc(f.Lines, func(line string) bool { return strings.HasPrefix(line, "git-worklease: ") }) {
		return
	}
	f.Lines = slices.DeleteFunc(slices.Clone(f.Lines), isHint)
	f.Hint = "run `git worklease hooks uninstall --server` in the repository on the server first"
}
