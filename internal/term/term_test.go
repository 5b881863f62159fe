package term

import (
	"math"
	"testing"
	"time"
)

func TestClean(t *testing.T) {
	for in, want := range map[string]string{
		"plain":          "plain",
		"línea":          "línea",
		"a\x1b[31mb":     `a\u001b[31mb`,
		"a\u009bb":       `a\u009bb`,
		"a\r\nb":         `a\u000d\nb`,
		"a\u202eb":       `a\u202eb`,
		"a\u200bb":       `a\u200bb`,
		"bad \xff utf-8": `bad \xff utf-8`,
		"tab\there":      "tab here",
	} {
		if got := Clean(in); got != want {
			t.Errorf("Clean(%q) = %q, want %q", in, got, want)
		}
	}
}

func TestCleanJSON(t *testing.T) {
	for in, want := range map[string]string{
		`{"a":1}` + "\n":     `{"a":1}` + "\n",
		`"línea"`:            `"línea"`,
		"\"a\u009bb\"":       `"a\u009bb"`,
		"\"a\x7fb\"":         `"a\u007fb"`,
		"\"a\u202eb\"":       `"a\u202eb"`,
		"\"a\U000e0041b\"":   `"a\udb40\udc41b"`,
		"\"bad \xff\"":       `"bad \ufffd"`,
		`"a\u001b\\\u0000b"`: `"a\u001b\\\u0000b"`,
	} {
		if got := string(CleanJSON([]byte(in))); got != want {
			t.Errorf("CleanJSON(%q) = %s, want %s", in, got, want)
		}
	}
}

func TestSpan(t *testing.T) {
	for d, want := range map[time.Duration]string{
		0:                          "0 s",
		-45 * time.Second:          "45 s",
		59*time.Second + 600e6:     "1 min",
		12*time.Minute + 59e9:      "12 min",
		2 * time.Hour:              "2 h",
		2*time.Hour - time.Second:  "1 h 59 min",
		26*time.Hour + time.Minute: "1 d 2 h",
		72 * time.Hour:             "3 d",
		math.MinInt64:              "106751 d 23 h",
	} {
		if got := Span(d); got != want {
			t.Errorf("Span(%v) = %q, want %q", d, got, want)
		}
	}
}

func TestLength(t *testing.T) {
	for d, want := range map[time.Duration]string{
		0: "0s", 10 * time.Second: "10s", 10 * time.Minute: "10m", 2 * time.Hour: "2h", 90 * time.Minute: "1h30m", time.Hour + 20*time.Second: "1h0m20s",
	} {
		if got := Length(d); got != want {
			t.Errorf("Length(%v) = %q, want %q", d, got, want)
		}
	}
}

func TestTable(t *testing.T) {
	var table Table
	table.Row("RESOURCE", "STATE", "HOLDER")
	table.Row("task:ü", "held", "alice/main")
	table.Style(1, Good)
	table.Row("port:30000", "free", "")
	want := "RESOURCE    STATE  HOLDER\ntask:ü      held   alice/main\nport:30000  free\n"
	if got := table.String(Palette{}); got != want {
		t.Errorf("got\n%swant\n%s", got, want)
	}
	painted := "RESOURCE    STATE  HOLDER\ntask:ü      \x1b[32mheld\x1b[m   alice/main\nport:30000  free\n"
	if got := table.String(Palette{On: true}); got != painted {
		t.Errorf("got\n%qwant\n%q", got, painted)
	}
}

func TestColour(t *testing.T) {
	for _, test := range []struct {
		setting  string
		terminal bool
		env      map[string]string
		want     bool
	}{
		{"", true, nil, true},
		{"", false, nil, false},
		{"auto", false, map[string]string{"GIT_PAGER_IN_USE": "true"}, true},
		{"always", false, map[string]string{"NO_COLOR": "1"}, true},
		{"", true, map[string]string{"NO_COLOR": "1"}, false},
		{"", true, map[string]string{"TERM": "dumb"}, false},
		{"never", true, nil, false},
		{"true", true, nil, true},
		{"true", false, nil, false},
	} {
		if got := Colour(test.setting, test.terminal, func(k string) string { return test.env[k] }); got != test.want {
			t.Errorf("%+v: got %v", test, got)
		}
	}
}

func TestClock(t *testing.T) {
	now := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	if got := Clock(now.Add(2*time.Hour), now, time.UTC); got != "14:00" {
		t.Error(got)
	}
	if got := Clock(now.Add(14*time.Hour), now, time.UTC); got != "2026-03-02 02:00" {
		t.Error(got)
	}
}
