package refstore_test

import (
	"errors"
	"testing"

	"github.com/git-worklease/git-worklease/refstore"
	"github.com/git-worklease/git-worklease/refstore/memory"
)

// TestRemove: many refs are deleted at once, and one that has changed since it was read stays, alone.
func TestRemove(t *testing.T) {
	r := &memory.Repository{}
	f := &faulty{Transport: r.Transport()}
	s := refstore.New(f, refstore.Options{Sleep: noPause})
	for _, err := range refstore.Together(t.Context(), s, several(t, s, 150)...) {
		if err != nil {
			t.Fatal(err)
		}
	}
	listed, err := s.List(t.Context(), "refs/x/")
	if err != nil || len(listed) != 151 {
		t.Fatalf("%d refs, %v", len(listed), err)
	}
	r.Set("refs/x/007", r.Add([]byte("x")))
	f.pushes = 0
	for i, err := range refstore.Remove(t.Context(), s, at, listed...) {
		var want error
		if listed[i].Name == "refs/x/007" {
			want = refstore.ErrConflict
		}
		if !errors.Is(err, want) {
			t.Errorf("%s: %v", listed[i].Name, err)
		}
	}
	if left := r.Refs(); len(left) != 1 || left["refs/x/007"].IsZero() || f.pushes != 2 {
		t.Errorf("after %d pushes there is %v", f.pushes, left)
	}
	if errs := refstore.Remove(t.Context(), s, at); errs != nil {
		t.Errorf("nothing to delete: %v", errs)
	}
	for i, err := range refstore.Remove(t.Context(), s, at, listed[0], refstore.Ref{Name: "refs/x/never"}) {
		if !errors.Is(err, refstore.ErrBadChange) {
			t.Errorf("%d: a ref that never was: %v", i, err)
		}
	}
}
