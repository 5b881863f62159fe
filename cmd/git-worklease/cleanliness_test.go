package main

import (
	"io/fs"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/git-worklease/git-worklease/internal/gitserver"
	"github.com/git-worklease/git-worklease/lease"
)

// cleanliness is what a user sees of each clone's history, refs and files.
type cleanliness []string

// cleanlinessOf looks at the clones.
func cleanlinessOf(t *testing.T, workers []*worker) cleanliness {
	t.Helper()
	seen := make(cleanliness, len(workers))
	for i, w := range workers {
		for _, args := range [][]string{{"log", "--all", "--oneline"}, {"for-each-ref"}, {"status", "--porcelain", "--ignored"}, {"config", "--local", "--list"}} {
			out, err := w.Git(t.Context(), args...)
			if err != nil {
				t.Fatal(err)
			}
			seen[i] += out + "\n"
		}
		seen[i] += w.files(t)
	}
	return seen
}

// files are the names of all files in the clone, except those in our own folder.
func (w *worker) files(t *testing.T) string {
	t.Helper()
	var names strings.Builder
	err := filepath.WalkDir(w.Dir, func(path string, entry fs.DirEntry, err error) error {
		if err == nil && entry.IsDir() && path == filepath.Join(w.Dir, ".git", "worklease") {
			return filepath.SkipDir
		}
		names.WriteString(path + "\n")
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return names.String()
}

// unchanged checks that nothing of what a user sees has changed.
func (c cleanliness) unchanged(t *testing.T, workers []*worker) {
	t.Helper()
	for i, now := range cleanlinessOf(t, workers) {
		if now != c[i] {
			t.Errorf("%s's clone was\n%s\nand is\n%s", workers[i].name, c[i], now)
		}
	}
}

// sound checks that the server's repository is clean, before and after its garbage was collected, and that each of our refs reads as an
// audit trail.
func (s *site) sound(t *testing.T) {
	t.Helper()
	for _, args := range [][]string{{"fsck", "--strict"}, {"gc", "--quiet"}, {"fsck", "--strict", "--full"}} {
		out, err := s.repo.Git(t.Context(), args...)
		if err != nil || out != "" && !strings.HasPrefix(out, "dangling ") {
			t.Errorf("git %s: %v\n%s", strings.Join(args, " "), err, out)
		}
	}
	refs, err := s.repo.Refs(t.Context(), lease.DefaultPrefix+"claims/")
	if err != nil {
		t.Fatal(err)
	}
	for ref := range refs {
		s.readable(t, ref)
	}
}

// subject is the form of the first line of a record.
var subject = regexp.MustCompile(`^(claim|renew|release) (\S+) · generation (\d+) · \S+/\S+ (until \d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ|done|review|abandoned)$`)

// readable checks that git log of a ref tells what happened, in order.
func (s *site) readable(t *testing.T, ref string) {
	t.Helper()
	log := s.git(t, "log", "--reverse", "--format=%an <%ae> %cn <%ce>%x09%P%x09%T%x09%s", ref)
	generation, before := 0, "release"
	for i, line := range strings.Split(log, "\n") {
		fields := strings.Split(line, "\t")
		const neutral = "git-worklease <worklease@localhost> git-worklease <worklease@localhost>"
		m := subject.FindStringSubmatch(fields[3])
		if fields[0] != neutral || (fields[1] == "") != (i == 0) || strings.Contains(fields[1], " ") || m == nil {
			t.Errorf("%s: commit %d reads %q", ref, i, line)
			return
		}
		name, _ := lease.DecodeName(strings.TrimPrefix(ref, lease.DefaultPrefix+"claims/"))
		now, err := strconv.Atoi(m[3])
		begins := m[1] == "claim"
		if err != nil || m[2] != name || now < generation || (now > generation) != begins || before == "release" && m[1] == "renew" {
			t.Errorf("%s does not read as an audit trail:\n%s", ref, log)
			return
		}
		generation, before = now, m[1]
	}
}

// story is a life of claims: taken, refused, renewed, released, claimed again, taken over, and lost.
func story(t *testing.T, s *site, alice, bob *worker) {
	t.Helper()
	alice.must(t, 0, "claim", "task:demo", "port:1", "--purpose", "to see")
	bob.must(t, 3, "claim", "task:demo")
	bob.must(t, 3, "claim", "port:1", "port:2")
	alice.must(t, 0, "renew")
	alice.must(t, 0, "release", "-m", "done with it", "--outcome", "review")
	bob.must(t, 0, "claim", "task:demo", "--ttl", "10s")
	s.clock.advance(time.Hour)
	alice.must(t, 0, "claim", "task:demo")
	bob.must(t, 4, "renew", "task:demo")
	for _, w := range []*worker{alice, bob} {
		w.must(t, 0, "status", "task:demo")
		w.must(t, 0, "list")
		w.must(t, 0, "history", "task:demo")
	}
}

// storySubjects is what git log says of task:demo after the story, oldest first, without times.
var storySubjects = []string{
	"claim task:demo · generation 1 · alice/@main until",
	"renew task:demo · generation 1 · alice/@main until",
	"release task:demo · generation 1 · alice/@main review",
	"claim task:demo · generation 2 · bob/@main until",
	"claim task:demo · generation 3 · alice/@main until",
}

// TestCase31ClonesStayClean: after any command the clone is as it was, and the server's log tells the story, on servers that are strict as
// well.
func TestCase31ClonesStayClean(t *testing.T) {
	strict := []string{
		"receive.fsckObjects=true", "transfer.fsckObjects=true", "receive.denyNonFastForwards=true", "receive.denyDeletes=true",
		"core.logAllRefUpdates=always",
	}
	for name, make := range map[string]func(t *testing.T) *site{
		"http":        func(t *testing.T) *site { t.Helper(); return httpSite(t, gitserver.HTTPOptions{}) },
		"strict http": func(t *testing.T) *site { t.Helper(); return httpSite(t, gitserver.HTTPOptions{}, strict...) },
		"strict path": func(t *testing.T) *site { t.Helper(); return pathSite(t, strict...) },
		"packs": func(t *testing.T) *site {
			t.Helper()
			return httpSite(t, gitserver.HTTPOptions{}, "receive.unpackLimit=1", "gc.auto=1")
		},
	} {
		for _, transport := range []string{"auto", "git"} {
			t.Run(name+", transport "+transport, func(t *testing.T) {
				t.Parallel()
				s := make(t)
				workers := []*worker{s.worker(t, "alice", "WORKLEASE_TRANSPORT="+transport), s.worker(t, "bob", "WORKLEASE_TRANSPORT="+transport)}
				before := cleanlinessOf(t, workers)
				story(t, s, workers[0], workers[1])
				before.unchanged(t, workers)
				s.sound(t)
				log := strings.Split(s.git(t, "log", "--reverse", "--format=%s", lease.DefaultPrefix+"claims/task%3ademo"), "\n")
				for i, line := range log {
					if len(log) != len(storySubjects) || !strings.HasPrefix(line, storySubjects[i]) {
						t.Fatalf("the log reads\n%s", strings.Join(log, "\n"))
					}
				}
			})
		}
	}
}

// TestClonesGit: whatever git does to a clone, its claims stay, and what git does with the clone leaves the server's claims alone.
func TestClonesGit(t *testing.T) {
	s := httpSite(t, gitserver.HTTPOptions{})
	alice, bob := s.worker(t, "alice"), s.worker(t, "bob")
	alice.must(t, 0, "claim", "task:demo")
	bob.must(t, 0, "claim", "task:other")
	for _, args := range [][]string{
		{"fetch", "--prune"}, {"fetch", "--prune", "--tags", "--force"}, {"remote", "prune", "origin"}, {"gc", "--prune=now", "--quiet"},
		{"reflog", "expire", "--expire=now", "--all"}, {"clean", "-ffdx"}, {"stash", "--include-untracked"}, {"checkout", "-b", "topic"},
		{"commit", "--allow-empty", "-m", "work"}, {"push", "--all"}, {"push", "--tags"}, {"push", "--prune", "origin", "refs/heads/*"},
		{"fsck", "--strict"},
	} {
		if _, err := alice.Git(t.Context(), args...); err != nil {
			t.Fatal(err)
		}
		alice.must(t, 0, "verify", "task:demo")
	}
	bob.must(t, 0, "verify", "task:other")
}

// TestCase30MirrorPush: a mirror push from a clone deletes our refs, all of them. Nobody who knew the authority is told that anything is free.
func TestCase30MirrorPush(t *testing.T) {
	s := httpSite(t, gitserver.HTTPOptions{})
	alice, bob := s.worker(t, "alice"), s.worker(t, "bob")
	alice.must(t, 0, "claim", "task:demo")
	bob.must(t, 3, "claim", "task:demo")
	if _, err := bob.Git(t.Context(), "push", "--mirror"); err != nil {
		t.Fatal(err)
	}
	if left := s.git(t, "for-each-ref", lease.DefaultPrefix); left != "" {
		t.Fatalf("the mirror push left %s, so nothing was put to the test", left)
	}
	for _, w := range []*worker{alice, bob} {
		for _, args := range [][]string{{"status", "task:demo"}, {"status"}, {"list"}, {"claim", "task:demo"}} {
			if w == bob && len(args) == 1 && args[0] == "status" {
				continue // he holds nothing
			}
			if r := w.must(t, 2, args...); r.doc.Error.Reason != "authority-gone" {
				t.Errorf("%s: %v: %s", w.name, args, r.Stdout)
			}
		}
	}
	for _, args := range [][]string{{"verify"}, {"renew"}, {"release"}} {
		if r := alice.must(t, 2, args...); r.doc.Error.Reason != "authority-gone" {
			t.Errorf("%v: %s", args, r.Stdout)
		}
	}
}

// TestCase30OneRefDeleted: with the authority still there, a deleted ref is a lost claim to its holder, and to others who saw it no free one.
func TestCase30OneRefDeleted(t *testing.T) {
	s := httpSite(t, gitserver.HTTPOptions{})
	alice, bob := s.worker(t, "alice"), s.worker(t, "bob")
	alice.must(t, 0, "claim", "task:demo")
	bob.must(t, 3, "claim", "task:demo")
	if _, err := bob.Git(t.Context(), "push", "origin", ":"+lease.DefaultPrefix+"claims/task%3ademo"); err != nil {
		t.Fatal(err)
	}
	if r := bob.must(t, 2, "claim", "task:demo"); r.doc.Error.Reason != "rolled-back" {
		t.Errorf("%s", r.Stdout)
	}
	if v := bob.must(t, 2, "status", "task:demo").views(t)[0]; v.State != lease.StandingRolledBack {
		t.Errorf("to bob it is %s", v.State)
	}
	alice.must(t, 4, "verify", "task:demo")
	if r := alice.must(t, 4, "renew", "task:demo"); r.doc.Error.Reason != "lost" {
		t.Errorf("%s", r.Stdout)
	}
	if r := alice.must(t, 0, "claim", "task:demo"); r.claimed(t).Resources[0].Generation != 2 {
		t.Errorf("%s", r.Stdout)
	}
	bob.must(t, 3, "claim", "task:demo")
}

// TestCase29StaleCopies: somebody pushes a mirror of last week. Whoever saw more since concludes nothing from what stands there now.
func TestCase29StaleCopies(t *testing.T) {
	s := httpSite(t, gitserver.HTTPOptions{})
	alice, bob := s.worker(t, "alice"), s.worker(t, "bob")
	alice.must(t, 0, "claim", "task:renewed", "task:released")
	alice.must(t, 0, "claim", "task:taken", "--ttl", "10s")
	if _, err := bob.Git(t.Context(), "clone", "--quiet", "--mirror", s.url, "mirror"); err != nil {
		t.Fatal(err)
	}
	alice.must(t, 0, "renew", "task:renewed")
	s.clock.advance(time.Minute)
	bob.must(t, 0, "claim", "task:taken")
	if _, err := bob.Git(t.Context(), "-C", "mirror", "push", "--quiet", "--mirror"); err != nil {
		t.Fatal(err)
	}
	for _, w := range []struct {
		*worker
		key string
	}{{alice, "task:renewed"}, {bob, "task:taken"}} {
		for _, verb := range []string{"status", "verify", "renew", "claim"} {
			if r := w.must(t, 2, verb, w.key); r.doc.Error.Reason != "rolled-back" {
				t.Errorf("%s %s: %s", verb, w.key, r.Stdout)
			}
		}
	}
}
