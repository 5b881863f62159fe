package term

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

func TestCut(t *testing.T) {
	for _, test := range []struct {
		text    string
		columns int
		want    string
		cells   int
	}{
		{"plain", 5, "plain", 5},
		{"plain text", 8, "plain t…", 8},
		{"plain text", 7, "plain…", 6},
		{"línea", 5, "línea", 5},
		{"li\u0301nea", 5, "li\u0301nea", 5},
		{"日本語", 6, "日本語", 6},
		{"日本語", 5, "日本…", 5},
		{"日本語", 4, "日…", 3},
		{"🔒 locked", 4, "🔒…", 3}, // no blank before the ellipsis
		{"plain", 1, "…", 1},
	} {
		got := Cut(test.text, test.columns)
		if got != test.want || Cells(got) != test.cells {
			t.Errorf("Cut(%q, %d) = %q of %d cells, want %q of %d", test.text, test.columns, got, Cells(got), test.want, test.cells)
		}
	}
}

// screen is what a terminal shows of its only line.
type screen struct {
	mu     sync.Mutex
	cells  []rune
	at     int
	most   int
	writes int
}

func (s *screen) Write(b []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.writes++
	for _, r := range string(b) {
		if r == '\r' {
			s.at = 0
			continue
		}
		for len(s.cells) <= s.at {
			s.cells = append(s.cells, ' ')
		}
		s.cells[s.at] = r
		s.at++
		s.most = max(s.most, s.at)
	}
	return len(b), nil
}

func (s *screen) String() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return strings.TrimRight(string(s.cells), " ")
}

func sleep(ctx context.Context, d time.Duration) error {
	select {
	case <-time.After(d):
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// TestLiveLine: each text replaces the one before, a notice finds the line empty, and at the end nothing is left.
func TestLiveLine(t *testing.T) {
	s, columns := &screen{}, 20
	l := NewLiveLine(s, func() int { return columns }, sleep)
	l.Clear()
	if s.writes > 0 {
		t.Error("nothing was there to be cleared")
	}
	for _, test := range []struct{ text, want string }{
		{"a longer text", "a longer text"},
		{"short", "short"},
		{"one that is cut at the border", "one that is cut at…"},
	} {
		if l.Show(test.text); s.String() != test.want {
			t.Errorf("%q shows as %q", test.text, s)
		}
	}
	if s.most > 19 {
		t.Errorf("%d of 20 columns were used", s.most)
	}
	if l.Clear(); s.String() != "" || s.at != 0 {
		t.Errorf("cleared: %q, at %d", s, s.at)
	}
	resume := l.Hold()
	if l.Show("not now"); s.String() != "" {
		t.Errorf("held: %q", s)
	}
	resume()
	columns = 0
	if l.Show(strings.Repeat("x", 100)); len(s.String()) != len(strings.Repeat("x", 78)+"…") {
		t.Errorf("of unknown width: %q", s)
	}
}

func TestLiveLineRuns(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &screen{}
		l := NewLiveLine(s, func() int { return 40 }, sleep)
		ctx, stop := context.WithCancel(t.Context())
		start := time.Now()
		go l.Run(ctx, func() string { return fmt.Sprintf("since %s", Span(time.Since(start))) })
		for i := range 3 {
			synctest.Wait()
			if want := fmt.Sprintf("since %d s", i); s.String() != want {
				t.Errorf("%q instead of %q", s, want)
			}
			<-time.After(time.Second)
		}
		stop()
		synctest.Wait()
		if s.String() != "" || s.at != 0 {
			t.Errorf("at the end: %q", s)
		}
		if s.writes > 8 {
			t.Errorf("%d writes in 3 s", s.writes)
		}
	})
}

// TestNoLiveLine: where there is no terminal there is no line, and nobody has to ask.
func TestNoLiveLine(t *testing.T) {
	var l *LiveLine
	l.Show("x")
	l.Clear()
	l.Hold()()
	l.Run(t.Context(), func() string { t.Error("asked for a text"); return "" })
}
