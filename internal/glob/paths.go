// Package glob matches paths and branch names against the patterns of a policy file. It knows nothing of what follows from a match.
//
// Patterns of paths are those of gitignore, with three differences that keep a slip of the pen from matching nothing in silence: braces must be
// escaped, classes such as [[:alpha:]] are refused, and ! takes paths out also below a folder that was named. Patterns of branches are matched as a
// whole, and may name what they capture.
package glob

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/bmatcuk/doublestar/v4"
	"golang.org/x/text/unicode/norm"
)

// ErrPattern is returned for what is no pattern. See [PatternError].
var ErrPattern = errors.New("not a pattern")

// PatternError says what is wrong with a pattern.
type PatternError struct {
	Text string
	Err  error
}

func (e *PatternError) Error() string { return fmt.Sprintf("%v: %q: %v", ErrPattern, e.Text, e.Err) }

// Is links the type to [ErrPattern].
func (e *PatternError) Is(target error) bool { return target == ErrPattern }

func (e *PatternError) Unwrap() error { return e.Err }

// maxPattern bounds a pattern, in bytes.
const maxPattern = 1024

// meta are the characters that mean something in a pattern.
const meta = `*?[\`

// Paths is a list of patterns, the last of which that matches decides. Its zero value matches nothing.
type Paths struct {
	patterns []pathPattern
}

type pathPattern struct {
	// not says that what matches is taken out.
	not bool
	// glob matches a path from the top of the repository to its end.
	glob string
	// lead is how every path that matches begins, as far as that is known, and literals are further parts of it, in their order: most paths need no more
	// than a look at these.
	lead     string
	literals []string
	// pairs are those of the lead and the literals.
	pairs    pairs
	anchored bool
	// plain says that a path matches if it has the literals: of src/**, or of *.sql. Inside says that only what is in a folder is meant.
	plain, inside bool
	// all says that every path matches.
	all bool
}

// ParsePaths reads patterns as gitignore has them: without a slash before its end a pattern matches at every depth, otherwise from the top
// of the repository; what matches a folder matches all that is in it; ** stands for any number of folders; a slash at the end says that a folder is
// meant; ! takes out again. It returns a [*PatternError].
func ParsePaths(patterns []string) (*Paths, error) {
	set := &Paths{}
	for _, text := range patterns {
		p, err := parsePath(text)
		if err != nil {
			return nil, &PatternError{text, err}
		}
		set.patterns = append(set.patterns, p)
	}
	return set, nil
}

// Path is a path made ready for many patterns.
type Path struct {
	// slashed is the path in Unicode's form NFC with a slash at its end, as if it were a folder: so "a/**" matches "a" as well as what is in it.
	slashed string
	pairs   pairs
}

// ParsePath makes a path ready. It is relative to the top of the repository, with slashes.
func ParsePath(path string) Path {
	p := Path{slashed: norm.NFC.String(path) + "/"}
	p.pairs.add(p.slashed)
	return p
}

// pairs is a set of pairs of neighbouring bytes, by a hash of each. Most paths lack one that a pattern needs, which shows without a look at either.
type pairs struct{ low, high uint64 }

func (s *pairs) add(text string) {
	for i := 1; i < len(text); i++ {
		hash := (uint32(text[i-1])<<8 | uint32(text[i])) * 0x9e3779b1 >> 25
		if bit := uint64(1) << (hash & 63); hash < 64 {
			s.low |= bit
		} else {
			s.high |= bit
		}
	}
}

func (s pairs) has(others pairs) bool { return others.low&^s.low|others.high&^s.high == 0 }

// Matches says whether a path is one of those meant.
func (s *Paths) Matches(path Path) bool {
	for i := len(s.patterns) - 1; i >= 0; i-- {
		if p := &s.patterns[i]; path.pairs.has(p.pairs) && strings.HasPrefix(path.slashed, p.lead) && p.matches(path.slashed) {
			return !p.not
		}
	}
	return false
}

// matches judges a path that begins with the lead.
func (p *pathPattern) matches(slashed string) bool {
	switch {
	case p.all:
		return true
	case !p.hasLiterals(slashed[len(p.lead):]):
		return false
	case p.plain:
		return !p.inside || len(slashed) > len(p.lead)
	default:
		return doublestar.MatchUnvalidated(p.glob, slashed)
	}
}

// hasLiterals looks for them in what follows the lead.
func (p *pathPattern) hasLiterals(rest string) bool {
	for _, literal := range p.literals {
		at := strings.Index(rest, literal)
		if at < 0 {
			return false
		}
		rest = rest[at+len(literal):]
	}
	return true
}

// The faults of a pattern.
var (
	errLong     = fmt.Errorf("it has more than %d bytes", maxPattern)
	errUTF8     = errors.New("it is not UTF-8")
	errBlank    = errors.New("it has a blank at an end")
	errOutside  = errors.New("it is empty, or has an empty part, . or .. in it")
	errBraces   = errors.New(`it has braces; write a pattern for each case, or \{ for a brace that is meant`)
	errClass    = errors.New("it has a class such as [[:alpha:]]; write the characters, such as [a-z]")
	errEscape   = errors.New("it has a backslash before a letter or a digit; the parts of a path are joined by /")
	errBrackets = errors.New("its brackets or backslashes are unfinished")
)

func parsePath(text string) (p pathPattern, err error) {
	if len(text) > maxPattern {
		return p, errLong
	}
	if !utf8.ValidString(text) {
		return p, errUTF8
	}
	if text != strings.TrimSpace(text) {
		return p, errBlank
	}
	body, not := strings.CutPrefix(norm.NFC.String(text), "!")
	p.not = not
	if p.all = body == "**" || body == "/**"; p.all {
		return p, nil
	}
	body, inside := cutInside(body)
	top, rooted := strings.CutPrefix(body, "/")
	if err := checkSegments(top); err != nil {
		return p, err
	}
	p.anchored = rooted || strings.Contains(strings.TrimSuffix(text, "/"), "/")
	p.glob = noSlashes(top)
	if p.inside = inside; inside {
		p.glob += "/*"
	}
	p.glob += "/**"
	if !p.anchored {
		p.glob = "**/" + p.glob
	}
	p.takeLiterals(top + "/")
	return p, nil
}

// cutInside drops the end that says that what is in a folder is meant, and no file of that name.
func cutInside(body string) (folder string, inside bool) {
	if folder, ok := strings.CutSuffix(body, "/"); ok {
		if any, ok := strings.CutSuffix(folder, "**"); ok && (any == "" || strings.HasSuffix(any, "/")) {
			folder = any + "*" // what is in any folder below is in one of those right below
		}
		return folder, true
	}
	for {
		folder, ok := strings.CutSuffix(body, "/**")
		if !ok {
			return body, inside
		}
		body, inside = folder, true
	}
}

// noSlashes keeps a class that is negated from matching a slash, which the library would allow.
func noSlashes(glob string) string {
	var b strings.Builder
	for i := 0; i < len(glob); i++ {
		b.WriteByte(glob[i])
		switch {
		case glob[i] == '\\' && i+1 < len(glob):
			i++
			b.WriteByte(glob[i])
		case glob[i] == '[':
			length := classLength(glob[i:])
			b.WriteString(withoutSlash(glob[i+1 : i+length]))
			i += length - 1
		}
	}
	return b.String()
}

func checkSegments(body string) error {
	segments := strings.Split(body, "/")
	switch {
	case slices.ContainsFunc(segments, func(s string) bool { return s == "" || s == "." || s == ".." }):
		return errOutside
	case strings.Contains(body, "[:"):
		return errClass
	}
	if err := checkEscapes(body); err != nil {
		return err
	}
	if slices.ContainsFunc(segments, func(s string) bool { return !doublestar.ValidatePattern(s) }) {
		return errBrackets
	}
	return nil
}

// checkEscapes refuses what gitignore and the library read differently, and what a person is likely to have meant differently.
func checkEscapes(body string) error {
	for i := 0; i < len(body); i++ {
		switch c := body[i]; {
		case c == '\\' && i+1 < len(body):
			i++
			if next := body[i] | 0x20; next >= 'a' && next <= 'z' || body[i] >= '0' && body[i] <= '9' || body[i] == '_' {
				return errEscape
			}
		case c == '{' || c == '}':
			return errBraces
		}
	}
	return nil
}

// withoutSlash adds the slash to what a negated class refuses.
func withoutSlash(class string) string {
	if class[0] != '!' && class[0] != '^' {
		return class
	}
	if rest := class[1:]; rest[0] == '-' { // which would make a range with the slash
		return `^/\` + rest
	}
	return "^/" + class[1:]
}

// takeLiterals finds the parts of a pattern that stand for themselves.
func (p *pathPattern) takeLiterals(top string) {
	first, rest := literal(top)
	p.anchored = p.anchored && first != ""
	p.plain = p.anchored && rest == "" || !p.anchored && !p.inside && isEnding(top)
	if p.anchored {
		p.lead, first = first, ""
		p.pairs.add(p.lead)
	}
	for next := first; ; next, rest = literal(skipMeta(rest)) {
		if next != "" {
			p.literals = append(p.literals, next)
			p.pairs.add(next)
		}
		if rest == "" {
			return
		}
	}
}

// isEnding says whether a pattern is a star and how a name ends.
func isEnding(top string) bool {
	ending, ok := strings.CutPrefix(strings.TrimSuffix(top, "/"), "*")
	return ok && ending != "" && !strings.ContainsAny(ending, meta+"/")
}

// literal cuts a pattern at its first special character.
func literal(pattern string) (before, from string) {
	at := strings.IndexAny(pattern, meta)
	if at < 0 {
		return pattern, ""
	}
	return pattern[:at], pattern[at:]
}

// skipMeta drops the special part that a pattern begins with, and a slash after it: **/b matches b.
func skipMeta(pattern string) string {
	length := 1
	switch pattern[0] {
	case '\\':
		length = 2
	case '[':
		length = classLength(pattern)
	}
	return strings.TrimPrefix(pattern[length:], "/")
}

// classLength is the length of the class that a pattern begins with, which is well formed.
func classLength(pattern string) int {
	at := 1
	for ; pattern[at] != ']'; at++ {
		if pattern[at] == '\\' {
			at++
		}
	}
	return at + 1
}
