package lease

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"unicode"

	"golang.org/x/text/unicode/norm"
)

// The schemes whose resources are more than a name.
const (
	schemePath = "path"
	schemePool = "pool"
)

// ErrBadPath is returned for what can't be a path within the repository: absolute, with a drive letter, with "..", or with "**" before
// its end.
var ErrBadPath = errors.New("not a path that can be claimed")

// PathResource is the resource of a path claim, which covers the path and everything below it. The path is relative to the top of the
// repository; "." is all of it. A star stands for any characters within a segment. Every spelling of one path gives the same bytes:
// segments in Unicode's form NFC, with slashes between them. It returns [ErrBadPath] or [ErrBadResource], wrapped.
func PathResource(path string) (Resource, error) {
	if err := checkText(path, MaxResource); err != nil {
		return "", fmt.Errorf("%w: %w", ErrBadResource, err)
	}
	segments, err := normalSegments(path)
	if err != nil {
		return "", fmt.Errorf("%q: %w: %w", path, ErrBadPath, err)
	}
	normal := "."
	if len(segments) > 0 {
		normal = strings.Join(segments, "/")
	}
	if err := checkText(normal, MaxResource-len(schemePath+":")); err != nil {
		return "", fmt.Errorf("%w: %w", ErrBadResource, err)
	}
	return Resource(schemePath + ":" + normal), nil
}

// The faults of a path.
var (
	errAbsolute = errors.New("it is absolute, and should be relative to the top of the repository")
	errDrive    = errors.New("it has a drive letter")
	errParent   = errors.New("it has .. in it")
	errStars    = errors.New("** may stand at the end alone")
)

// normalSegments are the segments of a path that say something; none for the whole repository.
func normalSegments(path string) ([]string, error) {
	path = strings.ReplaceAll(norm.NFC.String(path), `\`, "/")
	if strings.HasPrefix(path, "/") {
		return nil, errAbsolute
	}
	segments := strings.Split(path, "/")
	segments = slices.DeleteFunc(segments, func(s string) bool { return s == "" || s == "." })
	for len(segments) > 0 && segments[len(segments)-1] == "**" {
		segments = segments[:len(segments)-1]
	}
	for i, s := range segments {
		switch {
		case s == "..":
			return nil, errParent
		case strings.Contains(s, "**"):
			return nil, errStars
		case i == 0 && hasDrive(s):
			return nil, errDrive
		}
	}
	return segments, nil
}

func hasDrive(segment string) bool {
	letter := segment[0] | 0x20
	return len(segment) > 1 && segment[1] == ':' && letter >= 'a' && letter <= 'z'
}

// pathOf is the path of a path claim.
func (r Resource) pathOf() (path string, ok bool) {
	return strings.CutPrefix(string(r), schemePath+":")
}

// IsPath says whether r is a path claim's resource.
func (r Resource) IsPath() bool {
	_, ok := r.pathOf()
	return ok
}

func anyPath(rs []Resource) bool { return slices.ContainsFunc(rs, Resource.IsPath) }

// Overlap says whether two claims exclude each other: they are of the same resource, or of paths one of which covers what the other
// covers. Segments are compared without regard to case, by Unicode's simple folding, as the file systems do that ignore it; what is
// written in two normal forms is the same. A path that can't be read overlaps with every other.
func Overlap(a, b Resource) bool {
	p, isPath := a.pathOf()
	q, isPath2 := b.pathOf()
	if !isPath || !isPath2 {
		return a == b
	}
	x, err := normalSegments(p)
	if err != nil {
		return true
	}
	y, err := normalSegments(q)
	if err != nil {
		return true
	}
	for i := range min(len(x), len(y)) {
		if !meet([]rune(foldCase(x[i])), []rune(foldCase(y[i]))) {
			return false
		}
	}
	return true
}

// overlapAny says whether r overlaps with any of rs.
func overlapAny(r Resource, rs []Resource) bool {
	return slices.ContainsFunc(rs, func(o Resource) bool { return Overlap(r, o) })
}

// foldCase makes segments equal that differ in case alone.
func foldCase(segment string) string {
	if isASCII(segment) { // whose least form is the upper case, and what folds to it from elsewhere comes after it
		return strings.ToUpper(segment)
	}
	return strings.Map(func(r rune) rune {
		least := r
		for next := unicode.SimpleFold(r); next != r; next = unicode.SimpleFold(next) {
			least = min(least, next)
		}
		return least
	}, norm.NFD.String(segment))
}

func isASCII(s string) bool {
	for i := range len(s) {
		if s[i] >= 0x80 {
			return false
		}
	}
	return true
}

// meet says whether some text matches both patterns. matched[j] says it of the first j characters of b and of the part of a that was
// gone through.
func meet(a, b []rune) bool {
	matched := make([]bool, len(b)+1)
	matched[0] = true
	for j, y := range b {
		matched[j+1] = matched[j] && y == '*'
	}
	for _, x := range a {
		diagonal := matched[0]
		matched[0] = matched[0] && x == '*'
		for j, y := range b {
			above := matched[j+1]
			if x == '*' || y == '*' {
				matched[j+1] = above || matched[j]
			} else {
				matched[j+1] = diagonal && x == y
			}
			diagonal = above
		}
	}
	return matched[len(b)]
}
