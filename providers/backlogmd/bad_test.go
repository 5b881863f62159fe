package backlogmd

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/git-worklease/git-worklease/providers"
)

// TestBadFiles: each is named with its line, the rest is listed, and what its name says is not there to be claimed.
func TestBadFiles(t *testing.T) {
	for text, want := range map[string]string{
		"":                             ":1: it does not begin with front matter, a line of three dashes",
		"# Title\n":                    ":1: it does not begin with front matter, a line of three dashes",
		"---\nid: TASK-7\n":            ":3: its front matter has no end, a line of three dashes",
		"---\nid: TASK-7\n----\n---\n": ":3: a line of its front matter begins with three dashes and goes on",
		"---\ntitle: a\n---\n":         ":1: it has no ID",
		"---\nid: TASK-7a\n---\n":      ":1: \"TASK-7a\" is no ID of this project: expected TASK-7",
		"---\nid: TASK-７\n---\n":       ":1: \"TASK-７\" is no ID of this project: expected TASK-7",
		"---\nid: JOB-7\n---\n":        ":1: \"JOB-7\" is no ID of this project: expected TASK-7",
		"---\nid: [TASK-7]\n---\n":     ":1: id: its value can't be understood",
		"---\nid: TASK-7\ndependencies: {a: b}\n---\n":                  ":1: dependencies: its value can't be understood",
		"---\nid: TASK-7\nassignee: [[a]]\n---\n":                       ":1: assignee: its value can't be understood",
		"---\nid: TASK-7\nstatus: *a\n---\n":                            ":1: status: its value can't be understood",
		"---\nid: TASK-7\n<<: {status: Done}\n---\n":                    ":3: its front matter merges other keys in",
		"---\n- TASK-7\n---\n":                                          ":2: its front matter is not a list of keys and values",
		"---\nid: TASK-7\nx: " + strings.Repeat("[", 1000) + "\n---\n":  ":2: its front matter is nested too deeply",
		"---\nid: TASK-7\nx: \x00\n---\n":                               ":3: its front matter is not UTF-8, or has control characters",
		"---\nid: TASK-7\nx: \xff\n---\n":                               ":3: its front matter is not UTF-8, or has control characters",
		"---\nid: TASK-7\nx: " + strings.Repeat("a", 70000) + "\n---\n": ":1: its front matter is longer than 64 KiB",
		"---\nid: TASK-7\n---\n" + strings.Repeat("a", 1<<20):           ": it is longer than 1 MiB",
	} {
		s := newSite(t, map[string]string{"backlog/tasks/task-7 - bad.md": text, "backlog/tasks/task-1 - good.md": file("TASK-1", "Good", "To Do")})
		p := s.open("")
		l, err := p.List(t.Context(), nil)
		if err != nil || len(l.Items) != 1 || len(l.Troubles) != 1 || l.Troubles[0].Error() != "backlog/tasks/task-7 - bad.md"+want || !errors.Is(l.Troubles[0], providers.ErrBroken) {
			t.Errorf("%.80q: %+v, %v", text, l, err)
		}
		if item, err := p.Read(t.Context(), "backlogmd:task-7"); !errors.Is(err, providers.ErrBroken) {
			t.Errorf("%.80q: %+v, %v", text, item, err)
		}
	}
	for _, text := range []string{"---\nid: TASK-7\nid: TASK-8\n---\n", "---\nid: 'TASK-7\n---\n", "---\nid: TASK-7\nassignee: @a: b\n  - @c\n---\n", "---\nid: TASK-7\n\ttitle: a\n---\n"} {
		s := newSite(t, map[string]string{"backlog/tasks/task-7 - bad.md": text})
		l, err := s.open("").List(t.Context(), nil)
		if err != nil || len(l.Items) != 0 || len(l.Troubles) != 1 || strings.ContainsAny(l.Troubles[0].Error(), "\n\x1b") {
			t.Errorf("%q: %+v, %v", text, l, err)
		}
	}
}

// TestOneIDTwice: both files are named, neither is listed or read.
func TestOneIDTwice(t *testing.T) {
	s := newSite(t, map[string]string{
		"backlog/tasks/task-7 - a.md": file("TASK-7", "A", "To Do"), "backlog/tasks/task-8 - b.md": file("task-07", "B", "To Do"), "backlog/completed/task-7 - c.md": file("TASK-7", "C", "Done"),
		"backlog/tasks/task-9 - d.md": file("TASK-9", "D", "To Do", "dependencies: [TASK-7]"),
	})
	p := s.open("")
	l, err := p.List(t.Context(), nil)
	const want = "backlog/tasks/task-7 - a.md:1: its ID, TASK-7, is also that of backlog/tasks/task-8 - b.md, backlog/completed/task-7 - c.md"
	if err != nil || len(l.Items) != 1 || ready(&l.Items[0]) || len(l.Troubles) != 1 || l.Troubles[0].Error() != want {
		t.Errorf("%+v, %v", l, err)
	}
	if item, err := p.Read(t.Context(), "backlogmd:task-7"); !errors.Is(err, providers.ErrBroken) {
		t.Errorf("%+v, %v", item, err)
	}
	if _, err := p.Start(t.Context(), "backlogmd:task-7", providers.Worker{Agent: "robot"}); !errors.Is(err, providers.ErrBroken) {
		t.Errorf("%v", err)
	}
}

// TestLinks: none is followed out of the work tree, also not for writing, and none to what is no file.
func TestLinks(t *testing.T) {
	outside := newSite(t, map[string]string{"backlog/tasks/task-7 - a.md": file("TASK-7", "A", "To Do")})
	s := newSite(t, map[string]string{"notes/task-2.md": file("TASK-2", "Inside", "To Do"), "backlog/tasks/task-1 - a.md": file("TASK-1", "Good", "To Do")})
	for name, to := range map[string]string{
		"backlog/tasks/task-7 - a.md": filepath.Join(outside.dir, "backlog/tasks/task-7 - a.md"), "backlog/tasks/task-2 - b.md": "../../notes/task-2.md", "backlog/tasks/task-3 - c.md": "/dev/zero",
		"backlog/tasks/task-4 - d.md": "../../notes", "backlog/completed": filepath.Join(outside.dir, "backlog/tasks"),
	} {
		if err := os.Symlink(to, filepath.Join(s.dir, name)); err != nil {
			t.Fatal(err)
		}
	}
	p := s.open("")
	l, err := p.List(t.Context(), nil)
	if err != nil || len(l.Items) != 2 || len(l.Troubles) != 4 {
		t.Errorf("%+v, %v", l, err)
	}
	if _, err := p.Start(t.Context(), "backlogmd:task-2", providers.Worker{Agent: "robot"}); !errors.Is(err, providers.ErrBroken) {
		t.Errorf("a link was edited: %v", err)
	}
	if s.read("notes/task-2.md") != file("TASK-2", "Inside", "To Do") {
		t.Error("it was changed")
	}
	away := newSite(t, nil)
	if err := errors.Join(os.RemoveAll(filepath.Join(away.dir, "backlog")), os.Symlink(filepath.Join(outside.dir, "backlog"), filepath.Join(away.dir, "backlog"))); err != nil {
		t.Fatal(err)
	}
	if p, err := Open(Options{Dir: away.dir}); err == nil {
		t.Errorf("a project outside is opened: %s", p.Source())
	}
}

// TestOpen: where a project is looked for, and what is wrong with one.
func TestOpen(t *testing.T) {
	tests := []struct {
		files  map[string]string
		opts   Options
		source string
		fault  string
	}{
		{files: map[string]string{"backlog/config.yml": "task_prefix: job\n"}, source: "backlog/tasks"},
		{files: map[string]string{".backlog/config.yaml": "a: b\n", "backlog/x": ""}, source: ".backlog/tasks"},
		{files: map[string]string{"backlog.config.yml": "project_name: a\nbacklog_directory: ./x/y/\n"}, source: "x/y/tasks"},
		{files: map[string]string{"backlog.config.yml": "project_name: a\nbacklog_directory: ../x\n", ".backlog/tasks/x": ""}, source: ".backlog/tasks"},
		{files: map[string]string{"backlog.config.yml": "backlog_directory: x\n", "backlog/config.yml": "a: b"}, source: "backlog/tasks"},
		{files: map[string]string{"app/backlog/config.yml": "a: b"}, opts: Options{Directory: "app"}, source: "app/backlog/tasks"},
		{files: map[string]string{"app/backlog/config.yml": "a: b"}, fault: ".: the tracker is unavailable: there is no project of Backlog.md"},
		{files: map[string]string{"backlog.config.yml": "project_name: a\n"}, fault: ".: the tracker is unavailable: backlog.config.yml names a project whose folder is missing"},
		{opts: Options{Directory: "../x"}, fault: "../x: it is not a folder of the work tree"},
		{files: map[string]string{"backlog/config.yml": "a: b\ntask_prefix: my-app\n"}, fault: "backlog/config.yml:2: task_prefix is not a word of the letters A to Z, or is one that is reserved"},
		{files: map[string]string{"backlog/config.yml": "a: b\nstatuses: Done\n"}, fault: "backlog/config.yml:2: statuses: it is not a list"},
		{files: map[string]string{"backlog/config.yml": "statuses: [A, B]\n"}, opts: Options{Open: []string{"C"}}, fault: `backlog/config.yml: the project has no status "C"`},
		{files: map[string]string{"backlog/config.yml": strings.Repeat("#", 2<<20)}, fault: "it is longer than 1 MiB"},
	}
	for _, test := range tests {
		s := &site{t: t, dir: t.TempDir()}
		for name, text := range test.files {
			s.write(name, text)
		}
		test.opts.Dir = s.dir
		p, err := Open(test.opts)
		switch {
		case test.fault != "" && (err == nil || err.Error() != test.fault):
			t.Errorf("%v: %v", test.files, err)
		case test.fault == "" && (err != nil || p.Source() != test.source):
			t.Errorf("%v: %+v, %v", test.files, p, err)
		}
	}
}
