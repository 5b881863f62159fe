package main

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/git-worklease/git-worklease/lease"
)

// past is what was done at a server, a copy of it from before each step, and what the workers' clones knew at the end.
type past struct {
	*site
	t          *testing.T
	alice, bob *worker
	copies     []string
	knew       map[*worker]string
}

// newPast lets two workers use a resource, with a copy made before each step. In the end alice holds it, and both have seen that.
func newPast(t *testing.T, s *site) *past {
	t.Helper()
	p := &past{site: s, t: t, alice: s.worker(t, "alice"), bob: s.worker(t, "bob"), knew: map[*worker]string{}}
	for _, step := range []struct {
		by   *worker
		args []string
		late time.Duration
	}{
		{p.alice, []string{"claim", "task:demo", "--ttl", "10m"}, 0},
		{p.alice, []string{"renew"}, 0},
		{p.alice, []string{"release"}, 0},
		{p.bob, []string{"claim", "task:demo", "--ttl", "10s"}, 0},
		{p.bob, []string{"checkpoint", "{}"}, time.Hour},
		{p.alice, []string{"claim", "task:demo"}, 0},
		{p.alice, []string{"renew"}, 0},
	} {
		p.copies = append(p.copies, copied(t, s.repo.Dir))
		step.by.must(t, 0, step.args...)
		s.clock.advance(step.late)
	}
	p.bob.must(t, 3, "claim", "task:demo")
	p.bob.must(t, 0, "list")
	for _, w := range []*worker{p.alice, p.bob} {
		p.knew[w] = copied(t, filepath.Join(w.Dir, ".git", "worklease"))
	}
	return p
}

// copied is a copy of a folder.
func copied(t *testing.T, dir string) string {
	t.Helper()
	to := filepath.Join(t.TempDir(), "copy")
	if err := os.CopyFS(to, os.DirFS(dir)); err != nil {
		t.Fatal(err)
	}
	return to
}

// restore puts a copy in a folder's place.
func restore(t *testing.T, from, dir string) {
	t.Helper()
	if err := os.RemoveAll(dir); err != nil {
		t.Fatal(err)
	}
	if err := os.CopyFS(dir, os.DirFS(from)); err != nil {
		t.Fatal(err)
	}
}

// begin makes the clones know what they knew.
func (p *past) begin() {
	p.t.Helper()
	for w, knew := range p.knew {
		dir := filepath.Join(w.Dir, ".git", "worklease")
		restore(p.t, knew, dir)
		restrict(p.t, dir)
	}
}

// notice runs a command of whoever knew more than the server does now, which has to be noticed: it ends in doubt, or with the claim lost, or says
// that it was.
func (p *past) notice(book *ledger, at string, w *worker, args ...string) {
	p.t.Helper()
	r := w.do(p.t, args...)
	book.struck(r.Code)
	reasons := []string{"rolled-back", "authority-gone", "lost", "unhealthy"}
	told := r.Code == 0 && slices.ContainsFunc(r.doc.Notices, func(n string) bool { return strings.Contains(n, "was lost") })
	if !told && (!slices.Contains(reasons, r.doc.Error.Reason) || r.Code != 2 && r.Code != 4) {
		p.t.Errorf("%s: %s: %v: not noticed: exit %d %s\n%s", at, w.name, args, r.Code, r.doc.Error.Reason, r.Stdout)
		return
	}
	book.noticed()
}

// everyVerb tries what reads or writes the resource, each in clones that know what they knew.
func (p *past) everyVerb(book *ledger, at string, damage func()) {
	p.t.Helper()
	for _, try := range []struct {
		by   *worker
		args []string
	}{
		{p.alice, []string{"status", "task:demo"}},
		{p.alice, []string{"verify", "task:demo"}},
		{p.alice, []string{"renew", "task:demo"}},
		{p.alice, []string{"checkpoint", "{}", "task:demo"}},
		{p.alice, []string{"heartbeat"}},
		{p.alice, []string{"release", "task:demo"}},
		{p.alice, []string{"claim", "task:demo"}},
		{p.bob, []string{"status", "task:demo"}},
		{p.bob, []string{"claim", "task:demo"}},
		{p.bob, []string{"claim", "task:demo", "task:new"}},
		{p.bob, []string{"watch", "task:demo", "--timeout", "5s"}},
		{p.bob, []string{"release", "--force", "task:demo", "-m", "gone"}},
		{p.bob, []string{"doctor"}},
	} {
		damage()
		p.begin()
		p.notice(book, at, try.by, try.args...)
	}
}

// TestProofRolledBack: the server is restored from a copy of each earlier time. Whoever saw more notices it with whatever command comes next.
func TestProofRolledBack(t *testing.T) {
	everywhere(t, []string{"path", "http", "ssh", "git"}, func(t *testing.T, kind string) {
		s := sites[kind](t)
		p := newPast(t, s)
		book := s.account(t, "rollback", "restored from an older copy")
		for n, older := range p.copies {
			if !thorough() && n%3 != 0 {
				continue
			}
			p.everyVerb(book, fmt.Sprintf("copy %d", n), func() { restore(t, older, s.repo.Dir) })
		}
	})
}

// TestProofWiped: the server's refs are gone, all of them, or those of the claims alone, by hand or by the mirror push of a clone.
func TestProofWiped(t *testing.T) {
	everywhere(t, []string{"path", "http", "ssh", "git"}, func(t *testing.T, kind string) {
		s := sites[kind](t)
		p := newPast(t, s)
		whole := copied(t, s.repo.Dir)
		for name, wipe := range map[string]func(){
			"wiped":         func() { p.wipe(lease.DefaultPrefix) },
			"claims wiped":  func() { p.wipe(lease.DefaultPrefix + "claims") },
			"push --mirror": func() { p.mirror() },
		} {
			book := s.account(t, "rollback", name)
			p.everyVerb(book, name, func() {
				restore(t, whole, s.repo.Dir)
				wipe()
			})
		}
	})
}

// wipe deletes the refs below prefix.
func (p *past) wipe(prefix string) {
	p.t.Helper()
	refs, err := p.repo.Refs(p.t.Context(), prefix)
	if err != nil {
		p.t.Fatal(err)
	}
	for ref := range refs {
		p.git(p.t, "update-ref", "-d", ref)
	}
}

// mirror pushes bob's clone as a mirror, which has none of our refs and so deletes them.
func (p *past) mirror() {
	p.t.Helper()
	if out, err := p.bob.Git(p.t.Context(), "push", "--quiet", "--mirror"); err != nil {
		p.t.Fatalf("%v: %s", err, out)
	}
	if left := p.git(p.t, "for-each-ref", lease.DefaultPrefix); left != "" {
		p.t.Fatalf("the mirror push left %s", left)
	}
}

// TestProofMirrorBesideClaims: a clone pushes itself as a mirror again and again while workers work, at a server whose hook denies that our refs be
// deleted. Nobody is disturbed. (Without the hook it is a wipe; receive.denyDeletes guards branches alone.)
func TestProofMirrorBesideClaims(t *testing.T) {
	everywhere(t, []string{"http", "ssh", "path", "git"}, func(t *testing.T, kind string) {
		s := sites[kind](t)
		if err := s.repo.Hook("update", "#!/bin/sh\ncase $1,$3 in refs/worklease/*,0000000000*) exit 1;; esac\n"); err != nil {
			t.Fatal(err)
		}
		workers := s.crowd(t, 4, "WORKLEASE_TIMEOUT=5m")
		workers[0].must(t, 0, "claim", "task:first")
		c := &crowded{site: s, t: t, book: s.account(t, "rollback", "push --mirror that is denied")}
		mirror := s.worker(t, "mirror")
		stop := c.again(func() error {
			if _, err := mirror.Git(t.Context(), "push", "--quiet", "--mirror"); err == nil {
				return fmt.Errorf("%w: the server let a mirror push through", errFoul)
			}
			c.book.fault()
			return nil
		})
		rounds := 2
		if thorough() {
			rounds = 20
		}
		c.live(workers, rounds)
		stop()
		c.tried()
		s.sound(t)
	})
}
