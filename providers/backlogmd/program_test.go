package backlogmd

import (
	"errors"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/git-worklease/git-worklease/providers"
)

// ready is what the items themselves say, without claims.
func ready(item *providers.Item) bool {
	return !item.State.Closed() && !slices.ContainsFunc(item.Needs, func(n providers.Need) bool { return !n.State.Closed() })
}

// TestReadyAsTheProgramSays: tasks are ready that the program calls so, and it reads the same in them.
func TestReadyAsTheProgramSays(t *testing.T) {
	s := newSite(t, map[string]string{
		"backlog/tasks/task-1 - a.md":          file("TASK-1", "Plain", "To Do"),
		"backlog/tasks/task-2 - b.md":          file("TASK-2", "Needs what is open", "To Do", "dependencies: [TASK-1]"),
		"backlog/tasks/task-3 - c.md":          file("TASK-3", "A whole", "To Do"),
		"backlog/tasks/task-3.1 - d.md":        file("TASK-3.1", "A part", "To Do", "parent_task_id: TASK-3"),
		"backlog/tasks/task-3.2 - e.md":        file("TASK-3.2", "A part that needs another", "To Do", "parent_task_id: TASK-3", "dependencies:\n  - task-03.1"),
		"backlog/tasks/task-4 - f.md":          file("TASK-4", "Done", "done"),
		"backlog/tasks/task-5 - g.md":          file("TASK-5", "Needs what is done", "To Do", "dependencies:\n  - TASK-4\n  - TASK-20"),
		"backlog/tasks/task-6 - h.md":          file("TASK-6", "Needs what is missing", "To Do", "dependencies:\n  - TASK-99"),
		"backlog/tasks/task-7 - i.md":          file("TASK-7", "Needs what is archived", "To Do", "dependencies:\n  - TASK-21"),
		"backlog/tasks/task-8 - j.md":          file("TASK-8", "Needs a draft", "To Do", "dependencies:\n  - DRAFT-1"),
		"backlog/tasks/task-9 - k.md":          file("TASK-9", "Needs itself", "To Do", "dependencies:\n  - TASK-9"),
		"backlog/tasks/task-10 - l.md":         file("TASK-10", "Begun", "In Progress", "assignee: @alice", "priority: HIGH"),
		"backlog/tasks/task-11 - m.md":         "\ufeff" + strings.ReplaceAll(file("TASK-11", "Windows", "to do", "assignee: [@a, '@b']", "labels: [x, y z]", "dependencies: [4]"), "\n", "\r\n"),
		"backlog/tasks/task-12 - n.md":         file("12", ">-\n  A title that\n  goes on", "To Do", "dependencies:\n- '20'", "priority: nonsense"),
		"backlog/tasks/task-13 - o.md":         file("TASK-13", "\"Quoted \\u00e9\" # comment", "Someday"),
		"backlog/completed/task-20 - r.md":     file("TASK-20", "Completed", "To Do"),
		"backlog/archive/tasks/task-21 - s.md": file("TASK-21", "Archived", "To Do"),
		"backlog/drafts/draft-1 - t.md":        file("DRAFT-1", "Draft", "Draft"),
	})
	theirs := s.list()
	p := s.open("")
	l, err := p.List(t.Context(), nil)
	if err != nil || !l.Complete() {
		t.Fatalf("%v, %v", l.Troubles, err)
	}
	compared := 0
	for _, item := range l.Items {
		task, ok := theirs[item.ID]
		if !ok {
			if item.State != providers.Done && item.ID != "DRAFT-1" {
				t.Errorf("the program does not list %s", item.ID)
			}
			continue
		}
		compared++
		if ready(&item) != task.IsReady {
			t.Errorf("%s %q: ready %v; the program says %v", item.ID, item.Title, ready(&item), task.IsReady)
		}
		parent := ""
		if task.ParentTaskID != "" {
			key, _ := p.Parse(task.ParentTaskID)
			parent = string(key)
		}
		if item.Title != task.Title || item.Status != task.Status || string(item.Parent) != parent || item.Milestone != task.Milestone ||
			!slices.Equal(item.Labels, task.Labels) || !slices.Equal(item.Assignees, task.Assignees) {
			t.Errorf("we read %+v\nthe program %+v", item, task)
		}
	}
	if compared < 15 {
		t.Errorf("%d tasks were compared, of %v", compared, theirs)
	}
}

// TestOfTheProgramsMaking: a project that the program made, in another folder, with another prefix, padded IDs, and its configuration at the root.
func TestOfTheProgramsMaking(t *testing.T) {
	s := &site{t: t, dir: t.TempDir()}
	s.backlog("init", "demo", "--defaults", "--no-git", "--integration-mode", "none", "--backlog-dir", "work/items", "--config-location", "root", "--task-prefix", "JOB", "--zero-padded-ids", "3")
	long := "A title that is so long that the program writes it in several lines: more than eighty columns wide"
	s.backlog("task", "create", long, "-a", "@x,@y", "-l", "a,b", "--priority", "high", "--plain")
	s.backlog("task", "create", "true", "-p", "job-1", "--dep", "job-1", "--plain")
	s.backlog("task", "create", "Draft", "--draft", "--plain")
	if !Detect(s.dir) || Detect(t.TempDir()) {
		t.Error("detected wrongly")
	}
	p := s.open("")
	l, err := p.List(t.Context(), nil)
	if err != nil || !l.Complete() || len(l.Items) != 3 || p.Source() != "work/items/tasks" {
		t.Fatalf("%+v, %v", l, err)
	}
	first, draft, second := l.Items[0], l.Items[2], l.Items[1]
	if first.Key != "backlogmd:job-1" || first.ID != "JOB-001" || first.Title != long || first.Priority != providers.High || !slices.Equal(first.Assignees, []string{"@x", "@y"}) || !slices.Equal(first.Labels, []string{"a", "b"}) {
		t.Errorf("%+v", first)
	}
	if second.Key != "backlogmd:job-1.1" || second.Title != "true" || second.Parent != first.Key || len(second.Needs) != 1 || second.Needs[0].Key != first.Key {
		t.Errorf("%+v", second)
	}
	if draft.Key != "backlogmd:draft-1" || draft.State != providers.Waiting {
		t.Errorf("%+v", draft)
	}
	for _, text := range []string{"1", "JOB-001", "job-1", "work/items/tasks/job-001 - x.md"} {
		if key, err := p.Parse(text); key != first.Key || err != nil {
			t.Errorf("%q: %q, %v", text, key, err)
		}
	}
	// What we write the program understands.
	if _, err := p.Start(t.Context(), first.Key, providers.Worker{Agent: "robot, the first"}); err != nil {
		t.Fatal(err)
	}
	theirs := s.list()["JOB-001"]
	if theirs.Status != "In Progress" || !slices.Equal(theirs.Assignees, []string{"@x", "@y", "@robot, the first"}) || theirs.UpdatedAt != "2026-11-30T13:10:00Z" {
		t.Errorf("%+v", theirs)
	}
}

// TestStartGoesThroughTheProgram: what the program is told comes to the file, in its form, with comments gone; what it can't be told is edited.
func TestStartGoesThroughTheProgram(t *testing.T) {
	s := newSite(t, map[string]string{"backlog/tasks/task-1 - a.md": file("TASK-1", "Plain # comment", "To Do"), "backlog/tasks/task-2 - b.md": file("TASK-2", "Plain # comment", "To Do")})
	p := s.open(program(t))
	if mark, err := p.Start(t.Context(), "backlogmd:task-1", providers.Worker{Agent: "--help"}); err != nil || mark.Status != "In Progress" || !slices.Equal(mark.Assigned, []string{"@--help"}) {
		t.Errorf("%+v, %v", mark, err)
	}
	if strings.Contains(s.read("backlog/tasks/task-1 - a.md"), "# comment") {
		t.Error("the program was not asked")
	}
	if mark, err := p.Start(t.Context(), "backlogmd:task-2", providers.Worker{Agent: "a, b"}); err != nil || !slices.Equal(mark.Assigned, []string{"@a, b"}) {
		t.Errorf("%+v, %v", mark, err)
	}
	if !strings.Contains(s.read("backlog/tasks/task-2 - b.md"), "# comment") {
		t.Error("the program was asked")
	}
}

// TestProgramsThatFail: what another program of that name says is told, and nothing is taken for done.
func TestProgramsThatFail(t *testing.T) {
	for script, want := range map[string]error{"echo 'no such command' >&2; exit 2": providers.ErrUnavailable, "exit 0": providers.ErrBroken} {
		s := newSite(t, map[string]string{"backlog/tasks/task-1 - a.md": file("TASK-1", "Plain", "To Do")})
		s.write("bin/backlog", "#!/bin/sh\n"+script+"\n")
		path := filepath.Join(s.dir, "bin/backlog")
		makeExecutable(t, path)
		mark, err := s.open(path).Start(t.Context(), "backlogmd:task-1", providers.Worker{Agent: "robot"})
		if !errors.Is(err, want) || !mark.IsZero() {
			t.Errorf("%s: %+v, %v", script, mark, err)
		}
		if errors.Is(want, providers.ErrUnavailable) && !strings.Contains(err.Error(), "no such command") {
			t.Errorf("%v", err)
		}
	}
}
