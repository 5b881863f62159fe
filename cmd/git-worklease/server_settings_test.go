package main

import (
	"fmt"
	"os/exec"
	"slices"
	"strings"
	"testing"

	"github.com/git-worklease/git-worklease/lease"
)

// strictness is a setting of the server's repository, and how a claim of several resources, one of one resource, and a look end there: exit status
// and reason. Where both are granted, everything works.
type strictness struct {
	settings         []string
	bundle, one, see string
}

// unseen is how claims end where the server takes refs and does not show them any more: granted to one, or to nobody.
const unseen = "unseen"

// strictnesses are settings by which servers differ.
var strictnesses = []strictness{
	{[]string{"receive.denyNonFastForwards=true"}, "0", "0", "0"},
	{[]string{"receive.denyDeletes=true"}, "0", "0", "0"},
	{[]string{"receive.fsckObjects=true", "transfer.fsckObjects=true"}, "0", "0", "0"},
	{[]string{"receive.unpackLimit=1", "gc.auto=1"}, "0", "0", "0"},
	{[]string{"core.logAllRefUpdates=always"}, "0", "0", "0"},
	{[]string{"uploadpack.allowAnySHA1InWant=false", "protocol.version=0"}, "0", "0", "0"},
	{[]string{"receive.advertiseAtomic=false"}, "6 not-atomic", "0", "0"},
	{[]string{"transfer.hideRefs=refs/worklease"}, "6", "6", "2 authority-gone"},
	{[]string{"receive.hideRefs=refs/worklease"}, "6 refused-by-server", "6 refused-by-server", "0"},
	{[]string{"uploadpack.hideRefs=refs/worklease"}, unseen, unseen, "2 authority-gone"},
}

// TestProofServerSettings: on servers that are strict, or that show or take less than others, claims are all or none and one holder's, or there are
// none, and it is said why. Nothing is ever free for the reason that it can't be seen.
func TestProofServerSettings(t *testing.T) {
	everywhere(t, []string{"ssh", "path", "git", "http"}, func(t *testing.T, kind string) {
		for i, set := range strictnesses {
			if !thorough() && i%3 != 0 {
				continue
			}
			t.Run(set.settings[0], func(t *testing.T) {
				s := sites[kind](t)
				alice, bob := s.worker(t, "alice"), s.worker(t, "bob")
				bob.must(t, 0, "claim", "task:first")
				alice.must(t, 3, "claim", "task:first") // she has seen what is there
				for _, setting := range set.settings {
					key, value, _ := strings.Cut(setting, "=")
					s.git(t, "config", "--add", key, value)
				}
				set.play(t, s, alice, bob)
			})
		}
	})
}

// play tries what can be done with claims.
func (set *strictness) play(t *testing.T, s *site, alice, bob *worker) {
	t.Helper()
	book := s.account(t, "settings", set.settings[0])
	as := func(w *worker, want string, args ...string) {
		t.Helper()
		r := w.do(t, args...)
		book.struck(r.Code)
		if got := strings.TrimSpace(fmt.Sprintf("%d %s", r.Code, r.doc.Error.Reason)); got != want && fmt.Sprint(r.Code) != want {
			t.Fatalf("%s: %v: %s, want %s\n%s", w.name, args, got, want, r.Stdout)
		}
	}
	as(alice, set.see, "status", "task:first")
	if set.one == unseen {
		s.blind(t, book, alice, bob)
		return
	}
	as(alice, set.bundle, "claim", "port:1", "port:2")
	as(alice, set.one, "claim", "port:3")
	if set.one != "0" {
		for _, r := range []lease.Resource{"port:1", "port:2", "port:3"} {
			if rec := s.record(t, r); rec != nil {
				t.Errorf("%s: %s", r, brief(rec))
			}
		}
		return
	}
	as(bob, "3", "claim", "port:3")
	as(alice, "0", "checkpoint", "{}", "port:3")
	as(alice, "0", "renew", "port:3")
	as(bob, "0", "release", "--force", "port:3", "-m", "gone")
	as(alice, "4", "renew", "port:3")
	as(bob, "0", "claim", "port:3")
	if set.bundle == "0" {
		as(bob, "3", "claim", "port:4", "port:2")
		as(alice, "0", "release", "--to", "bob", "port:1")
		as(bob, "0", "claim", "port:1", "port:2")
	}
	as(bob, "0", "release", "port:3")
	as(bob, "0", "gc", "--apply", "--retention", "1d")
	if set.bundle == "0" {
		s.sound(t)
	}
}

// blind claims where nothing can be read. Whoever is granted something has it, and nobody else.
func (s *site) blind(t *testing.T, book *ledger, alice, bob *worker) {
	t.Helper()
	var holders []string
	for _, w := range []*worker{alice, bob, alice} {
		r := w.do(t, "claim", "port:3")
		book.struck(r.Code)
		if r.Code == 0 && !slices.Contains(holders, w.name) {
			holders = append(holders, w.name)
		}
		if r.Code == 1 || r.Code == 4 || r.Code == 5 {
			t.Fatalf("%s: exit %d\n%s", w.name, r.Code, r.Stdout)
		}
		if r := w.do(t, "status", "port:3"); r.Code != 2 {
			t.Fatalf("%s: status: exit %d\n%s", w.name, r.Code, r.Stdout)
		}
	}
	rec := s.record(t, "port:3")
	if len(holders) > 1 || len(holders) == 1 && (rec == nil || rec.Holder.Agent != holders[0]) {
		t.Fatalf("granted to %q, and at the server stands %s", holders, brief(rec))
	}
}

// TestProofReftable: where the installed git has reftables, servers and clones may keep refs in one.
func TestProofReftable(t *testing.T) {
	if out, err := exec.CommandContext(t.Context(), "git", "init", "--quiet", "--bare", "--ref-format=reftable", t.TempDir()).CombinedOutput(); err != nil {
		t.Logf("the installed git has none: %s", out)
		return
	}
	t.Setenv("GIT_DEFAULT_REF_FORMAT", "reftable")
	for _, kind := range []string{"http", "ssh", "path", "git"} {
		t.Run(kind, func(t *testing.T) {
			s := sites[kind](t)
			s.environ = append(s.environ, "GIT_DEFAULT_REF_FORMAT=reftable") // the clones' as well
			if got := s.git(t, "rev-parse", "--show-ref-format"); got != "reftable" {
				t.Fatalf("the server's refs are %s", got)
			}
			(&strictness{[]string{"reftable"}, "0", "0", "0"}).play(t, s, s.worker(t, "alice"), s.worker(t, "bob"))
			c := &crowded{site: s, t: t, book: s.account(t, "collecting", "reftable")}
			stop := c.repeat([][]string{{"pack-refs", "--all"}})
			c.live(s.crowd(t, 4, "WORKLEASE_TIMEOUT=5m"), 5)
			stop()
			c.tried()
		})
	}
}
