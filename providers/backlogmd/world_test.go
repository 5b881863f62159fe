package backlogmd

import (
	"bytes"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// site is a work tree with a project.
type site struct {
	t   *testing.T
	dir string
}

const reviewConfig = "project_name: \"demo\"\ndefault_status: \"To Do\"\nstatuses: [\"To Do\", \"In Progress\", \"In Review\", \"Done\"]\nlabels: []\ndate_format: yyyy-mm-dd\n" +
	"auto_commit: false\nremote_operations: false\ncheck_active_branches: false\nfilesystem_only: true\n"

// newSite writes files, with a configuration unless there is one among them.
func newSite(t *testing.T, files map[string]string) *site {
	t.Helper()
	s := &site{t: t, dir: t.TempDir()}
	if _, ok := files["backlog.config.yml"]; !ok && files["backlog/config.yml"] == "" {
		s.write("backlog/config.yml", reviewConfig)
	}
	for name, text := range files {
		s.write(name, text)
	}
	return s
}

func (s *site) write(name, text string) {
	s.t.Helper()
	name = filepath.Join(s.dir, filepath.FromSlash(name))
	if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
		s.t.Fatal(err)
	}
	if err := os.WriteFile(name, []byte(text), 0o644); err != nil {
		s.t.Fatal(err)
	}
}

func (s *site) read(name string) string {
	s.t.Helper()
	data, err := os.ReadFile(filepath.Join(s.dir, filepath.FromSlash(name)))
	if err != nil {
		s.t.Fatal(err)
	}
	return string(data)
}

func now() time.Time { return time.Date(2026, 11, 30, 13, 10, 0, 0, time.UTC) }

// open opens the project; with a program, announcements go through it.
func (s *site) open(program string) *Provider {
	s.t.Helper()
	p, err := Open(Options{Dir: s.dir, Program: program, Env: s.env(), Now: now})
	if err != nil {
		s.t.Fatal(err)
	}
	return p
}

func (s *site) env() []string {
	return append(os.Environ(), "HOME="+s.dir, "BACKLOG_CWD=/nowhere", "GIT_CONFIG_NOSYSTEM=1")
}

// program is the real backlog program.
func program(t *testing.T) string {
	t.Helper()
	path, err := filepath.Abs("../../.tools/trackers/node_modules/.bin/backlog")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(path); err != nil {
		t.Fatal("the backlog program is not installed: make deps")
	}
	return path
}

// backlog runs the real program, and returns what it writes.
func (s *site) backlog(args ...string) string {
	s.t.Helper()
	cmd := exec.CommandContext(s.t.Context(), program(s.t), args...)
	cmd.Dir, cmd.Env = s.dir, append(s.env(), "BACKLOG_CWD=", "NO_COLOR=1")
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		s.t.Fatalf("backlog %s: %v\n%s%s", strings.Join(args, " "), err, out, stderr.String())
	}
	return string(out)
}

// said is what the program says of a task.
type said struct {
	ID, Title, Status, Priority, Milestone, ParentTaskID, UpdatedAt string
	Assignees, Labels                                               []string
	IsReady                                                         bool
}

// list is what the program lists.
func (s *site) list() map[string]said {
	s.t.Helper()
	var answer struct{ Tasks []said }
	if err := json.Unmarshal([]byte(s.backlog("task", "list", "--json")), &answer); err != nil {
		s.t.Fatal(err)
	}
	tasks := map[string]said{}
	for _, task := range answer.Tasks {
		tasks[task.ID] = task
	}
	return tasks
}

// file is a task's file as the program writes it, with more lines of front matter.
func file(id, title, status string, more ...string) string {
	lines := append([]string{"---", "id: " + id, "title: " + title, "status: " + status, "assignee: []", "created_date: '2026-11-29 13:39'", "labels: []", "dependencies: []"}, more...)
	for _, line := range more {
		key, _, _ := strings.Cut(line, ":")
		for i := range 8 {
			if strings.HasPrefix(lines[i], key+":") {
				lines = append(lines[:i], lines[i+1:]...)
				break
			}
		}
	}
	return strings.Join(lines, "\n") + "\n---\n\n## Description\n\nstatus: is no key here\n"
}
