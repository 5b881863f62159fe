package lease

import (
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func TestCovers(t *testing.T) {
	cases := []struct {
		resource Resource
		file     string
		want     bool
	}{
		{"path:db/migrations", "db/migrations/7.sql", true},
		{"path:db/migrations", "db/migrations", true},
		{"path:db/migrations", "db/migrations2/7.sql", false},
		{"path:db/migrations", "db", false},
		{"path:DB/Migrations", "db/migrations/7.sql", true},
		{"path:.", "any/thing", true},
		{"path:src/*/gen", "src/a/gen/x", true},
		{"path:src/*/gen", "src/a/b/gen", false},
		{"path:src/a*c", "src/abc", true},
		{"path:src/a*c", "src/ab", false},
		{"path:src/axb", "src/a*b", false},
		{"path:src/a*b", "src/a*b", true},
		{"path:café", "cafe\u0301/x", true},
		{"path:a/b", `a\b`, true},
		{"path:a", "a/\xff", true},
		{"task:db", "db", false},
		{"path:/x", "x", false},
		{"path:a/../b", "b", false},
	}
	for _, c := range cases {
		if got := Covers(c.resource, c.file); got != c.want {
			t.Errorf("%s, %q: %v", c.resource, c.file, got)
		}
	}
}

// TestCoversIsOverlap: a claim covers a file exactly if it overlaps with a claim of what is below the file, or of the file itself.
func TestCoversIsOverlap(t *testing.T) {
	segment := rapid.StringMatching(`[ab*]{1,3}`)
	rapid.Check(t, func(t *rapid.T) {
		claimed := strings.Join(rapid.SliceOfN(segment, 1, 3).Draw(t, "claimed"), "/")
		resource, err := PathResource(claimed)
		if err != nil {
			t.Skip(err)
		}
		file := strings.ReplaceAll(strings.Join(rapid.SliceOfN(segment, 1, 4).Draw(t, "file"), "/"), "*", "c")
		deep := len(strings.Split(file, "/")) >= len(strings.Split(strings.TrimPrefix(string(resource), "path:"), "/")) // without a "/**" at its end
		if got, want := Covers(resource, file), deep && Overlap(resource, Resource("path:"+file)); got != want {
			t.Errorf("%s covers %s: %v, want %v", resource, file, got, want)
		}
	})
}
