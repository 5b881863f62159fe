package queue

import (
	"slices"
	"strings"

	"github.com/git-worklease/git-worklease/internal/config"
)

// ReadyView is the view that the next item is taken from where none is named and the policy has one of that name.
const ReadyView = "Ready"

// ParseView reads a table [views.NAME] of the policy:
//
//	sources    list   names of trackers; all
//	labels     list   labels that an item must have, all of them
//	without    list   labels that it must not have
//	assignee   text   whom it must be assigned to
//	milestone  text   the milestone that it must have
//	ready      bool   whether only items are shown that are ready; false
//	order      text   "priority", "tracker" or "updated"; "priority"
//
// trackers are the names of those that there are. It returns the table's own fault, and the keys that it does not know.
func ParseView(t *config.Table, trackers []string) (View, []config.Unknown, error) {
	v := View{
		Name: t.Name, Sources: t.Texts("sources"), Labels: t.Texts("labels"), Without: t.Texts("without"), Assignee: t.Text("assignee", ""),
		Milestone: t.Text("milestone", ""), Ready: t.Bool("ready", false), Order: Order(t.OneOf("order", string(ByPriority), string(ByTracker), string(ByUpdated))),
	}
	if slices.ContainsFunc(v.Sources, func(name string) bool { return !slices.Contains(trackers, name) }) {
		t.Bad("sources", "names of trackers that the policy has: "+strings.Join(trackers, ", "))
	}
	unknown, err := t.Done()
	return v, unknown, err
}
