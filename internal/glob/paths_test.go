package glob

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"
)

func TestPaths(t *testing.T) {
	cases := []struct {
		patterns []string
		yes, no  []string
	}{
		{[]string{"db/migrations/**"}, []string{"db/migrations/7.sql", "db/migrations/a/b"}, []string{"db/migrations", "db/x", "a/db/migrations/7.sql", "db/migrations2/x"}},
		{[]string{"db/migrations"}, []string{"db/migrations", "db/migrations/7.sql"}, []string{"db/migrations2", "x/db/migrations"}},
		{[]string{"db/migrations/"}, []string{"db/migrations/7.sql"}, []string{"db/migrations"}},
		{[]string{"/go.mod"}, []string{"go.mod"}, []string{"a/go.mod", "go.mod2"}},
		{[]string{"go.mod"}, []string{"go.mod", "a/b/go.mod"}, []string{"xgo.mod"}},
		{[]string{"*.sql"}, []string{"a.sql", "x/.sql", "x.sql/y"}, []string{"a.sqlx", "sql"}},
		{[]string{"build/"}, []string{"build/x", "a/build/x"}, []string{"build", "a/build"}},
		{[]string{"a/**/b"}, []string{"a/b", "a/x/b", "a/x/y/b/z"}, []string{"ab", "a/xb", "x/a/b"}},
		{[]string{"**/b/c"}, []string{"b/c", "x/b/c/d"}, []string{"b/x/c"}},
		{[]string{"src/*"}, []string{"src/a", "src/a/b"}, []string{"src", "src2/a"}},
		{[]string{"src/*.go"}, []string{"src/a.go"}, []string{"src/a/b.go"}},
		{[]string{"a?c", "x[0-9]y", "n[!a-z]n"}, []string{"abc", "x7y", "n0n"}, []string{"a/c", "xzy", "nbn", "n/n"}},
		{[]string{"x/a[!-b]c"}, []string{"x/a0c"}, []string{"x/a-c", "x/a/c"}},
		{[]string{"src/**", "!src/gen/**"}, []string{"src/a"}, []string{"src/gen/a"}},
		{[]string{"src/**", "!src/gen/**", "src/gen/keep"}, []string{"src/gen/keep"}, []string{"src/gen/a"}},
		{[]string{"!a", "a"}, []string{"a"}, []string{"b"}},
		{[]string{"**"}, []string{"a", "a/b", ".x"}, nil},
		{[]string{"*"}, []string{"a", "a/b", ".x"}, nil},
		{[]string{`\!a`, `b\*`, `\{x\}`, `\#`}, []string{"!a", "b*", "{x}", "#"}, []string{"a", "bc"}},
		{[]string{"cafe\u0301/**"}, []string{"café/x", "cafe\u0301/x"}, []string{"cafe/x"}},
		{[]string{"a/*"}, []string{"a/\xff"}, []string{"b/\xff"}},
		{nil, nil, []string{"a"}},
	}
	for _, c := range cases {
		set, err := ParsePaths(c.patterns)
		if err != nil {
			t.Errorf("%q: %v", c.patterns, err)
			continue
		}
		for want, paths := range map[bool][]string{true: c.yes, false: c.no} {
			for _, path := range paths {
				if set.Matches(ParsePath(path)) != want {
					t.Errorf("%q against %q: want %v", c.patterns, path, want)
				}
			}
		}
	}
}

func TestBadPaths(t *testing.T) {
	for text, want := range map[string]string{
		"": "it is empty", "!": "it is empty", "/": "it is empty", "a//b": "an empty part", "./a": ". or ..", "a/../b": ". or ..", "a//": "an empty part", "a/**//": "an empty part",
		"\x20a": "blank at an end", "\ta": "blank at an end", "a/{b,c}": "braces", "a}": "braces", `db\migrations`: "joined by /", "[[:alpha:]]": "such as [a-z]",
		"a[": "unfinished", `a\`: "unfinished", "a[]": "unfinished", "a[b/c]d": "unfinished", "\xff": "not UTF-8", strings.Repeat("a", 1025): "more than 1024 bytes",
	} {
		_, err := ParsePaths([]string{"ok", text})
		if !errors.Is(err, ErrPattern) || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %q", text, err, want)
		}
	}
}

// TestPathsAsGit compares with git itself, whose exclude patterns these are.
func TestPathsAsGit(t *testing.T) {
	dir := t.TempDir()
	git(t, dir, "init", "-q")
	paths := []string{
		"a", "b", "ab", "a.b", "a/a", "a/b", "a/ab", "a/.b", "ab/a", "a/b/c", "a/b/a", "a/c/b", "a/b/c/d", "b/a", "b/a/c", "b/b/a/b", "c/ab/a", "x-y", "x/y", "-", "a-b/c", "[a]", "a*b",
	}
	patterns := []string{
		"a", "/a", "a/", "/a/", "a/b", "/a/b", "*", "**", "/**", "a/**", "**/a", "**/a/**", "a/**/b", "a/*/b", "*b", "a*", "?", "a?", "*/b", "[ab]", "[!a]", "[^a]", "a/[!b]",
		"x[!a]y", "[a-c]/b", "[!a-b]/*", "a**", "**b", "a**b", "/*", "/*/", "*/", "a/**/", ".*", "*.*", "x?y", `\[a\]`, `a\*b`, "a/**/**/b", "**/**/b", "*-*", "[-]", "[!-]", "a/*c", "/**/b",
	}
	for _, pattern := range patterns {
		set, err := ParsePaths([]string{pattern})
		if err != nil {
			t.Errorf("%q: %v", pattern, err)
			continue
		}
		excluded := excluded(t, dir, pattern, paths)
		for _, path := range paths {
			if got, want := set.Matches(ParsePath(path)), slices.Contains(excluded, path); got != want {
				t.Errorf("%q against %q: %v, and git says %v", pattern, path, got, want)
			}
		}
	}
}

// excluded asks git which files a pattern excludes.
func excluded(t *testing.T, dir, pattern string, paths []string) []string {
	t.Helper()
	if err := os.WriteFile(filepath.Join(dir, "patterns"), []byte(pattern+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), "git", "-c", "core.excludesFile=patterns", "check-ignore", "-z", "--stdin", "--no-index")
	cmd.Dir, cmd.Stdin = dir, strings.NewReader(strings.Join(paths, "\x00")+"\x00")
	out, err := cmd.Output()
	var exit *exec.ExitError
	if err != nil && (!errors.As(err, &exit) || exit.ExitCode() != 1) { // 1: none
		t.Fatal(err)
	}
	return strings.Split(string(out), "\x00")
}

func git(t *testing.T, dir string, args ...string) string {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "git", args...)
	cmd.Dir = dir
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("git %v: %v\n%s", args, err, out)
	}
	return string(out)
}

func FuzzPaths(f *testing.F) {
	for _, pattern := range []string{"db/migrations/**", "*.sql", "!a/[!-b]/", `\{a\}`, "**/x/**/y?", "/**", "a[b-", "é/*"} {
		f.Add(pattern, "db/migrations/7.sql")
	}
	f.Fuzz(func(t *testing.T, pattern, path string) {
		if strings.ContainsRune(pattern, utf8.RuneError) {
			return // which the library takes for any byte that is no UTF-8
		}
		set, err := ParsePaths([]string{pattern})
		if err != nil {
			if !errors.Is(err, ErrPattern) {
				t.Fatalf("not ErrPattern: %v", err)
			}
			return
		}
		got := set.Matches(ParsePath(path))
		for i := range set.patterns { // the short cuts must not change what the library says
			set.patterns[i].literals, set.patterns[i].plain = nil, false
		}
		if set.Matches(ParsePath(path)) != got {
			t.Errorf("%q against %q: %v, and without short cuts %v", pattern, path, got, !got)
		}
	})
}
