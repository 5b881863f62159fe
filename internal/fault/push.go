package fault

import (
	"errors"
	"fmt"
	"slices"

	"github.com/git-worklease/git-worklease/internal/term"
	"github.com/git-worklease/git-worklease/lease"
	"github.com/git-worklease/git-worklease/refstore/remote"
)

// ErrNotFenceable is returned where code and claims are in different repositories, so that no request can move both. See [NotFenceableError].
var ErrNotFenceable = errors.New("the push goes elsewhere than to the claims")

// NotFenceableError says where. Both are without credentials.
type NotFenceableError struct {
	// To is where the code goes, and Claims where the claims are; "" for this clone.
	To, Claims string
}

func (e *NotFenceableError) Error() string { return fmt.Sprintf("%v: %s", ErrNotFenceable, e.To) }

// Is links the type to [ErrNotFenceable].
func (e *NotFenceableError) Is(target error) bool { return target == ErrNotFenceable }

// UnclaimedError is [lease.ErrNotHeld] for a session that has no claim which something could be pushed under.
type UnclaimedError struct{}

func (UnclaimedError) Error() string { return "push: this session holds nothing" }

// Is links the type to [lease.ErrNotHeld].
func (UnclaimedError) Is(target error) bool { return target == lease.ErrNotHeld }

func tellNotHeld(f *Fault, err error, _ Scene) {
	if errors.As(err, &UnclaimedError{}) {
		f.Message = "this session holds nothing, so there is no claim to push under"
		f.Hint = "claim what the branch is about first, such as `git worklease claim task:login`, or push without a claim by `git push`"
	}
}

func tellNotFenceable(f *Fault, err error, _ Scene) {
	var e *NotFenceableError
	if !errors.As(err, &e) {
		return
	}
	at := "at " + term.Clean(e.Claims)
	if e.Claims == "" {
		at = "in this clone alone"
	}
	f.Message = fmt.Sprintf("the push goes to %s, and the claims are %s, so that the server can't judge both at once", term.Clean(e.To), at)
	f.Details = map[string]string{"to": e.To, "claims": e.Claims}
}

type pushDetails struct {
	Refs []refusedRef `json:"refs,omitempty"`
	Git  []string     `json:"git,omitempty"`
}

type refusedRef struct {
	Ref    string `json:"ref"`
	Reason string `json:"reason"`
}

// tellPush puts a refused push into words. Git's own were printed as they came.
func tellPush(f *Fault, err error, _ Scene) {
	var e *remote.CodeError
	if !errors.As(err, &e) {
		return
	}
	d := pushDetails{Git: term.CleanLines(e.Words)}
	for _, r := range e.Refs {
		d.Refs = append(d.Refs, refusedRef{Ref: r.To, Reason: r.Reason})
	}
	switch {
	case errors.Is(err, remote.ErrCodeCall):
		f.Message = "git can't tell what to push, or where to"
	case len(e.Refs) == 0:
		f.Message = "git or a hook refused the push"
	default:
		f.Message = fmt.Sprintf("%s was refused: %s", term.Clean(e.Refs[0].To), term.Clean(e.Refs[0].Reason))
	}
	f.Details = d
	if slices.ContainsFunc(d.Git, isHint) {
		f.Hint = ""
	}
}
