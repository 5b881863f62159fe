package fault

import (
	"errors"
	"fmt"

	"github.com/git-worklease/git-worklease/internal/term"
	"github.com/git-worklease/git-worklease/lease"
)

// ErrForcePerson is returned where an agent asks for what only people may do. See [ForcePersonError].
var ErrForcePerson = errors.New("forced releases are for people")

// ForcePersonError names the claim that was to be ended, and the agent runtime.
type ForcePersonError struct {
	Resource lease.Resource
	// Holder is who has it; nil where that is not known.
	Holder  *lease.Holder
	Runtime string
}

func (e *ForcePersonError) Error() string { return fmt.Sprintf("%s: %v", e.Resource, ErrForcePerson) }

// Is links the type to [ErrForcePerson].
func (e *ForcePersonError) Is(target error) bool { return target == ErrForcePerson }

type forcePersonDetails struct {
	Resource lease.Resource `json:"resource"`
	Holder   *lease.Holder  `json:"holder,omitempty"`
	Runtime  string         `json:"runtime"`
}

func tellForcePerson(f *Fault, err error, _ Scene) {
	var e *ForcePersonError
	if !errors.As(err, &e) {
		return
	}
	f.Message = fmt.Sprintf("%s is not released by force by an agent (%s)", term.Clean(string(e.Resource)), term.Clean(e.Runtime))
	f.Hint = fmt.Sprintf("ask a person to run `git worklease release --force %s -m REASON`", Quote(string(e.Resource)))
	if e.Holder != nil {
		f.Message += "; its holder is " + Holder(*e.Holder)
		f.Hint = "ask its holder to release it, or " + f.Hint[len("ask "):]
	}
	f.Details = forcePersonDetails{Resource: e.Resource, Holder: e.Holder, Runtime: e.Runtime}
}

func tellWhichClaim(f *Fault, err error, _ Scene) {
	var e *lease.WhichClaimError
	if !errors.As(err, &e) {
		return
	}
	f.Message = fmt.Sprintf("this session holds %d claims: %s", len(e.Resources), resources(e.Resources))
	f.Hint = "name the one that is meant"
	f.Details = map[string]any{"resources": e.Resources}
}

// lostHint is what to do with the work at hand, once the claim on it is somebody else's.
func lostHint(name string, by *lease.Holder) string {
	ask := "claim it again"
	if by != nil {
		ask = "ask " + Holder(*by) + ", and claim it again"
	}
	return fmt.Sprintf("stop here: commit what is done to a branch of your own without pushing it; %s before you go on with %s", ask, name)
}
