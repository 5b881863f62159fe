package fault

import (
	"errors"
	"fmt"
	"time"

	"github.com/git-worklease/git-worklease/internal/session"
	"github.com/git-worklease/git-worklease/internal/term"
	"github.com/git-worklease/git-worklease/lease"
)

// ErrLocalClaims is returned where a clone has a remote by now, and still holds claims that it decided on itself. See [LocalClaimsError].
var ErrLocalClaims = errors.New("held in local mode")

// LocalClaimsError names one of those claims.
type LocalClaimsError struct {
	Resource lease.Resource
	Holder   lease.Holder
	// Until is when it expires.
	Until time.Time
}

func (e *LocalClaimsError) Error() string { return fmt.Sprintf("%s: %v", e.Resource, ErrLocalClaims) }

// Is links the type to [ErrLocalClaims].
func (e *LocalClaimsError) Is(target error) bool { return target == ErrLocalClaims }

type localClaimsDetails struct {
	Resource lease.Resource `json:"resource"`
	Holder   lease.Holder   `json:"holder"`
	Until    string         `json:"expires_at"`
}

func tellLocalClaims(f *Fault, err error, s Scene) {
	var e *LocalClaimsError
	if !errors.As(err, &e) {
		return
	}
	f.Message = fmt.Sprintf("%s is held by %s in local mode for %s more, from before this clone had a remote",
		term.Clean(string(e.Resource)), Holder(e.Holder), term.Span(e.Until.Sub(s.Now)))
	f.Hint = "its holder ends it with git worklease release; then the remote's claims can be used"
	f.Details = localClaimsDetails{Resource: e.Resource, Holder: e.Holder, Until: stamp(e.Until)}
}

func tellLoose(f *Fault, err error, _ Scene) {
	var e *session.LooseError
	if errors.As(err, &e) {
		f.Hint = "run"
		for _, word := range e.Fix() {
			f.Hint += " " + Quote(word)
		}
		f.Hint += "; whoever read the file can speak for this session"
	}
}
