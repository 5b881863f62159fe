package backlogmd

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"
)

// BenchmarkList lists 2,000 tasks as the program writes them. Its bar is 150 ms on two cores.
func BenchmarkList(b *testing.B) {
	dir := b.TempDir()
	tasks := filepath.Join(dir, "backlog/tasks")
	if err := os.MkdirAll(tasks, 0o755); err != nil {
		b.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "backlog/config.yml"), []byte(reviewConfig), 0o644); err != nil {
		b.Fatal(err)
	}
	for i := range 2000 {
		id := fmt.Sprint("TASK-", i+1)
		text := file(id, "'Work: number "+id+"'", "To Do", "assignee:\n  - '@alice'", "labels:\n  - core\n  - codec", fmt.Sprintf("dependencies:\n  - TASK-%d", i/2+1), "priority: high", fmt.Sprint("ordinal: ", 1000*i))
		if err := os.WriteFile(filepath.Join(tasks, fmt.Sprintf("task-%d - Work.md", i+1)), []byte(text), 0o644); err != nil {
			b.Fatal(err)
		}
	}
	for b.Loop() {
		p, err := Open(Options{Dir: dir})
		if err != nil {
			b.Fatal(err)
		}
		if l, err := p.List(b.Context(), nil); err != nil || len(l.Items) != 2000 {
			b.Fatal(l, err)
		}
	}
}

// BenchmarkMatter reads the same front matter in the fast way and with the library.
func BenchmarkMatter(b *testing.B) {
	data := []byte(file("TASK-1", "'Work: number 1'", "To Do", "assignee:\n  - '@alice'", "labels:\n  - core\n  - codec", "dependencies:\n  - TASK-2", "priority: high", "ordinal: 1000"))
	start, end, _, _ := between(data)
	text := string(data[start:end])
	b.Run("fast", func(b *testing.B) {
		for b.Loop() {
			if _, ok := fast(text); !ok {
				b.Fatal("not read")
			}
		}
	})
	b.Run("library", func(b *testing.B) {
		for b.Loop() {
			if _, _, err := slow(text); err != nil {
				b.Fatal(err)
			}
		}
	})
}
