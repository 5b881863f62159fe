package refstore

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// The conditions of a store. Each is the target of errors.Is for the type of the same name, which has the data.
var (
	// ErrConflict: a ref is not at Old, and not ours. Nothing was or will be changed, or all of it is changed again. See [ConflictError].
	ErrConflict = errors.New("the ref has changed")
	// ErrRefused: the server will not have the change, for reasons of its own. Nothing was or will be changed. See [RefusedError].
	ErrRefused = errors.New("the server refused")
	// ErrUnavailable: no answer, and nothing was changed. See [UnavailableError].
	ErrUnavailable = errors.New("the remote is unavailable")
	// ErrUndecided: the change may have landed, or may land yet. See [UndecidedError].
	ErrUndecided = errors.New("the outcome is unknown")
	// ErrUnsupported: this server or URL can't do it. Nothing was changed. See [UnsupportedError].
	ErrUnsupported = errors.New("not supported by the remote")
	// ErrHalfApplied: the server applied a part of an atomic change. See [HalfAppliedError].
	ErrHalfApplied = errors.New("the server applied a part of an atomic change")
)

// ConflictError carries the refs of the change as they were read afterwards, absent ones left out.
type ConflictError struct {
	Refs []Ref
	// Overtaken says that the change did land, unseen, and that another writer has built upon it since.
	Overtaken bool
}

func (e *ConflictError) Error() string { return ErrConflict.Error() }

// Is links the type to [ErrConflict].
func (e *ConflictError) Is(target error) bool { return target == ErrConflict }

// RefusedError carries the server's reasons, which are for people alone.
type RefusedError struct {
	// Reasons maps refs to the server's word on each.
	Reasons map[string]string
	// Words is what the server and its hooks wrote, unescaped.
	Words string
}

func (e *RefusedError) Error() string {
	return fmt.Sprintf("%v: %s", ErrRefused, strings.TrimSpace(e.Said()))
}

// Said is what the server wrote, unescaped, or its word on the first of the refs where it wrote nothing.
func (e *RefusedError) Said() string {
	if strings.TrimSpace(e.Words) != "" || len(e.Reasons) == 0 {
		return e.Words
	}
	return e.Reasons[slices.Min(slices.Collect(maps.Keys(e.Reasons)))]
}

// Is links the type to [ErrRefused].
func (e *RefusedError) Is(target error) bool { return target == ErrRefused }

// Trouble says what kept a remote from answering.
type Trouble string

// The kinds of trouble.
const (
	TroubleNetwork  Trouble = "network"   // no connection, or it broke
	TroubleDeadline Trouble = "deadline"  // no answer in time
	TroubleAuth     Trouble = "auth"      // credentials missing or refused
	TroubleDenied   Trouble = "denied"    // known, but not allowed
	TroubleNotFound Trouble = "not-found" // no repository there
	TroubleBusy     Trouble = "busy"      // 429, 5xx, connection limit: worth trying again
	TroubleGarbage  Trouble = "garbage"   // an answer that is not git's
	TroubleLocal    Trouble = "local"     // a program could not be started, a file not be read
)

// UnavailableError says what was tried and what went wrong.
type UnavailableError struct {
	// URL is the remote's, without credentials.
	URL string
	// Trouble tells the kinds apart.
	Trouble Trouble
	// Sent says that the server may have received the request. A Store never returns it set from Swap: that is [UndecidedError].
	Sent bool
	// Err is the cause.
	Err error
}

func (e *UnavailableError) Error() string {
	if e.URL == "" {
		return e.Err.Error()
	}
	return fmt.Sprintf("%s: %v", e.URL, e.Err)
}

// Is links the type to [ErrUnavailable].
func (e *UnavailableError) Is(target error) bool { return target == ErrUnavailable }

func (e *UnavailableError) Unwrap() error { return e.Err }

// UndecidedError carries what is known of a change whose outcome is not.
type UndecidedError struct {
	// Err is what happened last.
	Err error
}

func (e *UndecidedError) Error() string { return fmt.Sprintf("%v: %v", ErrUndecided, e.Err) }

// Is links the type to [ErrUndecided].
func (e *UndecidedError) Is(target error) bool { return target == ErrUndecided }

func (e *UndecidedError) Unwrap() error { return e.Err }

// Feature names what a remote lacks.
type Feature string

// The features that a remote may lack.
const (
	FeatureAtomic Feature = "atomic"        // all or none over several refs
	FeatureFormat Feature = "object-format" // the in-process transports speak SHA-1 alone
	FeatureScheme Feature = "scheme"        // no transport for the URL
	FeatureConfig Feature = "config"        // a setting that the in-process transport does not implement
)

// UnsupportedError names what is lacking.
type UnsupportedError struct {
	URL     string
	Feature Feature
	// Detail says more, for people: the setting, the scheme.
	Detail string
}

func (e *UnsupportedError) Error() string {
	return strings.TrimSpace(fmt.Sprintf("%s: %v: %s %s", e.URL, ErrUnsupported, e.Feature, e.Detail))
}

// Is links the type to [ErrUnsupported].
func (e *UnsupportedError) Is(target error) bool { return target == ErrUnsupported }

// HalfAppliedError names the refs that a server moved although it refused others of the same atomic change.
type HalfAppliedError struct {
	Applied []string
}

func (e *HalfAppliedError) Error() string {
	return fmt.Sprintf("%v: %s", ErrHalfApplied, strings.Join(e.Applied, ", "))
}

// Is links the type to [ErrHalfApplied].
func (e *HalfAppliedError) Is(target error) bool { return target == ErrHalfApplied }
