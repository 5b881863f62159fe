package glob

import (
	"errors"
	"regexp"
	"slices"
	"strings"

	"github.com/bmatcuk/doublestar/v4"
)

// Branch is a pattern of branch names. Its zero value matches none.
type Branch struct {
	whole *regexp.Regexp
	names []string
}

// The faults of a branch's pattern, beside those of a path's.
var (
	errName  = errors.New("a name in braces is made of lower-case letters, digits and underscores, and begins with a letter")
	errTwice = errors.New("it has a name twice")
	errRef   = errors.New("no branch can have such a name")
)

// ParseBranch reads the pattern of a branch, without refs/heads/: * and ? and classes match within a part between slashes, ** any number of
// parts, and {name} matches and captures one or more characters of a part, as few as it can. It returns a [*PatternError].
func ParseBranch(text string) (*Branch, error) {
	b, err := parseBranch(text)
	if err != nil {
		return nil, &PatternError{text, err}
	}
	return b, nil
}

func parseBranch(text string) (*Branch, error) {
	switch segments := strings.Split(text, "/"); {
	case len(text) > maxPattern:
		return nil, errLong
	case slices.ContainsFunc(segments, func(s string) bool { return s == "" || s[0] == '.' }):
		return nil, errOutside
	case strings.Contains(text, "[:"):
		return nil, errClass
	case strings.ContainsAny(text, "\\ ~^:") || strings.Contains(text, ".."):
		return nil, errRef
	case !doublestar.ValidatePattern(strings.NewReplacer("{", "", "}", "").Replace(text)):
		return nil, errBrackets
	}
	b := &Branch{}
	expression, err := b.translate(text)
	if err != nil {
		return nil, err
	}
	if b.whole, err = regexp.Compile("^" + expression + "$"); err != nil {
		return nil, errBrackets // such as a range whose ends are the wrong way round
	}
	return b, nil
}

// translate makes a regular expression of a pattern, and takes the names.
func (b *Branch) translate(text string) (string, error) {
	var out strings.Builder
	for at := 0; at < len(text); {
		piece, length := plainPiece(text[at:], at == 0 || text[at-1] == '/')
		if text[at] == '{' || text[at] == '}' {
			name, _, closed := strings.Cut(text[at+1:], "}")
			switch {
			case text[at] == '}' || !closed || !isName(name):
				return "", errName
			case slices.Contains(b.names, name):
				return "", errTwice
			}
			b.names = append(b.names, name)
			piece, length = "([^/]+?)", len(name)+2
		}
		out.WriteString(piece)
		at += length
	}
	return out.String(), nil
}

// plainPiece translates the piece that a pattern begins with, and says how long it is. First says that a part begins there.
func plainPiece(text string, first bool) (piece string, length int) {
	stars := len(text) - len(strings.TrimLeft(text, "*"))
	switch {
	case first && stars == 2 && len(text) == 2:
		return ".+", 2
	case first && stars == 2 && text[2] == '/':
		return "(?:.+/)?", 3
	case stars > 0:
		return "[^/]*", stars
	case text[0] == '?':
		return "[^/]", 1
	case text[0] == '[':
		length = classLength(text)
		return "[" + withoutSlash(strings.ReplaceAll(text[1:length-1], "[", `\[`)) + "]", length
	default:
		at := strings.IndexAny(text, "*?[{}")
		if at < 0 {
			at = len(text)
		}
		return regexp.QuoteMeta(text[:at]), at
	}
}

func isName(s string) bool {
	for i := range len(s) {
		c := s[i]
		if (c < 'a' || c > 'z') && (i == 0 || (c < '0' || c > '9') && c != '_') {
			return false
		}
	}
	return s != ""
}

// Names are the names of what the pattern captures.
func (b *Branch) Names() []string { return slices.Clone(b.names) }

// Match says whether a branch matches, and what was captured.
func (b *Branch) Match(branch string) (captured map[string]string, ok bool) {
	if b.whole == nil {
		return nil, false
	}
	found := b.whole.FindStringSubmatch(branch)
	if found == nil {
		return nil, false
	}
	captured = map[string]string{}
	for i, name := range b.names {
		captured[name] = found[i+1]
	}
	return captured, true
}

// Fill puts what was captured into a text with names in braces.
func Fill(text string, captured map[string]string) string {
	var pairs []string
	for name, value := range captured {
		pairs = append(pairs, "{"+name+"}", value)
	}
	return strings.NewReplacer(pairs...).Replace(text)
}

// Wanted are the names in braces of a text. It returns a [*PatternError] for a brace that belongs to no name.
func Wanted(text string) ([]string, error) {
	var names []string
	for rest := text; ; {
		before, after, open := strings.Cut(rest, "{")
		if strings.Contains(before, "}") {
			return nil, &PatternError{text, errName}
		}
		if !open {
			return names, nil
		}
		name, next, closed := strings.Cut(after, "}")
		if !closed || !isName(name) {
			return nil, &PatternError{text, errName}
		}
		names, rest = append(names, name), next
	}
}
