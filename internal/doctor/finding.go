// Package doctor examines what claims depend on: git and the settings, the way to the remote, what the server does with refs, clocks, this
// clone's state, and the records that stand at the refs. Each check is a function that adds findings to a [Report] and
// goes on where it can; which checks there are to make, and with what, is the command's business.
//
// Nothing is changed but by [Probe], whose refs are its own and are gone when it returns.
package doctor

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/git-worklease/git-worklease/internal/fault"
	"github.com/git-worklease/git-worklease/internal/term"
)

// Level is how bad a finding is.
type Level string

// The levels, best first.
const (
	OK      Level = "ok"
	Note    Level = "note"    // worth knowing
	Warning Level = "warning" // works, with a drawback or a risk
	Problem Level = "problem" // claims can't be made, kept or judged
)

// Finding is what one check has found. Its texts are safe to print.
type Finding struct {
	ID    ID     `json:"id"`
	Level Level  `json:"level"`
	What  string `json:"message"`
	// Next is what to do about it, "" for nothing.
	Next string `json:"next,omitempty"`
	// Details are for programs; nil where there are none.
	Details any `json:"details,omitempty"`
	// Exit is what a problem means for the exit status of a command that meets it.
	Exit fault.Exit `json:"exit_code,omitempty"`
}

// Report collects findings. Its zero value is ready.
type Report struct {
	Findings []Finding
	// Scene puts errors into words.
	Scene fault.Scene
	// Progress, where it is set, is told what is being checked.
	Progress func(what string)
}

// Checking says what is being checked from now on.
func (r *Report) Checking(what string) {
	if r.Progress != nil {
		r.Progress(what)
	}
}

// Add adds a finding whose texts may come from anywhere, and returns it for details.
func (r *Report) Add(f Finding) *Finding {
	f.What, f.Next = term.Clean(f.What), term.Clean(f.Next)
	r.Findings = append(r.Findings, f)
	return &r.Findings[len(r.Findings)-1]
}

// Good adds a finding of level ok.
func (r *Report) Good(id ID, format string, args ...any) *Finding {
	return r.Add(Finding{ID: id, Level: OK, What: fmt.Sprintf(format, args...)})
}

// Note adds a finding that is worth knowing; next may be "".
func (r *Report) Note(id ID, next, format string, args ...any) *Finding {
	return r.Add(Finding{ID: id, Level: Note, What: fmt.Sprintf(format, args...), Next: next})
}

// Warn adds a warning.
func (r *Report) Warn(id ID, next, format string, args ...any) *Finding {
	return r.Add(Finding{ID: id, Level: Warning, What: fmt.Sprintf(format, args...), Next: next})
}

// Problem adds a problem that commands end with exit for.
func (r *Report) Problem(id ID, exit fault.Exit, next, format string, args ...any) *Finding {
	return r.Add(Finding{ID: id, Level: Problem, What: fmt.Sprintf(format, args...), Next: next, Exit: exit})
}

// Fault adds the problem that err is to a user.
func (r *Report) Fault(id ID, err error) *Finding {
	f := fault.Explain(err, r.Scene)
	what := f.Message
	if len(f.Lines) > 0 {
		what += ": " + strings.Join(f.Lines, " ")
	}
	found := r.Problem(id, f.Exit, f.Hint, "%s", what)
	found.Details = faultDetails{Reason: f.Reason, Details: f.Details}
	return found
}

type faultDetails struct {
	Reason  string `json:"reason"`
	Details any    `json:"details,omitempty"`
}

// Count is how many findings have a level.
func (r *Report) Count(level Level) int {
	n := 0
	for _, f := range r.Findings {
		if f.Level == level {
			n++
		}
	}
	return n
}

// Exit is the exit status that fits the worst problem: unknown before forbidden before configuration.
func (r *Report) Exit() fault.Exit {
	for _, exit := range []fault.Exit{fault.Unknown, fault.Forbidden, fault.Usage} {
		for _, f := range r.Findings {
			if f.Level == Problem && f.Exit == exit {
				return exit
			}
		}
	}
	return fault.OK
}

// Span is a short time for people, down to milliseconds.
func span(d time.Duration) string {
	if d < time.Second {
		return fmt.Sprintf("%d ms", d.Milliseconds())
	}
	return term.Span(d)
}

// some names the first of many, and how many more there are.
func some(names []string) string {
	const shown = 5
	if len(names) <= shown {
		return strings.Join(names, ", ")
	}
	return fmt.Sprintf("%s and %d more", strings.Join(names[:shown], ", "), len(names)-shown)
}

// count puts a number and a word together.
func count(n int, one string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprintf("%d %ss", n, one)
}

// Context is context.Context.
type Context = context.Context
