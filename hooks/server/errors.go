package server

import (
	"errors"
	"fmt"
	"strings"

	"github.com/git-worklease/git-worklease/hooks"
	"github.com/git-worklease/git-worklease/lease"
)

// ErrUser is returned where a user may not claim a resource. See [UserError].
var ErrUser = errors.New("this user may not claim it here")

// UserError says whom the server took for the user.
type UserError struct {
	User string
}

func (e *UserError) Error() string {
	if e.User == "" {
		return "nobody may claim it here without signing in"
	}
	return fmt.Sprintf("user %s may not claim it here", e.User)
}

// Is links the type to [ErrUser].
func (e *UserError) Is(target error) bool { return target == ErrUser }

// ErrNotCovered is returned where a branch moves without the claim that the policy asks for. See [NotCoveredError].
var ErrNotCovered = errors.New("the push does not renew the claim that the policy asks for")

// NotCoveredError says what is missing.
type NotCoveredError struct {
	Branch string
	Open   []hooks.Need
}

func (e *NotCoveredError) Error() string {
	var wants []string
	for _, n := range e.Open {
		wants = append(wants, want(n))
	}
	return fmt.Sprintf("branch %s needs %s in the same push", e.Branch, strings.Join(wants, ", and "))
}

// want says what a need asks for.
func want(n hooks.Need) string {
	switch n.Kind {
	case hooks.NeedKey:
		return fmt.Sprintf("a renewal of %s", n.Resource)
	case hooks.NeedPath:
		return fmt.Sprintf("the renewal of a claim of path:%s%s", n.Paths[0], more(len(n.Paths)-1))
	default:
		return "the renewal of a claim"
	}
}

func more(n int) string {
	if n <= 0 {
		return ""
	}
	return fmt.Sprintf(" and %d more", n)
}

// Is links the type to [ErrNotCovered].
func (e *NotCoveredError) Is(target error) bool { return target == ErrNotCovered }

// hintFor is what to do next about a refused claim.
func hintFor(err error) string {
	var breach *lease.BreachError
	if !errors.As(err, &breach) {
		return ""
	}
	switch breach.Breach {
	case lease.BreachStamp:
		return "set this machine's clock; where it is right, push what is large to a tag first, since the stamp is from before"
	case lease.BreachForced:
		return "ask whoever administers the server"
	case lease.BreachTorn:
		return "use git-worklease itself, or git push --atomic"
	case lease.BreachDeleted:
		return "`git worklease release` ends a claim, `git worklease gc` deletes what is left of old ones"
	}
	return ""
}
