package linear

import (
	"errors"
	"net/http"
	"strconv"
	"strings"
	"testing"

	"github.com/git-worklease/git-worklease/providers"
)

// node is the ith issue of an answer.
func node(answer object, i int) object {
	return answer["data"].(object)["issues"].(object)["nodes"].([]any)[i].(object)
}

func partOf(path ...any) object {
	return object{"message": "not for you", "path": path, "extensions": object{"code": "FORBIDDEN"}}
}

// TestPartsThatAreBroken: an issue that makes no sense is a trouble that names it, and the others are shown.
func TestPartsThatAreBroken(t *testing.T) {
	nodes := func(answer object, change func([]any) []any) {
		issues := answer["data"].(object)["issues"].(object)
		issues["nodes"] = change(issues["nodes"].([]any))
	}
	for name, test := range map[string]struct {
		change func(answer object)
		says   string
	}{
		"a null":            {func(a object) { nodes(a, func(n []any) []any { n[1] = nil; return n }) }, "issue 2 of it: it is null"},
		"no state":          {func(a object) { node(a, 1)["state"] = nil }, `issue 2 of it: "ENG-3": it has no state`},
		"an empty state":    {func(a object) { node(a, 1)["state"] = object{"name": nil, "type": nil} }, `"ENG-3": it has no state`},
		"no title":          {func(a object) { node(a, 1)["title"] = nil }, `"ENG-3": it has no title`},
		"no id":             {func(a object) { delete(node(a, 1), "id") }, `"ENG-3": it has no id`},
		"no url":            {func(a object) { node(a, 1)["url"] = nil }, `"ENG-3": it has no url`},
		"no time":           {func(a object) { node(a, 1)["updatedAt"] = nil }, `"ENG-3": it has no updatedAt`},
		"no priority":       {func(a object) { node(a, 1)["priority"] = nil }, `"ENG-3": it has no priority`},
		"no identifier":     {func(a object) { node(a, 1)["identifier"] = nil }, "issue 2 of it: it has no identifier"},
		"another name":      {func(a object) { node(a, 1)["identifier"] = "../../x" }, `"../../x" is no identifier: it has no team`},
		"a leading zero":    {func(a object) { node(a, 1)["identifier"] = "ENG-03" }, `"ENG-03" is no identifier: its number begins with 0`},
		"no labels":         {func(a object) { node(a, 1)["labels"] = nil }, `"ENG-3": it has no labels`},
		"a null label":      {func(a object) { node(a, 1)["labels"] = object{"nodes": []any{nil}} }, `"ENG-3": it has no labels`},
		"a nameless label":  {func(a object) { node(a, 1)["labels"] = object{"nodes": []any{object{}}} }, `"ENG-3": it has a label without a name`},
		"no relations":      {func(a object) { node(a, 1)["inverseRelations"] = nil }, `"ENG-3": it has no inverseRelations`},
		"a null attachment": {func(a object) { node(a, 1)["attachments"] = object{"nodes": []any{nil}} }, `"ENG-3": it has no attachments`},
		"a strange parent":  {func(a object) { node(a, 1)["parent"] = object{"identifier": "x"} }, `its parent "x" is no issue`},
		"another type":      {func(a object) { node(a, 1)["priority"] = "high" }, `issue 2 of it: "ENG-3": json: cannot unmarshal string`},
		"a number":          {func(a object) { nodes(a, func(n []any) []any { n[1] = 7; return n }) }, "issue 2 of it: json: cannot unmarshal number"},
		"a part with an error": {func(a object) {
			node(a, 1)["assignee"] = nil
			a["errors"] = []any{partOf("issues", "nodes", 1, "assignee")}
		}, `issue 2 of it: "ENG-3": not for you`},
		"a null with an error": {func(a object) {
			nodes(a, func(n []any) []any { n[1] = nil; return n })
			a["errors"] = []any{partOf("issues", "nodes", 1, "state")}
		}, "issue 2 of it: not for you"},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorkspace(t)
			w.furnish()
			w.limit = 0
			w.change = func(n int, answer object) {
				if n == 1 {
					test.change(answer)
				}
			}
			listing, err := w.open(nil).List(t.Context(), nil)
			if err != nil {
				t.Fatal(err)
			}
			if len(listing.Items) != 4 || len(listing.Troubles) != 1 || listing.Items[1].ID != "OPS-9" {
				t.Fatalf("%+v", listing)
			}
			if err := listing.Troubles[0]; !errors.Is(err, providers.ErrBroken) || !strings.Contains(err.Error(), test.says) || !strings.HasPrefix(err.Error(), "linear: page 1 of the issues: ") {
				t.Error(err)
			}
		})
	}
}

// TestErrorWithoutAPlace: where an error may concern any issue of a page, none of it is shown.
func TestErrorWithoutAPlace(t *testing.T) {
	for _, path := range [][]any{nil, {"issues"}, {"issues", "nodes"}, {"issues", "nodes", -1}, {"issues", "nodes", 1.5}, {"issues", "nodes", "1"}, {"teams", "nodes", 0}} {
		for page := 1; page <= 2; page++ {
			w := newWorkspace(t)
			w.furnish()
			w.change = func(n int, answer object) {
				if n == 2*page-1 { // the lists of ENG-3 are between
					answer["errors"] = []any{object{"message": "oops", "path": path}}
				}
			}
			listing, err := w.open(nil).List(t.Context(), nil)
			if page == 1 {
				if listing != nil || !errors.Is(err, providers.ErrBroken) || !strings.Contains(err.Error(), "oops") {
					t.Errorf("%v: %+v, %v", path, listing, err)
				}
				continue
			}
			if err != nil || listing.Complete() || len(listing.Items) == 0 || len(listing.Items) > 3 || !strings.Contains(listing.Troubles[0].Error(), "page 2") {
				t.Errorf("%v: %+v, %v", path, listing, err)
			}
		}
	}
}

// TestPageThatFails: what was read before it is shown.
func TestPageThatFails(t *testing.T) {
	w := newWorkspace(t)
	w.furnish()
	w.instead = func(n int, wr http.ResponseWriter, r *http.Request) bool {
		return w.sent != nil && w.sent[len(w.sent)-1] == "Rest" && says(502, "text/html", "<html>")(n, wr, r)
	}
	listing, err := w.open(nil).List(t.Context(), nil)
	if err != nil || len(listing.Items) != 3 || len(listing.Troubles) != 1 || !errors.Is(listing.Troubles[0], providers.ErrUnavailable) {
		t.Errorf("%+v, %v", listing, err)
	}
}

// TestReadOfBrokenIssue: one issue alone is right or an error.
func TestReadOfBrokenIssue(t *testing.T) {
	for says, change := range map[string]func(answer object){
		"issue ENG-2: it has no state":         func(a object) { node(a, 0)["state"] = nil },
		"issue ENG-2: not for you":             func(a object) { a["errors"] = []any{partOf("issues", "nodes", 0, "assignee")} },
		"issue ENG-2: the answer is ENG-3":     func(a object) { node(a, 0)["identifier"] = "ENG-3" },
		"issue ENG-2: it is null":              func(a object) { a["data"].(object)["issues"] = object{"nodes": []any{nil}} },
		"issue ENG-2: answered without issues": func(a object) { a["data"].(object)["issues"] = nil },
		"its lists are another's":              func(a object) { node(a, 0)["labels"].(object)["pageInfo"] = object{"hasNextPage": true} },
		"linear: issue ENG-2 is in the trash":  func(a object) { node(a, 0)["trashed"] = true },
		"linear: issue ENG-2: no such item":    func(a object) { a["data"].(object)["issues"] = object{"nodes": []any{}} },
	} {
		w := newWorkspace(t)
		w.furnish()
		w.change = func(n int, answer object) {
			if n == 1 {
				change(answer)
			} else {
				answer["data"], answer["errors"] = object{"issue": object{"id": "other"}}, nil
			}
		}
		item, err := w.open(nil).Read(t.Context(), "linear:eng-2")
		want := providers.ErrBroken
		if strings.Contains(says, "no such") || strings.Contains(says, "trash") {
			want = providers.ErrNotFound
		}
		if item != nil || !errors.Is(err, want) || !strings.Contains(err.Error(), says) {
			t.Errorf("%s: %+v, %v", says, item, err)
		}
	}
}

// TestReadOfArchivedIssue: what is archived is read, but is not to be taken.
func TestReadOfArchivedIssue(t *testing.T) {
	w := newWorkspace(t)
	w.furnish()
	w.add("ENG-50", "Todo", "archived", object{"archivedAt": "2026-01-01T00:00:00.000Z"})
	w.add("ENG-51", "Todo", "is blocked by something secret", object{"inverseRelations": []object{blocker(object{"identifier": "x", "trashed": nil, "state": object{"type": "new"}})}})
	p := w.open(nil)
	if item, err := p.Read(t.Context(), "linear:eng-50"); err != nil || item.State != providers.Waiting {
		t.Errorf("%+v, %v", item, err)
	}
	if item, err := p.Read(t.Context(), "linear:eng-51"); err != nil || len(item.Needs) != 1 || item.Needs[0] != (providers.Need{Text: "x", Kind: "blocks", State: providers.Waiting}) {
		t.Errorf("%+v, %v", item, err)
	}
	if item, err := p.Read(t.Context(), "linear:eng-1"); err != nil || item.State != providers.Done {
		t.Errorf("%+v, %v", item, err)
	}
	if item, err := p.Read(t.Context(), "linear:new-1"); err != nil || item.ID != "NEW-1" {
		t.Errorf("of a team that is not set up: %+v, %v", item, err)
	}
	w.change = func(_ int, answer object) {
		relations := node(answer, 0)["inverseRelations"].(object)["nodes"].([]any)
		relations[0].(object)["issue"] = nil
	}
	if item, err := p.Read(t.Context(), "linear:eng-51"); err != nil || len(item.Needs) != 1 || item.Needs[0] != (providers.Need{Text: "an issue that is not shown", Kind: "blocks"}) {
		t.Errorf("%+v, %v", item, err)
	}
}

func TestTeamsThatAreNotThere(t *testing.T) {
	w := newWorkspace(t)
	w.furnish()
	listing, err := w.open(func(o *Options) { o.Teams = []string{"ENG", "nope", "GONE"} }).List(t.Context(), nil)
	if err != nil || len(listing.Items) != 2 || len(listing.Troubles) != 2 {
		t.Fatalf("%+v, %v", listing, err)
	}
	if got, want := listing.Troubles[1].Error(), "[providers.linear] teams: there is no team NOPE that LINEAR_API_KEY may read"; got != want {
		t.Errorf("%s", got)
	}
	if _, err := w.open(func(o *Options) { o.Teams = []string{"NOPE"} }).List(t.Context(), nil); !errors.Is(err, providers.ErrBroken) || !strings.Contains(err.Error(), "no team NOPE") {
		t.Error(err)
	}
}

// TestCursorsThatNeverEnd: neither the same cursor again nor new ones for the same issues keep a listing going.
func TestCursorsThatNeverEnd(t *testing.T) {
	for name, cursor := range map[string]func(n int) any{
		"with errors": func(n int) any { return strconv.Itoa(n) }, "the same": func(int) any { return "c" }, "none": func(int) any { return nil }, "an empty one": func(int) any { return "" }, "new ones": func(n int) any { return strconv.Itoa(n) },
	} {
		w := newWorkspace(t)
		w.furnish()
		w.limit = 0
		var first any
		w.instead = func(n int, wr http.ResponseWriter, r *http.Request) bool {
			return n > 20 && says(500, "text/plain", "it is asked again and again")(n, wr, r)
		}
		w.change = func(n int, answer object) {
			if data, ok := answer["data"].(object); ok && data["issue"] != nil {
				return
			}
			if first == nil {
				first = answer["data"]
			}
			first.(object)["issues"].(object)["pageInfo"] = object{"hasNextPage": true, "endCursor": cursor(n)}
			answer["data"], answer["errors"] = first, nil
			if name == "with errors" && n > 2 {
				answer["errors"] = []any{partOf("issues", "nodes", 0)}
			}
		}
		listing, err := w.open(nil).List(t.Context(), nil)
		if err != nil || len(listing.Items) != 5 || listing.Complete() || len(listing.Troubles) > 2 || !errors.Is(listing.Troubles[0], providers.ErrBroken) {
			t.Errorf("%s: %+v, %v", name, listing, err)
		}
	}
}

// TestListsThatAreTooLong: what has longer lists than can be read is a trouble.
func TestListsThatAreTooLong(t *testing.T) {
	w := newWorkspace(t)
	w.furnish()
	w.limit = 0
	var long []string
	for i := range 251 {
		long = append(long, strconv.Itoa(i))
	}
	w.add("ENG-60", "Todo", "with too many labels", object{"labels": names(long...)})
	listing, err := w.open(nil).List(t.Context(), nil)
	if err != nil || len(listing.Items) != 5 || len(listing.Troubles) != 1 || !strings.Contains(listing.Troubles[0].Error(), `"ENG-60": it has more than 250 labels`) {
		t.Errorf("%+v, %v", listing, err)
	}
}
