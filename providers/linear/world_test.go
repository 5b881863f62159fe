package linear

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/git-worklease/git-worklease/providers"
	"github.com/git-worklease/git-worklease/providers/providertest"
)

// workspace is one of Linear's, with two teams.
type workspace struct {
	*server
	issues []object
	teams  map[string]object
	users  map[string]object
	// comments are the bodies, by their identifiers.
	comments map[string]string
	viewer   object
	seconds  int
	limit    int
}

func newWorkspace(t *testing.T) *workspace {
	w := &workspace{teams: map[string]object{}, users: map[string]object{}, comments: map[string]string{}, limit: 3}
	for _, name := range []string{"ada", "robot"} {
		w.users[name] = object{"id": "user-" + name, "displayName": name}
	}
	w.viewer = w.users["robot"]
	for _, key := range []string{"ENG", "OPS", "NEW"} {
		w.teams[key] = object{"id": "team-" + key, "key": key, "states": states(key)}
	}
	w.server = newServer(t, object{
		"viewer":        func(object) (any, error) { return w.viewer, nil },
		"teams":         connection(0, func() []object { return []object{w.teams["ENG"], w.teams["OPS"], w.teams["NEW"]} }),
		"issues":        func(args object) (any, error) { return connection(w.limit, func() []object { return w.issues })(args) },
		"issue":         func(args object) (any, error) { return w.find("id", args["id"]) },
		"issueUpdate":   w.update,
		"commentCreate": w.comment,
	})
	return w
}

// states are those of a team: not in their order, and In Review before In Progress.
func states(team string) resolver {
	var all []object
	for i, s := range []string{"triage Triage 0", "started In Review 2000", "backlog Backlog 0", "unstarted Todo 1", "completed Released 9", "started In Progress 1000", "completed Done 3", "canceled Canceled 4",
		"duplicate Duplicate 5"} {
		words := strings.Fields(s)
		var position float64
		fmt.Sscan(words[len(words)-1], &position)
		all = append(all, object{"id": fmt.Sprintf("%s-%d", team, i), "type": words[0], "name": strings.Join(words[1:len(words)-1], " "), "position": position})
	}
	return connection(0, func() []object { return all })
}

func (w *workspace) state(team, by, value string) object {
	all, err := w.teams[team]["states"].(resolver)(object{"first": 250})
	if err != nil {
		panic(err)
	}
	nodes := all.(object)["nodes"].([]object)
	i := slices.IndexFunc(nodes, func(s object) bool { return s[by] == value })
	if i < 0 {
		panic("no state " + value)
	}
	return nodes[i]
}

func (w *workspace) find(by string, value any) (object, error) {
	i := slices.IndexFunc(w.issues, func(o object) bool { return o[by] == value })
	if i < 0 {
		return nil, fmt.Errorf("Entity not found: Issue")
	}
	return w.issues[i], nil
}

func (w *workspace) touch(issue object) {
	w.seconds++
	issue["updatedAt"] = time.Date(2026, 1, 2, 3, 4, w.seconds, 0, time.UTC).Format("2006-01-02T15:04:05.000Z")
}

// add makes an issue. set are fields that differ from those of a new one; lists are given as their nodes.
func (w *workspace) add(identifier, status, title string, set object) object {
	team, _, _ := strings.Cut(identifier, "-")
	var number float64
	fmt.Sscan(identifier[len(team)+1:], &number)
	issue := object{
		"id": "uuid-" + identifier, "identifier": identifier, "number": number, "team": w.teams[team], "title": title, "url": "https://linear.app/acme/issue/" + identifier + "/x",
		"priority": 0.0, "prioritySortOrder": number, "archivedAt": nil, "trashed": nil, "state": w.state(team, "name", status), "assignee": nil, "delegate": nil,
		"projectMilestone": nil, "parent": nil, "labels": []object{}, "inverseRelations": []object{}, "attachments": []object{}, "comments": []object{},
	}
	w.touch(issue)
	for k, v := range set {
		issue[k] = v
	}
	for _, k := range []string{"labels", "inverseRelations", "attachments", "comments"} {
		nodes := issue[k].([]object)
		issue[k] = connection(0, func() []object {
			if k == "comments" {
				return w.commentsOf(issue)
			}
			return nodes
		})
	}
	w.issues = append(w.issues, issue)
	return issue
}

func (w *workspace) commentsOf(issue object) []object {
	var all []object
	for id := range w.comments {
		if of, ok := strings.CutPrefix(w.comments[id], issue["id"].(string)+": "); ok {
			all = append(all, object{"id": id, "body": of})
		}
	}
	return all
}

func (w *workspace) update(args object) (any, error) {
	issue, err := w.find("id", args["id"])
	if err != nil {
		return nil, err
	}
	byID := func(id any) any {
		for _, u := range w.users {
			if u["id"] == id {
				return u
			}
		}
		return nil
	}
	for field, value := range args["input"].(object) {
		switch field {
		case "stateId":
			issue["state"] = w.state(issue["team"].(object)["key"].(string), "id", value.(string))
		case "assigneeId":
			issue["assignee"] = byID(value)
		case "delegateId":
			issue["delegate"] = byID(value)
		default:
			return nil, fmt.Errorf("the input %s", field)
		}
	}
	w.touch(issue)
	return object{"success": true, "issue": issue}, nil
}

// comment makes one, which is no change of its issue.
func (w *workspace) comment(args object) (any, error) {
	input := args["input"].(object)
	id := input["id"].(string)
	if !regexp.MustCompile(`^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$`).MatchString(id) {
		return nil, fmt.Errorf("id must be a UUID")
	}
	if _, twice := w.comments[id]; twice {
		return nil, fmt.Errorf("Entity Comment with id %s already exists", id)
	}
	w.comments[id] = fmt.Sprintf("%s: %s", input["issueId"], input["body"])
	return object{"success": true, "comment": object{"id": id}}, nil
}

func names(all ...string) []object {
	var objects []object
	for _, name := range all {
		objects = append(objects, object{"name": name})
	}
	return objects
}

// blocker is a relation of an issue to one that it blocks.
func blocker(by object) object { return object{"type": "blocks", "issue": by} }

// open opens the provider of a workspace's ENG and OPS.
func (w *workspace) open(change func(*Options)) *Provider {
	w.t.Helper()
	opts := Options{Teams: []string{"ops", "ENG"}, Workspace: "acme", Token: token, Endpoint: w.URL + "/graphql", HTTP: w.Client(), Close: true}
	if change != nil {
		change(&opts)
	}
	p, err := Open(opts)
	if err != nil {
		w.t.Fatal(err)
	}
	p.patience = time.Hour // however slow the machine is
	return p
}

func pull(address, status string) object {
	return object{"url": address, "sourceType": "github", "metadata": object{"status": status, "number": 7.0}}
}

// furnish fills a workspace, and returns what a listing of it has.
func (w *workspace) furnish() []providers.Item {
	done := w.add("ENG-1", "Done", "done", object{"archivedAt": "2026-01-01T00:00:00.000Z"})
	plain := w.add("ENG-2", "Todo", "plain", nil)
	var many []string
	for i := range 12 {
		many = append(many, fmt.Sprintf("label-%02d", i))
	}
	w.add("ENG-3", "In Progress", "full", object{
		"priority": 2.0, "assignee": w.users["ada"], "delegate": w.users["robot"], "projectMilestone": object{"name": "Beta"}, "parent": object{"identifier": "OPS-1"},
		"labels": names(many...),
		"inverseRelations": []object{
			blocker(plain), blocker(done), {"type": "related", "issue": plain}, blocker(object{"identifier": "SEC-9", "trashed": true, "state": object{"type": "unstarted"}}),
		},
		"attachments": []object{
			pull("https://github.com/acme/app/pull/7", "inReview"), pull("https://github.com/acme/app/pull/8", "merged"), pull("https://github.com/acme/app/pull/5", "draft"),
			{"url": "https://github.com/acme/app/pull/9", "sourceType": nil, "metadata": object{}}, {"url": "https://acme.slack.com/x", "sourceType": "slack", "metadata": object{"status": "open"}},
			pull("https://gitlab.com/acme/tools/app/-/merge_requests/3", "opened"),
		},
	})
	w.add("OPS-1", "Triage", "in triage", object{"priority": 1.0})
	w.add("OPS-10", "Backlog", "later", object{"priority": 4.0, "prioritySortOrder": -5.0})
	w.add("OPS-9", "Todo", "sooner", object{"priority": 4.0, "prioritySortOrder": -5.0})
	w.add("OPS-11", "Todo", "in the trash", object{"trashed": true})
	w.add("OPS-12", "Canceled", "cancelled", nil)
	w.add("NEW-1", "Todo", "of another team", nil)
	return []providers.Item{
		{Key: "linear:ops-1", ID: "OPS-1", Title: "in triage", State: providers.Waiting, Status: "Triage", Priority: providers.Urgent},
		{
			Key: "linear:eng-3", ID: "ENG-3", Title: "full", URL: "https://linear.app/acme/issue/ENG-3/x", State: providers.Started, Status: "In Progress", Priority: providers.High, Labels: many,
			Assignees: []string{"ada", "robot"}, Milestone: "Beta", Parent: "linear:ops-1",
			Needs: []providers.Need{
				{Key: "linear:eng-1", Text: "ENG-1", Kind: "blocks", State: providers.Done}, {Key: "linear:eng-2", Text: "ENG-2", Kind: "blocks", State: providers.Open},
				{Key: "linear:sec-9", Text: "SEC-9", Kind: "blocks", State: providers.Cancelled},
			},
			Pulls: []providers.Pull{
				{ID: "acme/app#5", URL: "https://github.com/acme/app/pull/5", Draft: true}, {ID: "acme/app#7", URL: "https://github.com/acme/app/pull/7"},
				{ID: "acme/tools/app!3", URL: "https://gitlab.com/acme/tools/app/-/merge_requests/3"},
			},
		},
		{Key: "linear:ops-9", ID: "OPS-9", Title: "sooner", State: providers.Open, Status: "Todo", Priority: providers.Low},
		{Key: "linear:ops-10", ID: "OPS-10", Title: "later", State: providers.Open, Status: "Backlog", Priority: providers.Low},
		{Key: "linear:eng-2", ID: "ENG-2", Title: "plain", State: providers.Open, Status: "Todo", Priority: providers.NoPriority},
	}
}

func TestProvider(t *testing.T) {
	providertest.Run(t, func(t *testing.T) providertest.World {
		w := newWorkspace(t)
		items := w.furnish()
		return providertest.World{
			Provider: w.open(nil), Items: items, Missing: "linear:eng-99", Startable: "linear:eng-2", Finishable: "linear:eng-3",
			Spellings: spellings, NotKeys: notKeys(),
			Change: func(t *testing.T, key providers.Key, title string) {
				w.mu.Lock()
				defer w.mu.Unlock()
				issue, err := w.find("identifier", strings.ToUpper(strings.TrimPrefix(string(key), "linear:")))
				if err != nil {
					t.Fatal(err)
				}
				issue["title"] = title
				w.touch(issue)
			},
		}
	})
}
