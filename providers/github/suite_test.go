package github_test

import (
	"testing"

	"github.com/git-worklease/git-worklease/providers"
	"github.com/git-worklease/git-worklease/providers/providertest"
)

// project is a repository with something of each kind.
func project() []thing {
	return []thing{
		{number: 1, title: "Plain"},
		{number: 2, title: "Needs others", blocked: []string{"acme/app#1", "acme/lib#7"}, labels: []string{"bug", "Priority: High"}},
		{number: 3, title: "Whole", subs: []string{"acme/app#4", "acme/app#5"}, milestone: "1.0", assigned: []string{"alice", "bob"}},
		{number: 4, title: "Part", parent: "acme/app#3", labels: []string{"p0"}},
		{number: 5, title: "Part that is done", parent: "acme/app#3", closed: true, reason: "completed"},
		{number: 6, title: "Begun", labels: []string{"In Progress", "P4"}, assigned: []string{"alice"}},
		{number: 7, title: "A change", pull: true, body: "Fixes #1, closes acme/app#2 and `fixes #6`."},
		{number: 8, title: "A draft", pull: true, draft: true, body: "resolves: https://github.com/Acme/App/issues/1"},
		{number: 9, title: "By words", body: "Depends on #5, #1 and #99\n\n- [ ] #6\n- [x] #4\n"},
		{number: 10, title: "Blocked by what nobody sees", reason: "reopened", blocked: []string{"acme/app#5"}, hidden: 1},
		{repo: "acme/lib", number: 7, title: "Elsewhere"},
	}
}

func need(key providers.Key, text, kind string, state providers.State) providers.Need {
	return providers.Need{Key: key, Text: text, Kind: kind, State: state}
}

func listed() []providers.Item {
	const page = "https://github.com/acme/app/"
	change, draft := providers.Pull{ID: "#7", URL: page + "pull/7"}, providers.Pull{ID: "#8", URL: page + "pull/8", Draft: true}
	app := func(n string) providers.Key { return providers.Key("github:acme/app#" + n) }
	return []providers.Item{
		{Key: app("4"), ID: "#4", Title: "Part", URL: page + "issues/4", State: providers.Open, Opening: providers.OpenedOnce, Status: "open", Priority: providers.Urgent, Labels: []string{"p0"}, Parent: app("3")},
		{Key: app("2"), ID: "#2", Title: "Needs others", State: providers.Open, Opening: providers.OpenedOnce, Status: "open", Priority: providers.High, Labels: []string{"bug", "Priority: High"},
			Needs: []providers.Need{need(app("1"), "#1", "blocked-by", providers.Open), need("github:acme/lib#7", "acme/lib#7", "blocked-by", providers.Open)}, Pulls: []providers.Pull{change}},
		{Key: app("6"), ID: "#6", Title: "Begun", State: providers.Started, Opening: providers.OpenedOnce, Status: "open", Priority: providers.Lowest, Labels: []string{"In Progress", "P4"}, Assignees: []string{"alice"}},
		{Key: app("1"), ID: "#1", Title: "Plain", State: providers.Open, Opening: providers.OpenedOnce, Status: "open", Pulls: []providers.Pull{change, draft}},
		{Key: app("3"), ID: "#3", Title: "Whole", State: providers.Open, Opening: providers.OpenedOnce, Status: "open", Assignees: []string{"alice", "bob"}, Milestone: "1.0",
			Needs: []providers.Need{need(app("4"), "#4", "sub-issue", providers.Open), need(app("5"), "#5", "sub-issue", providers.Done)}},
		{Key: app("7"), ID: "#7", Title: "A change", URL: page + "pull/7", State: providers.Started, Status: "open"},
		{Key: app("8"), ID: "#8", Title: "A draft", State: providers.Started, Status: "draft"},
		{Key: app("9"), ID: "#9", Title: "By words", State: providers.Open, Opening: providers.OpenedOnce, Status: "open", Needs: []providers.Need{
			need(app("5"), "#5", "depends-on", providers.Done), need(app("1"), "#1", "depends-on", providers.Open), need(app("99"), "#99", "depends-on", ""),
			need(app("6"), "#6", "task-list", providers.Started)}},
		{Key: app("10"), ID: "#10", Title: "Blocked by what nobody sees", State: providers.Open, Opening: providers.OpenedAgain, Status: "open",
			Needs: []providers.Need{need(app("5"), "#5", "blocked-by", providers.Done), need("", "1 items that this token can't see", "blocked-by", "")}},
	}
}

func TestSuite(t *testing.T) {
	for name, cursors := range map[string]bool{"numbered pages": false, "cursors": true} {
		t.Run(name, func(t *testing.T) {
			providertest.Run(t, func(t *testing.T) providertest.World {
				s := newSite(t, project()...)
				s.cursors = cursors
				return world(s)
			})
		})
	}
}

func world(s *site) providertest.World {
	o := s.options(s.t.TempDir())
	o.Close = true
	return providertest.World{
		Provider: s.open(o), Spellings: spellings, NotKeys: notKeys, Items: listed(), Missing: "github:acme/app#4711",
		Change: func(_ *testing.T, key providers.Key, title string) {
			s.change(string(key[len("github:"):]), func(th *thing) { th.title = title })
		},
		Startable: "github:acme/app#1", Finishable: "github:acme/app#6",
	}
}

// TestOpening: an open issue says whether it was closed before, where the server knows.
func TestOpening(t *testing.T) {
	for name, test := range map[string]struct {
		thing thing
		want  providers.Opening
	}{
		"never closed":      {thing{}, providers.OpenedOnce},
		"opened again":      {thing{reason: "reopened"}, providers.OpenedAgain},
		"another reason":    {thing{reason: "completed"}, ""},
		"an older server":   {thing{older: true}, ""},
		"closed":            {thing{closed: true, reason: "completed"}, ""},
		"closed, older":     {thing{closed: true, older: true}, ""},
		"a pull request":    {thing{pull: true}, ""},
		"a pull, once more": {thing{pull: true, reason: "reopened"}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			th := test.thing
			th.number = 1
			s := newSite(t, th)
			p := s.open(s.options(""))
			item, err := p.Read(t.Context(), "github:acme/app#1")
			if err != nil || item.Opening != test.want {
				t.Errorf("%+v, %v", item, err)
			}
			l, err := p.List(t.Context(), nil)
			if err != nil || !th.closed && l.Items[0].Opening != test.want {
				t.Errorf("%+v, %v", l, err)
			}
		})
	}
}
