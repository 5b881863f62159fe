package linear

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/git-worklease/git-worklease/providers"
)

// issue is what the documents ask of one. Pointers are to what may be null, whatever the schema says.
type issue struct {
	ID         *string    `json:"id"`
	Identifier *string    `json:"identifier"`
	Title      *string    `json:"title"`
	URL        *string    `json:"url"`
	Priority   *float64   `json:"priority"`
	Order      *float64   `json:"prioritySortOrder"`
	Updated    *time.Time `json:"updatedAt"`
	Archived   *time.Time `json:"archivedAt"`
	Trashed    bool       `json:"trashed"`
	State      *state     `json:"state"`
	Assignee   *user      `json:"assignee"`
	Delegate   *user      `json:"delegate"`
	Milestone  *struct {
		Name string `json:"name"`
	} `json:"projectMilestone"`
	Parent *struct {
		Identifier string `json:"identifier"`
	} `json:"parent"`
	lists

	// Team is what beginDocument asks as well.
	Team *struct {
		States struct {
			Nodes []state `json:"nodes"`
		} `json:"states"`
	} `json:"team"`
}

type state struct {
	ID       string  `json:"id"`
	Name     string  `json:"name"`
	Type     string  `json:"type"`
	Position float64 `json:"position"`
}

type user struct {
	ID   string `json:"id"`
	Name string `json:"displayName"`
}

// lists are those of an issue, or their beginnings.
type lists struct {
	Labels *list[struct {
		Name *string `json:"name"`
	}] `json:"labels"`
	Relations *list[struct {
		Type  *string `json:"type"`
		Issue *struct {
			Identifier string `json:"identifier"`
			Trashed    bool   `json:"trashed"`
			State      *state `json:"state"`
		} `json:"issue"`
	}] `json:"inverseRelations"`
	Attachments *list[struct {
		URL      string          `json:"url"`
		Source   string          `json:"sourceType"`
		Metadata json.RawMessage `json:"metadata"`
	}] `json:"attachments"`
}

type list[T any] struct {
	Nodes []*T `json:"nodes"`
	Page  struct {
		More bool    `json:"hasNextPage"`
		End  *string `json:"endCursor"`
	} `json:"pageInfo"`
}

// whole says that no list goes on elsewhere.
func (l lists) whole() bool {
	return !l.Labels.Page.More && !l.Relations.Page.More && !l.Attachments.Page.More
}

// missing names the first part that a list lacks.
func (l lists) missing() string {
	switch {
	case l.Labels == nil || slices.Contains(l.Labels.Nodes, nil):
		return "labels"
	case l.Relations == nil || slices.Contains(l.Relations.Nodes, nil):
		return "inverseRelations"
	case l.Attachments == nil || slices.Contains(l.Attachments.Nodes, nil):
		return "attachments"
	}
	return ""
}

// check fails for what lacks a part that every issue has.
func (i *issue) check() error {
	missing := i.missing()
	switch {
	case i.ID == nil || *i.ID == "":
		missing = "id"
	case i.Identifier == nil:
		missing = "identifier"
	case i.Title == nil:
		missing = "title"
	case i.URL == nil:
		missing = "url"
	case i.Priority == nil || i.Order == nil:
		missing = "priority"
	case i.Updated == nil:
		missing = "updatedAt"
	case i.State == nil || i.State.Name == "" || i.State.Type == "":
		missing = "state"
	}
	if missing != "" {
		return fmt.Errorf("it has no %s", missing)
	}
	if _, fault := parseIdent(*i.Identifier); fault != "" {
		return fmt.Errorf("%q is no identifier: %s", *i.Identifier, fault)
	}
	return nil
}

// item is what an issue is to the rest. It fails for one that makes no sense.
func (i *issue) item() (*providers.Item, error) {
	if err := i.check(); err != nil {
		return nil, err
	}
	id, _ := parseIdent(*i.Identifier)
	item := &providers.Item{
		Key: id.key(), ID: id.String(), Title: *i.Title, URL: *i.URL, State: i.State.state(), Status: i.State.Name,
		Priority: priority(*i.Priority), Updated: *i.Updated,
	}
	if i.Archived != nil && !item.State.Closed() {
		item.State = providers.Waiting
	}
	for _, u := range []*user{i.Assignee, i.Delegate} {
		if u != nil && !slices.Contains(item.Assignees, u.Name) {
			item.Assignees = append(item.Assignees, u.Name)
		}
	}
	if i.Milestone != nil {
		item.Milestone = i.Milestone.Name
	}
	if i.Parent != nil {
		parent, fault := parseIdent(i.Parent.Identifier)
		if fault != "" {
			return nil, fmt.Errorf("its parent %q is no issue: %s", i.Parent.Identifier, fault)
		}
		item.Parent = parent.key()
	}
	for _, label := range i.Labels.Nodes {
		if label.Name == nil {
			return nil, errors.New("it has a label without a name")
		}
		item.Labels = append(item.Labels, *label.Name)
	}
	slices.Sort(item.Labels)
	item.Needs, item.Pulls = i.needs(), i.pulls()
	item.Version = version(*item)
	return item, nil
}

// needs are the issues that block this one. One that is not shown is a need all the same.
func (l lists) needs() []providers.Need {
	var needs []providers.Need
	for _, r := range l.Relations.Nodes {
		if r.Type != nil && *r.Type != blocks {
			continue
		}
		need := providers.Need{Kind: blocks, Text: "an issue that is not shown"}
		if r.Issue != nil {
			need.Text = r.Issue.Identifier
			if id, fault := parseIdent(r.Issue.Identifier); fault == "" {
				need.Key = id.key()
			}
			switch {
			case r.Issue.Trashed:
				need.State = providers.Cancelled
			case r.Issue.State != nil:
				need.State = r.Issue.State.state()
			}
		}
		needs = append(needs, need)
	}
	slices.SortFunc(needs, func(a, b providers.Need) int { return strings.Compare(a.Text, b.Text) })
	return needs
}

// blocks is Linear's word for a relation of an issue to one that has to wait for it.
const blocks = "blocks"

// pulls are the pull requests among the attachments that Linear's integrations show as open. Links that people pasted have no status, and don't count.
func (l lists) pulls() []providers.Pull {
	var pulls []providers.Pull
	for _, a := range l.Attachments.Nodes {
		var about struct {
			Status string `json:"status"`
			Draft  bool   `json:"draft"`
		}
		id := pullName(a.URL)
		if id == "" || json.Unmarshal(a.Metadata, &about) != nil {
			continue
		}
		switch strings.ToLower(about.Status) {
		case "", "merged", "closed":
		default:
			pulls = append(pulls, providers.Pull{ID: id, URL: a.URL, Draft: about.Draft || strings.EqualFold(about.Status, "draft")})
		}
	}
	slices.SortFunc(pulls, func(a, b providers.Pull) int { return strings.Compare(a.URL, b.URL) })
	return pulls
}

// pullName is what people call a pull request by its address: acme/app#42, or acme/app!42 at GitLab; empty for the address of something else.
func pullName(address string) string {
	u, err := url.Parse(address)
	if err != nil || u.Scheme != "https" && u.Scheme != "http" {
		return ""
	}
	parts := strings.Split(strings.Trim(u.Path, "/"), "/")
	for i, part := range parts {
		if i < 2 || i+1 >= len(parts) || strings.Trim(parts[i+1], "0123456789") != "" {
			continue
		}
		switch part {
		case "pull":
			return strings.Join(parts[:i], "/") + "#" + parts[i+1]
		case "merge_requests":
			return strings.TrimSuffix(strings.Join(parts[:i], "/"), "/-") + "!" + parts[i+1]
		}
	}
	return ""
}

// state is the meaning of the state's type.
func (s *state) state() providers.State {
	switch s.Type {
	case "backlog", "unstarted":
		return providers.Open
	case typeStarted:
		return providers.Started
	case typeCompleted:
		return providers.Done
	case "canceled", "duplicate":
		return providers.Cancelled
	default: // triage, and whatever they think of next
		return providers.Waiting
	}
}

// The types of states that items are moved to.
const (
	typeStarted   = "started"
	typeCompleted = "completed"
)

func priority(p float64) providers.Priority {
	switch p {
	case 1:
		return providers.Urgent
	case 2:
		return providers.High
	case 3:
		return providers.Medium
	case 4:
		return providers.Low
	default:
		return providers.NoPriority
	}
}

// version is a digest of all that is shown but the states of others. Linear's own time of the last change is part of it, but does not follow each.
func version(item providers.Item) string {
	item.Needs = slices.Clone(item.Needs)
	for i := range item.Needs {
		item.Needs[i].State = ""
	}
	item.Updated = item.Updated.UTC()
	content, err := json.Marshal(item)
	if err != nil {
		return ""
	}
	sum := sha256.Sum256(content)
	return hex.EncodeToString(sum[:12])
}
