package linear

import (
	"errors"
	"io"
	"net/http"
	"reflect"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/git-worklease/git-worklease/providers"
)

var robot = providers.Worker{Agent: "robot", Session: "run-1"}

// TestStart: what is changed is what has to be, in one change.
func TestStart(t *testing.T) {
	for name, test := range map[string]struct {
		set    func(w *workspace, issue object)
		mark   providers.Mark
		status string
		is     error
		sent   int // changes
	}{
		"a new one":     {nil, providers.Mark{Status: "In Progress", WasStatus: "Todo", Assigned: []string{"robot"}}, "In Progress", nil, 1},
		"somebody's":    {func(w *workspace, i object) { i["assignee"] = w.users["ada"] }, providers.Mark{Status: "In Progress", WasStatus: "Todo"}, "In Progress", nil, 1},
		"an agent's":    {func(w *workspace, i object) { i["delegate"] = w.users["ada"] }, providers.Mark{Status: "In Progress", WasStatus: "Todo"}, "In Progress", nil, 1},
		"one in review": {func(w *workspace, i object) { i["state"] = w.state("ENG", "name", "In Review") }, providers.Mark{Assigned: []string{"robot"}}, "In Review", nil, 1},
		"one in triage": {func(w *workspace, i object) { i["state"] = w.state("ENG", "name", "Triage") }, providers.Mark{Status: "In Progress", WasStatus: "Triage", Assigned: []string{"robot"}}, "In Progress", nil, 1},
		"a started one": {func(w *workspace, i object) {
			i["state"], i["assignee"] = w.state("ENG", "name", "In Progress"), w.users["ada"]
		}, providers.Mark{}, "In Progress", nil, 0},
		"a closed one":      {func(w *workspace, i object) { i["state"] = w.state("ENG", "name", "Done") }, providers.Mark{}, "Done", providers.ErrUnsupported, 0},
		"without the state": {func(w *workspace, _ object) { w.teams["ENG"]["states"] = connection(0, func() []object { return nil }) }, providers.Mark{Assigned: []string{"robot"}}, "Todo", providers.ErrUnsupported, 1},
	} {
		w := newWorkspace(t)
		w.furnish()
		issue := w.add("ENG-70", "Todo", "new", nil)
		if test.set != nil {
			test.set(w, issue)
		}
		p := w.open(nil)
		if planned, err := p.Plan(t.Context(), "linear:eng-70", robot); !reflect.DeepEqual(planned, test.mark) || !errors.Is(err, test.is) || (err == nil) != (test.is == nil) {
			t.Errorf("%s: planned %+v, %v", name, planned, err)
		}
		mark, err := p.Start(t.Context(), "linear:eng-70", robot)
		if !reflect.DeepEqual(mark, test.mark) || !errors.Is(err, test.is) || (err == nil) != (test.is == nil) {
			t.Errorf("%s: %+v, %v", name, mark, err)
		}
		if status := issue["state"].(object)["name"]; status != test.status {
			t.Errorf("%s: %v", name, status)
		}
		if changes := len(slices.DeleteFunc(w.sent, func(s string) bool { return s != "Update" })); changes != test.sent {
			t.Errorf("%s: %d changes", name, changes)
		}
	}
}

// TestStartInDoubt: a change whose answer is lost is in the mark, so that it can be taken back; one that was refused is not.
func TestStartInDoubt(t *testing.T) {
	for name, test := range map[string]struct {
		instead func(n int, w http.ResponseWriter, r *http.Request) bool
		change  func(n int, answer object)
		is      error
		marked  bool
	}{
		"500":     {says(500, "text/html", ""), nil, providers.ErrUnavailable, true},
		"401":     {says(401, "text/html", ""), nil, providers.ErrUnauthorised, false},
		"refused": {nil, func(_ int, a object) { a["data"], a["errors"] = nil, []any{refused("INPUT_ERROR", "no")} }, providers.ErrBroken, false},
		"failed":  {nil, func(_ int, a object) { a["data"] = object{"issueUpdate": object{"success": false, "issue": nil}} }, providers.ErrBroken, false},
		"null":    {nil, func(_ int, a object) { a["data"] = object{"issueUpdate": nil} }, providers.ErrBroken, false},
		"broken":  {nil, func(_ int, a object) { a["data"].(object)["issueUpdate"].(object)["issue"].(object)["state"] = nil }, providers.ErrBroken, true},
	} {
		w := newWorkspace(t)
		w.furnish()
		w.instead = func(n int, wr http.ResponseWriter, r *http.Request) bool {
			return n == 2 && test.instead != nil && test.instead(n, wr, r)
		}
		w.change = func(n int, answer object) {
			if n == 2 && test.change != nil {
				test.change(n, answer)
			}
		}
		mark, err := w.open(nil).Start(t.Context(), "linear:eng-2", robot)
		want := providers.Mark{}
		if test.marked {
			want = providers.Mark{Status: "In Progress", WasStatus: "Todo", Assigned: []string{"robot"}}
		}
		if !errors.Is(err, test.is) || !reflect.DeepEqual(mark, want) {
			t.Errorf("%s: %+v, %v", name, mark, err)
		}
	}
}

// TestStartOfWhatAnotherGot: who is not assigned after all is told so.
func TestStartOfWhatAnotherGot(t *testing.T) {
	w := newWorkspace(t)
	w.furnish()
	w.change = func(n int, answer object) {
		if n == 2 {
			answer["data"].(object)["issueUpdate"].(object)["issue"].(object)["assignee"] = object{"id": "user-ada", "displayName": "ada"}
		}
	}
	mark, err := w.open(nil).Start(t.Context(), "linear:eng-2", robot)
	if !errors.Is(err, providers.ErrTaken) || !strings.Contains(err.Error(), "assigned to ada") || !reflect.DeepEqual(mark, providers.Mark{Status: "In Progress", WasStatus: "Todo"}) {
		t.Errorf("%+v, %v", mark, err)
	}
	w.change = func(_ int, answer object) { answer["data"].(object)["viewer"] = nil }
	if mark, err := w.open(nil).Start(t.Context(), "linear:ops-9", robot); !mark.IsZero() || !errors.Is(err, providers.ErrBroken) {
		t.Errorf("%+v, %v", mark, err)
	}
}

// TestCase59UnstartLeavesWhatOthersDid is row 59 of the cases: a dead agent's assignment can be taken back, and what others did since then stays.
func TestCase59UnstartLeavesWhatOthersDid(t *testing.T) {
	mark := providers.Mark{Status: "In Progress", WasStatus: "Todo", Assigned: []string{"robot"}}
	for name, test := range map[string]struct {
		set    func(w *workspace, issue object)
		mark   providers.Mark
		status string
		who    any
		is     error
	}{
		"all stands":       {nil, mark, "Todo", nil, nil},
		"moved on":         {func(w *workspace, i object) { i["state"] = w.state("ENG", "name", "In Review") }, mark, "In Review", nil, nil},
		"given to another": {func(w *workspace, i object) { i["assignee"] = w.users["ada"] }, mark, "Todo", "ada", nil},
		"both": {func(w *workspace, i object) {
			i["state"], i["assignee"] = w.state("ENG", "name", "Done"), w.users["ada"]
		}, mark, "Done", "ada", nil},
		"a delegate":        {func(w *workspace, i object) { i["assignee"], i["delegate"] = nil, w.users["robot"] }, mark, "Todo", nil, nil},
		"nothing":           {nil, providers.Mark{}, "In Progress", "robot", nil},
		"a state that went": {nil, providers.Mark{Status: "In Progress", WasStatus: "Icebox", Assigned: []string{"robot"}}, "In Progress", nil, providers.ErrUnsupported},
	} {
		w := newWorkspace(t)
		w.furnish()
		issue := w.add("ENG-70", "In Progress", "begun", object{"assignee": w.users["robot"]})
		if test.set != nil {
			test.set(w, issue)
		}
		err := w.open(nil).Unstart(t.Context(), "linear:eng-70", test.mark)
		if !errors.Is(err, test.is) || (err == nil) != (test.is == nil) {
			t.Errorf("%s: %v", name, err)
		}
		var who any
		if u, ok := issue["assignee"].(object); ok {
			who = u["displayName"]
		}
		if status := issue["state"].(object)["name"]; status != test.status || who != test.who || issue["delegate"] != nil {
			t.Errorf("%s: %v, %v, %v", name, status, who, issue["delegate"])
		}
	}
}

// bodies are the comments of an issue.
func (w *workspace) bodies(issue object) []string {
	w.mu.Lock()
	defer w.mu.Unlock()
	var bodies []string
	for _, c := range w.commentsOf(issue) {
		bodies = append(bodies, c["body"].(string))
	}
	return bodies
}

// TestFinishByComment: where nothing may be closed, and no state is for reviews, one comment says what came of the work, whoever writes it at the same time.
func TestFinishByComment(t *testing.T) {
	w := newWorkspace(t)
	w.teams["ENG"]["states"] = connection(0, func() []object {
		return []object{{"id": "s", "name": "In Progress", "type": "started", "position": 1.0}, {"id": "d", "name": "Done", "type": "completed", "position": 2.0}}
	})
	issue := w.add("ENG-70", "In Progress", "begun", nil)
	by := providers.Worker{Agent: "ro`bot", Session: "run-1", Text: "merged\n*as* abc"}
	for result, want := range map[providers.Result]string{
		providers.Finished: "`ro'bot` has finished work on this: `merged *as* abc`.", providers.Reviewing: "`ro'bot` asks for a review of its work on this: `merged *as* abc`.",
	} {
		w.comments = map[string]string{}
		var group sync.WaitGroup
		for range 4 {
			group.Go(func() {
				if err := w.open(func(o *Options) { o.Close = false }).Finish(t.Context(), "linear:eng-70", by, result); err != nil {
					t.Error(err)
				}
			})
		}
		group.Wait()
		if got := w.bodies(issue); !slices.Equal(got, []string{want}) {
			t.Errorf("%s: %q", result, got)
		}
		another := providers.Worker{Agent: "other", Session: "run-2"}
		if err := w.open(func(o *Options) { o.Close = false }).Finish(t.Context(), "linear:eng-70", another, result); err != nil || len(w.bodies(issue)) != 2 {
			t.Errorf("%s: %v, %q", result, err, w.bodies(issue))
		}
	}
	if status := issue["state"].(object)["name"]; status != "In Progress" {
		t.Errorf("%v", status)
	}
}

// TestFinishByState: the states that are meant are the team's first, and what is closed stays as it is.
func TestFinishByState(t *testing.T) {
	for name, test := range map[string]struct {
		from, to string
		result   providers.Result
	}{
		"done": {"In Progress", "Done", providers.Finished}, "review": {"In Progress", "In Review", providers.Reviewing}, "in review": {"In Review", "In Review", providers.Reviewing},
		"reviewed": {"In Review", "Done", providers.Finished}, "closed": {"Released", "Released", providers.Finished}, "cancelled": {"Canceled", "Canceled", providers.Reviewing},
	} {
		w := newWorkspace(t)
		issue := w.add("ENG-70", test.from, "begun", nil)
		if err := w.open(nil).Finish(t.Context(), "linear:eng-70", robot, test.result); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if status := issue["state"].(object)["name"]; status != test.to || len(w.comments) > 0 {
			t.Errorf("%s: %v, %v", name, status, w.comments)
		}
	}
	w := newWorkspace(t)
	w.add("ENG-70", "Todo", "begun", nil)
	if err := w.open(nil).Finish(t.Context(), "linear:eng-70", robot, "lost"); !errors.Is(err, providers.ErrUnsupported) {
		t.Error(err)
	}
	w.teams["ENG"]["states"] = connection(0, func() []object { return nil })
	if err := w.open(nil).Finish(t.Context(), "linear:eng-70", robot, providers.Finished); !errors.Is(err, providers.ErrUnsupported) {
		t.Error(err)
	}
}

// TestFinishRefused: a comment that was refused, and is not there, is an error.
func TestFinishRefused(t *testing.T) {
	for name, instead := range map[string]string{
		"refused": `{"data":null,"errors":[{"message":"too long"}]}`, "failed": `{"data":{"commentCreate":{"success":false}}}`, "null": `{"data":{"commentCreate":null}}`,
	} {
		w := newWorkspace(t)
		w.add("ENG-70", "Todo", "begun", nil)
		w.instead = func(n int, wr http.ResponseWriter, _ *http.Request) bool {
			if n != 3 {
				return false
			}
			_, _ = io.WriteString(wr, instead)
			return true
		}
		err := w.open(func(o *Options) { o.Close = false }).Finish(t.Context(), "linear:eng-70", robot, providers.Finished)
		if !errors.Is(err, providers.ErrBroken) || !strings.Contains(err.Error(), "linear: the comment on ENG-70") {
			t.Errorf("%s: %v", name, err)
		}
	}
}
