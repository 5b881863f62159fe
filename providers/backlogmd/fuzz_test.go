package backlogmd

import (
	"bytes"
	"errors"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/git-worklease/git-worklease/lease"
	"github.com/git-worklease/git-worklease/providers"
)

// FuzzKey: a key that is read is read as the same again, and can be claimed.
func FuzzKey(f *testing.F) {
	for _, text := range []string{"7", "task-7", "TASK-007.01", "backlogmd:job-3", "draft-1", "task-0x7", "task-７", "-7", "backlog/tasks/task-7 - A.md", "task-7.md", "/a/backlog/tasks/task-7 - b.md"} {
		f.Add(text, "task")
		f.Add(text, "job")
	}
	f.Fuzz(func(t *testing.T, text, prefix string) {
		if !validPrefix(prefix) {
			t.Skip()
		}
		p := &Provider{opts: Options{Dir: "/a"}, place: place{home: ".", dir: "backlog"}, config: &config{prefix: lower(prefix)}}
		key, err := p.Parse(text)
		if err != nil {
			if !errors.Is(err, providers.ErrNotKey) {
				t.Fatalf("%q: %v", text, err)
			}
			return
		}
		if again, err := p.Parse(string(key)); again != key || err != nil {
			t.Fatalf("%q is %q, and that %q, %v", text, key, again, err)
		}
		if _, err := lease.ParseResource(string(key)); err != nil {
			t.Fatalf("%q: %v", key, err)
		}
	})
}

// FuzzFast: whatever is read in the fast way means the same to the library.
func FuzzFast(f *testing.F) {
	for _, text := range []string{
		"id: TASK-1\ntitle: 'It''s: this'\nstatus: To Do\nassignee:\n  - '@a'\n  - b\nlabels: []\nordinal: 1000\n",
		"title: a:b #c\n", "title: a#b\n", "title: \"x y\"\n", "title: 2026-11-29 13:39\n", "title: 007\n", "title: 1_000\n", "title: yes\n", "title: ü-ß\n", "title: 日本\n",
		"title: a, b & c * d ! e % f\n", "title: 0x1F\n", "title: 1e3\n", "title: .inf\n", "title: a - b\n", "title: a ? b\n", "title: - a\n", "ab: <<\n", "title: a  b\n", "title: 'a  b '\n", "aa: 1:2:3\n",
	} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		got, ok := fast(text)
		if !ok {
			return
		}
		want, _, err := slow(quoteNames(text))
		if err != nil || !same(got, want) {
			t.Fatalf("%q\nfast: %+v\nslow: %+v, %v", text, got, want, err)
		}
	})
}

func same(a, b []field) bool {
	for i := range a {
		if i >= len(b) || a[i].key != b[i].key {
			return false
		}
	}
	return sameFields(a, b)
}

// FuzzTask: a file is a task with a key of this project or an error, and of bounded cost.
func FuzzTask(f *testing.F) {
	for _, text := range []string{
		"---\nid: TASK-1\nstatus: To Do\n---\n", "\ufeff---\r\nid: TASK-1\r\nassignee: @a\r\n---\r\n", "---\nid: [a\n---\n", "---\nid: &a b\ntitle: *a\n---\n", "---\n<<: {id: task-1}\n---\n", "---\nid: 1\nid: 2\n---\n",
		"---\nassignee: [@a, \"b,c\"] # d\nid: 7\n---", "---\n- a\n---\n", "---\n", "", "---\nid: task-1\n----\n", "---\ntitle: >-\n  a\n  b\nid: task-1\n---\n", "---\n? a\n: b\n---\n", "---\n" + strings.Repeat("- ", 40) + "\n---\n",
	} {
		f.Add([]byte(text))
	}
	p := testProvider()
	f.Fuzz(func(t *testing.T, data []byte) {
		task, line, err := p.newTask(tasksFolder, "task-1.md", data)
		if err != nil {
			if line < 1 || line > bytes.Count(data, []byte("\n"))+2 {
				t.Fatalf("line %d: %v", line, err)
			}
			return
		}
		if key, err := p.Parse(string(task.item.Key)); err != nil || key != task.item.Key || task.item.Version == "" {
			t.Fatalf("%+v: %v", task.item, err)
		}
	})
}

// FuzzEdit: an edit says what it was to say, and leaves the rest alone.
func FuzzEdit(f *testing.F) {
	for _, text := range []string{
		"---\nid: TASK-1\nstatus: To Do # so far\nassignee: []\nupdated_date: '2026-01-02 03:04'\n---\nbody", "\ufeff---\r\nid: TASK-1\r\nstatus: \"To Do\"\r\nassignee: @a\r\n---\r\nbody\r\n",
		"---\nid: TASK-1\nassignee: [a, '@b']\n---\n", "---\nid: TASK-1\nassignee:\n- a\n# c\n- b\n---\n", "---\nstatus: |\n  To Do\nid: TASK-1\n---\n", "---\nid: task-1\nassignee:\n---\n", "---\n---\n",
	} {
		f.Add([]byte(text), "In Progress", "@robot", "a")
	}
	f.Fuzz(func(t *testing.T, data []byte, status, add, remove string) {
		for _, word := range []string{status, add, remove} {
			if word == "" || strings.TrimSpace(word) != word || !utf8Plain(word) || strings.ContainsFunc(word, func(r rune) bool { return r < ' ' || r == 0x7f }) {
				t.Skip()
			}
		}
		edited, err := edit(data, change{status: status, add: []string{add}, remove: []string{remove}}, "2026-11-30 13:10")
		if err != nil {
			return
		}
		after, _, err := parseMatter(edited)
		if err != nil || valueOf(after, "status").text != status || add != remove && !reflect.DeepEqual(valueOf(after, "updated_date").text, "2026-11-30 13:10") {
			t.Fatalf("%q became %q: %+v, %v", data, edited, after, err)
		}
		_, end, _, _ := between(data)
		_, ended, _, _ := between(edited)
		if !bytes.Equal(data[end:], edited[ended:]) {
			t.Fatalf("%q became %q", data, edited)
		}
	})
}

// FuzzConfig: a configuration is understood, or broken at a line of it.
func FuzzConfig(f *testing.F) {
	for _, text := range []string{
		"project_name: \"demo\"\nstatuses: [\"To Do\", \"Done\"]\ntask_prefix: \"job\"\n", "statuses:\n  - A\n  - B # c\nlabels: []\n", "statuses: [\n", "statuses: x\n", "statuses:\n", "task_prefix: draft\n", "priorities: [Now, Later]\nbacklog_directory: ../x\n",
		"\ufeffproject_name: a\r\nstatuses: [A,\r\n  B]\r\n",
	} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		c, err := parseConfig("config.yml", text)
		if err == nil {
			if !validPrefix(c.prefix) || len(c.statuses) == 0 || len(c.priorities) == 0 || c.directory != "" && !filepath.IsLocal(c.directory) {
				t.Fatalf("%+v", c)
			}
			return
		}
		var broken *providers.BrokenError
		if !errors.As(err, &broken) || broken.Line < 1 || broken.Line > strings.Count(text, "\n")+2 {
			t.Fatalf("%v", err)
		}
	})
}

func testProvider() *Provider {
	c := &config{prefix: "task", priorities: []string{"high", "medium", "low"}}
	states, _ := newStatuses([]string{"To Do", "In Progress", "Done"}, nil, "")
	return &Provider{place: place{home: ".", dir: "backlog", config: "backlog/config.yml"}, config: c, states: states}
}
