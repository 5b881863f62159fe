//go:build unix

package external

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/git-worklease/git-worklease/providers"
	"github.com/git-worklease/git-worklease/providers/providertest"
)

// examples is the folder of the programs that come with the repository.
const examples = "../../contrib/providers"

// forEver is a deadline that no test comes to, however busy the machine is.
const forEver = 10 * time.Minute

// opened is a program that comes with the repository, in a folder with files.
func opened(t *testing.T, name string, settings map[string]any, files map[string]string) (p *Provider, dir string) {
	t.Helper()
	folder, err := filepath.Abs(examples)
	if err != nil {
		t.Fatal(err)
	}
	dir = t.TempDir()
	for file, text := range files {
		write(t, filepath.Join(dir, file), text)
	}
	return open(t, Options{Name: name, Dir: dir, Settings: settings}, folder), dir
}

// open opens a program of a folder, and ends it with the test.
func open(t *testing.T, opts Options, folder string) *Provider {
	t.Helper()
	opts.Env = append(os.Environ(), "PATH="+folder+":"+os.Getenv("PATH"))
	for _, d := range []*time.Duration{&opts.Quick, &opts.Silence, &opts.Longest, &opts.Grace} {
		if *d == 0 {
			*d = forEver
		}
	}
	p, err := Open(opts)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := p.Close(); err != nil {
			t.Error(err)
		}
	})
	return p
}

func write(t *testing.T, path, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

func contents(t *testing.T, path string) string {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

const todo = `2026-11-02 Fix the login id:7 dep:3 dep:9,nowhere! @bug +web
x 2026-11-01 Write it down id:3

(B) Say "hello" C:\ id:c9 status:waiting	@a @b` + "\r" + `
(A) Größe messen id:12 who:ann status:doing
`

func TestTodo(t *testing.T) {
	providertest.Run(t, func(t *testing.T) providertest.World {
		p, dir := opened(t, "todo", nil, map[string]string{"todo.txt": todo})
		return providertest.World{
			Provider:  p,
			Spellings: map[providers.Key][]string{"todo:7": {"7", "#7", "id:7", "TODO:7"}, "todo:c9": {"C9", "#c9", "Todo:C9"}},
			NotKeys:   []string{"", "７", "fix the login", "https://example.com/7", "#", "todo:", "7/8", strings.Repeat("7", 33)},
			Items: []providers.Item{
				{Key: "todo:12", ID: "#12", Title: "Größe messen", State: providers.Started, Status: "doing", Priority: providers.Urgent, Assignees: []string{"ann"}},
				{Key: "todo:c9", ID: "#c9", Title: `Say "hello" C:\`, State: providers.Waiting, Status: "waiting", Priority: providers.High, Labels: []string{"a", "b"}},
				{
					Key: "todo:7", ID: "#7", Title: "Fix the login", URL: "todo.txt", State: providers.Open, Status: "todo", Labels: []string{"bug"}, Milestone: "web",
					Needs: []providers.Need{{Key: "todo:3", Text: "3", Kind: "dep"}, {Key: "todo:9", Text: "9", Kind: "dep"}, {Text: "nowhere!", Kind: "dep"}},
				},
				{Key: "todo:3", ID: "#3", Title: "Write it down", State: providers.Done, Status: "done"},
			},
			Missing: "todo:404",
			Change: func(t *testing.T, key providers.Key, title string) {
				old := map[providers.Key]string{"todo:7": "Fix the login", "todo:12": "Größe messen"}[key]
				path := filepath.Join(dir, "todo.txt")
				write(t, path, strings.Replace(contents(t, path), old, title, 1))
			},
			Startable: "todo:7", Unplanned: true, Finishable: "todo:12",
		}
	})
}

// TestTodoKeepsTheRest: an announcement changes the words that it is about, and taking it back leaves the file as it was.
func TestTodoKeepsTheRest(t *testing.T) {
	p, dir := opened(t, "todo", map[string]any{"file": "my list.txt"}, map[string]string{"my list.txt": todo})
	path := filepath.Join(dir, "my list.txt")
	by := providers.Worker{Agent: "ro bot"}
	for key, want := range map[providers.Key]string{
		"todo:7":  "+web who:ro_bot status:doing\nx",
		"todo:c9": "id:c9\t@a @b who:ro_bot status:doing\r\n",
	} {
		if key == "todo:c9" {
			write(t, path, strings.Replace(todo, "id:c9 status:waiting", "id:c9", 1))
		}
		before := contents(t, path)
		mark, err := p.Start(t.Context(), key, by)
		if after := contents(t, path); err != nil || !strings.Contains(after, want) || len(after) != len(before)+len(" who:ro_bot status:doing") {
			t.Errorf("%s: %+v, %v\n%s", key, mark, err, after)
		}
		if err := p.Unstart(t.Context(), key, mark); err != nil || contents(t, path) != before {
			t.Errorf("%s: %v\n%q\n%q", key, err, contents(t, path), before)
		}
	}
	if entries, err := os.ReadDir(dir); err != nil || len(entries) != 1 {
		t.Errorf("it left %v, %v", entries, err)
	}
}

// TestTodoTroubles: each bad line is named, and the rest is listed.
func TestTodoTroubles(t *testing.T) {
	p, _ := opened(t, "todo", nil, map[string]string{"todo.txt": "\ufeffgood id:1\nno id\ntwice id:2\ngood id:3\ntwice id:2\nodd id:a_b\nnot \xff id:4\nlast id:5"})
	l, err := p.List(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	if len(l.Items) != 3 || l.Items[0].Key != "todo:1" || l.Items[1].Key != "todo:3" || l.Items[2].Key != "todo:5" {
		t.Errorf("%+v", l.Items)
	}
	told(t, l.Troubles,
		`git-worklease-provider-todo: list: an item is not UTF-8: "{\"key\":\"todo:4\",\"id\":\"#4\",\"title\":\"not \xff\"`,
		"todo.txt:2: no id, such as id:7", "todo.txt:6: an id has at most 32 letters, digits and dashes", "todo.txt:3: the id 2 is also in line 5")
	if _, err := p.Read(t.Context(), "todo:2"); err == nil || err.Error() != "todo.txt:5: the id 2 is also in another line" {
		t.Error(err)
	}
}

// told fails unless the troubles begin as they should.
func told(t *testing.T, troubles []error, want ...string) {
	t.Helper()
	for i, trouble := range troubles {
		if i >= len(want) || !strings.HasPrefix(trouble.Error(), want[i]) {
			t.Errorf("trouble %d: %v", i, trouble)
		}
	}
	if len(troubles) < len(want) {
		t.Errorf("no trouble: %s", want[len(troubles)])
	}
}

// TestNothingOutside: a policy that a stranger has committed gets no other file read.
func TestNothingOutside(t *testing.T) {
	for _, file := range []string{"../todo.txt", "/etc/passwd", "a/b", "-f", ".git", `a"b`, `a\b`} {
		p, _ := opened(t, "todo", map[string]any{"file": file}, map[string]string{"todo.txt": todo})
		_, err := p.List(t.Context(), nil)
		failsAs(t, err, providers.ErrUnsupported, "git-worklease-provider-todo: not supported by the tracker: the setting file has to be a name, without a folder")
	}
	for _, folder := range []any{"../tickets", "..", 7} {
		p, _ := opened(t, "tickets", map[string]any{"folder": folder}, nil)
		_, err := p.List(t.Context(), nil)
		failsAs(t, err, providers.ErrUnsupported, "git-worklease-provider-tickets: not supported by the tracker: the setting folder has to be a name")
	}
	p, dir := opened(t, "todo", nil, nil)
	if err := os.Symlink("/etc/passwd", filepath.Join(dir, "todo.txt")); err != nil {
		t.Fatal(err)
	}
	_, err := p.List(t.Context(), nil)
	failsAs(t, err, providers.ErrUnsupported, "git-worklease-provider-todo: not supported by the tracker: the setting file names a link")
	p, dir = opened(t, "tickets", nil, nil)
	if err := os.Symlink("/etc", filepath.Join(dir, "tickets")); err != nil {
		t.Fatal(err)
	}
	_, err = p.List(t.Context(), nil)
	failsAs(t, err, providers.ErrUnavailable, "git-worklease-provider-tickets: list: the tracker is unavailable: tickets is a link")
}

func TestTickets(t *testing.T) {
	tickets := map[string]string{
		"tickets/1.json":   `{"title": "Fix the login", "labels": ["bug", "web"], "needs": ["2", "Not A Key"], "more": {"a": 1}}`,
		"tickets/2.json":   `{"title": "Write it down", "status": "done"}`,
		"tickets/3.json":   "\ufeff{\"title\": \"Größe\\u0000 messen 😀\", \"status\": \"doing\", \"priority\": \"urgent\",\r\n \"assignees\": [\"ann\"]}",
		"tickets/a-1.json": `{"title": "Later", "status": "waiting", "priority": "lowest"}`,
		"tickets/b.json":   `{"title": "Never", "status": "dropped"}`,
		"tickets/readme":   `This is none.`,
	}
	providertest.Run(t, func(t *testing.T) providertest.World {
		p, dir := opened(t, "tickets", nil, tickets)
		return providertest.World{
			Provider:  p,
			Spellings: map[providers.Key][]string{"tickets:1": {"1", "#1", "tickets/1.json", "Tickets:1"}, "tickets:a-1": {"A-1", "tickets/A-1.JSON"}},
			NotKeys:   []string{"", "１", "fix the login", "https://example.com/7", "#", "tickets:", "tickets:\u212a", "tickets/x/1.json"},
			Items: []providers.Item{
				{Key: "tickets:3", ID: "#3", Title: "Größe\x00 messen 😀", State: providers.Started, Status: "doing", Priority: providers.Urgent, Assignees: []string{"ann"}},
				{Key: "tickets:a-1", ID: "#a-1", Title: "Later", State: providers.Waiting, Status: "waiting", Priority: providers.Lowest},
				{
					Key: "tickets:1", ID: "#1", Title: "Fix the login", URL: "tickets/1.json", State: providers.Open, Status: "open", Labels: []string{"bug", "web"},
					Needs: []providers.Need{{Key: "tickets:2", Text: "2", Kind: "needs"}, {Text: "Not A Key", Kind: "needs"}},
				},
				{Key: "tickets:2", ID: "#2", Title: "Write it down", State: providers.Done, Status: "done"},
				{Key: "tickets:b", ID: "#b", Title: "Never", State: providers.Cancelled, Status: "dropped"},
			},
			Missing: "tickets:404",
			Change: func(t *testing.T, key providers.Key, title string) {
				path := filepath.Join(dir, "tickets", strings.TrimPrefix(string(key), "tickets:")+".json")
				var ticket map[string]any
				if err := json.Unmarshal([]byte(strings.TrimPrefix(contents(t, path), "\ufeff")), &ticket); err != nil {
					t.Fatal(err)
				}
				ticket["title"] = title
				text, err := json.Marshal(ticket)
				if err != nil {
					t.Fatal(err)
				}
				write(t, path, string(text))
			},
			Startable: "tickets:1", Finishable: "tickets:3",
		}
	})
}

// TestTicketsTroubles: each bad file is named, and the rest is listed.
func TestTicketsTroubles(t *testing.T) {
	p, dir := opened(t, "tickets", nil, map[string]string{
		"tickets/1.json": `{"title": "good"}`, "tickets/2.json": "{\n\"title\": \"cut", "tickets/3.json": "[]", "tickets/4.json": `{"status": "odd"}`,
		"tickets/5.json": "\xff", "tickets/6.json": strings.Repeat("[", 1<<20), "tickets/7.json": strings.Repeat(" ", 1<<20+1),
		"tickets/8.json": `{"title": 8}`, "tickets/A B.json": "{}", "tickets/9.json": `{"title": "\ud800"}`, "tickets/x/y": "", "tickets/91.json": `{"labels": [1]}`,
	})
	if err := os.Symlink("/etc/passwd", filepath.Join(dir, "tickets", "z.json")); err != nil {
		t.Fatal(err)
	}
	l, err := p.List(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	if len(l.Items) != 2 || l.Items[0].Title != "good" || l.Items[1].Title != "\ufffd" {
		t.Errorf("%+v", l.Items)
	}
	told(t, l.Troubles, "tickets/2.json:2: ", "tickets/3.json: no object", "tickets/4.json: status is none of open, doing, review, waiting, done, dropped",
		"tickets/5.json: no JSON in UTF-8", "tickets/6.json: no JSON in UTF-8", "tickets/7.json: no file of at most 1048576 bytes", "tickets/8.json: title is no text",
		"tickets/91.json: labels is no list of texts", "tickets/A B.json: its name is no id of at most 32 small letters, digits and dashes",
		"tickets/z.json: no file of at most 1048576 bytes")
}

// TestTaken: an item that is somebody else's, or done, is not announced.
func TestTaken(t *testing.T) {
	by := providers.Worker{Agent: "robot", Session: "r", Text: "x"}
	p, dir := opened(t, "todo", nil, map[string]string{"todo.txt": todo})
	_, err := p.Start(t.Context(), "todo:12", by)
	failsAs(t, err, providers.ErrTaken, "git-worklease-provider-todo: start todo:12: taken by another: it is ann's")
	_, err = p.Start(t.Context(), "todo:3", by)
	failsAs(t, err, providers.ErrTaken, "git-worklease-provider-todo: start todo:3: taken by another: it is done")
	if contents(t, filepath.Join(dir, "todo.txt")) != todo {
		t.Error("the file was changed")
	}
	p, _ = opened(t, "tickets", nil, map[string]string{"tickets/1.json": `{"assignees": ["ann"]}`})
	_, err = p.Start(t.Context(), "tickets:1", by)
	failsAs(t, err, providers.ErrTaken, "git-worklease-provider-tickets: start tickets:1: taken by another: it is assigned to ann")
	_, err = p.Plan(t.Context(), "tickets:1", by)
	failsAs(t, err, providers.ErrTaken, "git-worklease-provider-tickets: plan tickets:1: taken by another: it is assigned to ann")
}

// TestReadTime: a listing says when it was read.
func TestReadTime(t *testing.T) {
	now := time.Date(2026, 11, 2, 3, 4, 5, 0, time.UTC)
	folder, err := filepath.Abs(examples)
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	write(t, filepath.Join(dir, "todo.txt"), todo)
	p := open(t, Options{Name: "todo", Dir: dir, Now: func() time.Time { return now }}, folder)
	if p.Source() != "git-worklease-provider-todo" {
		t.Errorf("%q", p.Source())
	}
	if l, err := p.List(t.Context(), nil); err != nil || !l.Read.Equal(now) || p.Source() != "todo.txt" {
		t.Errorf("%+v, %v, %q", l, err, p.Source())
	}
}
