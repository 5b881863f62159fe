package fault

import (
	"errors"
	"fmt"
	"strings"

	"github.com/git-worklease/git-worklease/internal/term"
	"github.com/git-worklease/git-worklease/lease"
)

// ErrNotCovered is returned where a change lacks a claim that the policy asks for. See [NotCoveredError].
var ErrNotCovered = errors.New("not covered by a claim")

// NotCoveredError says what lacks which claims.
type NotCoveredError struct {
	// Commits is how many commits; 0 for what is staged.
	Commits int
	// Resources are those that are asked for by name, and Paths those that no path claim covers.
	Resources []lease.Resource
	Paths     []string
}

func (e *NotCoveredError) Error() string {
	switch e.Commits {
	case 0:
		return "what is staged is " + ErrNotCovered.Error()
	case 1:
		return "1 commit is " + ErrNotCovered.Error()
	default:
		return fmt.Sprintf("%d commits are %v", e.Commits, ErrNotCovered)
	}
}

// Is links the type to [ErrNotCovered].
func (e *NotCoveredError) Is(target error) bool { return target == ErrNotCovered }

// ErrPastGone is returned where commits name generations of which nothing is left.
var ErrPastGone = errors.New("what would show it was collected, or can't be read")

// maxNamed is how many keys a hint names.
const maxNamed = 3

func tellNotCovered(f *Fault, err error, _ Scene) {
	var e *NotCoveredError
	if !errors.As(err, &e) {
		return
	}
	var keys []string
	for _, r := range e.Resources {
		keys = append(keys, Quote(string(r)))
	}
	for _, path := range e.Paths {
		keys = append(keys, Quote("path:"+path))
	}
	if len(keys) > maxNamed {
		keys = append(keys[:maxNamed:maxNamed], "...")
	}
	if len(keys) == 0 {
		keys = []string{"KEY"}
	}
	f.Hint = fmt.Sprintf("`git worklease claim %s`", strings.Join(keys, " "))
	if e.Commits > 0 {
		f.Hint += ", and amend: the hook writes the claim into the message"
	}
}

// Some names a few of many.
func Some(names []string) string {
	var some []string
	for _, name := range names[:min(len(names), maxNamed)] {
		some = append(some, term.Clean(name))
	}
	switch more := len(names) - len(some); {
	case more > 0:
		return fmt.Sprintf("%s and %d more", strings.Join(some, ", "), more)
	case len(some) > 1:
		return strings.Join(some[:len(some)-1], ", ") + " and " + some[len(some)-1]
	default:
		return strings.Join(some, "")
	}
}
