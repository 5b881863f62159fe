package gitexec

import (
	"context"
	"fmt"
	"strconv"
	"strings"
)

// Version is the first two numbers of a version of git. The zero value is older than all.
type Version [2]int

func (v Version) String() string { return fmt.Sprintf("%d.%d", v[0], v[1]) }

// Before says whether v is older than o.
func (v Version) Before(o Version) bool { return v[0] < o[0] || v[0] == o[0] && v[1] < o[1] }

// Version asks git for its version: the first two numbers, and all that it says of it. Not ok: it says nothing that can be read.
func (g *Git) Version(ctx context.Context) (v Version, full string, ok bool, err error) {
	out, err := g.Output(ctx, "version")
	if err != nil {
		return v, "", false, err
	}
	v, full, ok = ParseVersion(string(out))
	return v, full, ok, nil
}

// ParseVersion reads what `git version` prints: "git version 2.39.5", with whatever a vendor adds.
func ParseVersion(out string) (v Version, full string, ok bool) {
	full, _, _ = strings.Cut(strings.TrimPrefix(strings.TrimSpace(out), "git version "), "\n")
	numbers := strings.Split(full, ".")
	if len(numbers) < 2 {
		return v, full, false
	}
	for i := range v {
		n, err := strconv.ParseUint(numbers[i], 10, 31)
		if err != nil {
			return Version{}, full, false
		}
		v[i] = int(n)
	}
	return v, full, true
}
