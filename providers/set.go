package providers

import (
	"errors"
	"fmt"
	"slices"
	"strings"
)

// Set is the trackers of a repository, in the order of its settings. The zero value has none.
type Set []Provider

// Scheme is the name of the tracker that a key belongs to; empty where it has none.
func (k Key) Scheme() string {
	scheme, rest, found := strings.Cut(string(k), ":")
	if !found || rest == "" || strings.HasPrefix(rest, "//") {
		return ""
	}
	return scheme
}

// Of is the tracker of a key; nil where there is none of that name.
func (s Set) Of(k Key) Provider {
	i := slices.IndexFunc(s, func(p Provider) bool { return p.Name() == k.Scheme() })
	if i < 0 {
		return nil
	}
	return s[i]
}

// Resolve finds the one item that a person means, without asking anybody, and the tracker that it is of. It returns [ErrNotKey], wrapped, where no tracker
// calls anything so, the tracker's [*KeyError] where one nearly does, [*AmbiguousKeyError] where several do, and [ErrNoProvider], wrapped, for a
// key of a tracker that is not among them, or where there are none at all.
func (s Set) Resolve(text string) (Key, Provider, error) {
	if scheme := Key(text).Scheme(); scheme != "" {
		if p := s.Of(Key(text)); p != nil {
			key, err := p.Parse(text)
			return key, p, err
		}
	}
	if len(s) == 0 {
		return "", nil, fmt.Errorf("%q: %w", text, ErrNoProvider)
	}
	var keys []Key
	var found Provider
	var nearly error
	for _, p := range s {
		switch key, err := p.Parse(text); {
		case err == nil:
			keys, found = append(keys, key), p
		case !errors.Is(err, ErrNotKey):
			return "", nil, err
		case nearly == nil && errors.As(err, new(*KeyError)):
			nearly = err
		}
	}
	switch {
	case len(keys) > 1:
		return "", nil, &AmbiguousKeyError{Text: text, Keys: keys}
	case len(keys) == 1:
		return keys[0], found, nil
	case nearly != nil:
		return "", nil, nearly
	default:
		return "", nil, fmt.Errorf("%q: %w", text, ErrNotKey)
	}
}
