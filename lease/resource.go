package lease

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"
)

// The limits of a record. What breaks them is refused on input and corrupt in a record.
const (
	MaxResource = 1024 // bytes of a resource
	MaxName     = 128  // bytes of an agent, a session, a host
	MaxMembers  = 32   // resources of a claim
	MaxText     = 1024 // bytes of a purpose, a reason, a value of meta
	MinTTL      = 10 * time.Second
	MaxTTL      = 24 * time.Hour
	MaxGrace    = time.Hour
	// MaxCheckpoint is in bytes, without the blanks between the parts of the JSON.
	MaxCheckpoint = 8 << 10
)

// The largest parts of a record, in bytes.
const (
	maxMembersBytes = 16 << 10
	maxRecord       = 64 << 10
	maxMeta         = 8 << 10
)

// ErrBadResource is returned for what can't name a resource.
var ErrBadResource = errors.New("not a resource")

// ParseResource reads a key as a person types it. It returns [ErrBadResource], wrapped, for bytes that no resource may have, [ErrBadPath]
// for a path that can't be claimed, and a [*SchemeError] for a key without a scheme and for a URL. What it returns for a path is what
// [PathResource] does, and every other key stays as it is.
func ParseResource(s string) (Resource, error) {
	if err := checkText(s, MaxResource); err != nil {
		return "", fmt.Errorf("%w: %w", ErrBadResource, err)
	}
	r := Resource(s)
	switch scheme := r.Scheme(); {
	case scheme == "", strings.HasPrefix(s, scheme+"://"):
		return "", &SchemeError{Key: s, Scheme: scheme}
	case scheme == schemePath:
		path, _ := r.pathOf()
		return PathResource(path)
	case scheme == schemePool:
		return r, r.checkPool()
	default:
		return r, nil
	}
}

// Scheme is what stands before the first colon: two or more lower-case letters, digits, dots, dashes or plus signs, the first a letter. It
// is "" where there is none, and where nothing follows it.
func (r Resource) Scheme() string {
	scheme, rest, found := strings.Cut(string(r), ":")
	if !found || rest == "" || len(scheme) < 2 {
		return ""
	}
	for i := range len(scheme) {
		c := scheme[i]
		letter := c >= 'a' && c <= 'z'
		if !letter && (i == 0 || (c < '0' || c > '9') && c != '.' && c != '-' && c != '+') {
			return ""
		}
	}
	return scheme
}

// The faults of a text.
var (
	errEmpty   = errors.New("empty")
	errTooLong = errors.New("too long")
	errUTF8    = errors.New("not UTF-8")
	errControl = errors.New("control character")
	errBlank   = errors.New("blank at an end")
)

// checkText judges the bytes of a resource or a name.
func checkText(s string, limit int) error {
	switch {
	case s == "":
		return errEmpty
	case len(s) > limit:
		return fmt.Errorf("%w: %d bytes of at most %d", errTooLong, len(s), limit)
	case !utf8.ValidString(s):
		return errUTF8
	case strings.ContainsFunc(s, unicode.IsControl):
		return errControl
	case s != strings.TrimSpace(s):
		return errBlank
	}
	return nil
}

// checkResources sorts a request's resources, and refuses bad, too many and repeated ones, and paths that are not in their normal form.
func checkResources(resources []Resource) ([]Resource, error) {
	if len(resources) == 0 {
		return nil, fmt.Errorf("%w: none given", ErrBadResource)
	}
	if len(resources) > MaxMembers {
		return nil, fmt.Errorf("%w: %d resources of at most %d", ErrBadRequest, len(resources), MaxMembers)
	}
	sorted := slices.Sorted(slices.Values(resources))
	for i, r := range sorted {
		switch normal, err := ParseResource(string(r)); {
		case err != nil:
			return nil, err
		case normal != r:
			return nil, fmt.Errorf("%w: %q instead of %q", ErrBadResource, r, normal)
		}
		if i > 0 && sorted[i-1] == r {
			return nil, fmt.Errorf("%w: %q twice", ErrBadRequest, r)
		}
	}
	return sorted, nil
}
