package term

import (
	"strings"
	"unicode"

	"golang.org/x/text/width"
)

// Cells is how many columns of a terminal a text takes, which must be clean: two for the wide characters of East Asian scripts and for emoji,
// none for accents that combine with what is before them.
func Cells(text string) int {
	n := 0
	for _, r := range text {
		n += cells(r)
	}
	return n
}

func cells(r rune) int {
	switch {
	case r < 0x300:
		return 1
	case unicode.In(r, unicode.Mn, unicode.Me):
		return 0
	}
	switch width.LookupRune(r).Kind() {
	case width.EastAsianWide, width.EastAsianFullwidth:
		return 2
	default:
		return 1
	}
}

// Cut shortens a text to at most so many columns. What was cut shows by an ellipsis.
func Cut(text string, columns int) string {
	if Cells(text) <= columns {
		return text
	}
	var b strings.Builder
	for _, r := range text {
		if columns -= cells(r); columns < 1 {
			break
		}
		b.WriteRune(r)
	}
	return strings.TrimRight(b.String(), " ") + "…"
}
