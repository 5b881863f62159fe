package main

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/git-worklease/git-worklease/internal/gitserver"
)

// backlog is a Backlog.md project in a clone, and the real program.
type backlog struct {
	*worker
	t   *testing.T
	bin string
}

func newBacklog(t *testing.T, w *worker) *backlog {
	t.Helper()
	bin, err := filepath.Abs("../../.tools/trackers/node_modules/.bin")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(filepath.Join(bin, "backlog")); err != nil {
		t.Fatal("the backlog program is not installed: make deps")
	}
	b := &backlog{worker: w, t: t, bin: bin}
	b.run("init", "demo", "--defaults", "--integration-mode", "none", "--auto-open-browser", "false")
	return b
}

// path is the PATH with the backlog program.
func (b *backlog) path() string {
	return "PATH=" + b.bin + string(os.PathListSeparator) + os.Getenv("PATH")
}

// run runs the real program, and returns what it writes.
func (b *backlog) run(args ...string) string {
	b.t.Helper()
	cmd := exec.CommandContext(b.t.Context(), filepath.Join(b.bin, "backlog"), args...)
	cmd.Dir, cmd.Env = b.Dir, append(slices.Clone(b.Env), b.path(), "NO_COLOR=1")
	out, err := cmd.CombinedOutput()
	if err != nil {
		b.t.Fatalf("backlog %s: %v\n%s", strings.Join(args, " "), err, out)
	}
	return string(out)
}

// said is what the program says of a task.
type said struct {
	ID, Status string
	Assignees  []string
}

func (b *backlog) tasks() map[string]said {
	b.t.Helper()
	var answer struct{ Tasks []said }
	text := b.run("task", "list", "--json")
	if err := json.Unmarshal([]byte(text), &answer); err != nil {
		b.t.Fatalf("%v\n%s", err, text)
	}
	tasks := map[string]said{}
	for _, s := range answer.Tasks {
		tasks[s.ID] = s
	}
	return tasks
}

// TestEightTakeTasks: eight processes of one clone come at once for twelve tasks, of which eight are ready. Each gets one of its own, the real program has all
// of these in progress and nothing else, and the ninth gets nothing.
func TestEightTakeTasks(t *testing.T) {
	s := httpSite(t, gitserver.HTTPOptions{})
	b := newBacklog(t, s.worker(t, "alice"))
	for i := 1; i <= 12; i++ {
		args := []string{"task", "create", fmt.Sprintf("Task number %d", i)}
		if i > 8 {
			args = append(args, "--dep", fmt.Sprintf("TASK-%d", i-8))
		}
		b.run(args...)
	}
	b.must(t, 0, "queue", "init")

	racers := make([]*racer, 8)
	for i := range racers {
		racers[i] = &racer{
			worker: b.worker, args: []string{"queue", "next", "--claim", "--start", "--json", "-s", fmt.Sprintf("run-%d", i)},
			environ: []string{b.path(), fmt.Sprintf("WORKLEASE_AGENT=agent-%d", i)},
		}
	}
	race(t, racers)
	taken := map[string]string{}
	for i, r := range racers {
		var doc struct {
			Result struct {
				Items  []struct{ ID string }
				Untold []any
			}
		}
		if err := json.Unmarshal([]byte(r.Stdout), &doc); err != nil || r.Code != 0 || len(doc.Result.Items) != 1 || len(doc.Result.Untold) > 0 {
			t.Fatalf("exit %d, %v\n%s%s", r.Code, err, r.Stdout, r.Stderr)
		}
		id := doc.Result.Items[0].ID
		if other := taken[id]; other != "" {
			t.Errorf("%s has %s as well", other, id)
		}
		taken[id] = fmt.Sprintf("@agent-%d", i)
	}
	if len(taken) != 8 {
		t.Errorf("%d tasks were taken", len(taken))
	}
	for id, task := range b.tasks() {
		switch agent := taken[id]; {
		case agent != "" && (task.Status != "In Progress" || !slices.Equal(task.Assignees, []string{agent})):
			t.Errorf("%s of %s: %+v", id, agent, task)
		case agent == "" && task.Status != "To Do":
			t.Errorf("%s of nobody: %+v", id, task)
		}
	}
	ninth := &racer{worker: b.worker, args: []string{"queue", "next", "--claim", "--start", "-s", "run-9"}, environ: []string{b.path(), "WORKLEASE_AGENT=agent-9"}}
	race(t, []*racer{ninth})
	if ninth.Code != 5 || !strings.Contains(ninth.Stderr, "no item is ready: of 12 open, 8 claimed, 4 needs") {
		t.Errorf("exit %d\n%s", ninth.Code, ninth.Stderr)
	}
	s.sound(t)
}
