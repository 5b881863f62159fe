package session_test

import (
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"
)

// TestPushes: several processes count, and only what lies in the span is counted.
func TestPushes(t *testing.T) {
	owner := clone(t)
	now := time.Unix(1_800_000_000, 0)
	var all sync.WaitGroup
	for range 8 {
		s := openState(t, owner, "alice")
		all.Go(func() {
			for i := range 50 {
				s.CountPush(now.Add(-time.Duration(i) * time.Second))
			}
		})
	}
	all.Wait()
	s := openState(t, owner, "bob")
	for span, want := range map[time.Duration]int{time.Minute: 400, 10 * time.Second: 80, 0: 0} {
		if n, err := s.Pushes(now, span); n != want || err != nil {
			t.Errorf("%s: %d pushes, %v; want %d", span, n, err, want)
		}
	}
}

// TestPushesAreCompacted: the log does not grow for ever, and keeps the newest.
func TestPushesAreCompacted(t *testing.T) {
	owner := clone(t)
	s := openState(t, owner, "alice")
	now := time.Unix(1_800_000_000, 0)
	for i := range 20_000 {
		s.CountPush(now.Add(time.Duration(i) * time.Second))
	}
	now = now.Add(19_999 * time.Second)
	if info, err := os.Stat(filepath.Join(s.Dir(), "pushes")); err != nil || info.Size() > 70_000 {
		t.Errorf("%v, %v", info, err)
	}
	if n, err := s.Pushes(now, 20*time.Minute); n != 1200 || err != nil {
		t.Errorf("%d pushes, %v", n, err)
	}
}

// TestPushesThatCantBeCounted: nothing fails, and rubbish is passed over.
func TestPushesThatCantBeCounted(t *testing.T) {
	s := openState(t, clone(t), "alice")
	now := time.Unix(1_800_000_000, 0)
	if n, err := s.Pushes(now, time.Hour); n != 0 || err != nil {
		t.Errorf("%d pushes, %v", n, err)
	}
	if err := os.MkdirAll(s.Dir(), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(s.Dir(), "pushes"), []byte("rubbish\n\x00\n1799999999\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	s.CountPush(now)
	if n, err := s.Pushes(now, time.Hour); n != 2 || err != nil {
		t.Errorf("%d pushes, %v", n, err)
	}
	if err := os.Remove(filepath.Join(s.Dir(), "pushes")); err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(filepath.Join(s.Dir(), "pushes"), 0o700); err != nil {
		t.Fatal(err)
	}
	s.CountPush(now)
}
