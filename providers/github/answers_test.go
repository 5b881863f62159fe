package github_test

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"
	"time"
)

type ctx = context.Context

func (s *site) user(login string) map[string]any {
	user := s.d.sample("simple-user")
	user["login"] = login
	return user
}

func (s *site) users(logins []string) []any {
	list := []any{}
	for _, login := range logins {
		list = append(list, s.user(login))
	}
	return list
}

func (s *site) label(name string) map[string]any {
	label := s.d.sample("label")
	maps.Copy(label, map[string]any{"name": name, "description": nil})
	return label
}

func (s *site) labels(names []string) []any {
	list := []any{}
	for _, name := range names {
		list = append(list, s.label(name))
	}
	return list
}

// issue is a thing as the lists of issues have it.
func (s *site) issue(th *thing) map[string]any {
	api := s.server.URL + "/repos/" + th.repo
	closed := 0
	for _, name := range th.subs {
		if s.things[name].closed {
			closed++
		}
	}
	open := th.hidden
	for _, name := range th.blocked {
		if !s.things[name].closed {
			open++
		}
	}
	i := s.d.sample("issue")
	maps.Copy(i, s.common(th))
	maps.Copy(i, map[string]any{
		"repository_url": api, "comments": len(th.comments),
		"sub_issues_summary":         map[string]any{"total": len(th.subs), "completed": closed, "percent_completed": 0},
		"issue_dependencies_summary": map[string]any{"blocked_by": open, "blocking": 0, "total_blocked_by": len(th.blocked) + th.hidden, "total_blocking": 0},
	})
	if th.parent != "" {
		i["parent_issue_url"] = s.server.URL + "/repos/" + strings.Replace(th.parent, "#", "/issues/", 1)
	}
	i["state_reason"] = nil
	switch {
	case th.older:
		delete(i, "state_reason")
	case th.reason != "":
		i["state_reason"] = th.reason
	}
	if th.pull {
		links := map[string]any{"diff_url": nil, "html_url": nil, "patch_url": nil, "url": nil, "merged_at": nil}
		if th.merged {
			links["merged_at"] = "2026-01-02T03:04:05Z"
		}
		i["pull_request"] = links
	}
	return i
}

// common are the members that lists of issues and of pull requests have.
func (s *site) common(th *thing) map[string]any {
	kind, state, closedAt := "issues", "open", any(nil)
	if th.pull {
		kind = "pull"
	}
	if th.closed {
		state, closedAt = "closed", "2026-01-02T03:04:05Z"
	}
	var milestone any
	if th.milestone != "" {
		m := s.d.sample("milestone")
		m["title"] = th.milestone
		milestone = m
	}
	return map[string]any{
		"number": th.number, "title": th.title, "body": th.body, "state": state, "closed_at": closedAt, "draft": th.draft,
		"html_url": fmt.Sprintf("https://github.com/%s/%s/%d", th.repo, kind, th.number), "labels": s.labels(th.labels),
		"assignees": s.users(th.assigned), "assignee": nil, "milestone": milestone,
		"created_at": "2026-01-02T03:04:05Z", "updated_at": time.Unix(1_800_000_000+th.updated, 0).UTC().Format(time.RFC3339),
	}
}

// pull is a thing as the list of pull requests has it.
func (s *site) pull(th *thing) map[string]any {
	p := s.d.sample("pull-request-simple")
	maps.Copy(p, s.common(th))
	for _, label := range p["labels"].([]any) {
		delete(label.(map[string]any), "description")
		label.(map[string]any)["description"] = ""
	}
	return p
}

func (s *site) issues(names []string) []any {
	list := []any{}
	for _, name := range names {
		list = append(list, s.issue(s.things[name]))
	}
	return list
}

func (s *site) comment(body string) map[string]any {
	c := s.d.sample("issue-comment")
	c["body"] = body
	return c
}

// body reads what a request sends.
func (s *site) body(req *http.Request) (sent struct {
	Assignees, Labels []string
	State, Body       string
	StateReason       string `json:"state_reason"`
}) {
	var list []string
	var raw json.RawMessage
	if err := json.NewDecoder(req.Body).Decode(&raw); err != nil {
		s.t.Error(err)
	}
	if json.Unmarshal(raw, &list) == nil {
		sent.Labels = list
	} else if err := json.Unmarshal(raw, &sent); err != nil {
		s.t.Error(err)
	}
	return sent
}

func (s *site) patch(w http.ResponseWriter, req *http.Request, th *thing) {
	sent := s.body(req)
	th.closed, th.reason = sent.State == "closed", sent.StateReason
	th.updated++
	s.answer(w, req, http.StatusOK, s.issue(th))
}

func (s *site) addComment(w http.ResponseWriter, req *http.Request, th *thing) {
	th.comments = append(th.comments, s.body(req).Body)
	th.updated++
	s.answer(w, req, http.StatusCreated, s.comment(th.comments[len(th.comments)-1]))
}

func (s *site) assign(w http.ResponseWriter, req *http.Request, th *thing) {
	status := http.StatusCreated
	for _, login := range s.body(req).Assignees {
		switch {
		case req.Method == http.MethodDelete:
			status = http.StatusOK
			th.assigned = slices.DeleteFunc(th.assigned, func(a string) bool { return a == login })
		case !s.silent && !slices.Contains(th.assigned, login):
			th.assigned = append(th.assigned, login)
		}
	}
	th.updated++
	s.answer(w, req, status, s.issue(th))
}

func (s *site) addLabels(w http.ResponseWriter, req *http.Request, th *thing) {
	th.labels = append(th.labels, s.know(s.body(req).Labels)...)
	th.updated++
	s.answer(w, req, http.StatusOK, s.labels(th.labels))
}

func (s *site) removeLabel(w http.ResponseWriter, req *http.Request, th *thing) {
	i := slices.IndexFunc(th.labels, func(l string) bool { return strings.EqualFold(l, req.PathValue("name")) })
	if i < 0 {
		s.refuse(w, http.StatusNotFound, "Label does not exist")
		return
	}
	th.labels = slices.Delete(slices.Clone(th.labels), i, i+1)
	th.updated++
	s.answer(w, req, http.StatusOK, s.labels(th.labels))
}
