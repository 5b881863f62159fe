// Package term prints for people: text from elsewhere made harmless, aligned columns, spans of time, colour as git's settings say.
package term

import (
	"bytes"
	"fmt"
	"strings"
	"unicode"
	"unicode/utf16"
	"unicode/utf8"
)

// Clean makes text from a record, a server or a provider safe to print on a terminal, on one line: control characters, characters that reorder or
// hide text, and bytes that are no UTF-8 are shown as escapes.
func Clean(s string) string {
	if plain(s) {
		return s
	}
	var b strings.Builder
	for i := 0; i < len(s); {
		r, size := utf8.DecodeRuneInString(s[i:])
		switch {
		case r == utf8.RuneError && size == 1:
			fmt.Fprintf(&b, `\x%02x`, s[i])
		case r == '\n':
			b.WriteString(`\n`)
		case r == '\t':
			b.WriteByte(' ')
		case hidden(r):
			fmt.Fprintf(&b, `\u%04x`, r)
		default:
			b.WriteRune(r)
		}
		i += size
	}
	return b.String()
}

// CleanLines is Clean for each line of a longer text, such as what a server's hook wrote. Blank lines are dropped.
func CleanLines(s string) []string {
	var lines []string
	for line := range strings.Lines(s) {
		if line = strings.TrimSpace(line); line != "" {
			lines = append(lines, Clean(line))
		}
	}
	return lines
}

// CleanJSON makes a JSON document, of whatever texts, safe to print on a terminal. It means the same as before: what [Clean] would escape is escaped as JSON
// does it, of which encoding/json leaves a part as it is. The document is one that encoding/json has written without indentation.
func CleanJSON(document []byte) []byte {
	if !bytes.ContainsFunc(document, raw) {
		return document
	}
	var b bytes.Buffer
	for _, r := range string(document) { // bytes that are no UTF-8 come as U+FFFD
		switch {
		case !raw(r):
			b.WriteRune(r)
		case r > 0xffff:
			high, low := utf16.EncodeRune(r)
			fmt.Fprintf(&b, `\u%04x\u%04x`, high, low)
		default:
			fmt.Fprintf(&b, `\u%04x`, r)
		}
	}
	return b.Bytes()
}

// raw says whether a character can only be in a string of a JSON document, and must not be printed.
func raw(r rune) bool { return r != '\n' && hidden(r) || r == utf8.RuneError }

func plain(s string) bool {
	for i := range len(s) {
		if s[i] < ' ' || s[i] > '~' {
			return false
		}
	}
	return true
}

// hidden says whether a character would act on the terminal or on the text around it instead of being seen.
func hidden(r rune) bool {
	return unicode.IsControl(r) || unicode.Is(unicode.Cf, r) || unicode.Is(unicode.Zl, r) || unicode.Is(unicode.Zp, r)
}
