package queue

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/git-worklease/git-worklease/lease"
	"github.com/git-worklease/git-worklease/providers"
)

func item(key providers.Key, changes ...func(*providers.Item)) providers.Item {
	i := providers.Item{Key: key, ID: string(key), State: providers.Open, Status: "To Do"}
	for _, change := range changes {
		change(&i)
	}
	return i
}

func needs(keys ...providers.Key) func(*providers.Item) {
	return func(i *providers.Item) {
		for _, k := range keys {
			i.Needs = append(i.Needs, providers.Need{Key: k, Text: string(k), Kind: "blocks"})
		}
	}
}

func started(i *providers.Item) { i.State, i.Status = providers.Started, "In Progress" }
func done(i *providers.Item)    { i.State, i.Status = providers.Done, "Done" }
func waiting(i *providers.Item) { i.State, i.Status = providers.Waiting, "Draft" }

func at(url string) func(*providers.Item) {
	return func(i *providers.Item) { i.URL = url }
}

func openedAgain(i *providers.Item) { i.Opening = providers.OpenedAgain }

func opened(o providers.Opening) func(*lease.View) {
	return func(v *lease.View) {
		v.Record.Meta = map[string]string{metaOpening + string(v.Resource): string(o)}
	}
}

func assigned(names ...string) func(*providers.Item) {
	return func(i *providers.Item) { i.Assignees = names }
}

func held(key providers.Key, takeable bool, changes ...func(*lease.View)) lease.View {
	v := lease.View{
		Resource: lease.Resource(key), State: lease.StandingHeld, Takeable: takeable,
		Record: &lease.Record{Resource: lease.Resource(key), Holder: lease.Holder{Agent: "bob", Session: "one"}},
	}
	for _, change := range changes {
		change(&v)
	}
	return v
}

func released(outcome lease.Outcome) func(*lease.View) {
	return func(v *lease.View) {
		v.State, v.Takeable = lease.StandingReleased, true
		v.Record.Release = &lease.Release{Outcome: outcome}
	}
}

func marked(m providers.Mark) func(*lease.View) {
	return func(v *lease.View) {
		name, value, err := MarkMeta(providers.Key(v.Resource), m)
		if err != nil {
			panic(err)
		}
		v.Record.Meta = map[string]string{name: value}
	}
}

func branched(v *lease.View) {
	v.Record.Meta = map[string]string{MetaBranch: "issue/1", MetaTip: "abc"}
}

// words are an entry's reasons in short.
func words(e Entry) string {
	var all []string
	for _, r := range e.Why {
		all = append(all, strings.TrimRight(fmt.Sprintf("%s:%s%s%s", r.Kind, r.Who, r.Key, r.Name), ":"))
	}
	return strings.Join(all, " ")
}

func TestReadiness(t *testing.T) {
	mark := providers.Mark{Status: "In Progress", WasStatus: "To Do", Assigned: []string{"@bob"}}
	tests := map[string]struct {
		item  providers.Item
		claim *lease.View
		facts Facts
		want  string
	}{
		"nobody has it":           {item: item("tt:1")},
		"closed":                  {item: item("tt:1", done, assigned("x")), want: "closed:Done"},
		"held":                    {item: item("tt:1"), claim: ptr(held("tt:1", false)), want: "claimed:bob/one"},
		"stale":                   {item: item("tt:1"), claim: ptr(held("tt:1", true))},
		"claims unread":           {item: item("tt:1"), facts: Facts{Blind: true}, want: "unknown"},
		"corrupt":                 {item: item("tt:1"), claim: &lease.View{Resource: "tt:1", State: lease.StandingCorrupt}, want: "unknown:corrupt"},
		"a draft":                 {item: item("tt:1", waiting), want: "waiting:Draft"},
		"begun without a claim":   {item: item("tt:1", started), want: "started:In Progress"},
		"assigned to another":     {item: item("tt:1", assigned("carol", "dan")), want: "assigned:carol, dan"},
		"assigned to this agent":  {item: item("tt:1", started, assigned("@Alice"))},
		"by a name of hers":       {item: item("tt:1", assigned("al")), facts: Facts{Names: []string{"AL"}}},
		"announced by the dead":   {item: item("tt:1", started, assigned("@bob")), claim: ptr(held("tt:1", true, marked(mark)))},
		"announced, and changed":  {item: item("tt:1", started, assigned("carol")), claim: ptr(held("tt:1", true, marked(mark))), want: "assigned:carol"},
		"given up":                {item: item("tt:1", started, assigned("@bob")), claim: ptr(held("tt:1", true, released(lease.OutcomeAbandoned), marked(mark)))},
		"done":                    {item: item("tt:1"), claim: ptr(held("tt:1", true, released(lease.OutcomeDone))), want: "answered:bob/onedone"},
		"in review":               {item: item("tt:1", started, assigned("@bob")), claim: ptr(held("tt:1", true, released(lease.OutcomeReview), marked(mark))), want: "answered:bob/onereview"},
		"again":                   {item: item("tt:1"), claim: ptr(held("tt:1", true, released(lease.OutcomeDone))), facts: Facts{Again: true}},
		"opened again":            {item: item("tt:1", openedAgain), claim: ptr(held("tt:1", true, released(lease.OutcomeDone), opened(providers.OpenedOnce)))},
		"opened again before":     {item: item("tt:1", openedAgain), claim: ptr(held("tt:1", true, released(lease.OutcomeDone), opened(providers.OpenedAgain))), want: "answered:bob/onedone"},
		"opened again, or before": {item: item("tt:1", openedAgain), claim: ptr(held("tt:1", true, released(lease.OutcomeDone))), want: "answered:bob/onedone"},
		"put back, or not pulled": {item: item("tt:1", at("backlog/tasks/task-1.md")), claim: ptr(held("tt:1", true, released(lease.OutcomeDone), marked(mark))), want: "answered:bob/onedone"},
		"put back":                {item: item("tt:1", at("https://tt.example/1")), claim: ptr(held("tt:1", true, released(lease.OutcomeReview), marked(mark)))},
		"a pull request":          {item: item("tt:1", func(i *providers.Item) { i.Pulls = []providers.Pull{{ID: "#7"}} }), want: "pull-request:#7"},
		"a branch":                {item: item("tt:1"), facts: Facts{Branches: &Branches{Of: map[providers.Key][]Branch{"tt:1": {{Name: "issue/1"}, {Name: "old", Merged: true}}}}}, want: "unmerged:issue/1"},
		"its branch is gone":      {item: item("tt:1"), claim: ptr(held("tt:1", true, released(lease.OutcomeReview), branched)), facts: Facts{Branches: without(true)}},
		"its branch is there":     {item: item("tt:1"), claim: ptr(held("tt:1", true, released(lease.OutcomeReview), branched)), facts: Facts{Branches: without(true, "issue/1")}, want: "answered:bob/onereview"},
		"its branch was merged":   {item: item("tt:1"), claim: ptr(held("tt:1", true, released(lease.OutcomeReview), branched)), facts: Facts{Branches: without(false)}, want: "answered:bob/onereview"},
		"branches were not read":  {item: item("tt:1"), claim: ptr(held("tt:1", true, released(lease.OutcomeReview), branched)), want: "answered:bob/onereview"},
		"needs one that is open":  {item: item("tt:1", needs("tt:2", "tt:3")), want: "needs:opentt:2tt:2"},
		"needs what is not there": {item: item("tt:1", needs("tt:9")), want: "needs-missing:tt:9tt:9"},
		"needs another tracker's": {item: item("tt:1", needs("u:9")), want: "needs-foreign:u:9u:9"},
		"needs what has no name":  {item: item("tt:1", func(i *providers.Item) { i.Needs = []providers.Need{{Text: "see wiki"}} }), want: "needs-foreign:see wiki"},
		"closed elsewhere":        {item: item("tt:1", func(i *providers.Item) { i.Needs = []providers.Need{{Key: "u:9", State: providers.Done}} })},
		"waits for itself":        {item: item("tt:1", needs("tt:1")), want: "needs-cycle:tt:1tt:1"},
		"reserved": {item: item("tt:1"), claim: &lease.View{
			Resource: "tt:1", State: lease.StandingReserved, Record: &lease.Record{Release: &lease.Release{ReservedFor: "carol"}},
		}, want: "reserved:carol"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			f := test.facts
			f.Agent, f.Schemes = "alice", map[string]bool{"tt": true}
			if test.claim != nil {
				f.Claims = []lease.View{*test.claim}
			}
			e := Judge([]providers.Item{test.item, item("tt:2"), item("tt:3", done)}, &f)[0]
			if got := words(e); got != test.want || e.Ready() != (test.want == "") {
				t.Errorf("%q, want %q", got, test.want)
			}
		})
	}
}

func ptr(v lease.View) *lease.View { return &v }

// without is a remote with some branches, where the commit of another was dropped or not.
func without(dropped bool, names ...string) *Branches {
	return &Branches{
		Has:     func(name string) bool { return slices.Contains(names, name) },
		Dropped: func(tip string) bool { return dropped && tip == "abc" },
	}
}

// TestCycles: those that wait for each other are named, whoever else waits for them waits, and a closed one breaks a cycle.
func TestCycles(t *testing.T) {
	items := []providers.Item{
		item("tt:1", needs("tt:2")), item("tt:2", needs("tt:3")), item("tt:3", needs("tt:1")), item("tt:4", needs("tt:1")),
		item("tt:5", needs("tt:6")), item("tt:6", needs("tt:5"), done),
		item("tt:7", needs("tt:8")), item("tt:8", needs("tt:7", "tt:1")),
	}
	want := []string{"needs-cycle:tt:2tt:2", "needs-cycle:tt:3tt:3", "needs-cycle:tt:1tt:1", "needs:opentt:1tt:1", "", "closed:Done", "needs-cycle:tt:8tt:8", "needs-cycle:tt:7tt:7 needs:opentt:1tt:1"}
	for _, shift := range []int{0, 3, 5} {
		turned := slices.Concat(items[shift:], items[:shift])
		for i, e := range Judge(turned, &Facts{Schemes: map[string]bool{"tt": true}}) {
			if got := words(e); got != want[(i+shift)%len(want)] {
				t.Errorf("%s: %q, want %q", e.Item.Key, got, want[(i+shift)%len(want)])
			}
		}
	}
}

// TestLongChain: a chain as long as a tracker may be is no matter of recursion.
func TestLongChain(t *testing.T) {
	const n = 30_000
	items := make([]providers.Item, n)
	for i := range items {
		items[i] = item(providers.Key(fmt.Sprintf("tt:%d", i)), needs(providers.Key(fmt.Sprintf("tt:%d", (i+1)%n))))
	}
	if got := cycles(items); len(got) != n {
		t.Errorf("%d are in the cycle", len(got))
	}
}

func TestMark(t *testing.T) {
	m := providers.Mark{Status: "Doing", WasStatus: "To Do", Assigned: []string{"bob"}, Labels: []string{"wip"}}
	v := held("tt:1", false, marked(m))
	if got := MarkOf(v.Record); fmt.Sprint(got) != fmt.Sprint(m) {
		t.Errorf("%+v", got)
	}
	for name, r := range map[string]*lease.Record{"none": nil, "no meta": {Resource: "tt:1"}, "garbage": {Resource: "tt:1", Meta: map[string]string{metaMark + "tt:1": "{"}}} {
		if got := MarkOf(r); !got.IsZero() {
			t.Errorf("%s: %+v", name, got)
		}
	}
	if _, _, err := MarkMeta(providers.Key(strings.Repeat("k", 200)), m); err == nil {
		t.Error("a name that is too long was taken")
	}
}
