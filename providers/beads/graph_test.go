package beads

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/git-worklease/git-worklease/providers"
)

// waiting is a provider of issues that are written as "ID STATUS KIND:TARGET…".
func waiting(t *testing.T, issues ...string) map[string]providers.Item {
	t.Helper()
	var lines []string
	for _, text := range issues {
		words := strings.Fields(text)
		var links []string
		for _, word := range words[2:] {
			kind, target, _ := strings.Cut(word, ":")
			metadata := "{}"
			if kind == "any" {
				kind, metadata = waitsFor, `{\"gate\":\"any-children\"}`
			}
			links = append(links, fmt.Sprintf(`{"issue_id":"demo-%s","depends_on_id":"%s","type":"%s","metadata":"%s"}`, words[0], target, kind, metadata))
		}
		lines = append(lines, fmt.Sprintf(`{"id":"demo-%s","status":"%s","dependencies":[%s]}`, words[0], words[1], strings.Join(links, ",")))
	}
	p := open(t, "", lines...)
	l, err := p.List(t.Context(), nil)
	if err != nil || !l.Complete() {
		t.Fatalf("%+v, %v", l, err)
	}
	items := map[string]providers.Item{}
	for _, item := range l.Items {
		items[strings.TrimPrefix(item.ID, "demo-")] = item
	}
	return items
}

// TestWaits: each kind of dependency.
func TestWaits(t *testing.T) {
	for _, test := range []struct {
		issues []string
		want   string
	}{
		{[]string{"a1 open blocks:demo-b1", "b1 open"}, "demo-b1 blocks open"},
		{[]string{"a1 open blocks:demo-b1", "b1 closed"}, "demo-b1 blocks done"},
		{[]string{"a1 open blocks:DEMO-B1", "b1 in_progress"}, "DEMO-B1 blocks started"},
		{[]string{"a1 open conditional-blocks:demo-b1", "b1 blocked"}, "demo-b1 conditional-blocks waiting"},
		{[]string{"a1 open blocks:demo-b1", "b1 tombstone"}, "demo-b1 blocks cancelled"},
		{[]string{"a1 open blocks:demo-b1", "b1 pinned"}, ""},
		{[]string{"a1 open blocks:demo-b1"}, "demo-b1 blocks ?"},
		{[]string{"a1 open blocks:other-b1"}, "other-b1! blocks ?"},
		{[]string{"a1 open blocks:external:app:login"}, "external:app:login! blocks ?"},
		{[]string{"a1 open blocks:demo-a1"}, "demo-a1 blocks open"},
		{[]string{"a1 open blocks:demo-b1 blocks:demo-b1", "b1 open"}, "demo-b1 blocks open"},

		{[]string{"a1 open related:demo-b1 discovered-from:demo-b1 relates-to:demo-b1 duplicates:demo-b1 supersedes:demo-b1 replies-to:demo-b1", "b1 open"}, ""},
		{[]string{"a1 open tracks:demo-b1 until:demo-b1 caused-by:demo-b1 validates:demo-b1 delegated-from:demo-b1 authored-by:demo-b1 attests:demo-b1 own-kind:demo-b1", "b1 open"}, ""},

		{[]string{"a1 open parent-child:demo-p1", "p1 open"}, ""},
		{[]string{"a1 open parent-child:demo-p1", "p1 open blocks:demo-b1", "b1 open"}, "demo-b1 parent-child open"},
		{[]string{"a1 open parent-child:demo-p1", "p1 open blocks:demo-b1", "b1 closed"}, ""},
		{[]string{"a1 open parent-child:demo-p1", "p1 closed blocks:demo-b1", "b1 open"}, ""},
		{[]string{"a1 open parent-child:demo-p1", "p1 open parent-child:demo-q1", "q1 open blocks:demo-b1", "b1 open"}, "demo-b1 parent-child open"},
		{[]string{"a1 open parent-child:demo-p1", "p1 pinned parent-child:demo-q1", "q1 open blocks:demo-b1", "b1 open"}, ""},
		{[]string{"a1 open parent-child:demo-p1", "p1 open parent-child:demo-a1 blocks:demo-b1", "b1 open"}, "demo-b1 parent-child open"},
		{[]string{"a1 open parent-child:demo-p1 blocks:demo-b1", "p1 open blocks:demo-b1", "b1 open"}, "demo-b1 blocks open"},
		{[]string{"a1 open parent-child:demo-p1"}, ""},

		{[]string{"a1 open waits-for:demo-s1", "s1 open"}, ""},
		{[]string{"a1 open waits-for:demo-s1", "s1 closed", "c1 open parent-child:demo-s1", "c2 closed parent-child:demo-s1"}, "demo-c1 waits-for open"},
		{[]string{"a1 open any:demo-s1", "s1 open", "c1 open parent-child:demo-s1", "c2 closed parent-child:demo-s1"}, ""},
		{[]string{"a1 open any:demo-s1", "s1 open", "c1 open parent-child:demo-s1", "c2 pinned parent-child:demo-s1"}, "demo-c1 waits-for open"},
		{[]string{"a1 open waits-for:demo-s1"}, "demo-s1 waits-for ?"},
	} {
		var got []string
		for _, n := range waiting(t, test.issues...)["a1"].Needs {
			text, state := n.Text, string(n.State)
			if n.Key == "" {
				text += "!"
			} else if string(n.Key) != "beads:"+strings.ToLower(n.Text) {
				t.Errorf("%+v", n)
			}
			if state == "" {
				state = "?"
			}
			got = append(got, text+" "+n.Kind+" "+state)
		}
		if strings.Join(got, ", ") != test.want {
			t.Errorf("%q: %q, want %q", test.issues, got, test.want)
		}
	}
}

func TestStates(t *testing.T) {
	for fields, want := range map[string]providers.State{
		`"status":"open"`: providers.Open, `"title":"x"`: providers.Open, `"status":"in_progress"`: providers.Started, `"status":"hooked"`: providers.Started, `"status":"blocked"`: providers.Waiting,
		`"status":"deferred"`: providers.Waiting, `"status":"pinned"`: providers.Waiting, `"status":"closed"`: providers.Done, `"status":"tombstone"`: providers.Cancelled, `"status":"in-qa"`: providers.Waiting,
		`"pinned":true`: providers.Waiting, `"ephemeral":true`: providers.Waiting, `"is_template":true`: providers.Waiting, `"issue_type":"epic"`: providers.Open, `"issue_type":"gate"`: providers.Waiting,
		`"issue_type":"message"`: providers.Waiting, `"issue_type":"molecule","status":"closed"`: providers.Done,
		`"defer_until":"2026-11-29T14:05:10Z"`: providers.Waiting, `"defer_until":"2026-11-29T14:05:09Z"`: providers.Open, `"defer_until":"2026-11-29T16:05:10+02:00"`: providers.Waiting,
		`"defer_until":"2027-01-01T00:00:00Z","status":"in_progress"`: providers.Started,
	} {
		item, err := open(t, "", `{"id":"demo-1a2",`+fields+`}`).Read(t.Context(), "beads:demo-1a2")
		if err != nil || item.State != want || item.Status == "" {
			t.Errorf("%s: %+v, %v", fields, item, err)
		}
	}
}

func TestPriorities(t *testing.T) {
	for fields, want := range map[string]providers.Priority{
		`"priority":0`: providers.Urgent, `"priority":1`: providers.High, `"priority":2`: providers.Medium, `"priority":3`: providers.Low, `"priority":4`: providers.Lowest,
		`"priority":5`: providers.NoPriority, `"priority":-1`: providers.NoPriority, `"title":"x"`: providers.NoPriority, `"priority":null`: providers.NoPriority,
	} {
		item, err := open(t, "", `{"id":"demo-1a2",`+fields+`}`).Read(t.Context(), "beads:demo-1a2")
		if err != nil || item.Priority != want {
			t.Errorf("%s: %+v, %v", fields, item, err)
		}
	}
}

// TestChildOfDeferred: the children of an issue that is put off are put off as well.
func TestChildOfDeferred(t *testing.T) {
	p := open(t, "", `{"id":"demo-p1","defer_until":"2027-01-01T00:00:00Z"}`, `{"id":"demo-a1","dependencies":[{"depends_on_id":"demo-p1","type":"parent-child"}]}`)
	for year, want := range map[int]providers.State{2026: providers.Waiting, 2028: providers.Open} {
		p.now = func() time.Time { return time.Date(year, 11, 29, 0, 0, 0, 0, time.UTC) }
		if item, err := p.Read(t.Context(), "beads:demo-a1"); err != nil || item.State != want {
			t.Errorf("%d: %+v, %v", year, item, err)
		}
	}
}

// TestOrder: the urgent first, then the old, then by key; those without a priority last.
func TestOrder(t *testing.T) {
	p := open(t, "",
		`{"id":"demo-f"}`, `{"id":"demo-e","priority":4}`, `{"id":"demo-d","priority":1,"created_at":"2026-11-29T14:00:00+02:00"}`,
		`{"id":"demo-c","priority":1,"created_at":"2026-11-29T11:00:00Z"}`, `{"id":"demo-b","priority":1,"created_at":"2026-11-29T11:00:00Z"}`, `{"id":"demo-a","priority":0,"created_at":"2026-12-01T00:00:00Z"}`)
	l, err := p.List(t.Context(), nil)
	if got := strings.Join(itemIDs(l), " "); err != nil || got != "demo-a demo-b demo-c demo-d demo-e demo-f" {
		t.Errorf("%s, %v", got, err)
	}
}

// TestManyNeeds: a parent that waits for many hands down enough to wait for, and no more.
func TestManyNeeds(t *testing.T) {
	issues := []string{"a1 open parent-child:demo-p1"}
	parent := "p1 open"
	for i := range 2 * maxHanded {
		parent += fmt.Sprintf(" blocks:demo-x%d", i)
	}
	items := waiting(t, append(issues, parent)...)
	if own, handed := len(items["p1"].Needs), len(items["a1"].Needs); own != 2*maxHanded || handed != maxHanded {
		t.Errorf("%d, %d", own, handed)
	}
}
