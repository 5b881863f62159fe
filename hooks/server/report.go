package server

import (
	"errors"
	"fmt"
	"io"

	"github.com/git-worklease/git-worklease/internal/term"
	"github.com/git-worklease/git-worklease/lease"
)

// mostTold bounds how many refs of a push are told about.
const mostTold = 10

// Tell writes a verdict for whoever pushes, in lines of text that are safe to print.
func (v *Verdict) Tell(w io.Writer) {
	tell(w, "", v.Refusals)
	tell(w, "warning: ", v.Warnings)
	if len(v.Refusals) == 0 && len(v.Fenced) > 0 {
		fmt.Fprintf(w, "git-worklease: notice: %s moves with its claim or not at all, which takes --atomic\n", term.Clean(v.Fenced[0]))
	}
}

// words are the error's, and name the ref where it does not.
func (r *Refusal) words() string {
	var breach *lease.BreachError
	var open *NotCoveredError
	if errors.As(r.Err, &breach) || errors.As(r.Err, &open) {
		return r.Err.Error()
	}
	return fmt.Sprintf("%s: %v", r.Ref, r.Err)
}

func tell(w io.Writer, kind string, refusals []Refusal) {
	told := map[string]bool{}
	for i, r := range refusals {
		if i == mostTold {
			fmt.Fprintf(w, "git-worklease: %sand %d more refs\n", kind, len(refusals)-i)
			break
		}
		fmt.Fprintf(w, "git-worklease: %s%s\n", kind, term.Clean(r.words()))
		if r.Hint != "" && !told[r.Hint] {
			fmt.Fprintf(w, "hint: %s\n", r.Hint)
			told[r.Hint] = true
		}
	}
}
