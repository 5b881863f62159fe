package providers_test

import (
	"context"
	"errors"
	"testing"

	"github.com/git-worklease/git-worklease/providers"
)

// named is a tracker that knows some texts.
type named struct {
	name  string
	known map[string]providers.Key
	err   error
}

func (n named) Name() string   { return n.name }
func (n named) Source() string { return n.name }
func (n named) Parse(text string) (providers.Key, error) {
	if key, ok := n.known[text]; ok {
		return key, nil
	}
	return "", n.err
}
func (n named) List(context.Context, func(int, int)) (*providers.Listing, error) { panic("asked") }
func (n named) Read(context.Context, providers.Key) (*providers.Item, error)     { panic("asked") }

func TestResolve(t *testing.T) {
	a := named{"a", map[string]providers.Key{"1": "a:1", "a:1": "a:1", "https://a/1": "a:1", "2": "a:2"}, providers.ErrNotKey}
	b := named{"b", map[string]providers.Key{"1": "b:1", "b:1": "b:1", "x": "b:x"}, &providers.KeyError{Provider: "b", Text: "?", Fault: "wide digits", Want: "42"}}
	set := providers.Set{a, b}
	for text, want := range map[string]providers.Key{"a:1": "a:1", "b:1": "b:1", "https://a/1": "a:1", "2": "a:2", "x": "b:x"} {
		if got, p, err := set.Resolve(text); got != want || err != nil || p.Name() != want.Scheme() {
			t.Errorf("%q: %q, %v, %v", text, got, p, err)
		}
	}
	for text, want := range map[string]error{"1": providers.ErrAmbiguous, "4": providers.ErrNotKey, "": providers.ErrNotKey, "c:1": providers.ErrNotKey} {
		if got, p, err := set.Resolve(text); got != "" || p != nil || !errors.Is(err, want) {
			t.Errorf("%q: %q, %v, %v", text, got, p, err)
		}
	}
	var ambiguous *providers.AmbiguousKeyError
	if _, _, err := set.Resolve("1"); !errors.As(err, &ambiguous) || len(ambiguous.Keys) != 2 {
		t.Errorf("%v", err)
	}
	if _, _, err := set.Resolve("4"); !errors.As(err, new(*providers.KeyError)) {
		t.Errorf("%v", err)
	}
	if _, _, err := (providers.Set{a}).Resolve("c:1"); !errors.Is(err, providers.ErrNotKey) {
		t.Errorf("%v", err)
	}
	if _, _, err := (providers.Set)(nil).Resolve("42"); !errors.Is(err, providers.ErrNoProvider) {
		t.Errorf("%v", err)
	}
	if set.Of("a:9") == nil || set.Of("c:9") != nil || set.Of("9") != nil {
		t.Error("of")
	}
}
