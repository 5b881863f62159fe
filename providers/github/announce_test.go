package github_test

import (
	"errors"
	"net/http"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/git-worklease/git-worklease/providers"
)

var robot = providers.Worker{Agent: "robot", Session: "run-1", Text: "ask @alice, `code` <!-- x -->"}

func (s *site) thing(name string) thing {
	s.mu.Lock()
	defer s.mu.Unlock()
	return *s.things[name]
}

// TestStartPartly: what could be changed is marked, beside the error of what could not.
func TestStartPartly(t *testing.T) {
	const key = "github:acme/app#1"
	for name, test := range map[string]struct {
		path             string
		status           int
		assigned, labels []string
		want             error
	}{
		"no user":    {"/user", 403, nil, []string{"in progress"}, providers.ErrUnauthorised},
		"no assign":  {"/repos/acme/app/issues/1/assignees", 403, nil, []string{"in progress"}, providers.ErrUnauthorised},
		"no label":   {"/repos/acme/app/issues/1/labels", 403, []string{"robot"}, nil, providers.ErrUnauthorised},
		"bad label":  {"/repos/acme/app/issues/1/labels", 422, []string{"robot"}, nil, providers.ErrUnsupported},
		"down":       {"/repos/acme/app/issues/1/labels", 500, []string{"robot"}, nil, providers.ErrUnavailable},
		"HTML":       {"/repos/acme/app/issues/1/labels", 200, []string{"robot"}, nil, providers.ErrBroken},
		"HTML first": {"/repos/acme/app/issues/1/assignees", 200, nil, []string{"in progress"}, providers.ErrBroken},
	} {
		t.Run(name, func(t *testing.T) {
			s := newSite(t, thing{number: 1})
			s.fail(func(w http.ResponseWriter, req *http.Request) bool {
				return req.URL.Path == test.path && answered(test.status, `<html>`)(w, req)
			})
			mark, err := s.open(s.options("")).Start(t.Context(), key, robot)
			if !errors.Is(err, test.want) || !slices.Equal(mark.Assigned, test.assigned) || !slices.Equal(mark.Labels, test.labels) || !strings.Contains(err.Error(), test.path) {
				t.Errorf("%+v, %v", mark, err)
			}
		})
	}
}

// TestStartWithoutRights: an assignment that the tracker leaves out without a word is no assignment.
func TestStartWithoutRights(t *testing.T) {
	s := newSite(t, thing{number: 1}, thing{number: 2, closed: true})
	s.silent = true
	p := s.open(s.options(""))
	mark, err := p.Start(t.Context(), "github:acme/app#1", robot)
	if len(mark.Assigned) != 0 || !errors.Is(err, providers.ErrUnauthorised) || !strings.Contains(err.Error(), "robot was not assigned") {
		t.Errorf("%+v, %v", mark, err)
	}
	for _, announce := range []func(ctx, providers.Key, providers.Worker) (providers.Mark, error){p.Start, p.Plan} {
		if mark, err := announce(t.Context(), "github:acme/app#2", robot); !mark.IsZero() || !errors.Is(err, providers.ErrUnsupported) {
			t.Errorf("a closed one: %+v, %v", mark, err)
		}
	}
}

// TestPlanAsksForLabels where one would be added, as the repository may spell it in another way.
func TestPlanAsksForLabels(t *testing.T) {
	s := newSite(t, thing{number: 1}, thing{number: 2, labels: []string{"In Progress"}})
	p := s.open(s.options(""))
	for key, want := range map[providers.Key]providers.Mark{
		"github:acme/app#1": {Assigned: []string{"robot"}, Labels: []string{"In Progress"}}, "github:acme/app#2": {Assigned: []string{"robot"}},
	} {
		if mark, err := p.Plan(t.Context(), key, robot); err != nil || !reflect.DeepEqual(mark, want) {
			t.Errorf("%s: %+v, %v", key, mark, err)
		}
	}
	requests, _ := s.asked()
	slices.Sort(requests)
	if want := []string{"GET /repos/acme/app/issues/1", "GET /repos/acme/app/issues/2", "GET /repos/acme/app/labels?per_page=100", "GET /user"}; !slices.Equal(requests, want) {
		t.Errorf("%q", requests)
	}
}

// TestPlanPartly: what can't be learned is an error beside the rest, which Start would change.
func TestPlanPartly(t *testing.T) {
	for path, want := range map[string]providers.Mark{
		"/user": {Labels: []string{"In Progress"}}, "/repos/acme/app/labels": {Assigned: []string{"robot"}, Labels: []string{"in progress"}}, "/repos/acme/app/issues/1": {},
	} {
		s := newSite(t, thing{number: 1}, thing{number: 2, labels: []string{"In Progress"}})
		s.fail(func(w http.ResponseWriter, req *http.Request) bool {
			return req.URL.Path == path && answered(403, `{}`)(w, req)
		})
		mark, err := s.open(s.options("")).Plan(t.Context(), "github:acme/app#1", robot)
		if !errors.Is(err, providers.ErrUnauthorised) || !strings.Contains(err.Error(), path) || !reflect.DeepEqual(mark, want) {
			t.Errorf("%+v, %v", mark, err)
		}
	}
}

// TestStartAsksForTheUserOnce, and spells a label as the repository does.
func TestStartAsksForTheUserOnce(t *testing.T) {
	s := newSite(t, thing{number: 1}, thing{number: 2, labels: []string{"In Progress"}, assigned: []string{"Robot"}})
	p := s.open(s.options(""))
	for _, key := range []providers.Key{"github:acme/app#1", "github:acme/app#2"} {
		if _, err := p.Start(t.Context(), key, robot); err != nil {
			t.Fatal(err)
		}
	}
	requests, _ := s.asked()
	if want := []string{"GET /repos/acme/app/issues/1", "GET /user", "POST /repos/acme/app/issues/1/assignees", "POST /repos/acme/app/issues/1/labels", "GET /repos/acme/app/issues/2"}; !slices.Equal(requests, want) {
		t.Errorf("%q", requests)
	}
}

// TestUnstartLeavesOthers: what somebody has changed since then stays.
func TestUnstartLeavesOthers(t *testing.T) {
	s := newSite(t, thing{number: 1, labels: []string{"bug"}, assigned: []string{"alice"}})
	o := s.options("")
	o.Started = "a/b c"
	p := s.open(o)
	mark, err := p.Start(t.Context(), "github:acme/app#1", robot)
	if err != nil || mark.Labels[0] != "a/b c" {
		t.Fatalf("%+v, %v", mark, err)
	}
	s.change("acme/app#1", func(th *thing) { th.assigned, th.labels = []string{"bob"}, append(th.labels, "more") })
	if err := p.Unstart(t.Context(), "github:acme/app#1", mark); err != nil {
		t.Fatal(err)
	}
	if th := s.thing("acme/app#1"); !slices.Equal(th.assigned, []string{"bob"}) || !slices.Equal(th.labels, []string{"bug", "more"}) {
		t.Errorf("%+v", th)
	}
	s.fail(func(w http.ResponseWriter, req *http.Request) bool {
		return req.Method == http.MethodDelete && answered(404, `{}`)(w, req)
	})
	if err := p.Unstart(t.Context(), "github:acme/app#1", providers.Mark{Labels: []string{"more"}, Assigned: []string{"carol"}}); err != nil {
		t.Errorf("somebody else was quicker: %v", err)
	}
}

// TestFinish: a comment for a run's result, once; labels; and an end only where the settings let it, of an issue alone.
func TestFinish(t *testing.T) {
	for name, test := range map[string]struct {
		thing  thing
		close  bool
		result providers.Result
		closed bool
		labels []string
	}{
		"review":         {thing{labels: []string{"bug", "In Progress"}}, true, providers.Reviewing, false, []string{"bug", "in review"}},
		"done":           {thing{labels: []string{"in review", "in progress"}}, false, providers.Finished, false, nil},
		"closed":         {thing{labels: []string{"in progress"}}, true, providers.Finished, true, nil},
		"a pull request": {thing{pull: true}, true, providers.Finished, false, nil},
	} {
		t.Run(name, func(t *testing.T) {
			th := test.thing
			th.number = 1
			s := newSite(t, th)
			for range 150 {
				s.things["acme/app#1"].comments = append(s.things["acme/app#1"].comments, "talk")
			}
			o := s.options("")
			o.Close = test.close
			p := s.open(o)
			for range 2 {
				if err := p.Finish(t.Context(), "github:acme/app#1", robot, test.result); err != nil {
					t.Fatal(err)
				}
			}
			got := s.thing("acme/app#1")
			if len(got.comments) != 151 || got.closed != test.closed || !slices.Equal(got.labels, test.labels) {
				t.Errorf("%d comments, %+v", len(got.comments), got)
			}
			last := got.comments[150]
			if !strings.HasPrefix(last, "`robot/run-1` has finished work on this") || !strings.Contains(last, "`ask @alice,  code  <!-- x -->`") || strings.Count(last, "<!-- git-worklease ") != 1 {
				t.Errorf("%s", last)
			}
			other := robot
			other.Session = "run-2"
			if err := p.Finish(t.Context(), "github:acme/app#1", other, test.result); err != nil || len(s.thing("acme/app#1").comments) != 152 {
				t.Errorf("another run: %v", err)
			}
		})
	}
}

// TestFinishGoesOn: what fails does not keep the rest from being done.
func TestFinishGoesOn(t *testing.T) {
	s := newSite(t, thing{number: 1, labels: []string{"in progress"}})
	s.fail(func(w http.ResponseWriter, req *http.Request) bool {
		return strings.HasSuffix(req.URL.Path, "/comments") && req.Method == http.MethodPost && answered(403, `{"message":"locked"}`)(w, req)
	})
	err := s.open(s.options("")).Finish(t.Context(), "github:acme/app#1", robot, providers.Reviewing)
	if !errors.Is(err, providers.ErrUnauthorised) || !strings.Contains(err.Error(), "/comments: 403 locked") || !slices.Equal(s.thing("acme/app#1").labels, []string{"in review"}) {
		t.Errorf("%v, %+v", err, s.thing("acme/app#1"))
	}
}
