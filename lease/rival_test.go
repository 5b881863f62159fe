package lease

import (
	"testing"
	"time"
)

// TestStatusOfOverlappedPaths: what a claim would be refused for is not shown as free, be it asked for as well or not.
func TestStatusOfOverlappedPaths(t *testing.T) {
	w := newWorld(t)
	alice, bob := w.actor("alice"), w.actor("bob")
	alice.mustClaim("path:src/a")
	for _, v := range append(bob.mustStatus("path:src", "path:src/a/b"), bob.mustStatus("path:src", "path:src/a")[0]) {
		if v.State != StandingOverlapped || v.Takeable || v.Rival == nil || v.Rival.Resource != "path:src/a" || v.Left != time.Hour || v.Problem != nil {
			t.Errorf("%+v", v)
		}
	}
	for _, v := range append(bob.mustStatus("path:lib", "task:x"), alice.mustStatus("path:src")...) {
		if v.State != StandingFree || !v.Takeable {
			t.Errorf("%+v", v)
		}
	}
	alice.mustRelease("path:src/a")
	if v := bob.mustStatus("path:src")[0]; v.State != StandingFree || !v.Takeable || v.Rival != nil {
		t.Errorf("%+v", v)
	}
}

// TestStatusOfAStalePathWithARival: it is shown as what it is, but can't be taken yet.
func TestStatusOfAStalePathWithARival(t *testing.T) {
	w := newWorld(t)
	alice, bob := w.actor("alice"), w.actor("bob")
	alice.mustClaim("path:src/a")
	w.advance(2 * time.Hour)
	alice.mustClaim("path:src")
	v := bob.mustStatus("path:src/a")[0]
	if v.State != StandingHeld || v.Liveness != Stale || v.Takeable || v.Rival == nil || v.Rival.Resource != "path:src" || !v.TakeableAt.Equal(v.Rival.TakeableAt) {
		t.Errorf("%+v", v)
	}
}

// TestStatusBesideWhatCantBeJudged: a path that overlaps with a record that can't be read is unknown.
func TestStatusBesideWhatCantBeJudged(t *testing.T) {
	w := newWorld(t)
	alice := w.actor("alice")
	alice.mustClaim("task:first")
	w.put(refs{DefaultPrefix}.claim("path:src"), []byte("hello\n"))
	v := alice.mustStatus("path:src/a")[0]
	want(t, v.Problem, ErrCorrupt)
	if v.State != StandingCorrupt || v.Takeable {
		t.Errorf("%+v", v)
	}
}

// TestWatchAPathUntilItsRivalIsGone: a path is free once nothing overlaps with it any more.
func TestWatchAPathUntilItsRivalIsGone(t *testing.T) {
	bubble(t, func(t *testing.T, w *world) {
		alice, bob := w.waiter("alice"), w.waiter("bob")
		alice.mustClaim("path:src/a")
		w.later(5*time.Minute, func() { alice.mustRelease("path:src/a") })
		began := time.Now()
		views, err := bob.Watch(t.Context(), WatchRequest{Resources: []Resource{"path:src"}})
		if err != nil || !views[0].Takeable || !views[0].Tip.IsZero() {
			t.Fatalf("%+v, %v", views, err)
		}
		if took := time.Since(began); took < 5*time.Minute {
			t.Errorf("it took %s", took)
		}
	})
}
