package beads

import (
	"encoding/json"
	"errors"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/git-worklease/git-worklease/providers"
)

// recorded is a sample of what bd wrote.
func recorded(t *testing.T, file string) []issue {
	t.Helper()
	var issues []issue
	if err := json.Unmarshal(shared(t, file), &issues); err != nil {
		t.Fatal(err)
	}
	return issues
}

// TestStandInAnswersAsRecorded holds the stand-in to the samples of the real program.
func TestStandInAnswersAsRecorded(t *testing.T) {
	p := open(t, "answers", strings.TrimSpace(string(shared(t, "issues.jsonl"))))
	for _, test := range []struct {
		sample string
		args   []string
	}{
		{"list.json", []string{"list", "--all", "--limit=0"}},
		{"ready.json", []string{"ready"}},
		{"show.json", []string{"show", "--", "demo-47b"}},
		{"claim.json", []string{"update", "--claim", "--actor=x", "--", "demo-47b"}},
	} {
		out, err := p.run(t.Context(), test.args[0], test.args[1:]...)
		if err != nil {
			t.Fatal(err)
		}
		var got []issue
		if err := json.Unmarshal(out, &got); err != nil {
			t.Fatal(err)
		}
		if want := recorded(t, test.sample); !reflect.DeepEqual(got, want) {
			t.Errorf("bd %s:\n%v\nwant %v", strings.Join(test.args, " "), got, want)
		}
	}
	out, err := p.run(t.Context(), "update", "--claim", "--actor=y", "--", "demo-47b")
	var refused *refusal
	want := strings.TrimPrefix(strings.TrimSpace(string(shared(t, "claim2.err"))), "Error: ")
	if !errors.As(err, &refused) || refused.code != 1 || refused.words != want || len(out) != len(shared(t, "claim2.json")) {
		t.Errorf("a lost claim: %q, %v", out, err)
	}
}

// TestRecordedIssues: what is ready and what waits is what bd said of the same issues, and an issue is the same wherever it is read.
func TestRecordedIssues(t *testing.T) {
	p := open(t, "", strings.TrimSpace(string(shared(t, "issues.jsonl"))))
	l, err := p.List(t.Context(), nil)
	if err != nil || !l.Complete() {
		t.Fatalf("%v, %v", l, err)
	}
	var ready, blocked []string
	for _, item := range l.Items {
		i := slices.IndexFunc(item.Needs, func(n providers.Need) bool { return !n.State.Closed() })
		switch {
		case item.State == providers.Open && i < 0:
			ready = append(ready, item.ID)
		case item.State == providers.Open:
			blocked = append(blocked, item.ID+" "+item.Needs[i].Text)
		}
	}
	var wantReady, wantBlocked []string
	for _, i := range recorded(t, "ready.json") {
		wantReady = append(wantReady, i.text("id"))
	}
	for _, i := range recorded(t, "blocked.json") {
		by, _ := i["blocked_by"].([]any)
		if len(by) != 1 {
			t.Fatal(by)
		}
		other, _ := by[0].(string)
		wantBlocked = append(wantBlocked, i.text("id")+" "+other)
	}
	if !slices.Equal(ready, wantReady) || !slices.Equal(blocked, wantBlocked) {
		t.Errorf("ready %q, want %q; blocked %q, want %q", ready, wantReady, blocked, wantBlocked)
	}
	for _, file := range []string{"list.json", "show.json"} {
		issues, failure, err := answer(shared(t, file))
		if err != nil || failure != "" || len(issues) == 0 {
			t.Fatal(issues, failure, err)
		}
		for _, data := range issues {
			r, err := decode(data)
			if err != nil {
				t.Fatal(err)
			}
			i := slices.IndexFunc(l.Items, func(i providers.Item) bool { return i.ID == r.ID })
			if i < 0 || l.Items[i].Version != r.version {
				t.Errorf("%s: %s has the version %s, and not that of the export", file, r.ID, r.version)
			}
			if alone := r.alone(); !alone {
				t.Errorf("%s: %s does not say all that it waits for", file, r.ID)
			}
		}
	}
}
