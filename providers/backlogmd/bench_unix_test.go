//go:build unix

package backlogmd

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"golang.org/x/sys/unix"
)

// BenchmarkList lists 2,000 tasks as the program writes them. Its bar is 150 ms on two cores with nothing else to do; the time of
// processors says more on a busy machine.
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
	before := usage(b)
	defer func() {
		after := usage(b)
		b.ReportMetric((after.user-before.user)*1000/float64(b.N), "user-ms/op")
		b.ReportMetric((after.system-before.system)*1000/float64(b.N), "sys-ms/op")
	}()
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

// spent is how many seconds of processors this process has had.
type spent struct{ user, system float64 }

func usage(b *testing.B) spent {
	b.Helper()
	var u unix.Rusage
	if err := unix.Getrusage(unix.RUSAGE_SELF, &u); err != nil {
		b.Fatal(err)
	}
	return spent{float64(u.Utime.Nano()) / 1e9, float64(u.Stime.Nano()) / 1e9}
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
