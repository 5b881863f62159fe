package beads

import (
	"encoding/json"
	"errors"
	"reflect"
	"strings"
	"testing"

	"github.com/git-worklease/git-worklease/lease"
	"github.com/git-worklease/git-worklease/providers"
)

func FuzzParse(f *testing.F) {
	for _, seed := range []string{"demo-47b", "DEMO-47B", "beads:demo-a1b2.3", "beads:other-1", "demo-", "demo-\u212a", "demo-47b\n", "beads:--x", "demo-..", "BEADS:demo_1-x_"} {
		f.Add(seed)
	}
	p := &Provider{prefixes: []string{"demo", "My-App"}}
	f.Fuzz(func(t *testing.T, text string) {
		key, err := p.Parse(text)
		if err != nil {
			if !errors.Is(err, providers.ErrNotKey) || key != "" {
				t.Fatalf("%q: %q, %v", text, key, err)
			}
			return
		}
		if again, err := p.Parse(string(key)); again != key || err != nil {
			t.Fatalf("%q: %q becomes %q, %v", text, key, again, err)
		}
		if r, err := lease.ParseResource(string(key)); string(r) != string(key) || err != nil {
			t.Fatalf("%q: %q: %v", text, key, err)
		}
		id, err := p.id(key)
		if err != nil || lower(p.spelled(id)) != id || strings.HasPrefix(id, "-") {
			t.Fatalf("%q: %q, %q, %v", text, id, p.spelled(id), err)
		}
	})
}

func FuzzExport(f *testing.F) {
	f.Add([]byte(strings.Join(project, "\n")))
	f.Add([]byte("\ufeff" + good + "\r\n" + good + "\n{\"id\":"))
	f.Add([]byte(`{"id":"demo-1","dependencies":[{"depends_on_id":"demo-1","type":"parent-child"},{"depends_on_id":"demo-1","type":"waits-for","metadata":{"gate":"any-children"}}]}`))
	f.Add([]byte("{\"id\":\"demo-1\",\"dependencies\":[{\"depends_on_id\":\"\",\"type\":\"blocks\"}],\"labels\":[null],\"priority\":1e9}\n[]"))
	p := &Provider{prefixes: []string{"demo"}}
	f.Fuzz(func(t *testing.T, data []byte) {
		entries, cut := lines(data)
		kept, troubles, err := decodeAll(t.Context(), entries, cut)
		if err != nil {
			t.Fatal(err)
		}
		seen := map[providers.Key]bool{}
		for _, item := range newGraph(kept, troubles, p.ours, now()).items() {
			if key, err := p.Parse(string(item.Key)); key != item.Key || err != nil || seen[key] || item.Version == "" || item.Status == "" {
				t.Fatalf("%+v, %v", item, err)
			}
			seen[item.Key] = true
			for _, n := range item.Needs {
				if n.Key != "" {
					if key, err := p.Parse(string(n.Key)); key != n.Key || err != nil {
						t.Fatalf("%+v, %v", n, err)
					}
				}
			}
		}
	})
}

// exported is an issue as bd exports it.
const exported = `{"_type":"issue","id":"demo-1a2","title":"Grüße: #1","description":"What \"is\"\nto be done \u00e9.","design":"","status":"open","priority":1,` +
	`"issue_type":"task","assignee":"alice","owner":"a@b","created_at":"2026-11-29T13:40:12Z","created_by":"alice","updated_at":"2026-11-29T13:40:12Z",` +
	`"labels":["b","a"],"dependencies":[{"issue_id":"demo-1a2","depends_on_id":"demo-2","type":"blocks","created_at":"2026-11-29T13:40:39Z","metadata":"{}"}],` +
	`"dependency_count":1,"dependent_count":0,"comment_count":10,"crystallizes":false,"estimate":null}`

func FuzzFast(f *testing.F) {
	for _, seed := range []string{
		exported, good, `{}`, `{"id":"a"}}`, `{"id":"a","id":"b"}`, `{"id":"a",}`, `{"id":null}`, `{"ID":"a"}`, "{\"\u212aey\":1}", `{"":1}`, `{"pinned":true}`,
		"{\"title\":\"\xff\"}", "{\"notes\":\"\xff\"}", "{\"title\":\"\t\"}", "{\"notes\":\"\x01\"}", `{"notes":"\x"}`, `{"notes":"\u12"}`, `{"title":"\n"}`,
		`{"priority":0}`, `{"priority":01}`, `{"priority":-1}`, `{"priority":1.0}`, `{"priority":1e1}`, `{"priority":12345678901}`, `{"x":00}`, `{"x":truex}`, `{"x":[]}`,
		`{"labels":[]}`, `{"labels":null}`, `{"labels":["a"],"labels":["b"]}`, `{"labels":["a",]}`, `{"labels":[,]}`, `{"_schema":1}`, `{"_type":"memory"}`,
		`{"dependencies":[]}`, `{"dependencies":[{}]}`, `{"dependencies":[{"id":"a"}],"dependencies":[{"type":"b"}]}`, `{"dependencies":[{"metadata":{}}]}`,
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		got, ok := fast(data)
		if !ok {
			return
		}
		want := &record{}
		if err := json.Unmarshal(data, want); err != nil || !reflect.DeepEqual(got, want) {
			t.Fatalf("%q\nfast:    %+v\nlibrary: %+v, %v", data, got, want, err)
		}
	})
}

func FuzzAnswer(f *testing.F) {
	for _, seed := range []string{`[{"id":"demo-1"}]`, `{"id":"demo-1"}`, `{"error":"no","schema_version":1}`, `{"schema_version":2,"data":[{"id":"demo-1"}]}`, `{"data":{"data":{"data":[]}}}`, "null", "", "<html>", "[1,null"} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		issues, failure, err := answer(data)
		if err != nil && (issues != nil || failure != "") || failure != "" && issues != nil {
			t.Fatalf("%q: %q, %q, %v", data, issues, failure, err)
		}
		for _, issue := range issues {
			if r, err := decode(issue); r != nil && (err != nil || !isID(r.id)) {
				t.Fatalf("%q: %+v, %v", issue, r, err)
			}
		}
		_ = words(data, data)
	})
}

func FuzzSettings(f *testing.F) {
	f.Add([]byte("# issue-prefix: \"\"\nissue-prefix: \"demo\" # x\n"), []byte(`{"dolt_database":"my_app"}`))
	f.Add([]byte("issue_prefix: '"), []byte("{"))
	f.Fuzz(func(t *testing.T, config, metadata []byte) {
		for _, prefix := range append(databasePrefixes(metadata), issuePrefix(config)) {
			if strings.ContainsAny(prefix, "\n\r") && len(metadata) == 0 {
				t.Fatalf("%q", prefix)
			}
			if id := lower(prefix + "-1a2"); isPrefix(lower(prefix)) && len(id) <= maxID && !isID(id) {
				t.Fatalf("%q begins no ID", prefix)
			}
		}
	})
}
