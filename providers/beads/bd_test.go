package beads

// This file is a stand-in for bd, which the tests do without. It is no copy of bd: it takes the flags that the provider uses, answers in the
// form of the samples that were recorded from the real program (TestStandInAnswersAsRecorded holds it to those), and keeps its issues in
// .beads/issues.jsonl, where bd has a database. What it does without a sample is after bd's documentation: that is said where it is done.

import (
	"bufio"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

// standIn is the variable that makes the test binary the stand-in; its value is how that behaves.
const standIn = "BEADS_TEST_STAND_IN"

func TestMain(m *testing.M) {
	if mode := os.Getenv(standIn); mode != "" {
		os.Exit(bd(mode, os.Args[1:]))
	}
	os.Exit(m.Run())
}

// issue is one of the stand-in's, with whatever fields there are.
type issue map[string]any

func (i issue) text(field string) string { s, _ := i[field].(string); return s }

type database struct {
	path   string
	issues []issue
}

func bd(mode string, args []string) int {
	switch mode {
	case "hangs":
		hang()
	case "html":
		fmt.Println("<!DOCTYPE html><title>502</title>")
		return 0
	case "floods":
		for chunk := strings.Repeat("[", 1<<20); ; {
			if _, err := io.WriteString(os.Stdout, chunk); err != nil {
				return 1
			}
		}
	case "killed":
		if self, err := os.FindProcess(os.Getpid()); err == nil && self.Kill() == nil {
			hang()
		}
	case "silent":
		return 0
	case "half":
		fmt.Print(`[{"id":"demo-47b","title":"Add`)
		return 0
	case "broken item":
		fmt.Print(`[{"id":"demo-47b","title":"Add CAS push","priority":"high"},{"title":"nameless"},{"id":"demo-fmu","title":"Write docs"},{"id":"demo-fmu","title":"again"}]`)
		return 0
	case "no database":
		fmt.Print("{\n  \"error\": \"no beads database found\",\n  \"schema_version\": 1\n}\n")
		return 1
	case "leaves a server": // which has its standard output
		server := exec.Command(os.Args[0])
		server.Env, server.Stdout = append(os.Environ(), standIn+"=hangs"), os.Stdout
		if err := server.Start(); err != nil {
			return 1
		}
		if err := os.WriteFile("server.pid", fmt.Append(nil, server.Process.Pid), 0o600); err != nil {
			return 1
		}
	}
	db := &database{path: filepath.Join(".beads", "issues.jsonl")}
	if err := db.load(); err != nil {
		fmt.Fprintln(os.Stderr, "Error:", err)
		return 1
	}
	return db.command(mode, args)
}

// hang waits for what is never sent; the program is killed.
func hang() {
	c := make(chan os.Signal, 1)
	signal.Notify(c, os.Interrupt)
	for range c {
	}
}

func (db *database) load() error {
	f, err := os.Open(db.path)
	if err != nil {
		return err
	}
	defer func() { _ = f.Close() }()
	for lines := bufio.NewScanner(f); lines.Scan(); {
		var i issue
		if err := json.Unmarshal(lines.Bytes(), &i); err != nil {
			return err
		}
		if i.text("_type") == "memory" { // is no issue of the database
			continue
		}
		db.issues = append(db.issues, i)
	}
	return nil
}

func (db *database) save() {
	var out strings.Builder
	for _, i := range db.issues {
		line, _ := json.Marshal(i)
		out.Write(line)
		out.WriteByte('\n')
	}
	next := db.path + ".new"
	if err := os.WriteFile(next, []byte(out.String()), 0o600); err != nil {
		panic(err)
	}
	if err := os.Rename(next, db.path); err != nil {
		panic(err)
	}
}

// find is the issue that a part of an ID may stand for, as with bd.
func (db *database) find(part string) issue {
	var found issue
	for _, i := range db.issues {
		switch id := i.text("id"); {
		case id == part:
			return i
		case strings.HasPrefix(id, part):
			found = i
		}
	}
	return found
}

func (db *database) command(mode string, args []string) int {
	flags := flag.NewFlagSet("bd", flag.ContinueOnError)
	flags.SetOutput(io.Discard)
	flags.Bool("json", false, "")
	changes := map[string]string{}
	change := func(name string) {
		flags.Func(name, "", func(value string) error { changes[name] = value; return nil })
	}
	claim := false
	switch args[0] {
	case "list":
		flags.Bool("all", false, "")
		flags.Int("limit", 50, "")
		if mode != "old" {
			flags.Bool("include-gates", false, "")
		}
	case "update":
		flags.BoolVar(&claim, "claim", false, "")
		change("status")
		change("assignee")
		change("append-notes")
		change("actor")
	case "close":
		change("reason")
		change("actor")
	}
	if err := flags.Parse(args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "Error: unknown flag:", err)
		return 1
	}
	ids := flags.Args()
	switch args[0] {
	case "list":
		return write(mode, db.issues)
	case "ready":
		return write(mode, db.ready())
	case "show":
		return db.show(mode, ids[0])
	case "update":
		return db.update(mode, ids[0], changes, claim)
	case "close":
		return db.close(mode, ids[0], changes)
	}
	return 1
}

// write writes a list as bd does, or within the envelope that it has with BD_JSON_ENVELOPE (after its documentation).
func write(mode string, issues []issue) int {
	listed := make([]issue, len(issues))
	for n, i := range issues {
		listed[n] = issue{}
		for field, value := range i {
			if field != "_type" {
				listed[n][field] = value
			}
		}
	}
	var document any = listed
	if mode == "envelope" {
		document = map[string]any{"schema_version": 2, "data": listed}
	}
	out, _ := json.MarshalIndent(document, "", "  ")
	fmt.Printf("%s\n", out)
	return 0
}

func (i issue) links() []issue {
	list, _ := i["dependencies"].([]any)
	links := make([]issue, len(list))
	for n, l := range list {
		links[n], _ = l.(map[string]any)
	}
	return links
}

// ready is for issues that wait for others by "blocks" alone.
func (db *database) ready() []issue {
	var ready []issue
	for _, i := range db.issues {
		blocked := slices.ContainsFunc(i.links(), func(l issue) bool { return db.find(l.text("depends_on_id")).text("status") != "closed" })
		if i.text("status") == "open" && !blocked {
			ready = append(ready, i)
		}
	}
	return ready
}

func (db *database) show(mode, id string) int {
	i := db.find(id)
	if i == nil {
		fmt.Fprintf(os.Stderr, "Error fetching %s: no issue found matching %q\n", id, id)
		return 1
	}
	shown := issue{}
	for field, value := range i {
		shown[field] = value
	}
	var others []issue
	for _, l := range i.links() {
		if found := db.find(l.text("depends_on_id")); found != nil {
			other := issue{"dependency_type": l["type"]}
			for field, value := range found {
				switch field {
				case "_type", "dependencies", "dependency_count", "dependent_count", "comment_count":
				default:
					other[field] = value
				}
			}
			others = append(others, other)
		}
	}
	delete(shown, "dependencies")
	if others != nil {
		shown["dependencies"] = others
	}
	return write(mode, []issue{shown})
}

func (db *database) update(mode, id string, changes map[string]string, claim bool) int {
	i, actor := db.find(id), changes["actor"]
	if i == nil {
		fmt.Fprintf(os.Stderr, "Error resolving %s: no issue found matching %q\n", id, id)
		return 1
	}
	if mode == "robbed" { // another was faster
		i["assignee"], i["status"] = "x", "in_progress"
		db.save()
	}
	if mode == "refuses" {
		fmt.Fprintf(os.Stderr, "cannot update template %s\n", id)
		return 1
	}
	if assignee := i.text("assignee"); claim {
		switch {
		case assignee != "" && assignee != actor:
			fmt.Fprintf(os.Stderr, "Error claiming %s: issue already claimed by %s\n", id, assignee)
			return 1
		case i.text("status") != "open" && (i.text("status") != "in_progress" || assignee != actor):
			fmt.Fprintf(os.Stderr, "Error claiming %s: issue not claimable: status %s\n", id, i["status"])
			return 1
		}
		i["assignee"], i["status"], i["started_at"] = actor, "in_progress", now().Format(time.RFC3339)
	}
	for field, value := range changes {
		switch field {
		case "status":
			i["status"] = value
		case "assignee":
			i["assignee"] = value
			if value == "" {
				delete(i, "assignee")
			}
		case "append-notes":
			i["notes"] = strings.TrimPrefix(i.text("notes")+"\n"+value, "\n")
		}
	}
	return db.changed(mode, i)
}

// close refuses what bd does by its documentation: issues that wait, and epics with open children.
func (db *database) close(mode, id string, changes map[string]string) int {
	i := db.find(id)
	if i == nil {
		fmt.Fprintf(os.Stderr, "Error resolving %s: no issue found matching %q\n", id, id)
		return 1
	}
	for _, l := range i.links() {
		if other := db.find(l.text("depends_on_id")); l.text("type") == "blocks" && other.text("status") != "closed" {
			fmt.Fprintf(os.Stderr, "cannot close %s: blocked by open issues [%s] (use --force to override)\n", id, other["id"])
			return 1
		}
	}
	i["status"], i["close_reason"], i["closed_at"] = "closed", changes["reason"], now().Format(time.RFC3339)
	return db.changed(mode, i)
}

func now() time.Time { return time.Date(2026, 11, 29, 14, 5, 9, 0, time.UTC) }

func (db *database) changed(mode string, i issue) int {
	i["updated_at"] = now().Format(time.RFC3339)
	db.save()
	answer := issue{}
	for field, value := range i {
		switch field {
		case "dependencies", "dependency_count", "dependent_count", "comment_count":
		default:
			answer[field] = value
		}
	}
	return write(mode, []issue{answer})
}

// open makes a provider of a folder with these lines of issues, and with the stand-in for bd if mode isn't empty.
func open(t *testing.T, mode string, lines ...string) *Provider {
	t.Helper()
	dir := t.TempDir()
	if err := os.Mkdir(filepath.Join(dir, folder), 0o700); err != nil {
		t.Fatal(err)
	}
	fill(t, dir, exportFile, strings.Join(lines, "\n")+"\n")
	return reopen(t, mode, dir)
}

func reopen(t *testing.T, mode, dir string) *Provider {
	t.Helper()
	opts := Options{Dir: dir, Now: now, Env: append(os.Environ(), standIn+"="+mode)}
	opts.FileOnly = mode == ""
	var err error
	if opts.Program, err = os.Executable(); err != nil {
		t.Fatal(err)
	}
	p, err := Open(opts)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func fill(t *testing.T, dir, file, text string) {
	t.Helper()
	if err := os.WriteFile(filepath.Join(dir, file), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

// shared is a file that comes with the project's checkout, in a folder beside it.
func shared(t *testing.T, file string) []byte {
	t.Helper()
	data, err := os.ReadFile(filepath.Join("..", "..", "..", "shared", "samples", "beads", file))
	if errors.Is(err, os.ErrNotExist) { // they come with no clone
		t.Skipf("the samples are not here: %v", err)
	}
	if err != nil {
		t.Fatal(err)
	}
	return data
}
