package queue

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/git-worklease/git-worklease/lease"
)

// clip makes a tracker's text one that a record takes: one line, without control characters, not too long.
func clip(s string) string {
	s = strings.Map(func(r rune) rune {
		if unicode.IsControl(r) {
			return ' '
		}
		return r
	}, strings.ToValidUTF8(s, "\ufffd"))
	if len(s) > lease.MaxText {
		cut := lease.MaxText
		for !utf8.RuneStart(s[cut]) {
			cut--
		}
		s = s[:cut]
	}
	return strings.TrimSpace(s)
}
