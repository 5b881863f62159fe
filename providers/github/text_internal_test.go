package github

import (
	"slices"
	"strings"
	"testing"

	"github.com/git-worklease/git-worklease/providers"
)

var home = Repository{Host: public, Owner: "acme", Name: "app"}

func TestNeedsIn(t *testing.T) {
	for body, want := range map[string]string{
		"Depends on #1":                                        "depends-on acme/app#1",
		"depends on: #1, #2 and acme/lib#3; #4":                "depends-on acme/app#1 acme/app#2 acme/lib#3 acme/app#4",
		"Blocked by #1. See #2":                                "depends-on acme/app#1",
		"**Blocked by:** #1":                                   "depends-on acme/app#1",
		"- blocked by GH-7\r\n* depends upon #8":               "depends-on acme/app#7 acme/app#8",
		"Depends-on: https://github.com/a/b/pull/3.":           "depends-on a/b#3",
		"- [ ] #1\n- [x] #2\n* [ ] acme/lib#3 then\n1. [ ] #4": "task-list acme/app#1 acme/lib#3 acme/app#4",
		"- [ ] write tests for #1":                             "",
		"It is not blocked by #1":                              "",
		"This depends on #1":                                   "",
		"> depends on #1":                                      "",
		"```\ndepends on #1\n```\ndepends on #2":               "depends-on acme/app#2",
		"~~~~\n```\ndepends on #1\n~~~~\n":                     "",
		"    depends on #1":                                    "",
		"<!-- depends on #1 -->":                               "",
		"<!--\ndepends on #1\n":                                "",
		"`depends on #1`":                                      "",
		"depends on #0":                                        "",
		"depends on #01":                                       "",
		"depends on #1abc":                                     "",
		"depends on nothing":                                   "",
		"depends on https://example.com/a/b/issues/1":          "",
		"": "",
	} {
		kind, names := "", ""
		for _, n := range needsIn(body, home) {
			kind = n.kind
			names += " " + strings.TrimPrefix(string(n.ref.key()), "github:")
		}
		if kind+names != want {
			t.Errorf("%q: %q, want %q", body, kind+names, want)
		}
	}
}

func TestClosedBy(t *testing.T) {
	for body, want := range map[string][]int{
		"Fixes #1, closes: #2, RESOLVED acme/app#3":                  {1, 2, 3},
		"close #1 closed #2 fix #3 fixed #4 resolve #5 resolves #6":  {1, 2, 3, 4, 5, 6},
		"fixes GH-1 and fixes https://github.com/acme/app/issues/2.": {1, 2},
		"prefixes #1, fixes: nothing, fixes#2, fixing #3":            nil,
		"`fixes #1` <!-- fixes #2 --> \n```\nfixes #3\n```":          nil,
	} {
		var got []int
		for _, r := range closedBy(body, home) {
			got = append(got, r.number)
		}
		if !slices.Equal(got, want) {
			t.Errorf("%q: %v, want %v", body, got, want)
		}
	}
}

func TestTextIsBounded(t *testing.T) {
	if n := len(needsIn(strings.Repeat("- [ ] #1\n", 10_000), home)); n != maxNamed {
		t.Errorf("%d", n)
	}
	if n := len(needsIn("depends on "+strings.Repeat("#1, ", 10_000), home)); n != maxNamed {
		t.Errorf("%d", n)
	}
	if n := len(closedBy(strings.Repeat("fixes #1\n", 10_000), home)); n != maxNamed {
		t.Errorf("%d", n)
	}
}

func TestPriorities(t *testing.T) {
	p := &Provider{priorities: DefaultPriorities()}
	for label, want := range map[string]providers.Priority{
		"priority: critical": providers.Urgent, "Priority: Urgent": providers.Urgent, "priority:HIGH": providers.High, "priority: medium": providers.Medium, "priority: low": providers.Low,
		"P0": providers.Urgent, "p1": providers.High, "P2": providers.Medium, "P3": providers.Low, "p4": providers.Lowest, "P5": providers.NoPriority, "bug": providers.NoPriority, "high": providers.NoPriority,
	} {
		if got := p.priority([]string{"bug", label}); got != want {
			t.Errorf("%q is %d, want %d", label, got, want)
		}
	}
	if got := p.priority([]string{"P3", "P1", "P2"}); got != providers.High {
		t.Errorf("the most urgent of several is %d", got)
	}
	table, err := ParsePriorities(map[string]string{"Sev: 1": "Urgent", "later": "lowest"})
	p.priorities = table
	if err != nil || p.priority([]string{"sev:1"}) != providers.Urgent || p.priority([]string{"LATER"}) != providers.Lowest || p.priority([]string{"P0"}) != providers.NoPriority {
		t.Errorf("%v, %v", table, err)
	}
	if _, err := ParsePriorities(map[string]string{"a": "soon"}); err == nil || err.Error() != `providers.github.priorities: "soon" is none of urgent, high, medium, low, lowest` {
		t.Errorf("%v", err)
	}
}
