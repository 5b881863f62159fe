package linear

import (
	"errors"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/git-worklease/git-worklease/providers"
)

// spellings are how keys may be written where ENG and OPS of acme are set up.
var spellings = map[providers.Key][]string{
	"linear:eng-123": {
		"ENG-123", "eng-123", "Eng-123", "linear:ENG-123", "linear:eNg-123", "https://linear.app/acme/issue/ENG-123/some-title", "https://linear.app/acme/issue/ENG-123",
		"https://linear.app/acme/issue/eng-123/", "HTTPS://Linear.App/ACME/issue/ENG-123/some-title?a=b/c#comment-1f", "http://linear.app/acme/issue/ENG-123#x", "linear.app/acme/issue/ENG-123",
		"linear://acme/issue/ENG-123/some-title",
	},
	"linear:ops-1":   {"OPS-1", "https://linear.app/acme/issue/OPS-1/ü"},
	"linear:foo-7":   {"linear:FOO-7", "https://linear.app/acme/issue/FOO-7"},
	"linear:1m-12":   {"linear:1M-12"},
	"linear:eng-999": {"ENG-999"},
}

// faulty are texts that are nearly keys, with a part of what is said of them.
var faulty = map[string]string{
	"ENG-0123": "begins with 0", "linear:ENG-007": "begins with 0", "ENG-0": "begins with 0", "ENG-１２３": "not 0 to 9", "linear:eng-1２": "not 0 to 9", "eng-": "no number", "ENG-12a": "not a number",
	"ENG-12-a": "not a number", "ENG--1": "not a number", "eng-1234567890": "too large", "FOO-7": "team FOO is not set up", "linear:": "no team", "linear:123": "no number", "linear:ÉNG-1": "no team",
	"linear:ENG 1": "no team", "https://linear.app/acme/issue/ENG-0123/x": "begins with 0", "https://linear.app/other/issue/ENG-123/x": "of workspace other, not of acme",
	"https://linear.app/acme/project/ENG-123": "no issue", "https://linear.app/acme/issue": "no issue", "https://linear.app/acme/issue/ENG-123/x/y": "no issue",
	"https://linear.app/acme/issue/ENG-123/..": "no issue", "https://linear.app//issue/ENG-1": "no issue", "https://linear.app/": "no issue", "https://linear.app/acme/issue/ENG-123/a b": "no issue",
	"linear:acme/ENG-1": "no team", "linear:ENG-1 ": "not a number", "linear.app/acme/issue/ENG-１": "not 0 to 9",
}

// foreign are texts that are not Linear's at all.
var foreign = []string{
	"", "42", "#42", "ENG", "ENG123", "ENG_123", "task:login", "bd-a1b2", "foo-x1", "K\u212a-1", "ÉNG-1", "https://github.com/acme/app/issues/42", "https://linear.app.evil.example/acme/issue/ENG-1",
	"https://evil.example/linear.app/acme/issue/ENG-1", "other:ENG-1", "LINEAR:ENG-1", " ENG-123", "-1", "a-very-long-branch-name",
}

func notKeys() []string { return slices.Concat(foreign, slices.Collect(maps.Keys(faulty))) }

func testProvider(t testing.TB, opts Options) *Provider {
	t.Helper()
	p, err := Open(opts)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func TestNearlyKeys(t *testing.T) {
	p := testProvider(t, Options{Teams: []string{"ENG", "OPS"}, Workspace: "acme"})
	for text, want := range faulty {
		_, err := p.Parse(text)
		var nearly *providers.KeyError
		if !errors.As(err, &nearly) || !strings.Contains(nearly.Fault, want) || nearly.Text != text {
			t.Errorf("%q: %v", text, err)
		}
	}
	for _, text := range foreign {
		if _, err := p.Parse(text); !errors.Is(err, providers.ErrNotKey) || errors.As(err, new(*providers.KeyError)) {
			t.Errorf("%q: %v", text, err)
		}
	}
	_, err := p.Parse("ENG-007")
	if want := `"ENG-007" is no key of linear: its number begins with 0; expected ENG-123, linear:ENG-123, or its address on linear.app`; err == nil || err.Error() != want {
		t.Errorf("%v", err)
	}
	if got, err := testProvider(t, Options{Teams: []string{"ENG"}}).Parse("https://linear.app/any/issue/ENG-1"); got != "linear:eng-1" || err != nil {
		t.Errorf("without a workspace: %q, %v", got, err)
	}
}

// FuzzParse: whatever becomes a key is one of its own spellings, and has but one number and one case.
func FuzzParse(f *testing.F) {
	for key, texts := range spellings {
		f.Add(string(key))
		for _, text := range texts {
			f.Add(text)
		}
	}
	for _, text := range notKeys() {
		f.Add(text)
	}
	p := testProvider(f, Options{Teams: []string{"ENG"}})
	f.Fuzz(func(t *testing.T, text string) {
		key, err := p.Parse(text)
		if err != nil {
			if key != "" || !errors.Is(err, providers.ErrNotKey) {
				t.Fatalf("%q: %q, %v", text, key, err)
			}
			return
		}
		again, err := p.Parse(string(key))
		if again != key || err != nil || string(key) != strings.ToLower(string(key)) || !strings.Contains(strings.ToLower(text), strings.TrimPrefix(string(key), "linear:")) {
			t.Fatalf("%q is %q is %q, %v", text, key, again, err)
		}
	})
}
