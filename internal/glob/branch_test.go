package glob

import (
	"errors"
	"maps"
	"strings"
	"testing"
)

func TestBranch(t *testing.T) {
	cases := []struct {
		pattern, branch string
		want            map[string]string // nil: no match
	}{
		{"issue/{id}-*", "issue/42-login", map[string]string{"id": "42"}},
		{"issue/{id}-*", "issue/42-login-form", map[string]string{"id": "42"}},
		{"issue/{id}-*", "issue/42", nil},
		{"issue/{id}-*", "issue/-x", nil},
		{"issue/{id}-*", "issue/a/b-c", nil},
		{"issue/{id}-*", "x/issue/42-login", nil},
		{"{team}/{id}/**", "core/7/a/b", map[string]string{"team": "core", "id": "7"}},
		{"{team}/{id}/**", "core/7", nil},
		{"{a}{b}", "xyz", map[string]string{"a": "x", "b": "yz"}},
		{"main", "main", map[string]string{}},
		{"main", "main2", nil},
		{"main", "Main", nil},
		{"**", "a/b", map[string]string{}},
		{"**/fix", "fix", map[string]string{}},
		{"**/fix", "a/b/fix", map[string]string{}},
		{"**/fix", "afix", nil},
		{"a/**/b", "a/b", map[string]string{}},
		{"a/**/b", "a/x/y/b", map[string]string{}},
		{"*", "a/b", nil},
		{"r[0-9].?", "r1.2", map[string]string{}},
		{"r[!0-9]", "r/", nil},
		{"r[!-]x", "r/x", nil},
		{"r[!-]x", "rax", map[string]string{}},
		{"a.b", "axb", nil},
		{"été/{n}", "été/1", map[string]string{"n": "1"}},
	}
	for _, c := range cases {
		b, err := ParseBranch(c.pattern)
		if err != nil {
			t.Errorf("%q: %v", c.pattern, err)
			continue
		}
		got, ok := b.Match(c.branch)
		if ok != (c.want != nil) || !maps.Equal(got, c.want) {
			t.Errorf("%q against %q: %v, %v; want %v", c.pattern, c.branch, got, ok, c.want)
		}
	}
	if _, ok := (&Branch{}).Match(""); ok {
		t.Error("a pattern that was not read matches")
	}
}

func TestBadBranch(t *testing.T) {
	for text, want := range map[string]string{
		"": "empty", "a//b": "empty part", "/a": "empty part", "a/": "empty part", "./a": "or ..", "{": "a name in braces", "}": "a name in braces", "{}": "a name in braces",
		"{Id}": "a name in braces", "{1}": "a name in braces", "{a-b}": "a name in braces", "{a}{a}": "a name twice", `a\b`: "no branch", "a b": "no branch", "a..b": "no branch",
		"a[": "unfinished", "[z-a]": "unfinished", "[[:alpha:]]": "such as [a-z]", strings.Repeat("a", 1025): "1024 bytes",
	} {
		_, err := ParseBranch(text)
		if !errors.Is(err, ErrPattern) || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %q", text, err, want)
		}
	}
}

func TestFill(t *testing.T) {
	if got := Fill("github:{o}/app#{id}", map[string]string{"o": "{id}", "id": "7"}); got != "github:{id}/app#7" {
		t.Errorf("got %s", got)
	}
	names, err := Wanted("github:{o}/app#{id}")
	if err != nil || strings.Join(names, " ") != "o id" {
		t.Errorf("got %v, %v", names, err)
	}
	for _, bad := range []string{"{", "a}", "{a", "{A}", "{a}}"} {
		if _, err := Wanted(bad); !errors.Is(err, ErrPattern) {
			t.Errorf("%q: %v", bad, err)
		}
	}
}

func FuzzBranch(f *testing.F) {
	f.Add("issue/{id}-*", "issue/42-login")
	f.Add("**/[!-a]{x}", "a/b")
	f.Add("[[a]", "[")
	f.Fuzz(func(t *testing.T, pattern, branch string) {
		b, err := ParseBranch(pattern)
		if err != nil {
			if !errors.Is(err, ErrPattern) {
				t.Fatalf("not ErrPattern: %v", err)
			}
			return
		}
		captured, ok := b.Match(branch)
		if !ok {
			return
		}
		for name, value := range captured {
			if value == "" || strings.Contains(value, "/") || !strings.Contains(branch, value) {
				t.Errorf("%q against %q: %s is %q", pattern, branch, name, value)
			}
		}
	})
}
