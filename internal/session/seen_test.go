package session_test

import (
	"errors"
	"fmt"
	"os"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/git-worklease/git-worklease/internal/session"
	"github.com/git-worklease/git-worklease/lease"
	"github.com/git-worklease/git-worklease/refstore"
)

func sighting(r lease.Resource, generation lease.Generation, revision uint64) lease.Sighting {
	return lease.Sighting{
		Resource: r, Generation: generation, Revision: revision, Tip: refstore.OID(strings.Repeat(fmt.Sprint(revision%10), 40)),
		First: lease.Instant{Boot: "3f2c9a10-6a2b-4f9e-9f5e-0d6b7c1a2b3c", Since: time.Duration(revision) * time.Second},
	}
}

func TestSeenRoundTrip(t *testing.T) {
	s := openState(t, clone(t), "a")
	want := sighting("path:a b/ü~^:", 1<<63, 1<<40)
	// Every field must survive, also one that is added some day.
	v := reflect.ValueOf(&want).Elem()
	for i := range v.NumField() {
		if v.Field(i).Kind() == reflect.Bool {
			v.Field(i).SetBool(true)
		}
	}
	want.FirstDate = time.Date(2026, 11, 29, 15, 4, 5, 6000, time.UTC)
	for i := range v.NumField() {
		if v.Field(i).IsZero() {
			t.Fatalf("the test leaves %s zero", v.Type().Field(i).Name)
		}
	}
	must(t, s.See(want))
	got, err := s.Seen("path:a b/ü~^:", "task:never")
	if err != nil || len(got) != 1 || got[want.Resource] != want {
		t.Errorf("got %+v, %v\nwant %+v", got, err, want)
	}
}

func TestSeenNeverGoesDown(t *testing.T) {
	s := openState(t, clone(t), "a")
	for _, step := range []struct{ generation, revision, wantGeneration, wantRevision uint64 }{
		{3, 5, 3, 5}, {3, 4, 3, 5}, {2, 9, 3, 5}, {4, 1, 4, 1}, {3, 99, 4, 1},
	} {
		must(t, s.See(sighting("task:1", lease.Generation(step.generation), step.revision)))
		got, err := s.Seen("task:1")
		if err != nil || uint64(got["task:1"].Generation) != step.wantGeneration || got["task:1"].Revision != step.wantRevision {
			t.Errorf("after %+v: %+v, %v", step, got, err)
		}
	}
}

func TestSeenAgainWritesNothing(t *testing.T) {
	s := openState(t, clone(t), "a")
	first := sighting("task:1", 1, 1)
	must(t, s.See(first))
	before, err := os.ReadFile(s.Dir() + "/seen")
	must(t, err)
	later := first
	later.First.Since += time.Hour
	must(t, s.See(later, first))
	after, err := os.ReadFile(s.Dir() + "/seen")
	if err != nil || string(after) != string(before) {
		t.Errorf("written: %q, %v", after, err)
	}
	if got, _ := s.Seen("task:1"); got["task:1"].First != first.First {
		t.Errorf("first seen %v, want %v", got["task:1"].First, first.First)
	}
}

// TestSeenLogIsCompacted: the log stays within a bound, and keeps what it knows.
func TestSeenLogIsCompacted(t *testing.T) {
	s := openState(t, clone(t), "a")
	const resources, rounds = 50, 60
	for round := range rounds {
		var all []lease.Sighting
		for i := range resources {
			all = append(all, sighting(lease.Resource(fmt.Sprintf("task:%d", i)), 1, uint64(round+1))) //nolint:gosec // small
		}
		must(t, s.See(all...))
	}
	info, err := os.Stat(s.Dir() + "/seen")
	if err != nil || info.Size() > 90<<10 {
		t.Errorf("%d bytes, %v", info.Size(), err)
	}
	for i := range resources {
		r := lease.Resource(fmt.Sprintf("task:%d", i))
		if got, err := s.Seen(r); err != nil || got[r].Revision != rounds {
			t.Errorf("%s: %+v, %v", r, got, err)
		}
	}
}

func TestSeenTornTail(t *testing.T) {
	s := openState(t, clone(t), "a")
	must(t, s.See(sighting("task:1", 1, 1), sighting("task:2", 1, 1)))
	data, err := os.ReadFile(s.Dir() + "/seen")
	must(t, err)
	for cut := 1; cut < 40; cut++ {
		must(t, os.WriteFile(s.Dir()+"/seen", data[:len(data)-cut], 0o600))
		got, err := s.Seen("task:1", "task:2")
		if err != nil || len(got) != 1 || got["task:1"].Revision != 1 {
			t.Fatalf("cut by %d: %v, %v", cut, got, err)
		}
		must(t, s.See(sighting("task:3", 1, 1)))
		if got, err = s.Seen("task:1", "task:3"); err != nil || len(got) != 2 {
			t.Fatalf("cut by %d, then written: %v, %v", cut, got, err)
		}
	}
}

func TestSeenCorrupt(t *testing.T) {
	head := "git-worklease seen 1 0\n"
	for name, data := range map[string]string{
		"empty": "", "other file": "hello\n", "no lines": "git-worklease seen 1", "no base": "git-worklease seen 1\n",
		"torn within": head + "3\t5\n1\t1\tt\tfalse\t0\tb\t\ttask:1\n", "words": head + "x\t1\tt\tfalse\t0\tb\t\ttask:1\n",
		"blank line": head + "\n", "bad date": head + "1\t1\tt\tfalse\t0\tb\tyesterday\ttask:1\n",
	} {
		s := openState(t, clone(t), "a")
		must(t, os.MkdirAll(s.Dir(), 0o700))
		must(t, os.WriteFile(s.Dir()+"/seen", []byte(data), 0o600))
		_, err := s.Seen("task:1", "5")
		var state *session.StateError
		if !errors.As(err, &state) || state.Path != s.Dir()+"/seen" {
			t.Errorf("%s: %v", name, err)
		}
		if err := s.See(sighting("task:1", 1, 1), sighting("5", 1, 1)); !errors.Is(err, session.ErrState) {
			t.Errorf("%s: written over: %v", name, err)
		}
	}
}

func TestSeenNewer(t *testing.T) {
	s := openState(t, clone(t), "a")
	must(t, os.MkdirAll(s.Dir(), 0o700))
	must(t, os.WriteFile(s.Dir()+"/seen", []byte("git-worklease seen 2 what ever\n"), 0o600))
	if _, err := s.Seen("task:1"); !errors.Is(err, session.ErrNewer) {
		t.Errorf("got %v", err)
	}
}

func TestSeenRefusesWhatWouldBreakTheLog(t *testing.T) {
	s := openState(t, clone(t), "a")
	for _, bad := range []lease.Sighting{
		sighting("task:1\n1\t1", 1, 1), sighting("", 1, 1), {Resource: "r", Tip: "a\tb"}, {Resource: "r", First: lease.Instant{Boot: "\n"}},
	} {
		if err := s.See(bad); err == nil {
			t.Errorf("%+v was accepted", bad)
		}
	}
}

// TestSeenIsBounded: a listing full of strange records must not make the log larger than what is read again.
func TestSeenIsBounded(t *testing.T) {
	s := openState(t, clone(t), "a")
	must(t, s.See(sighting("task:mine", 1, 1)))
	flood := make([]lease.Sighting, 70_000)
	for i := range flood {
		flood[i] = sighting(lease.Resource(fmt.Sprintf("task:%s%d", strings.Repeat("x", 900), i)), 1, 1)
	}
	_ = s.See(flood...)
	if got, err := s.Seen("task:mine"); err != nil || len(got) != 1 {
		t.Errorf("%d, %v", len(got), err)
	}
	must(t, s.See(sighting("task:mine", 1, 2)))
}
