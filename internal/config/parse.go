package config

import (
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/git-worklease/git-worklease/refstore"
)

// maxName bounds, in bytes, the name of an agent, a session, a host or an operator.
const maxName = 128

// ValidName says whether s can be the name of an agent, a session, a host or an operator: 1 to 128 bytes of UTF-8 without
// control characters, and without blanks at its ends.
func ValidName(s string) bool {
	return s != "" && len(s) <= maxName && !hasControl(s) && s == strings.TrimSpace(s)
}

func name(s string, _ Origin) bool { return ValidName(s) }

// hasControl says whether s holds a control character or is not UTF-8.
func hasControl(s string) bool {
	return !utf8.ValidString(s) || strings.ContainsFunc(s, unicode.IsControl)
}

type setter func(s *Settings, text string, o Origin) bool

func text(field func(*Settings) *Value[string], ok func(string, Origin) bool) setter {
	return func(s *Settings, text string, o Origin) bool {
		if !ok(text, o) {
			return false
		}
		*field(s) = Value[string]{text, o}
		return true
	}
}

func choice[T ~string](field func(*Settings) *Value[T], choices ...T) setter {
	return func(s *Settings, text string, o Origin) bool {
		*field(s) = Value[T]{T(text), o}
		return slices.Contains(choices, T(text))
	}
}

// duration reads whole seconds from low to high; zeros are words that stand for 0.
func duration(field func(*Settings) *Value[time.Duration], low, high time.Duration, zeros ...string) setter {
	return func(s *Settings, text string, o Origin) bool {
		d, ok := ParseDuration(text)
		if slices.Contains(zeros, text) {
			d, ok = 0, true
		}
		*field(s) = Value[time.Duration]{d, o}
		return ok && low <= d && d <= high && d%time.Second == 0
	}
}

const day = 24 * time.Hour

// ParseDuration reads Go's notation of a duration, before which may stand a whole number of weeks and one of days: 90s, 1h30m, 2d, 1d12h, 2w. A
// number without a unit is refused: nobody knows whether it means seconds or minutes. Negative ones are refused as well.
func ParseDuration(s string) (d time.Duration, ok bool) {
	rest := s
	for _, unit := range []struct {
		name   string
		length time.Duration
		bits   int // of the largest number, so that nothing overflows
	}{{"w", 7 * day, 12}, {"d", day, 16}} {
		count, after, found := strings.Cut(rest, unit.name)
		if !found {
			continue
		}
		n, err := strconv.ParseUint(count, 10, unit.bits)
		if err != nil {
			return 0, false
		}
		d += time.Duration(n) * unit.length //nolint:gosec // at most 16 bits
		if rest = after; rest == "" {
			return d, true
		}
	}
	if strings.Trim(rest, "0123456789.") == "" || rest[0] == '-' || rest[0] == '+' {
		return 0, false
	}
	more, err := time.ParseDuration(rest)
	if err != nil || d+more < d {
		return 0, false
	}
	return d + more, true
}

func isAuthority(s string) bool {
	return s != "" && len(s) <= 64 && strings.Trim(s, "0123456789abcdef") == ""
}

// IsPrefix says whether s can hold our refs alone: a ref name that we write, below refs/, with a slash at its end, and none of git's own
// namespaces as a whole.
func IsPrefix(s string) bool {
	body, ok := strings.CutSuffix(s, "/")
	parts := strings.Split(body, "/")
	if !ok || len(parts) < 2 || slices.Contains(parts, "@") || !refstore.ValidRef(s+"meta") {
		return false
	}
	return len(parts) > 2 || !slices.Contains([]string{"heads", "tags", "remotes", "notes", "replace", "stash", "bisect"}, parts[1])
}
