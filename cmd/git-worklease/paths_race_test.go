package main

import (
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/git-worklease/git-worklease/internal/gitserver"
	"github.com/git-worklease/git-worklease/lease"
)

// referee knows which worker holds which path: from when its claim was said to be held until it begins to release.
type referee struct {
	t       *testing.T
	holding []atomic.Pointer[lease.Resource]
	held    atomic.Int32
	refused atomic.Int32
}

// told says that worker i was told that it holds path. Of two who are told so at the same time, the later one sees the other.
func (r *referee) told(i int, path lease.Resource) {
	r.held.Add(1)
	r.holding[i].Store(&path)
	for j := range r.holding {
		if other := r.holding[j].Load(); j != i && other != nil && lease.Overlap(path, *other) {
			r.t.Errorf("racer%d holds %s, and racer%d holds %s", i, path, j, *other)
		}
	}
}

func (r *referee) releases(i int) { r.holding[i].Store(nil) }

// TestRaceOfPaths: eight processes at a time claim paths that overlap, hold and release them over http. No two hold at once.
func TestRaceOfPaths(t *testing.T) {
	rounds := 5
	if thorough() {
		rounds = 200
	}
	s := httpSite(t, gitserver.HTTPOptions{})
	workers := s.crowd(t, 8, "WORKLEASE_TIMEOUT=10m")
	workers[0].must(t, 0, "claim", "task:first")
	paths := []lease.Resource{"path:src", "path:src/a", "path:src/*/x"}
	r := &referee{t: t, holding: make([]atomic.Pointer[lease.Resource], len(workers))}
	var group sync.WaitGroup
	for i, w := range workers {
		group.Go(func() {
			for n := range rounds {
				if !r.round(i, w, paths[(i+n)%len(paths)]) {
					return
				}
			}
		})
	}
	group.Wait()
	withdrawn := strings.Count(s.git(t, "log", "--format=%B", "--glob="+lease.DefaultPrefix+"claims/path%3a*"), `"reason":"withdrawn"`)
	t.Logf("%d held, %d refused, %d withdrawn", r.held.Load(), r.refused.Load(), withdrawn)
	if r.held.Load() == 0 || r.refused.Load() == 0 {
		t.Error("nothing was put to the test")
	}
	s.sound(t)
}

// round is one claim of a worker, and what follows from it. It says whether all went as it may.
func (r *referee) round(i int, w *worker, path lease.Resource) bool {
	switch code, out := w.outcome(r.t, "claim", string(path)); code {
	case 0:
		r.told(i, path)
	case 3:
		r.refused.Add(1)
		return true
	default:
		r.t.Errorf("%s: claim %s: exit %d\n%s", w.name, path, code, out)
		return false
	}
	verified, out := w.outcome(r.t, "verify", string(path))
	r.releases(i)
	released, out2 := w.outcome(r.t, "release", string(path))
	if verified != 0 || released != 0 {
		r.t.Errorf("%s: verify %s: exit %d, release: exit %d\n%s%s", w.name, path, verified, released, out, out2)
	}
	return verified == 0 && released == 0
}

// outcome runs a command in a process of its own.
func (w *worker) outcome(t *testing.T, args ...string) (code int, out string) {
	cmd := w.process(t, "", args...)
	text, err := cmd.CombinedOutput()
	if cmd.ProcessState == nil {
		return -1, fmt.Sprint(err)
	}
	return cmd.ProcessState.ExitCode(), string(text)
}
