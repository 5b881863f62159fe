package backlogmd

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/git-worklease/git-worklease/providers"
)

var (
	errOutside = errors.New("it is not a folder of the work tree")
	errStarted = errors.New("the status of work that has begun is neither the first nor the last of the project's")
)

// statuses says what the words of a project mean.
type statuses struct {
	words []string
	open  []string
	// started is what a claim announces, review that work waits for a reviewer, done the last; the first two may be empty.
	started, review, done string
}

// newStatuses makes sense of a project's statuses, as far as the settings don't: the first is open, the last done, as the backlog program has it, and those between are of
// work that has begun.
func newStatuses(words, open []string, started string) (statuses, error) {
	s := statuses{words: words, open: words[:1], done: words[len(words)-1]}
	if len(open) > 0 {
		s.open = open
	}
	for _, status := range append(slices.Clone(open), started) {
		if status != "" && !s.knows(status) {
			return s, fmt.Errorf("the project has no status %q", status)
		}
	}
	var begun []string
	for _, word := range words {
		if s.state(word) == providers.Started {
			begun = append(begun, word)
		}
	}
	if started != "" {
		if !slices.ContainsFunc(begun, func(word string) bool { return sameWord(word, started) }) {
			return s, fmt.Errorf("%q: %w", started, errStarted)
		}
		s.started = s.spelling(started)
	} else if len(begun) > 0 {
		s.started = begun[max(slices.IndexFunc(begun, underWay), 0)]
	}
	if i := slices.IndexFunc(begun, func(word string) bool { return strings.Contains(strings.ToLower(word), "review") }); i >= 0 {
		s.review = begun[i]
	}
	return s, nil
}

// underWay says whether a status is called as that of work in progress usually is.
func underWay(word string) bool {
	switch strings.ToLower(strings.NewReplacer(" ", "", "-", "", "_", "").Replace(word)) {
	case "inprogress", "doing", "started", "active", "wip", "working":
		return true
	}
	return false
}

// sameWord compares as the backlog program compares a task's status with the last of the project's.
func sameWord(a, b string) bool {
	return strings.EqualFold(strings.TrimSpace(a), strings.TrimSpace(b))
}

func (s *statuses) knows(word string) bool { return s.spelling(word) != "" }

// spelling is a status as the project spells it; empty for one that it does not have.
func (s *statuses) spelling(word string) string {
	if i := slices.IndexFunc(s.words, func(w string) bool { return sameWord(w, word) }); i >= 0 {
		return s.words[i]
	}
	return ""
}

// state is what a status means. One that the project does not have is not understood.
func (s *statuses) state(word string) providers.State {
	switch {
	case sameWord(word, s.done):
		return providers.Done
	case slices.ContainsFunc(s.open, func(w string) bool { return sameWord(w, word) }):
		return providers.Open
	case s.knows(word):
		return providers.Started
	default:
		return providers.Waiting
	}
}
