package main

import (
	"bytes"
	"context"
	"io"
	"slices"
	"strings"
	"testing"

	"github.com/git-worklease/git-worklease/internal/gitserver"
	"github.com/git-worklease/git-worklease/lease"
)

func TestBarsNameGroups(t *testing.T) {
	for _, b := range bars() {
		if !slices.ContainsFunc(groups(), func(g group) bool { return g.name == b.group }) {
			t.Errorf("no group %q", b.group)
		}
	}
}

func TestMedian(t *testing.T) {
	tests := []struct {
		values []float64
		want   float64
	}{
		{nil, 0},
		{[]float64{3}, 3},
		{[]float64{9, 1, 2}, 2},
		{[]float64{4, 1, 3, 2}, 2.5},
	}
	for _, test := range tests {
		if got := median(test.values); got != test.want {
			t.Errorf("median of %v is %v, want %v", test.values, got, test.want)
		}
	}
}

func TestVerdicts(t *testing.T) {
	tests := map[string]struct {
		claim, push float64
		met         bool
	}{
		"met":    {79, 100, true},
		"equal":  {80, 100, true},
		"missed": {81, 100, false},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			r := &report{}
			r.add("http few", claim, milliseconds, []float64{test.claim})
			r.add("http few", push, milliseconds, []float64{test.push})
			var out bytes.Buffer
			if err := r.print(&out, false); err != nil {
				t.Fatal(err)
			}
			if r.missed() == test.met || strings.Contains(out.String(), "MISSED") == test.met {
				t.Errorf("%v against %v: %s", test.claim, test.push, &out)
			}
		})
	}
}

func TestInterleaveTakesTurns(t *testing.T) {
	user, err := gitserver.NewUser(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	var order []string
	contestant := func(name string) contender {
		return contender{name, func(context.Context, int) ([]command, error) {
			order = append(order, name)
			return []command{{user: user, argv: []string{"git", "--exec-path"}}}, nil
		}}
	}
	samples, err := interleave(t.Context(), []contender{contestant("a"), contestant("b")}, 2, io.Discard)
	if err != nil {
		t.Fatal(err)
	}
	if got := strings.Join(order, ""); got != "abbaab" {
		t.Errorf("the order was %s", got)
	}
	if len(samples["a"]) != 2 || len(samples["b"]) != 2 || samples["a"][0].took <= 0 {
		t.Errorf("samples %v", samples)
	}
}

func TestAnUnexpectedStatusIsAnError(t *testing.T) {
	user, err := gitserver.NewUser(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	_, err = command{user: user, argv: []string{"git", "no-such-command"}}.run(t.Context())
	if err == nil || !strings.Contains(err.Error(), "no-such-command") {
		t.Errorf("the error is %v", err)
	}
}

// TestSeededClaimsAreGenuine has more than one session's claims.
func TestSeededClaimsAreGenuine(t *testing.T) {
	const n = claimsPerSession + 3
	repo := gitserver.TestRepo(t, gitserver.TestRepos(t), "app")
	if err := addClaims(t.Context(), repo, n); err != nil {
		t.Fatal(err)
	}
	refs, err := repo.Refs(t.Context(), lease.DefaultPrefix+"claims/")
	if err != nil {
		t.Fatal(err)
	}
	if len(refs) != n {
		t.Errorf("%d claims, want %d", len(refs), n)
	}
	if out, err := repo.Git(t.Context(), "fsck", "--strict"); err != nil {
		t.Errorf("fsck: %v: %s", err, out)
	}
}

func TestTakenItemsAreDifferent(t *testing.T) {
	printed := func(keys ...string) string {
		var items []string
		for _, key := range keys {
			items = append(items, `{"key": "`+key+`"}`)
		}
		return `{"result": {"items": [` + strings.Join(items, ", ") + `]}}`
	}
	tests := map[string]struct {
		outputs []string
		count   int
		good    bool
	}{
		"one each":            {[]string{printed("a"), printed("b")}, 1, true},
		"two each":            {[]string{printed("a", "b"), printed("c", "d")}, 2, true},
		"the same":            {[]string{printed("a"), printed("a")}, 1, false},
		"one of two the same": {[]string{printed("a", "b"), printed("c", "b")}, 2, false},
		"too few":             {[]string{printed("a", "b"), printed("c")}, 2, false},
		"none":                {[]string{printed()}, 1, false},
		"no JSON":             {[]string{"TASK-1"}, 1, false},
	}
	for name, test := range tests {
		if err := checkTaken(test.outputs, test.count); (err == nil) != test.good {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestPushesAreCounted(t *testing.T) {
	r := rush{requests: []gitserver.Request{
		{Method: "GET", Path: "/r.git/info/refs", Query: "service=git-receive-pack"},
		{Method: "POST", Path: "/r.git/git-receive-pack"},
		{Method: "POST", Path: "/r.git/git-upload-pack"},
		{Method: "POST", Path: "/r.git/git-receive-pack"},
	}}
	if got := r.pushes(); got != 2 {
		t.Errorf("%d pushes, want 2", got)
	}
}

func TestReportNamesWhatIsMissing(t *testing.T) {
	b := &bench{options: &options{}}
	t.Chdir(t.TempDir())
	r := &report{}
	c, err := (&field{bench: b, group: group{name: "queue, 2k tasks"}}).backlogList(r)(t.Context())
	if c != nil || err != nil {
		t.Fatal(c, err)
	}
	r.add("queue, 2k tasks", queueList, milliseconds, []float64{100})
	var out bytes.Buffer
	if err := r.print(&out, false); err != nil {
		t.Fatal(err)
	}
	if r.missed() || !strings.Contains(out.String(), "backlog task list: the program is not installed") {
		t.Error(&out)
	}
}

func TestCountsHaveTwoDigits(t *testing.T) {
	for median, want := range map[float64]string{1: "1", 30: "30", 3.6: "3.6", 3.59375: "3.59", 12: "12"} {
		if got := (value{Unit: requests, Median: median}).String(); got != want {
			t.Errorf("%v is printed as %q, want %q", median, got, want)
		}
	}
}
