package config

import (
	"slices"
	"strconv"
	"strings"
)

// wantRequires describes a constraint.
const wantRequires = `version constraints such as ">= 0.2" or ">= 0.2, < 2"`

// version is up to four numbers; missing ones are 0.
type version [4]uint64

// parseVersion reads 1, 1.2, v1.2.3; what follows a dash or plus is dropped.
func parseVersion(s string) (v version, ok bool) {
	s = strings.TrimPrefix(s, "v")
	if end := strings.IndexAny(s, "-+"); end >= 0 {
		s = s[:end]
	}
	parts := strings.Split(s, ".")
	if len(parts) > len(v) {
		return v, false
	}
	for i, part := range parts {
		n, err := strconv.ParseUint(part, 10, 32)
		if err != nil {
			return v, false
		}
		v[i] = n
	}
	return v, true
}

// satisfies says whether a version fulfils a constraint: comparisons joined by commas, all of which must hold. A running
// version that is no number, as of a build from source, fulfils every one that is well formed.
func satisfies(running, constraint string) (satisfied, wellFormed bool) {
	have, released := parseVersion(running)
	satisfied = true
	for part := range strings.SplitSeq(constraint, ",") {
		part = strings.TrimSpace(part)
		number := strings.TrimLeft(part, "<>=")
		want, ok := parseVersion(strings.TrimSpace(number))
		holds, known := compare(have, part[:len(part)-len(number)], want)
		if !ok || !known {
			return false, false
		}
		satisfied = satisfied && (holds || !released)
	}
	return satisfied, true
}

func compare(have version, op string, want version) (holds, known bool) {
	order := slices.Compare(have[:], want[:])
	switch op {
	case ">=":
		return order >= 0, true
	case ">":
		return order > 0, true
	case "<=":
		return order <= 0, true
	case "<":
		return order < 0, true
	case "=", "==":
		return order == 0, true
	default:
		return false, false
	}
}
