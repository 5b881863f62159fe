package github

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"time"

	gh "github.com/google/go-github/v66/github"
)

// issue is what is read of an issue or a pull request. go-github's own type has no relations between issues in this version.
type issue struct {
	Number int    `json:"number"`
	Title  string `json:"title"`
	Body   string `json:"body"`
	State  string `json:"state"`
	// StateReason is nil where GitHub says that there is none, and empty where it says nothing of it, as older servers do.
	StateReason *string `json:"state_reason"`
	URL         string  `json:"html_url"`
	// Repository and Parent are addresses of the API.
	Repository string    `json:"repository_url"`
	Parent     string    `json:"parent_issue_url"`
	Labels     names     `json:"labels"`
	Assignees  names     `json:"assignees"`
	Created    time.Time `json:"created_at"`
	Updated    time.Time `json:"updated_at"`
	Comments   int       `json:"comments"`
	Draft      bool      `json:"draft"`
	Milestone  struct {
		Title string `json:"title"`
	} `json:"milestone"`
	// Pull is nil for an issue.
	Pull *struct {
		Merged string `json:"merged_at"`
	} `json:"pull_request"`
	SubIssues struct {
		Total     int `json:"total"`
		Completed int `json:"completed"`
	} `json:"sub_issues_summary"`
	Dependencies struct {
		Open  int `json:"blocked_by"`
		Total int `json:"total_blocked_by"`
	} `json:"issue_dependencies_summary"`
}

// names are a list of labels, or of users: each has a name, or is one.
type names []string

// UnmarshalJSON implements [json.Unmarshaler].
func (n *names) UnmarshalJSON(data []byte) error {
	var list []json.RawMessage
	if err := json.Unmarshal(data, &list); err != nil {
		return err
	}
	*n = nil
	for _, raw := range list {
		name, err := nameOf(raw)
		if err != nil {
			return err
		}
		if name != "" {
			*n = append(*n, name)
		}
	}
	return nil
}

func nameOf(raw json.RawMessage) (string, error) {
	var name string
	if json.Unmarshal(raw, &name) == nil {
		return name, nil
	}
	var thing struct{ Name, Login string }
	if err := json.Unmarshal(raw, &thing); err != nil {
		return "", err
	}
	if thing.Login != "" { // a user may have a name as well
		return thing.Login, nil
	}
	return thing.Name, nil
}

var (
	errNoNumber = errors.New("an issue without a number")
	errNoState  = errors.New("a state that is neither open nor closed")
)

// parseIssue reads one issue.
func parseIssue(raw json.RawMessage) (*issue, error) {
	i := &issue{StateReason: new(string)}
	if err := json.Unmarshal(raw, i); err != nil {
		return i, err
	}
	switch {
	case i.Number <= 0 || i.Number > maxNumber:
		return i, errNoNumber
	case i.State != "open" && i.State != "closed":
		return i, fmt.Errorf("#%d: %w", i.Number, errNoState)
	}
	return i, nil
}

// decoding says whether an error is one of reading JSON.
func decoding(err error) bool {
	return errors.As(err, new(*json.SyntaxError)) || errors.As(err, new(*json.UnmarshalTypeError)) || errors.As(err, new(*time.ParseError)) ||
		errors.Is(err, errNoNumber) || errors.Is(err, errNoState) || errors.Is(err, errEmpty) ||
		errors.Is(err, errInside)
}

var (
	errEmpty  = errors.New("it is empty")
	errInside = errors.New("it ends in the middle")
)

// repoPath is the API's path of a repository, below its address.
func repoPath(r Repository, more ...string) string {
	path := "repos/" + url.PathEscape(r.Owner) + "/" + url.PathEscape(r.Name)
	for _, part := range more {
		path += "/" + url.PathEscape(part)
	}
	return path
}

func issuePath(r ref, more ...string) string {
	return repoPath(r.repo, append([]string{"issues", strconv.Itoa(r.number)}, more...)...)
}

// get reads one answer into v, a raw message or a list of them.
func (p *Provider) get(ctx context.Context, path string, v any) (*gh.Response, error) {
	req, err := p.client.NewRequest(http.MethodGet, path, nil)
	if err != nil {
		return nil, fmt.Errorf("GET %s: %w", path, err)
	}
	name := requestName(req.Method, req.URL)
	var raw json.RawMessage
	resp, err := p.client.Do(ctx, req, &raw)
	if errors.Is(err, io.ErrUnexpectedEOF) && resp != nil {
		err = errInside
	}
	if err == nil && len(raw) == 0 {
		err = errEmpty
	}
	if err == nil {
		err = json.Unmarshal(raw, v)
	}
	return resp, p.failure(ctx, name, err)
}

// getIssue reads one issue or pull request.
func (p *Provider) getIssue(ctx context.Context, r ref) (*issue, error) {
	var raw json.RawMessage
	if _, err := p.get(ctx, issuePath(r), &raw); err != nil {
		return nil, err
	}
	i, err := parseIssue(raw)
	name := "GET " + p.client.BaseURL.String() + issuePath(r)
	if err != nil {
		return nil, p.failure(ctx, name, err)
	}
	if i.Number != r.number {
		return nil, moved(name, i)
	}
	return i, nil
}
