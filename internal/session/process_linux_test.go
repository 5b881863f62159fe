package session

import "testing"

func TestParseStat(t *testing.T) {
	const tail = " S 41 1 1 0 -1 4194560 1 0 0 0 0 0 0 0 20 0 1 0 777 1 1"
	cases := []struct {
		stat string
		want Process
		ok   bool
	}{
		{"42 (bash)" + tail, Process{PID: 42, Parent: 41, Start: "777", Name: "bash"}, true},
		{"42 (a) S 1 (b)" + tail, Process{PID: 42, Parent: 41, Start: "777", Name: "a) S 1 (b"}, true},
		{"42 (gone) Z 41 1 1 0 -1 4194560 1 0 0 0 0 0 0 0 20 0 1 0 777 1 1", Process{}, false},
		{"42 (short) S 1", Process{}, false},
		{"", Process{}, false},
		{")(", Process{}, false},
		{"x (a)" + tail, Process{}, false},
	}
	for _, c := range cases {
		got, ok := parseStat(c.stat)
		if ok != c.ok || ok && (got.PID != c.want.PID || got.Parent != c.want.Parent || got.Start != c.want.Start || got.Name != c.want.Name) {
			t.Errorf("%q: got %+v, %v", c.stat, got, ok)
		}
	}
}

func FuzzParseStat(f *testing.F) {
	f.Add("42 (bash) S 41 1 1 0 -1 4194560 1 0 0 0 0 0 0 0 20 0 1 0 777 1 1")
	f.Fuzz(func(t *testing.T, stat string) {
		if p, ok := parseStat(stat); ok && p.Start == "" {
			t.Errorf("%q: no start", stat)
		}
	})
}
