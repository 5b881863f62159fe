package session_test

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/git-worklease/git-worklease/internal/session"
	"github.com/git-worklease/git-worklease/lease"
)

func TestInspect(t *testing.T) {
	owner := clone(t)
	s := openState(t, owner, "alice")
	if found := s.Inspect(); found.Exists || len(found.Problems) != 0 {
		t.Errorf("before the first write: %+v", found)
	}
	must(t, s.CheckWritable())
	if found := s.Inspect(); found.Exists {
		t.Error("to look whether it can be written has made the folder")
	}
	must(t, s.SaveHold(hold("alice", "task:a")))
	must(t, s.See(sighting("task:a", 1, 1), sighting("task:b", 2, 3), sighting("task:a", 1, 2)))
	left, busy := intent("alice", "task:b"), intent("alice", "task:c")
	left.ID, busy.ID = "left", "busy"
	must(t, s.Begin(left))
	must(t, s.Leave(left))
	must(t, s.Begin(busy))

	found := s.Inspect()
	if found.Sessions != 1 || found.Claims != 1 || len(found.Problems) != 0 || len(found.Open) != 0 || len(found.Pending) != 2 {
		t.Fatalf("%+v", found)
	}
	for _, p := range found.Pending {
		if want := p.Resources[0] == "task:c"; p.Busy != want || p.Since.IsZero() {
			t.Errorf("%+v", p)
		}
	}
	seen, err := s.SeenAll()
	must(t, err)
	revisions := map[lease.Resource]uint64{}
	for _, sighting := range seen {
		revisions[sighting.Resource] = sighting.Revision
	}
	if len(seen) != 2 || revisions["task:a"] != 2 || revisions["task:b"] != 3 {
		t.Errorf("seen: %+v", seen)
	}
	must(t, s.End(busy))
}

// TestInspectNamesEveryFault: one damaged file hides no other.
func TestInspectNamesEveryFault(t *testing.T) {
	owner := clone(t)
	s := openState(t, owner, "alice")
	must(t, s.SaveHold(hold("alice", "task:a")))
	must(t, s.SaveHold(hold("bob", "task:b")))
	left := intent("alice", "task:c")
	must(t, s.Begin(left))
	must(t, s.Leave(left))
	for name, text := range map[string]string{
		"sessions/bob.json": "rubbish", "pending/" + left.ID + ".json": "rubbish\n", "seen": "rubbish", "meta.json": `{"v":99}`, "remotes/x.json": "rubbish",
	} {
		path := filepath.Join(s.Dir(), filepath.FromSlash(name))
		must(t, os.MkdirAll(filepath.Dir(path), 0o700))
		must(t, os.WriteFile(path, []byte(text), 0o600))
	}
	found := s.Inspect()
	newer := 0
	for _, err := range found.Problems {
		if errors.Is(err, session.ErrNewer) {
			newer++
		} else if !errors.Is(err, session.ErrState) {
			t.Errorf("%v", err)
		}
	}
	// the session of alice can't be checked against an authority that can't be read
	if len(found.Problems) != 6 || newer != 2 || found.Sessions != 0 {
		t.Errorf("%d problems, %d newer: %v", len(found.Problems), newer, found.Problems)
	}
}
