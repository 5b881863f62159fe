package main

import (
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/git-worklease/git-worklease/lease"
)

// mishap is how the server's end of a push dies.
type mishap struct {
	name string
	// hook is where that happens, and when what goes before it in the script.
	hook, when string
	// landed: the refs have moved by then.
	landed bool
}

var mishaps = []mishap{
	{"request lost before the swap", "pre-receive", "", false},
	{"reply lost after the swap", "reference-transaction", "[ $1 = committed ] || exit 0; ", true},
}

// script kills the process that runs the hook, once or each time.
func (m *mishap) script(once bool) string {
	first := ""
	if once {
		first = "mkdir killed 2>/dev/null || exit 0; "
	}
	return "#!/bin/sh\n" + m.when + first + "kill -9 $PPID\n"
}

// TestProofServerDies: git's own process at the server is killed in the middle of a verb's push, before or after it has moved the refs, once or
// each time. The verb ends as if nothing had been where the refs show it, and otherwise in doubt, which the next commands end.
func TestProofServerDies(t *testing.T) {
	everywhere(t, []string{"ssh", "path", "http", "git"}, func(t *testing.T, kind string) {
		s := sites[kind](t)
		alice, bob := s.worker(t, "alice"), s.worker(t, "bob")
		bob.must(t, 0, "claim", "task:first")
		alice.must(t, 0, "status", "task:first")
		alice.clock, bob.clock = hurriedClock{s.clock}, hurriedClock{s.clock}
		all := slices.Concat(crimes(), moreCrimes())
		if !thorough() {
			all = crimes()[1:2]
		}
		for _, m := range mishaps {
			book := s.account(t, "troubles", m.name)
			for i, c := range all {
				for _, once := range []bool{true, false} {
					at := newScene(t, s, alice, bob)
					c.before(at)
					heal := hook(m.hook, m.script(once))(at)
					r := alice.plain(t, append(c.line(at), "--timeout", "20s")...)
					heal()
					s.forgive(t)
					book.struck(r.Code)
					at.mishap(&m, &c, once, r)
					c.aftermath(at, i%2 == 0)
				}
			}
		}
		s.sound(t)
	})
}

// forgive takes away what says that the hook has killed once.
func (s *site) forgive(t *testing.T) {
	t.Helper()
	if err := os.RemoveAll(filepath.Join(s.repo.Dir, "killed")); err != nil {
		t.Fatal(err)
	}
}

// mishap checks how a verb ended.
func (c *scene) mishap(m *mishap, crime *crime, once bool, r *ran) {
	c.t.Helper()
	good := r.Code == crime.code
	switch doubt := r.Code == 2 || crime.verb == "exec" && r.Code == 125; {
	case good, doubt && !m.landed && !once:
	default:
		c.t.Fatalf("%s, %s, once: %t: exit %d\n%s%s", crime.name, m.name, once, r.Code, r.Stdout, r.Stderr)
	}
	if m.landed || crime.verb != "claim" || r.Code == 0 {
		return
	}
	if rec := c.record(c.t, lease.Resource(c.keys[0])); rec != nil && !rec.Released() {
		c.t.Fatalf("%s: it can't have landed, and there is %s", crime.name, brief(rec))
	}
}
