package backlogmd

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/git-worklease/git-worklease/providers"
)

func makeExecutable(t *testing.T, path string) {
	t.Helper()
	if err := os.Chmod(path, 0o755); err != nil {
		t.Fatal(err)
	}
}

// TestEdit: each becomes the other, byte for byte, and goes back but for the date.
func TestEdit(t *testing.T) {
	const date = "updated_date: '2026-11-30 13:10'\n"
	for before, after := range map[string]string{
		"---\nid: TASK-1\nstatus: To Do\nassignee: []\ncreated_date: '2026-11-29 13:39'\n---\nbody":                                      "---\nid: TASK-1\nstatus: In Progress\nassignee:\n  - '@r'\ncreated_date: '2026-11-29 13:39'\n" + date + "---\nbody",
		"---\nstatus: 'To Do'   # so far\nassignee: [a, \"b\"] # c\nupdated_date: 2026-01-01 # d\nx: {y: [z]}\n--- \n---\nstatus: To Do": "---\nstatus: 'In Progress'   # so far\nassignee: [a, \"b\", '@r'] # c\nupdated_date: '2026-11-30 13:10' # d\nx: {y: [z]}\n--- \n---\nstatus: To Do",
		"---\nstatus: \"To Do\"\nassignee:\n# first\n- a\n- '@b' # second\nupdated_date: \"\"\n---\n":                                    "",
		"---\nstatus: \"To Do\"\nassignee:\n  - a\n  - '@b' # second\nupdated_date: \"\"\n---\n":                                         "---\nstatus: \"In Progress\"\nassignee:\n  - a\n  - '@b' # second\n  - '@r'\nupdated_date: \"2026-11-30 13:10\"\n---\n",
		// The backlog program takes the comment for a name, and then can't read the list.
		"---\nstatus: \"To Do\"\nassignee: # who\n  - a\n---\n":                                       "",
		"\ufeff---\r\nstatus: To Do\r\nassignee: []\r\n" + date[:len(date)-1] + "\r\n---\r\nbody\r\n": "\ufeff---\r\nstatus: In Progress\r\nassignee:\r\n  - '@r'\r\n" + date[:len(date)-1] + "\r\n---\r\nbody\r\n",
		"---\ntitle: >-\n  a\n  b\nstatus: To Do\nassignee:\n" + date + "---\n":                       "---\ntitle: >-\n  a\n  b\nstatus: In Progress\nassignee:\n  - '@r'\n" + date + "---\n",
		"---\nstatus: To Do\nassignee:\n- a\nupdated_date: \"\"\n---\n":                               "---\nstatus: In Progress\nassignee:\n- a\n- '@r'\nupdated_date: \"2026-11-30 13:10\"\n---\n",
		"---\nstatus: |\n  To Do\nassignee: []\n---\n":                                                "",
		"---\nstatus: &a To Do\nassignee: []\n---\n":                                                  "",
		"---\n{status: To Do, assignee: []}\n---\n":                                                   "",
		"---\nstatus: To Do\nassignee: [a,\n  b]\n---\n":                                              "",
		"---\nstatus: \"To\\x20Do\"\nassignee: []\n---\n":                                             "",
		"---\nstatus: To\n  Do\nassignee: []\n---\n":                                                  "",
		"---\n\"status\": To Do\nassignee: []\n---\n":                                                 "",
	} {
		got, err := edit([]byte(before), change{status: "In Progress", add: []string{"@r"}}, "2026-11-30 13:10")
		if string(got) != after || (after == "") != (err != nil) {
			t.Errorf("%q\nbecame %q, %v\nnot    %q", before, got, err, after)
			continue
		}
		if err != nil {
			continue
		}
		back, err := edit(got, change{status: "To Do", remove: []string{"@r"}}, "2026-11-30 13:10")
		again := strings.ReplaceAll(before, "updated_date: 2026-01-01", "updated_date: '2026-11-30 13:10'")
		again = strings.ReplaceAll(again, "updated_date: \"\"", "updated_date: \"2026-11-30 13:10\"")
		again = strings.ReplaceAll(again, "assignee:\n"+date, "assignee: []\n"+date)
		if !strings.Contains(again, "updated_date") {
			again = strings.Replace(again, "13:39'\n", "13:39'\n"+date, 1)
		}
		if string(back) != again || err != nil {
			t.Errorf("%q\nwent back to %q, %v\nnot          %q", got, back, err, again)
		}
	}
}

// TestAnnounceByEdit: the file keeps its mode, and nothing is left beside it.
func TestAnnounceByEdit(t *testing.T) {
	s := newSite(t, map[string]string{"backlog/tasks/task-1 - a.md": file("TASK-1", "Plain", "To Do")})
	path := filepath.Join(s.dir, "backlog/tasks/task-1 - a.md")
	if err := os.Chmod(path, 0o640); err != nil {
		t.Fatal(err)
	}
	if _, err := s.open("").Start(t.Context(), "backlogmd:task-1", providers.Worker{Agent: "robot"}); err != nil {
		t.Fatal(err)
	}
	info, err := os.Stat(path)
	if err != nil || info.Mode().Perm() != 0o640 {
		t.Errorf("%v, %v", info, err)
	}
	for _, folder := range []string{"tasks", ".locks"} {
		if left, err := os.ReadDir(filepath.Join(s.dir, "backlog", folder)); err != nil || len(left) != len(folder)%2 {
			t.Errorf("%s: %v, %v", folder, left, err)
		}
	}
}

// TestAnnounceAtOnce: of those who announce at once, none undoes what another did.
func TestAnnounceAtOnce(t *testing.T) {
	s := newSite(t, map[string]string{"backlog/tasks/task-1 - a.md": file("TASK-1", "Plain", "To Do")})
	p := s.open("")
	var group sync.WaitGroup
	for i := range 6 {
		group.Go(func() {
			if mark, err := p.Start(t.Context(), "backlogmd:task-1", providers.Worker{Agent: fmt.Sprint("r", i)}); err != nil || len(mark.Assigned) != 1 {
				t.Errorf("%+v, %v", mark, err)
			}
		})
	}
	group.Wait()
	if item, err := p.Read(t.Context(), "backlogmd:task-1"); err != nil || len(item.Assignees) != 6 {
		t.Errorf("%+v, %v", item, err)
	}
}

// TestLockOfTheProgram: whoever has the lock is waited for, and not for ever; one who died is not.
func TestLockOfTheProgram(t *testing.T) {
	s := newSite(t, map[string]string{"backlog/tasks/task-1 - a.md": file("TASK-1", "Plain", "To Do")})
	lock := filepath.Join(s.dir, "backlog/.locks/task-task-1")
	if err := os.MkdirAll(lock, 0o755); err != nil {
		t.Fatal(err)
	}
	before := s.read("backlog/tasks/task-1 - a.md")
	p := s.open("")
	synctest.Test(t, func(t *testing.T) {
		p.opts.Now = time.Now
		if mark, err := p.Start(t.Context(), "backlogmd:task-1", providers.Worker{Agent: "robot"}); !errors.Is(err, providers.ErrUnavailable) || !mark.IsZero() {
			t.Errorf("%+v, %v", mark, err)
		}
	})
	if s.read("backlog/tasks/task-1 - a.md") != before {
		t.Error("it was changed")
	}
	p.opts.Now = func() time.Time { return time.Now().Add(time.Minute) }
	if _, err := p.Start(t.Context(), "backlogmd:task-1", providers.Worker{Agent: "robot"}); err != nil {
		t.Error(err)
	}
}

// TestWhatIsNotStarted: drafts and what is closed.
func TestWhatIsNotStarted(t *testing.T) {
	s := newSite(t, map[string]string{
		"backlog/tasks/task-1 - a.md": file("TASK-1", "Plain", "Done"), "backlog/drafts/draft-1 - b.md": file("DRAFT-1", "Draft", "Draft"), "backlog/completed/task-2 - c.md": file("TASK-2", "Old", "To Do"),
		"backlog/archive/tasks/task-3 - c.md": file("TASK-3", "Off", "To Do"),
	})
	p := s.open("")
	for _, key := range []providers.Key{"backlogmd:task-1", "backlogmd:draft-1", "backlogmd:task-2", "backlogmd:task-3"} {
		if mark, err := p.Start(t.Context(), key, providers.Worker{Agent: "robot"}); !errors.Is(err, providers.ErrUnsupported) || !mark.IsZero() {
			t.Errorf("%s: %+v, %v", key, mark, err)
		}
	}
}

// TestStatuses: what a project's words mean, with the settings and without.
func TestStatuses(t *testing.T) {
	tests := []struct {
		words, open     []string
		setting         string
		started, review string
		states          string
		fault           string
	}{
		{words: []string{"To Do", "In Progress", "Done"}, started: "In Progress", states: "open started done"},
		{words: []string{"To Do", "Blocked", "Doing", "Code Review", "Done"}, started: "Doing", review: "Code Review", states: "open started started started done"},
		{words: []string{"Icebox", "Ready", "Active", "Done"}, open: []string{"ready"}, started: "Active", states: "started open started done"},
		{words: []string{"A", "B", "C", "D"}, setting: "c", started: "C", states: "open started started done"},
		{words: []string{"A", "D"}, states: "open done"},
		{words: []string{"D"}, states: "done"},
		{words: []string{"A", "B", "C"}, open: []string{"X"}, fault: `the project has no status "X"`},
		{words: []string{"A", "B", "C"}, setting: "C", fault: `"C": the status of work that has begun is neither the first nor the last of the project's`},
	}
	for _, test := range tests {
		s, err := newStatuses(test.words, test.open, test.setting)
		if err != nil || test.fault != "" {
			if err == nil || err.Error() != test.fault {
				t.Errorf("%v: %v", test.words, err)
			}
			continue
		}
		var states []string
		for _, word := range test.words {
			states = append(states, string(s.state(strings.ToUpper(word))))
		}
		if s.started != test.started || s.review != test.review || strings.Join(states, " ") != test.states || s.state("x") != providers.Waiting || !slices.Contains(test.words, s.done) {
			t.Errorf("%+v: %+v", test, s)
		}
	}
}
