package backlogmd

import (
	"encoding/json"
	"os"
	"path/filepath"
	"testing"
)

// samples is the folder of samples beside the repository, or above. It comes with no clone.
func samples(t *testing.T) string {
	t.Helper()
	dir, err := filepath.Abs("../..")
	if err != nil {
		t.Fatal(err)
	}
	for dir != filepath.Dir(dir) {
		dir = filepath.Dir(dir)
		if found := filepath.Join(dir, "shared/samples"); isDir(found) {
			return found
		}
	}
	t.Skip("there is no folder shared/samples beside the repository")
	return ""
}

func isDir(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.IsDir()
}

// TestSamples: projects that the program made, and what it said of them.
func TestSamples(t *testing.T) {
	dir := samples(t)
	data, err := os.ReadFile(filepath.Join(dir, "backlog-json/list.json"))
	if err != nil {
		t.Fatal(err)
	}
	var answer struct{ Tasks []said }
	if err := json.Unmarshal(data, &answer); err != nil || len(answer.Tasks) == 0 {
		t.Fatalf("%+v, %v", answer, err)
	}
	p, err := Open(Options{Dir: filepath.Join(dir, "backlog")})
	if err != nil {
		t.Fatal(err)
	}
	l, err := p.List(t.Context(), nil)
	if err != nil || !l.Complete() {
		t.Fatalf("%+v, %v", l, err)
	}
	for _, task := range answer.Tasks {
		key, err := p.Parse(task.ID)
		if err != nil {
			t.Fatal(err)
		}
		item, err := p.Read(t.Context(), key)
		if err != nil || item.Title != task.Title || item.Status != task.Status || ready(item) != task.IsReady {
			t.Errorf("%+v, %v\nthe program: %+v", item, err, task)
		}
	}
	root, err := Open(Options{Dir: filepath.Join(dir, "backlog-root")})
	if err != nil {
		t.Fatal(err)
	}
	if l, err := root.List(t.Context(), nil); err != nil || len(l.Items) != 1 || l.Items[0].Key != "backlogmd:job-1" || l.Items[0].ID != "JOB-001" || root.Source() != ".backlog/tasks" {
		t.Errorf("%+v, %v", l, err)
	}
}
