package cligit

import (
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/git-worklease/git-worklease/internal/gitexec"
	"github.com/git-worklease/git-worklease/refstore"
)

func TestParsePorcelain(t *testing.T) {
	r := parsePorcelain("To http://h/r.git\n" +
		"*\t11:refs/w/a\t[new reference]\n" +
		"+\t11:refs/w/b\t62..11 (forced update)\n" +
		"-\t:refs/w/c\t[deleted]\n" +
		"=\t11:refs/w/d\t[up to date]\n" +
		"!\t11:refs/w/e\t[remote rejected] (hook (a) declined)\n" +
		"!\t(delete):refs/w/f\t[rejected] (stale info)\n" +
		"!\t11:refs/w/g\t[remote failure] (remote failed to report status)\n" +
		"!\t11:refs/w/h\t[something new]\n" +
		"Done\n")
	if got := slices.Sorted(maps.Keys(r.done)); !slices.Equal(got, []string{"refs/w/a", "refs/w/b", "refs/w/c", "refs/w/d"}) {
		t.Errorf("done: %v", got)
	}
	if !maps.Equal(r.refused, map[string]string{"refs/w/e": "hook (a) declined"}) {
		t.Errorf("refused: %v", r.refused)
	}
	if !maps.Equal(r.unsent, map[string]string{"refs/w/f": "stale info"}) {
		t.Errorf("unsent: %v", r.unsent)
	}
	tx := &refstore.Tx{Updates: []refstore.Update{{Change: refstore.Change{Ref: "refs/w/a"}}, {Change: refstore.Change{Ref: "refs/w/e"}}}}
	if !r.complete(tx) {
		t.Error("not complete")
	}
	tx.Updates = append(tx.Updates, refstore.Update{Change: refstore.Change{Ref: "refs/w/g"}})
	if r.complete(tx) {
		t.Error("complete without a word on g")
	}
}

var (
	one  = strings.Repeat("1", 40)
	zero = strings.Repeat("0", 40)
)

func TestParseTrace(t *testing.T) {
	advert := "trace: built-in: git push x\npacket:          git< " + one + ` refs/w/a\0report-status atomic object-format=sha1 agent=x/1` + "\n" +
		"packet:          git< " + one + " refs/w/b\npacket:          git< 0000\n"
	for name, test := range map[string]struct {
		in   string
		want trace
	}{
		"nothing":          {"", trace{}},
		"no connection":    {"trace: built-in: git push x\n", trace{alive: true}},
		"advertised":       {advert, trace{alive: true, advertised: map[string]refstore.OID{"refs/w/a": refstore.OID(one), "refs/w/b": refstore.OID(one)}, atomic: true, agent: "x/1", format: "sha1"}},
		"empty":            {"packet: push< " + zero + ` capabilities^{}\0object-format=sha256` + "\n", trace{alive: true, advertised: map[string]refstore.OID{}, format: "sha256"}},
		"sent":             {"packet: push> " + zero + " " + one + " refs/w/a\n", trace{alive: true, commanded: true}},
		"the server's own": {"packet: receive-pack> " + zero + " " + one + " refs/w/a\n", trace{alive: true}},
		"version 2":        {"packet: ls-remote< version 2\npacket: ls-remote< object-format=sha256\n", trace{alive: true, version2: true, format: "sha256"}},
		"too long":         {strings.Repeat("x", 300<<10), trace{commanded: true}},
	} {
		got := parseTrace(strings.NewReader(test.in))
		if !maps.Equal(got.advertised, test.want.advertised) || (got.advertised == nil) != (test.want.advertised == nil) {
			t.Errorf("%s: advertised %v", name, got.advertised)
		}
		got.advertised, test.want.advertised = nil, nil
		if got.alive != test.want.alive || got.commanded != test.want.commanded || got.atomic != test.want.atomic || got.agent != test.want.agent ||
			got.format != test.want.format || got.version2 != test.want.version2 {
			t.Errorf("%s: got %+v, want %+v", name, *got, test.want)
		}
	}
}

func TestHandover(t *testing.T) {
	line := func(scope, key, value string) gitexec.Setting {
		return gitexec.Setting{Scope: scope, Key: key, Value: value}
	}
	user := []gitexec.Setting{
		line("global", "credential.helper", "store"), line("global", "http.extraheader", "A: 1"), line("global", "http.extraheader", "B: 2"),
		line("local", "http.extraheader", "A: 1"), line("local", "core.sshcommand", "ssh -v"), line("local", "core.bare", "false"),
		line("local", "remote.origin.url", "x"), line("local", "url.x.insteadof", "y"), line("command", "http.proxy", "p"), line("local", "core.worktree", "/"),
	}
	got := handover(user, user[:3])
	want := []setting{{"http.extraheader", "A: 1"}, {"core.sshcommand", "ssh -v"}, {"http.proxy", "p"}}
	if !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
}
