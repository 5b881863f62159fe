// Package fault turns errors into what a user sees: a stable reason, an exit status, a message that says what happened, and a hint that says what
// to do next. It is the only place that knows exit statuses and hints; one table holds them all.
package fault

import (
	"errors"
	"time"

	"github.com/git-worklease/git-worklease/internal/term"
	"github.com/git-worklease/git-worklease/lease"
)

// Exit is the exit status of a run.
type Exit int

// The exit statuses, and what a program that called us should do.
const (
	OK          Exit = 0   // go on
	Usage       Exit = 1   // fix the call, the configuration or the policy file
	Unknown     Exit = 2   // treat nothing as free; retry or stop
	Refused     Exit = 3   // another holder: take other work
	Lost        Exit = 4   // stop writing
	Nothing     Exit = 5   // nothing found: stop, or wait
	Forbidden   Exit = 6   // ask a person
	OutOfTime   Exit = 124 // exec: the command was ended at --max-duration
	OwnFailure  Exit = 125 // exec: whatever else is not the command's own status
	Interrupted Exit = 130 // by the user
)

// Fault is an error as a user sees it. Its texts are safe to print.
type Fault struct {
	Reason  string
	Exit    Exit
	Message string
	// Lines are more words for people, such as those of a server's hook.
	Lines []string
	Hint  string
	// Details are for programs: the holder of what was refused, say. Nil where there are none.
	Details any
}

// Scene is what the explanation of an error depends on.
type Scene struct {
	// Now and Zone put times into words.
	Now  time.Time
	Zone *time.Location
	// Self is who the command speaks for.
	Self lease.Holder
	// Unnamed is the session that stands for the worktree where none is named, for a claim of its own, and "" for any other; nil where that is not known.
	Unnamed func(lease.ClaimID) string
	// Writes says that the command wanted to change a claim.
	Writes bool
}

// Explain finds the row of the table that err belongs to. An error that no row knows is a fault of this program's, and still exit 2.
func Explain(err error, s Scene) Fault {
	if s.Zone == nil {
		s.Zone = time.Local //nolint:gosmopolitan // people read it
	}
	for _, row := range Table() {
		if !row.fits(err, s) {
			continue
		}
		f := Fault{Reason: row.Reason, Exit: row.Exit, Message: term.Clean(err.Error()), Hint: row.Hint}
		if row.tell != nil {
			row.tell(&f, err, s)
		}
		return f
	}
	return Fault{Reason: "internal", Exit: Unknown, Message: term.Clean(err.Error())}
}

// Row is one reason.
type Row struct {
	Reason string
	Exit   Exit
	// Means says in one line when it happens.
	Means string
	// Hint is what to do next, for most of the errors of this row.
	Hint string

	// errs are the errors of the row, by errors.Is.
	errs []error
	// when narrows them down.
	when func(err error, s Scene) bool
	// tell improves on the error's own words.
	tell func(f *Fault, err error, s Scene)
}

func (r *Row) fits(err error, s Scene) bool {
	for _, target := range r.errs {
		if errors.Is(err, target) {
			return r.when == nil || r.when(err, s)
		}
	}
	return false
}
