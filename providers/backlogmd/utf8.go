package backlogmd

import (
	"unicode"
	"unicode/utf8"
)

// utf8Plain says that text has nothing beyond ASCII but letters, marks, digits, punctuation and symbols: no blanks or line ends of Unicode, which libraries see differently.
func utf8Plain(text string) bool {
	for i := 0; i < len(text); {
		if text[i] < utf8.RuneSelf {
			i++
			continue
		}
		r, size := utf8.DecodeRuneInString(text[i:])
		if r == utf8.RuneError || !unicode.IsGraphic(r) || unicode.IsSpace(r) {
			return false
		}
		i += size
	}
	return true
}
