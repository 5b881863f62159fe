package term

import (
	"encoding/json"
	"reflect"
	"strings"
	"testing"
	"time"
	"unicode"
	"unicode/utf8"
)

// acts says whether a character would do something to a terminal, or to the text around it.
func acts(r rune) bool {
	return r < ' ' || r >= 0x7f && r < 0xa0 || unicode.In(r, unicode.Cc, unicode.Cf, unicode.Zl, unicode.Zp)
}

func safe(s string) bool { return utf8.ValidString(s) && !strings.ContainsFunc(s, acts) }

// FuzzClean: whatever a text holds, what is printed of it is one line that does nothing to a terminal, and plain text stays as it is.
func FuzzClean(f *testing.F) {
	for _, s := range []string{"plain", "a\x1b[31mb\r\n", "\u009b\u202e\u200b", "bad \xff", "e\u0301 漢 🙂", "\U000e0041\u2028", `\n`} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		got := Clean(s)
		if !safe(got) || Clean(got) != got || safe(s) && got != s {
			t.Errorf("%q became %q", s, got)
		}
		for _, line := range CleanLines(s) {
			if !safe(line) || line == "" {
				t.Errorf("%q has the line %q", s, line)
			}
		}
		for _, columns := range []int{1, 2, 7} {
			if cut := Cut(got, columns); Cells(cut) > columns || !safe(cut) || Cells(got) <= columns && cut != got {
				t.Errorf("%q is cut to %q, of %d columns", got, cut, Cells(cut))
			}
		}
	})
}

// FuzzCleanJSON: a document means what it meant, and does nothing to a terminal.
func FuzzCleanJSON(f *testing.F) {
	for _, s := range []string{"plain", "\u009b\x7f\u202e", "\U000e0041", "\ufffd", "<&>\\u0000"} {
		f.Add(s, s)
	}
	f.Fuzz(func(t *testing.T, name, text string) {
		doc, err := json.Marshal(map[string]any{name: text, "list": []string{text, name}})
		if err != nil {
			t.Fatal(err)
		}
		cleaned := CleanJSON(doc)
		var was, is any
		if json.Unmarshal(doc, &was) != nil || json.Unmarshal(cleaned, &is) != nil || !reflect.DeepEqual(was, is) || !safe(string(cleaned)) {
			t.Errorf("%q became %q", doc, cleaned)
		}
		if raw := []byte(`"` + text + `"`); json.Valid(raw) { // as a checkpoint is embedded
			if cleaned := CleanJSON(raw); !json.Valid(cleaned) || !safe(string(cleaned)) {
				t.Errorf("%q became %q", raw, cleaned)
			}
		}
	})
}

// FuzzSpan: a length of time has words, without a sign.
func FuzzSpan(f *testing.F) {
	for _, d := range []time.Duration{0, -45 * time.Second, 59999 * time.Millisecond, 26 * time.Hour, 1<<63 - 1, -1 << 63} {
		f.Add(int64(d))
	}
	f.Fuzz(func(t *testing.T, n int64) {
		d := time.Duration(n)
		if got := Span(d); strings.ContainsAny(got, "-.") || !strings.Contains("0123456789", got[:1]) || d != -1<<63 && got != Span(-d) {
			t.Errorf("%d is %q", n, got)
		}
		if back, err := time.ParseDuration(Length(d)); err != nil || back != d {
			t.Errorf("%d is %q", n, Length(d))
		}
	})
}

// FuzzTable: cells that are clean come in a line for each row, and nothing is lost.
func FuzzTable(f *testing.F) {
	f.Add("a\tbb\nccc\t\td", true)
	f.Fuzz(func(t *testing.T, text string, colours bool) {
		var table Table
		rows := strings.Split(text, "\n")
		for _, row := range rows {
			cells := strings.Split(row, "\t")
			for i := range cells {
				cells[i] = Clean(cells[i])
			}
			table.Row(cells...)
			table.Style(0, Style(len(row)%6))
		}
		got := strings.Split(table.String(Palette{On: colours}), "\n")
		if len(got) != len(rows)+1 {
			t.Fatalf("%d rows became %d lines", len(rows), len(got)-1)
		}
		for i, row := range rows {
			for cell := range strings.SplitSeq(row, "\t") {
				if !strings.Contains(got[i], Clean(cell)) {
					t.Errorf("%q is not in %q", Clean(cell), got[i])
				}
			}
			if !colours && !safe(got[i]) {
				t.Errorf("line %q", got[i])
			}
		}
	})
}
