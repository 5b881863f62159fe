package backlogmd

import (
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/git-worklease/git-worklease/providers"
	"github.com/git-worklease/git-worklease/providers/providertest"
)

func TestSuite(t *testing.T) {
	providertest.Run(t, func(t *testing.T) providertest.World { return newWorld(t, "") })
}

// TestSuiteThroughTheProgram: announcements go through the real backlog program.
func TestSuiteThroughTheProgram(t *testing.T) {
	path := program(t)
	providertest.Run(t, func(t *testing.T) providertest.World { return newWorld(t, path) })
}

func newWorld(t *testing.T, program string) providertest.World {
	s := newSite(t, map[string]string{
		"backlog/tasks/task-1 - First.md":       file("TASK-1", "First", "To Do", "priority: low", "ordinal: 1000"),
		"backlog/tasks/task-2 - Second.md":      file("TASK-2", "'Second: part'", "To Do", "dependencies:\n  - TASK-1\n  - TASK-9\n  - TASK-5\n  - nonsense", "priority: high", "labels:\n  - core\n  - ui", "milestone: m-1"),
		"backlog/tasks/task-3 - Third.md":       file("TASK-3", "Third", "In Progress", "assignee:\n  - '@bob'", "updated_date: '2026-11-29 14:00'"),
		"backlog/tasks/task-3.1 - Part.md":      file("TASK-3.1", "Part", "To Do", "parent_task_id: TASK-3"),
		"backlog/tasks/task-4 - Strange.md":     file("TASK-4", "Strange", "Someday"),
		"backlog/completed/task-5 - Old.md":     file("TASK-5", "Old", "In Progress"),
		"backlog/drafts/draft-1 - Idea.md":      file("DRAFT-1", "Idea", "Draft"),
		"backlog/archive/tasks/task-6 - Off.md": file("TASK-6", "Off", "To Do"),
		"backlog/tasks/readme.md":               "no task\n",
	})
	path := map[providers.Key]string{}
	p := s.open(program)
	for _, name := range []string{"tasks/task-1 - First.md", "tasks/task-2 - Second.md", "tasks/task-3 - Third.md", "tasks/task-3.1 - Part.md", "tasks/task-4 - Strange.md", "drafts/draft-1 - Idea.md"} {
		path[keyOf(idOfName(filepath.Base(name), "task"))] = "backlog/" + name
	}
	return providertest.World{
		Provider: p,
		Spellings: map[providers.Key][]string{
			"backlogmd:task-1":   {"1", "task-1", "TASK-1", "task-001", "backlogmd:TASK-01", "backlog/tasks/task-1 - First.md", "./backlog/tasks/task-1 - First.md", "task-1 - First.md", filepath.Join(s.dir, "backlog/tasks/task-1 - First.md")},
			"backlogmd:task-3.1": {"3.1", "TASK-3.01"},
			"backlogmd:draft-1":  {"draft-1", "DRAFT-01", "backlog/drafts/draft-1 - Idea.md"},
		},
		NotKeys: []string{"task-７", "７", "-7", "+7", "task-+7", "task--7", "task-0x7", "task- 7", " 7", "7 ", "#7", "task", "task-", "task-7.", "task-.7", "job-7", "tasks/task-7.md", "../backlog/tasks/task-1 - First.md", "src/task-1 - First.md"},
		Items: []providers.Item{
			{Key: "backlogmd:task-2", ID: "TASK-2", Title: "Second: part", URL: "backlog/tasks/task-2 - Second.md", State: providers.Open, Status: "To Do", Priority: providers.High, Labels: []string{"core", "ui"}, Milestone: "m-1", Needs: []providers.Need{
				{Key: "backlogmd:task-1", Text: "TASK-1", Kind: "dependency", State: providers.Open}, {Key: "backlogmd:task-9", Text: "TASK-9", Kind: "dependency"},
				{Key: "backlogmd:task-5", Text: "TASK-5", Kind: "dependency", State: providers.Done}, {Text: "nonsense", Kind: "dependency"},
			}},
			{Key: "backlogmd:task-1", ID: "TASK-1", Title: "First", State: providers.Open, Status: "To Do", Priority: providers.Low},
			{Key: "backlogmd:draft-1", ID: "DRAFT-1", Title: "Idea", State: providers.Waiting, Status: "Draft"},
			{Key: "backlogmd:task-3", ID: "TASK-3", Title: "Third", State: providers.Started, Status: "In Progress", Assignees: []string{"@bob"}, Updated: time.Date(2026, 11, 29, 14, 0, 0, 0, time.UTC)},
			{Key: "backlogmd:task-3.1", ID: "TASK-3.1", Title: "Part", State: providers.Open, Status: "To Do", Parent: "backlogmd:task-3"},
			{Key: "backlogmd:task-4", ID: "TASK-4", Title: "Strange", State: providers.Waiting, Status: "Someday"},
			{Key: "backlogmd:task-5", ID: "TASK-5", Title: "Old", URL: "backlog/completed/task-5 - Old.md", State: providers.Done, Status: "In Progress"},
		},
		Missing: "backlogmd:task-9",
		Change: func(t *testing.T, key providers.Key, title string) {
			t.Helper()
			lines := strings.Split(s.read(path[key]), "\n")
			for i, line := range lines {
				if strings.HasPrefix(line, "title:") {
					lines[i] = "title: " + title
				}
			}
			s.write(path[key], strings.Join(lines, "\n"))
		},
		Startable: "backlogmd:task-1", Finishable: "backlogmd:task-3",
	}
}

func TestRead(t *testing.T) {
	p := newWorld(t, "").Provider
	if item, err := p.Read(t.Context(), "backlogmd:task-6"); err != nil || item.State != providers.Cancelled || item.URL != "backlog/archive/tasks/task-6 - Off.md" {
		t.Errorf("an archived task: %+v, %v", item, err)
	}
}
