package queue

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/git-worklease/git-worklease/lease"
	"github.com/git-worklease/git-worklease/providers"
)

// The members of a claim's meta that are the queue's.
const (
	// metaMark begins the names of those that say what was announced at the tracker, by item: "announced:backlogmd:task-7".
	metaMark = "announced:"
	// metaOpening begins the names of those that say how often an item was open when it was claimed.
	metaOpening = "opening:"
	// MetaBranch is the branch that the work is on.
	MetaBranch = "branch"
	// MetaTip is the commit that the branch ended with.
	MetaTip = "tip"
)

// IsNote says whether a member of a claim's meta is a note of the queue's for itself.
func IsNote(name string) bool {
	return strings.HasPrefix(name, metaMark) || strings.HasPrefix(name, metaOpening)
}

// MarkMeta is the meta of a claim that says what was announced for an item.
func MarkMeta(key providers.Key, m providers.Mark) (name, value string, err error) {
	data, err := json.Marshal(m)
	if err != nil {
		return "", "", err
	}
	if name = metaMark + string(key); len(name) > lease.MaxName || len(data) > lease.MaxText {
		return "", "", fmt.Errorf("%s: what was announced is too long to be kept", key)
	}
	return name, string(data), nil
}

// MarkOf is what a claim has announced for its resource; zero where it has announced nothing, or nothing that can be read.
func MarkOf(r *lease.Record) providers.Mark {
	var m providers.Mark
	if r == nil || json.Unmarshal([]byte(r.Meta[metaMark+string(r.Resource)]), &m) != nil {
		return providers.Mark{}
	}
	return m
}

// joined is what one announcement after another has changed.
func joined(first, then providers.Mark) providers.Mark {
	m := providers.Mark{
		Status: then.Status, WasStatus: then.WasStatus, Assigned: union(first.Assigned, then.Assigned), Labels: union(first.Labels, then.Labels),
	}
	switch {
	case then.Status == "":
		m.Status, m.WasStatus = first.Status, first.WasStatus
	case first.Status == then.WasStatus && first.Status != "":
		m.WasStatus = first.WasStatus
	}
	return m
}

// union is nil where both are empty.
func union(a, b []string) []string {
	all := slices.Concat(a, b)
	slices.Sort(all)
	return slices.Compact(all)
}

// Inherited is what a new claim keeps of the meta of the one before it: what that has announced is still to be taken back.
func Inherited(before *lease.Record) map[string]string {
	name := metaMark + string(before.Resource)
	if MarkOf(before).IsZero() {
		return nil
	}
	return map[string]string{name: before.Meta[name]}
}

func openingOf(r *lease.Record) providers.Opening {
	return providers.Opening(r.Meta[metaOpening+string(r.Resource)])
}
