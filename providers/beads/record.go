package beads

import (
	"encoding/json"
	"errors"
	"fmt"
	"hash/fnv"
	"io"
	"slices"
	"strconv"
	"time"

	"github.com/git-worklease/git-worklease/providers"
)

// issueType is what a line of the export says of itself where it is an issue.
const issueType = "issue"

// record is what is read of an issue, as bd writes it: in the export, in a list, and shown alone.
type record struct {
	Type   string          `json:"_type"`
	Schema json.RawMessage `json:"_schema"`

	ID         string   `json:"id"`
	Title      string   `json:"title"`
	Status     string   `json:"status"`
	Priority   *int     `json:"priority"`
	IssueType  string   `json:"issue_type"`
	Assignee   string   `json:"assignee"`
	CreatedAt  string   `json:"created_at"`
	UpdatedAt  string   `json:"updated_at"`
	DeferUntil string   `json:"defer_until"`
	Labels     []string `json:"labels"`
	Links      []link   `json:"dependencies"`
	Pinned     bool     `json:"pinned"`
	Ephemeral  bool     `json:"ephemeral"`
	IsTemplate bool     `json:"is_template"`

	// What follows is not shown, but a change of it is one of the issue.
	Description        json.RawMessage `json:"description"`
	Design             json.RawMessage `json:"design"`
	AcceptanceCriteria json.RawMessage `json:"acceptance_criteria"`
	Notes              json.RawMessage `json:"notes"`
	CloseReason        json.RawMessage `json:"close_reason"`

	// An issue that is shown alone has only those dependencies that are there; the count is of all.
	DependencyCount *int `json:"dependency_count"`
	CommentCount    *int `json:"comment_count"`

	// id is the ID in lower case, state what the status comes to.
	id      string
	state   providers.State
	created time.Time
	version string
}

// link is a dependency. In the export and in lists it names both ends; where an issue is shown alone it is the other issue itself.
type link struct {
	DependsOn string          `json:"depends_on_id"`
	Kind      string          `json:"type"`
	Metadata  json.RawMessage `json:"metadata"`

	ID        string `json:"id"`
	Status    string `json:"status"`
	ShownKind string `json:"dependency_type"`
}

// target is the other end's ID, and kind that of the dependency.
func (l *link) target() string {
	if l.DependsOn != "" {
		return l.DependsOn
	}
	return l.ID
}

func (l *link) kind() string {
	if l.ShownKind != "" {
		return l.ShownKind
	}
	return l.Kind
}

// The kinds of dependencies that something waits for, as bd names them.
const (
	blocks            = "blocks"
	conditionalBlocks = "conditional-blocks"
	parentChild       = "parent-child"
	waitsFor          = "waits-for"
)

// errNoID is for an item without an ID.
var errNoID = errors.New("an issue without an ID")

// decode reads an issue. It is nil, without an error, for what is none: memories of agents, and the export's head.
func decode(data []byte) (*record, error) {
	r, ok := fast(data)
	if !ok {
		r = &record{}
		if err := json.Unmarshal(data, r); err != nil {
			return nil, plain(err)
		}
	}
	if r.Schema != nil || r.Type != "" && r.Type != issueType {
		return nil, nil
	}
	switch r.id = lower(r.ID); {
	case r.ID == "":
		return nil, errNoID
	case !isID(r.id):
		return nil, fmt.Errorf("%q is no ID: %s", clip(r.ID), fault(r.id))
	}
	if r.Status == "" {
		r.Status = "open" // as bd takes it
	}
	slices.Sort(r.Labels)
	r.state, r.created = r.ownState(), parseTime(r.CreatedAt)
	r.version = r.hash()
	return r, nil
}

// plain is an error of encoding/json without names of Go's.
func plain(err error) error {
	var syntax *json.SyntaxError
	var kind *json.UnmarshalTypeError
	switch {
	case errors.As(err, &syntax) && syntax.Error() == "unexpected end of JSON input":
		return errors.New("it is cut off")
	case errors.As(err, &syntax):
		return fmt.Errorf("it is not JSON: %w", err)
	case errors.As(err, &kind) && kind.Field == "":
		return fmt.Errorf("a JSON %s is no issue", kind.Value)
	case errors.As(err, &kind):
		return fmt.Errorf("%s is a JSON %s", kind.Field, kind.Value)
	default:
		return err
	}
}

// clip is a text's beginning.
func clip(s string) string {
	if len(s) > 200 {
		return s[:200] + "…"
	}
	return s
}

// notWork are the types of issues that bd's list of ready work leaves out.
var notWork = []string{"merge-request", "gate", "molecule", "message", "agent", "role", "rig"}

// ownState is what an issue's own fields come to. A status of the project's own is never ready to bd either.
func (r *record) ownState() providers.State {
	state := stateOf(r.Status)
	if state == providers.Open && (r.Pinned || r.Ephemeral || r.IsTemplate || slices.Contains(notWork, r.IssueType)) {
		return providers.Waiting
	}
	return state
}

func stateOf(status string) providers.State {
	switch status {
	case "open", "":
		return providers.Open
	case "in_progress", "hooked":
		return providers.Started
	case "closed":
		return providers.Done
	case "tombstone": // deleted, as old exports have it
		return providers.Cancelled
	default:
		return providers.Waiting
	}
}

// released says that nothing waits for an issue of that status: bd takes a pinned one for a note that is always there.
func released(status string) bool { return stateOf(status).Closed() || status == "pinned" }

// priority is P0 to P4 as the most to the least urgent.
func (r *record) priority() providers.Priority {
	if r.Priority == nil || *r.Priority < 0 || *r.Priority > 4 {
		return providers.NoPriority
	}
	return providers.Urgent + providers.Priority(*r.Priority)
}

// deferred says that an issue is put off until after now.
func (r *record) deferred(now time.Time) bool { return parseTime(r.DeferUntil).After(now) }

// parseTime reads a time; one that can't be read is zero.
func parseTime(s string) time.Time {
	t, err := time.Parse(time.RFC3339, s)
	if err != nil {
		return time.Time{}
	}
	return t
}

// alone says whether an issue that was shown says itself all that it waits for.
func (r *record) alone() bool {
	if r.DependencyCount == nil || r.CommentCount == nil || *r.DependencyCount != len(r.Links) {
		return false
	}
	return !slices.ContainsFunc(r.Links, func(l link) bool { return l.kind() == parentChild || l.kind() == waitsFor })
}

// hash differs whenever the issue does, and is the same in a list and alone. The time of the change is one of its parts, but not enough: it counts seconds.
func (r *record) hash() string {
	h := fnv.New64a()
	add := func(fields ...string) {
		for _, field := range fields {
			_, _ = io.WriteString(h, field)
			_, _ = h.Write([]byte{0xff}) // is in no UTF-8
		}
	}
	add(r.ID, r.Title, r.Status, r.IssueType, r.Assignee, r.UpdatedAt, r.DeferUntil, strconv.Itoa(int(r.priority())), strconv.FormatBool(r.Pinned))
	for _, raw := range []json.RawMessage{r.Description, r.Design, r.AcceptanceCriteria, r.Notes, r.CloseReason} {
		_, _ = h.Write(raw)
		_, _ = h.Write([]byte{0xff})
	}
	add(r.Labels...)
	links := make([]string, len(r.Links))
	for i := range r.Links {
		links[i] = r.Links[i].target() + " " + r.Links[i].kind()
	}
	slices.Sort(links)
	add(links...)
	if r.CommentCount != nil {
		add(strconv.Itoa(*r.CommentCount))
	}
	return strconv.FormatUint(h.Sum64(), 16)
}
