package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/git-worklease/git-worklease/internal/gitserver"
)

// files are texts by their paths in a work tree.
type files map[string]string

// write puts them into the user's work tree.
func (f files) write(user *gitserver.Checkout) error {
	for name, text := range f {
		path := filepath.Join(user.Dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o750); err != nil {
			return err
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			return err
		}
	}
	return nil
}

const (
	tasksFolder = "backlog/tasks"
	taskPolicy  = "version = 1\n[providers.backlogmd]\n"
	issuePolicy = "version = 1\n[providers.beads]\nfile_only = true\n"

	// taskConfig leaves the remote and other branches to git: the backlog program is fastest so.
	taskConfig = `project_name: "demo"
default_status: "To Do"
statuses: ["To Do", "In Progress", "Done"]
labels: []
date_format: yyyy-mm-dd
remote_operations: false
auto_commit: false
filesystem_only: true
check_active_branches: false
task_prefix: "task"
`
)

// mixedTasks is a Backlog.md project in the midst of its work: a third of the tasks is done, every tenth begun, every other one waits for another.
func mixedTasks(n int) files {
	all := taskProject()
	for i := 1; i <= n; i++ {
		status, assignee, needs := "To Do", "assignee: []", "dependencies: []"
		switch {
		case i%3 == 0:
			status = "Done"
		case i%10 == 1:
			status, assignee = "In Progress", fmt.Sprintf("assignee:\n  - '@dev%d'", i%7)
		}
		if i%2 == 0 {
			needs = fmt.Sprintf("dependencies:\n  - TASK-%d", i/2+1)
		}
		all.addTask(i, status, assignee, needs)
	}
	return all
}

// readyTasks are tasks of which every one is ready, numbered from first.
func readyTasks(first, n int) files {
	all := files{}
	for i := first; i < first+n; i++ {
		all.addTask(i, "To Do", "assignee: []", "dependencies: []")
	}
	return all
}

func taskProject() files {
	return files{".worklease.toml": taskPolicy, "backlog/config.yml": taskConfig}
}

// addTask adds a task as the backlog program writes it, of some 1,900 bytes.
func (f files) addTask(i int, status, assignee, needs string) {
	f[fmt.Sprintf("%s/task-%d - Part-%d-of-the-work.md", tasksFolder, i, i)] = fmt.Sprintf(`---
id: TASK-%[1]d
title: 'Part %[1]d of the work: what users asked for'
status: %[2]s
%[3]s
created_date: '2026-11-%02[5]d 13:39'
updated_date: '2026-11-29 10:02'
labels:
  - core
  - area-%[6]d
%[4]s
priority: %[7]s
ordinal: %[1]d000
---

## Description

<!-- SECTION:DESCRIPTION:BEGIN -->
%[8]s
<!-- SECTION:DESCRIPTION:END -->

## Acceptance Criteria
<!-- AC:BEGIN -->
- [ ] #1 It does what the description says
- [ ] #2 A test shows it
- [ ] #3 The manual tells of it
<!-- AC:END -->

## Implementation Plan

<!-- SECTION:PLAN:BEGIN -->
1. Read what is there
2. Write a test that fails
3. Change part %[1]d
<!-- SECTION:PLAN:END -->

## Implementation Notes

<!-- SECTION:NOTES:BEGIN -->
%[9]s
<!-- SECTION:NOTES:END -->
`, i, status, assignee, needs, i%28+1, i%9, []string{"high", "medium", "low"}[i%3],
		strings.Repeat("What is to be done, and why it matters to those who wait for it. ", 10), strings.Repeat("What was tried so far. ", 12))
}

// exportedIssues is what Beads exports: half of the issues are closed, a fifth waits for others, a tenth is part of another.
func exportedIssues(n int) files {
	var text strings.Builder
	for i := range n {
		status, links := []string{"open", "closed"}[i%2], ""
		link := func(to int, kind string) {
			links = fmt.Sprintf(`,"dependencies":[{"issue_id":"demo-%x","depends_on_id":"demo-%x","type":%q,`, i, to, kind) +
				`"created_at":"2026-11-29T13:40:39Z","created_by":"alice","metadata":"{}"}]`
		}
		switch {
		case i%5 == 0 && i > 0:
			link(i-1, "blocks")
		case i%10 == 1:
			link(i/100*10, "parent-child")
		}
		fmt.Fprintf(&text, `{"_type":"issue","id":"demo-%x","title":"Issue %d of a project","description":%q,"status":%q,"priority":%d,"issue_type":"task",`,
			i, i, strings.Repeat("What is to be done. ", 8), status, i%5)
		fmt.Fprintf(&text, `"owner":"alice@example.com","created_at":"2026-11-29T13:%02d:12Z","created_by":"alice","updated_at":"2026-11-29T13:40:12Z",`, i%60)
		fmt.Fprintf(&text, `"labels":["core","codec"]%s,"dependency_count":0,"dependent_count":0,"comment_count":0}`+"\n", links)
	}
	return files{".worklease.toml": issuePolicy, ".beads/issues.jsonl": text.String()}
}
