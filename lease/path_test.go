package lease

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// TestCase28PathsAreNormalised: whatever a path is written like, there is one resource for it, or a reason why there is none.
func TestCase28PathsAreNormalised(t *testing.T) {
	tests := []struct {
		path string
		want Resource
		err  error
	}{
		{"src", "path:src", nil},
		{"db/migrations", "path:db/migrations", nil},
		{`db\migrations\`, "path:db/migrations", nil},
		{"./src//a/./b/", "path:src/a/b", nil},
		{"src/**", "path:src", nil},
		{"src/**/**/", "path:src", nil},
		{".", "path:.", nil},
		{"./", "path:.", nil},
		{"**", "path:.", nil},
		{"./**", "path:.", nil},
		{"src/*/x", "path:src/*/x", nil},
		{"*.go", "path:*.go", nil},
		{"...", "path:...", nil},
		{".env", "path:.env", nil},
		{"e\u0301t\u0301.txt", "path:\u00e9t\u0301.txt", nil},
		{"SRC", "path:SRC", nil},
		{"a:b/c", "", ErrBadPath},
		{"ab:c", "path:ab:c", nil},
		{"x/c:y", "path:x/c:y", nil},
		{`C:\src`, "", ErrBadPath},
		{"c:src", "", ErrBadPath},
		{"./c:src", "", ErrBadPath},
		{"/src", "", ErrBadPath},
		{`\src`, "", ErrBadPath},
		{`\\host\share`, "", ErrBadPath},
		{"..", "", ErrBadPath},
		{"src/../x", "", ErrBadPath},
		{"src/..", "", ErrBadPath},
		{"**/x", "", ErrBadPath},
		{"src/**/x", "", ErrBadPath},
		{"src/a**", "", ErrBadPath},
		{"", "", ErrBadResource},
		{" src", "", ErrBadResource},
		{"src /", "", ErrBadResource},
		{"./ src", "", ErrBadResource},
		{"src\n", "", ErrBadResource},
		{strings.Repeat("x", 1020), "", ErrBadResource},
	}
	for _, tt := range tests {
		got, err := PathResource(tt.path)
		if got != tt.want || !errors.Is(err, tt.err) {
			t.Errorf("%q: %q, %v, want %q, %v", tt.path, got, err, tt.want, tt.err)
		}
	}
}

// TestPathsStayNormal: a normal path is its own normal form, so that a resource can be checked by parsing it again.
func TestPathsStayNormal(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		path := rapid.StringOfN(rapid.RuneFrom([]rune(`aB/\.*: é`+"e\u0301\u0338\u1fef")), 1, 12, -1).Draw(t, "path")
		r, err := PathResource(path)
		if err != nil {
			return
		}
		if again, err := ParseResource(string(r)); err != nil || again != r {
			t.Fatalf("%q became %q, and that %q, %v", path, r, again, err)
		}
	})
}

// TestCase40OverlapBySegments: segments decide, not the beginnings of names.
func TestCase40OverlapBySegments(t *testing.T) {
	tests := []struct {
		a, b Resource
		want bool
	}{
		{"path:src", "path:src", true},
		{"path:src", "path:src/a", true},
		{"path:src/a", "path:src/b", false},
		{"path:auth", "path:auth_admin", false},
		{"path:.", "path:any/thing", true},
		{"path:.", "path:.", true},
		{"path:src/*/x", "path:src/a", true},
		{"path:src/*/x", "path:src/a/y", false},
		{"path:src/*/x", "path:src/a/x/deep", true},
		{"path:*.go", "path:main.go", true},
		{"path:*.go", "path:main.rs", false},
		{"path:a*c", "path:*b*", true},
		{"path:a*c", "path:*b", false},
		{"path:*", "path:a/b", true},
		{"path:Src", "path:sRC/a", true},
		{"path:STRASSE", "path:straße", false},
		{"path:ÉTÉ", "path:e\u0301te\u0301", true},
		{"path:K", "path:\u212a", true},
		{"path:../x", "path:a", true},
		{"task:src", "path:src", false},
		{"task:src", "task:src", true},
		{"task:src", "task:src/a", false},
	}
	for _, tt := range tests {
		if Overlap(tt.a, tt.b) != tt.want || Overlap(tt.b, tt.a) != tt.want {
			t.Errorf("%s and %s: %t, %t", tt.a, tt.b, Overlap(tt.a, tt.b), Overlap(tt.b, tt.a))
		}
	}
}

// TestOverlapIsWhatPathsShare compares with trying every short path.
func TestOverlapIsWhatPathsShare(t *testing.T) {
	paths := shortPaths()
	segment := rapid.StringMatching(`([aAb]|[ab]\*|\*[ab]|\*|[aBb]{2}|[ab]\*[ab]|\*[ab]\*)`)
	pattern := rapid.Custom(func(t *rapid.T) Resource {
		return Resource("path:" + strings.Join(rapid.SliceOfN(segment, 1, 2).Draw(t, "segments"), "/"))
	})
	rapid.Check(t, func(t *rapid.T) {
		a, b := pattern.Draw(t, "a"), pattern.Draw(t, "b")
		want := false
		for _, p := range paths {
			if covers(a, p) && covers(b, p) {
				want = true
				break
			}
		}
		if Overlap(a, b) != want || Overlap(b, a) != want {
			t.Fatalf("%s and %s: %t, %t, want %t", a, b, Overlap(a, b), Overlap(b, a), want)
		}
	})
}

// shortPaths are all paths of one or two segments of up to four letters a and b.
func shortPaths() [][]string {
	words, names := []string{""}, []string{}
	for range 4 {
		var longer []string
		for _, w := range words {
			longer = append(longer, w+"a", w+"b")
		}
		words, names = longer, append(names, longer...)
	}
	var paths [][]string
	for _, x := range names {
		paths = append(paths, []string{x})
		for _, y := range names {
			paths = append(paths, []string{x, y})
		}
	}
	return paths
}

// covers says whether a path claim covers a path, as simply as it can be said.
func covers(r Resource, path []string) bool {
	segments := strings.Split(strings.TrimPrefix(string(r), "path:"), "/")
	if len(segments) > len(path) {
		return false
	}
	for i, s := range segments {
		if !matches(strings.ToLower(s), path[i]) {
			return false
		}
	}
	return true
}

func matches(pattern, text string) bool {
	switch {
	case pattern == "":
		return text == ""
	case pattern[0] == '*':
		return matches(pattern[1:], text) || text != "" && matches(pattern, text[1:])
	default:
		return text != "" && text[0] == pattern[0] && matches(pattern[1:], text[1:])
	}
}

// TestLongPathsAreListed: the refs of paths that are too long for a name of their own are found with the others.
func TestLongPathsAreListed(t *testing.T) {
	w := newWorld(t)
	alice, bob := w.actor("alice"), w.actor("bob")
	long := Resource("path:src/" + strings.Repeat("x", 300))
	alice.mustClaim(long)
	_, err := bob.Claim(t.Context(), req("path:src"))
	want(t, err, ErrHeld)
	bob.mustClaim(Resource(fmt.Sprintf("path:src/%sy", strings.Repeat("x", 299))))
}
