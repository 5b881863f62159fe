package fault

import (
	"strings"
	"time"

	"github.com/git-worklease/git-worklease/internal/term"
)

// Quote writes a word so that a shell reads it back, and a terminal is not harmed by it.
func Quote(word string) string {
	word = term.Clean(word)
	safe := func(r rune) bool {
		return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune("-_./:@+=,%", r)
	}
	if word != "" && word[0] != '=' && strings.IndexFunc(word, func(r rune) bool { return !safe(r) }) < 0 { // zsh takes =x for the path of a program
		return word
	}
	return "'" + strings.ReplaceAll(word, "'", `'\''`) + "'"
}

// stamp is a time for programs; "" for none.
func stamp(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return t.UTC().Format(time.RFC3339)
}
