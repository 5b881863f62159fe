package conform

import (
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"

	"github.com/git-worklease/git-worklease/lease"
	"github.com/git-worklease/git-worklease/providers"
)

// Sound says what keeps a key from being claimed, or from staying what it is.
func Sound(p providers.Provider, key providers.Key) error {
	r, err := lease.ParseResource(string(key))
	if err != nil {
		return fmt.Errorf("%q can't be claimed: %w", key, err)
	}
	if string(r) != string(key) {
		return fmt.Errorf("%q can't be claimed: it becomes %q", key, r)
	}
	if key.Scheme() != p.Name() {
		return fmt.Errorf("%q is not of %q", key, p.Name())
	}
	again, err := p.Parse(string(key))
	if err != nil {
		return fmt.Errorf("%q can't be read: %w", key, err)
	}
	if again != key {
		return fmt.Errorf("%q becomes %q", key, again)
	}
	return nil
}

// Odd tries texts that are nearly the one given, each of which is a sound key or none.
func Odd(p providers.Provider, text string) error {
	var wrong []error
	for _, odd := range []string{" " + text, text + "\n", text + "\x00", text + "/../x", strings.ToUpper(text), text + text, "", "\xff" + text} {
		switch got, err := p.Parse(odd); {
		case err == nil:
			wrong = append(wrong, Sound(p, got))
		case !errors.Is(err, providers.ErrNotKey):
			wrong = append(wrong, fmt.Errorf("%q: %w", odd, err))
		}
	}
	return errors.Join(wrong...)
}

// Words says which of an item's words are missing or unknown.
func Words(i *providers.Item) error {
	var wrong []error
	if i.ID == "" || i.Version == "" || i.Status == "" {
		wrong = append(wrong, fmt.Errorf("%s has no id (%q), version (%q) or status (%q)", i.Key, i.ID, i.Version, i.Status))
	}
	if !known(i.State) {
		wrong = append(wrong, fmt.Errorf("%s has the state %q", i.Key, i.State))
	}
	if i.Opening != "" && i.Opening != providers.OpenedOnce && i.Opening != providers.OpenedAgain {
		wrong = append(wrong, fmt.Errorf("%s has the opening %q", i.Key, i.Opening))
	}
	if i.Priority < providers.NoPriority || i.Priority > providers.Lowest {
		wrong = append(wrong, fmt.Errorf("%s has the priority %d", i.Key, i.Priority))
	}
	for _, n := range i.Needs {
		if n.Key == "" && n.Text == "" || n.State != "" && !known(n.State) {
			wrong = append(wrong, fmt.Errorf("%s needs %+v", i.Key, n))
		}
	}
	return errors.Join(wrong...)
}

func known(s providers.State) bool {
	switch s {
	case providers.Open, providers.Started, providers.Waiting, providers.Done, providers.Cancelled:
		return true
	}
	return false
}

// Same says whether an item that was read alone is the one that was listed, which knows less of the states of others.
func Same(listed, read providers.Item) bool {
	read.Needs = slices.Clone(read.Needs)
	for n := range min(len(read.Needs), len(listed.Needs)) {
		if listed.Needs[n].State == "" {
			read.Needs[n].State = ""
		}
	}
	return reflect.DeepEqual(Normal(listed), Normal(read))
}

// Normal makes no difference between none and nil.
func Normal(i providers.Item) providers.Item {
	i.Labels, i.Assignees = append([]string{}, i.Labels...), append([]string{}, i.Assignees...)
	i.Needs, i.Pulls = append([]providers.Need{}, i.Needs...), append([]providers.Pull{}, i.Pulls...)
	i.Updated = i.Updated.UTC()
	return i
}
