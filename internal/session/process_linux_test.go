package session

import (
	"strings"
	"testing"
)

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

// table is a table of processes in which every one has the same parent, the last.
type table []Process

func (t table) Lookup(pid int) (Process, bool) {
	if pid < 0 || pid >= len(t) {
		return Process{}, false
	}
	return t[pid], true
}

// FuzzParseStat: the lines of a living process name it as the system does, and the search for whoever it runs for ends.
func FuzzParseStat(f *testing.F) {
	const tail = " S 1 1 1 0 -1 4194560 1 0 0 0 0 0 0 0 20 0 1 0 777 1 1"
	f.Add("0 (bash)"+tail, []byte("bash\x00-c\x00make\x00"))
	f.Add("0 (a) S 1 (b)"+tail, []byte("busybox\x00sh\x00"))
	f.Add("1 (timeout)"+tail, []byte("/usr/bin/timeout\x005\x00x\x00"))
	f.Fuzz(func(t *testing.T, stat string, cmdline []byte) {
		p, ok := parseStat(stat)
		if !ok {
			return
		}
		if p.Start == "" || strings.ContainsAny(p.Start, " \t\n") || !strings.Contains(stat, "("+p.Name+")") {
			t.Errorf("%q: %+v", stat, p)
		}
		p.Args = splitZero(cmdline)
		if got := strings.Join(p.Args, "\x00"); got != strings.TrimSuffix(string(cmdline), "\x00") {
			t.Errorf("%q became %q", cmdline, p.Args)
		}
		agent := Process{PID: 1, Parent: 1, Start: "1", Args: []string{"agent"}}
		found := FindClaimant(table{p, agent}, 0)
		if found.PID != p.PID && found.PID != agent.PID && found != (Claimant{}) {
			t.Errorf("%+v found for %+v", found, p)
		}
		if Ambiguous(table{p, agent}, found, found) {
			t.Errorf("%+v is another than itself", found)
		}
	})
}
