package beads

import (
	"errors"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/git-worklease/git-worklease/providers"
)

var robot = providers.Worker{Agent: "robot", Session: "run-1", Text: "done as it was asked"}

// of is an issue with a status and an assignee.
func of(status, assignee string) string {
	return strings.ReplaceAll(good, `"title"`, `"status":"`+status+`","assignee":"`+assignee+`","dependency_count":0,"comment_count":0,"title"`)
}

func TestStart(t *testing.T) {
	for _, test := range []struct {
		mode, status, assignee string
		want                   providers.Mark
		kind                   error
		says                   string
	}{
		{"answers", "open", "", providers.Mark{Status: "in_progress", WasStatus: "open", Assigned: []string{"robot"}}, nil, ""},
		{"answers", "open", "robot", providers.Mark{Status: "in_progress", WasStatus: "open"}, nil, ""},
		{"answers", "in_progress", "", providers.Mark{Assigned: []string{"robot"}}, nil, ""},
		{"answers", "hooked", "robot", providers.Mark{}, nil, ""},
		{"answers", "blocked", "", providers.Mark{Status: "in_progress", WasStatus: "blocked", Assigned: []string{"robot"}}, nil, ""},
		{"answers", "in_progress", "x", providers.Mark{}, providers.ErrTaken, "demo-1a2 is assigned to x: taken by another"},
		{"robbed", "open", "", providers.Mark{}, providers.ErrTaken, "demo-1a2 is assigned to x: taken by another"},
		{"answers", "closed", "x", providers.Mark{}, providers.ErrUnsupported, "demo-1a2 is closed, and work on it can't begin: not supported by the tracker"},
		{"refuses", "open", "", providers.Mark{}, providers.ErrUnsupported, "bd update: cannot update template demo-1a2: not supported by the tracker"},
	} {
		p := open(t, test.mode, of(test.status, test.assignee))
		planned, refused := p.Plan(t.Context(), "beads:demo-1a2", robot)
		if test.mode == "answers" && (!reflect.DeepEqual(planned, test.want) || !errors.Is(refused, test.kind) || (refused == nil) != (test.kind == nil)) {
			t.Errorf("%s %q: planned %+v, %v", test.status, test.assignee, planned, refused)
		}
		mark, err := p.Start(t.Context(), "beads:demo-1a2", robot)
		if !slices.Equal(mark.Assigned, test.want.Assigned) || mark.Status != test.want.Status || mark.WasStatus != test.want.WasStatus || !errors.Is(err, test.kind) || err != nil && err.Error() != test.says {
			t.Errorf("%s %s %q: %+v, %v", test.mode, test.status, test.assignee, mark, err)
		}
	}
}

// TestUnstartLeavesOthers: what anybody changed since the start stays.
func TestUnstartLeavesOthers(t *testing.T) {
	mark := providers.Mark{Status: "in_progress", WasStatus: "open", Assigned: []string{"robot"}}
	for _, test := range []struct {
		status, assignee string
		mark             providers.Mark
		want             string
	}{
		{"in_progress", "robot", mark, "open "},
		{"in_progress", "bob", mark, "in_progress bob"},
		{"in_progress", "", mark, "open "},
		{"blocked", "robot", mark, "blocked "},
		{"closed", "robot", mark, "closed "},
		{"in_progress", "robot", providers.Mark{Assigned: []string{"robot"}}, "in_progress "},
		{"in_progress", "robot", providers.Mark{Status: "in_progress", WasStatus: "closed"}, "in_progress robot"},
		{"in_progress", "robot", providers.Mark{Status: "in_progress", WasStatus: "--force"}, "--force robot"},
	} {
		p := open(t, "answers", of(test.status, test.assignee))
		if err := p.Unstart(t.Context(), "beads:demo-1a2", test.mark); err != nil {
			t.Fatal(err)
		}
		item, err := p.Read(t.Context(), "beads:demo-1a2")
		if err != nil || item.Status+" "+strings.Join(item.Assignees, " ") != test.want {
			t.Errorf("%s %q, %+v: %+v, %v", test.status, test.assignee, test.mark, item, err)
		}
	}
}

func TestFinishRefused(t *testing.T) {
	p := open(t, "answers", project...)
	retitle(t, p.dir, "demo-7s7", "Ship v1")
	err := p.Finish(t.Context(), "beads:demo-7s7", robot, providers.Finished)
	if !errors.Is(err, providers.ErrUnsupported) || errors.Is(err, providers.ErrUnavailable) ||
		err.Error() != "bd close: cannot close demo-7s7: blocked by open issues [demo-8sa] (use --force to override): not supported by the tracker" {
		t.Errorf("%v", err)
	}
}

// TestFinishSays: bd gets the worker's words, whatever they look like.
func TestFinishSays(t *testing.T) {
	p := open(t, "answers", of("in_progress", "--robot"))
	by := providers.Worker{Agent: "--robot", Text: "--force;\n$(touch x)"}
	for _, result := range []providers.Result{providers.Reviewing, providers.Finished} {
		if err := p.Finish(t.Context(), "beads:demo-1a2", by, result); err != nil {
			t.Fatal(err)
		}
	}
	r, err := p.record(t.Context(), "beads:demo-1a2")
	if err != nil || string(r.CloseReason) != `"--force; $(touch x)"` || string(r.Notes) != `"in review: --force; $(touch x)"` {
		t.Errorf("%s, %s, %v", r.Notes, r.CloseReason, err)
	}
}

// TestPartOfIDIsNone: bd takes "demo-1" for "demo-1a2"; nothing is written to that.
func TestPartOfIDIsNone(t *testing.T) {
	p := open(t, "answers", good)
	before, err := os.ReadFile(filepath.Join(p.dir, exportFile))
	if err != nil {
		t.Fatal(err)
	}
	mark, started := p.Start(t.Context(), "beads:demo-1", robot)
	finished := p.Finish(t.Context(), "beads:demo-1", robot, providers.Finished)
	after, err := os.ReadFile(filepath.Join(p.dir, exportFile))
	if !mark.IsZero() || !errors.Is(started, providers.ErrNotFound) || !errors.Is(finished, providers.ErrNotFound) || err != nil || string(after) != string(before) {
		t.Errorf("%+v, %v, %v, %v", mark, started, finished, err)
	}
}

// TestSpelledPrefix: bd is asked for an ID as the project spells it, and an ID of any other spelling is found in the list.
func TestSpelledPrefix(t *testing.T) {
	p := open(t, "answers", strings.ReplaceAll(of("open", ""), "demo-1a2", "MyApp-1a2"), strings.ReplaceAll(of("open", ""), "demo-1a2", "MyApp-LOGIN"))
	for _, key := range []providers.Key{"beads:myapp-1a2", "beads:myapp-login"} {
		if mark, err := p.Start(t.Context(), key, robot); err != nil || mark.IsZero() {
			t.Errorf("%s: %+v, %v", key, mark, err)
		}
	}
}

func TestFileIsNotWritten(t *testing.T) {
	p := open(t, "", good)
	mark, started := p.Start(t.Context(), "beads:demo-1a2", robot)
	planned, refused := p.Plan(t.Context(), "beads:demo-1a2", robot)
	for _, err := range []error{started, refused, p.Unstart(t.Context(), "beads:demo-1a2", providers.Mark{Assigned: []string{"x"}}), p.Finish(t.Context(), "beads:demo-1a2", robot, providers.Finished)} {
		if !mark.IsZero() || !planned.IsZero() || !errors.Is(err, providers.ErrUnsupported) || err.Error() != "bd is not used, and nothing else may write its issues: not supported by the tracker" {
			t.Errorf("%+v, %v", mark, err)
		}
	}
}
