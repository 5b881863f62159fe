package beads

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/git-worklease/git-worklease/providers"
	"github.com/git-worklease/git-worklease/providers/providertest"
)

// project is a project's export.
var project = []string{
	`{"_type":"issue","id":"demo-7s7","title":"Ship v0","status":"open","priority":1,"issue_type":"epic","created_at":"2026-11-29T13:40:12Z","updated_at":"2026-11-29T13:40:12Z","dependencies":[{"issue_id":"demo-7s7","depends_on_id":"demo-8sa","type":"blocks"},{"issue_id":"demo-7s7","depends_on_id":"demo-fmu","type":"relates-to"}],"dependency_count":2,"dependent_count":0,"comment_count":0}`,
	`{"_type":"memory","key":"style","value":"terse"}`,
	`{"_type":"issue","id":"demo-8sa","title":"Add lease codec","description":"Encode claims","status":"in_progress","priority":1,"issue_type":"feature","assignee":"agent1","created_at":"2026-11-29T13:40:10Z","updated_at":"2026-11-29T13:40:39Z","labels":["core","codec"],"dependency_count":0,"dependent_count":1,"comment_count":0}`,
	`{"_type":"issue","id":"demo-ee2","title":"Race","status":"closed","priority":2,"issue_type":"task","created_at":"2026-11-29T13:40:44Z","updated_at":"2026-11-29T13:40:48Z","dependency_count":0,"dependent_count":0,"comment_count":0}`,
	`{"_type":"issue","id":"demo-7s7.1","title":"Write the notes","status":"open","priority":0,"issue_type":"task","created_at":"2026-11-29T13:41:00Z","updated_at":"2026-11-29T13:41:00Z","dependencies":[{"issue_id":"demo-7s7.1","depends_on_id":"demo-7s7","type":"parent-child"}],"dependency_count":1,"dependent_count":0,"comment_count":0}`,
	`{"_type":"issue","id":"demo-47b","title":"Add CAS push","status":"open","priority":2,"issue_type":"task","created_at":"2026-11-29T13:40:11Z","updated_at":"2026-11-29T13:40:39Z","dependencies":[{"issue_id":"demo-47b","depends_on_id":"demo-ee2","type":"blocks","created_at":"2026-11-29T13:40:39Z","created_by":"alice","metadata":"{}"}],"dependency_count":1,"dependent_count":0,"comment_count":0}`,
	`{"_type":"issue","id":"demo-fmu","title":"Write docs","status":"deferred","priority":3,"issue_type":"chore","assignee":"bob","created_at":"2026-11-29T13:40:12Z","updated_at":"2026-11-29T13:40:12Z","dependency_count":0,"dependent_count":0,"comment_count":0}`,
	`{"_type":"issue","id":"demo-zz9","title":"Later","status":"open","priority":4,"issue_type":"task","defer_until":"2026-12-24T00:00:00Z","created_at":"2026-11-29T13:40:12Z","updated_at":"2026-11-29T13:40:12Z","dependency_count":0,"dependent_count":0,"comment_count":0}`,
}

// projectItems are what it comes to, in order.
func projectItems() []providers.Item {
	return []providers.Item{
		{
			Key: "beads:demo-7s7.1", ID: "demo-7s7.1", Title: "Write the notes", State: providers.Open, Status: "open", Priority: providers.Urgent, Parent: "beads:demo-7s7",
			Needs: []providers.Need{{Key: "beads:demo-8sa", Text: "demo-8sa", Kind: "parent-child", State: providers.Started}},
		},
		{
			Key: "beads:demo-8sa", ID: "demo-8sa", Title: "Add lease codec", State: providers.Started, Status: "in_progress", Priority: providers.High,
			Labels: []string{"codec", "core"}, Assignees: []string{"agent1"},
		},
		{
			Key: "beads:demo-7s7", ID: "demo-7s7", Title: "Ship v0", State: providers.Open, Status: "open", Priority: providers.High,
			Needs: []providers.Need{{Key: "beads:demo-8sa", Text: "demo-8sa", Kind: "blocks", State: providers.Started}},
		},
		{
			Key: "beads:demo-47b", ID: "demo-47b", Title: "Add CAS push", State: providers.Open, Status: "open", Priority: providers.Medium,
			Needs: []providers.Need{{Key: "beads:demo-ee2", Text: "demo-ee2", Kind: "blocks", State: providers.Done}},
		},
		{Key: "beads:demo-ee2", ID: "demo-ee2", Title: "Race", State: providers.Done, Status: "closed", Priority: providers.Medium},
		{Key: "beads:demo-fmu", ID: "demo-fmu", Title: "Write docs", State: providers.Waiting, Status: "deferred", Priority: providers.Low, Assignees: []string{"bob"}},
		{Key: "beads:demo-zz9", ID: "demo-zz9", Title: "Later", State: providers.Waiting, Status: "open", Priority: providers.Lowest},
	}
}

// world is the project behind a provider.
func world(p *Provider) providertest.World {
	return providertest.World{
		Provider: p,
		Spellings: map[providers.Key][]string{
			"beads:demo-47b":   {"demo-47b", "DEMO-47B", "Demo-47b", "beads:DEMO-47b", "Beads:demo-47b"},
			"beads:demo-7s7.1": {"demo-7s7.1", "DEMO-7S7.1"},
		},
		NotKeys: []string{
			"", "demo", "demo-", "-47b", "47b", "#47", "demo47b", "demo-47b ", "demo-47b.", "demo-.1", "demo-4..1", "demo-47b-", "demo-４7b", "demo-47\u212a", "demo_47b", "other-47b", "task-7", "ENG-123",
			"github:demo-47b", "beads:", "beads:47b", "beads:demo", "beads://demo-47b", "https://demo-47b", "demo-47b/1", "--demo-47b", "demo-" + strings.Repeat("a", 300),
		},
		Items:   projectItems(),
		Missing: "beads:demo-47",
		Change: func(t *testing.T, key providers.Key, title string) {
			t.Helper()
			retitle(t, p.dir, strings.TrimPrefix(string(key), "beads:"), title)
		},
		Startable:  "beads:demo-47b",
		Finishable: "beads:demo-8sa",
	}
}

// retitle changes a title in the export, which is where the stand-in has its issues as well. As within a second, no time changes.
func retitle(t *testing.T, dir, id, title string) {
	t.Helper()
	path := filepath.Join(dir, exportFile)
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(strings.TrimSpace(string(data)), "\n")
	for i := range lines {
		var fields map[string]any
		if err := json.Unmarshal([]byte(lines[i]), &fields); err != nil {
			t.Fatal(err)
		}
		if fields["id"] == id {
			fields["title"] = title
			changed, err := json.Marshal(fields)
			if err != nil {
				t.Fatal(err)
			}
			lines[i] = string(changed)
		}
	}
	fill(t, dir, exportFile, strings.Join(lines, "\n")+"\n")
}

func TestSuiteThroughBD(t *testing.T) {
	providertest.Run(t, func(t *testing.T) providertest.World { return world(open(t, "answers", project...)) })
}

// reader is a provider that can't be told anything.
type reader struct{ providers.Provider }

func TestSuiteOfTheFile(t *testing.T) {
	providertest.Run(t, func(t *testing.T) providertest.World {
		w := world(open(t, "", project...))
		w.Provider, w.Startable, w.Finishable = reader{w.Provider}, "", ""
		return w
	})
}
