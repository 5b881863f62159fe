package session_test

import (
	"errors"
	"os"
	"reflect"
	"strings"
	"testing"

	"github.com/git-worklease/git-worklease/internal/session"
	"github.com/git-worklease/git-worklease/lease"
)

func TestIntentLifeCycle(t *testing.T) {
	owner := clone(t)
	a, b := openState(t, owner, "a"), openState(t, owner, "b")
	i := intent("a", "task:1", "task:2")
	must(t, a.Begin(i))

	if left, busy, err := b.Pending(); err != nil || len(left) != 0 || len(busy) != 1 {
		t.Fatalf("while its writer lives: %v, %d, %v", left, len(busy), err)
	}
	if left, busy, err := b.Pending("task:3"); err != nil || len(left) != 0 || len(busy) != 0 {
		t.Fatalf("of another resource: %v, %d, %v", left, len(busy), err)
	}
	if err := b.Begin(intent("b", "task:2")); !errors.Is(err, lease.ErrIntentBusy) {
		t.Fatalf("overlapping, writer lives: %v", err)
	}
	if err := a.Begin(intent("a", "task:2", "task:9")); !errors.Is(err, lease.ErrIntentBusy) {
		t.Fatalf("overlapping, in the same process: %v", err)
	}
	other := intent("b", "task:3")
	must(t, b.Begin(other))
	must(t, b.End(other))

	must(t, a.Leave(i))
	var open *lease.OpenIntentError
	if err := b.Begin(intent("b", "task:2")); !errors.As(err, &open) || !reflect.DeepEqual(open.Intent, i) {
		t.Fatalf("overlapping, left behind: %v", err)
	}
	left, busy, err := b.Pending("task:1")
	if err != nil || len(left) != 1 || len(busy) != 0 || !reflect.DeepEqual(left[0], i) {
		t.Fatalf("left behind: %v, %d, %v", left, len(busy), err)
	}
	if left, busy, err := a.Pending(); err != nil || len(left) != 0 || len(busy) != 1 {
		t.Fatalf("while somebody settles it: %v, %d, %v", left, len(busy), err)
	}
	must(t, b.End(left[0]))
	if left, busy, err := a.Pending(); err != nil || len(left) != 0 || len(busy) != 0 {
		t.Fatalf("at the end: %v, %d, %v", left, len(busy), err)
	}
	if entries, err := os.ReadDir(a.Dir() + "/pending"); err != nil || len(entries) != 0 {
		t.Errorf("left on disk: %v, %v", entries, err)
	}
}

func TestIntentMustBeOurs(t *testing.T) {
	s := openState(t, clone(t), "a")
	i := intent("a", "task:1")
	for name, err := range map[string]error{"End": s.End(i), "Leave": s.Leave(i)} {
		if !errors.Is(err, session.ErrNotBegun) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestBadIntents(t *testing.T) {
	s := openState(t, clone(t), "a")
	for name, spoil := range map[string]func(*lease.Intent){
		"path as ID":   func(i *lease.Intent) { i.ID = "../x" },
		"no ID":        func(i *lease.Intent) { i.ID = "" },
		"long ID":      func(i *lease.Intent) { i.ID = strings.Repeat("a", 129) },
		"no Tx":        func(i *lease.Intent) { i.Tx = nil },
		"no resources": func(i *lease.Intent) { i.Resources = nil },
		"short key":    func(i *lease.Intent) { i.Hold.Key = i.Hold.Key[:9] },
	} {
		i := intent("a", "task:1")
		spoil(i)
		if err := s.Begin(i); err == nil {
			t.Errorf("%s: accepted", name)
		}
	}
}

// TestFirstAuthorityLost: the authority that a first claim meant to create was created by somebody else meanwhile. The intent must
// still be there to be settled.
func TestFirstAuthorityLost(t *testing.T) {
	s := openState(t, clone(t), "a")
	i := intent("a", "task:1")
	must(t, s.Begin(i))
	must(t, s.Leave(i))
	must(t, s.SeeMeta(lease.MetaSighting{Authority: "ffff"}))
	left, _, err := s.Pending()
	if err != nil || len(left) != 1 {
		t.Fatalf("got %v, %v", left, err)
	}
	must(t, s.End(left[0]))
}

// TestSweep: what killed processes left is removed, but nothing that is in use.
func TestSweep(t *testing.T) {
	s := openState(t, clone(t), "a")
	used, abandoned := intent("a", "task:1"), intent("a", "task:2")
	must(t, s.Begin(used))
	must(t, s.Begin(abandoned))
	must(t, s.Leave(abandoned))
	for _, name := range []string{"gone.lock", "half.json.tmp"} {
		must(t, os.WriteFile(s.Dir()+"/pending/"+name, nil, 0o600))
	}
	left, busy, err := s.Pending()
	if err != nil || len(left) != 1 || len(busy) != 1 {
		t.Fatalf("got %v, %d, %v", left, len(busy), err)
	}
	entries, err := os.ReadDir(s.Dir() + "/pending")
	if err != nil || len(entries) != 4 {
		t.Errorf("left on disk: %v, %v", entries, err)
	}
}

// TestUnfinishedIntent: a writer that is killed, or loses power, within the write has not sent anything, and what it left blocks nobody.
func TestUnfinishedIntent(t *testing.T) {
	for _, content := range []string{"", "\x00\x00\x00\x00", `{"v":1,"inte`} {
		s := openState(t, clone(t), "a")
		i := intent("a", "task:1")
		must(t, s.Begin(i))
		must(t, s.Leave(i))
		must(t, os.WriteFile(s.Dir()+"/pending/"+i.ID+".json", []byte(content), 0o600))
		if left, busy, err := s.Pending(); err != nil || len(left) != 0 || len(busy) != 0 {
			t.Fatalf("got %v, %d, %v", left, len(busy), err)
		}
		must(t, s.Begin(intent("a", "task:1")))
	}
}
