package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/git-worklease/git-worklease/lease"
)

// bringing is a claim's way from one clone to another, a part of which is killed.
type bringing struct {
	*site
	t            *testing.T
	alice, carol *worker
	key, file    string
}

// bringings are the parts. Each returns the command that is killed, and what is done once it was.
var bringings = map[string]func(b *bringing) (verb *worker, args []string, then func()){
	"export": func(b *bringing) (*worker, []string, func()) {
		return b.alice, []string{"session", "export", b.file}, func() {
			if r := b.carol.do(b.t, "session", "import", b.file); r.Code != 0 && r.Code != 1 {
				b.t.Fatalf("import: exit %d\n%s", r.Code, r.Stdout)
			}
		}
	},
	"import": func(b *bringing) (*worker, []string, func()) {
		b.alice.must(b.t, 0, "session", "export", b.file)
		return b.carol, []string{"session", "import", b.file}, func() {
			if r := b.carol.do(b.t, "session", "import", b.file); r.Code != 0 && r.doc.Error.Reason != "held-here" {
				b.t.Fatalf("import: exit %d\n%s", r.Code, r.Stdout)
			}
			b.carol.must(b.t, 0, "renew", b.key)
		}
	},
	"adopt": func(b *bringing) (*worker, []string, func()) {
		copied := *b.alice.Checkout
		copied.Dir = filepath.Join(b.t.TempDir(), "copy")
		if err := os.CopyFS(copied.Dir, os.DirFS(b.alice.Dir)); err != nil {
			b.t.Fatal(err)
		}
		restrict(b.t, filepath.Join(copied.Dir, ".git", "worklease"))
		b.carol = &worker{Checkout: &copied, name: "copy", clock: b.alice.clock, world: b.alice.world}
		b.carol.must(b.t, 2, "renew", b.key)
		return b.carol, []string{"session", "adopt"}, func() {
			b.carol.must(b.t, 0, "session", "adopt")
			b.carol.must(b.t, 0, "renew", b.key)
		}
	},
}

// restrict gives a copied state folder the modes that it had.
func restrict(t *testing.T, dir string) {
	t.Helper()
	if out, err := exec.CommandContext(t.Context(), "chmod", "-R", "go=", dir).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
}

// TestProofBroughtClaimsKilled: SIGKILL at each step of what brings a claim from one clone to another, and where there is time at each call that leaves
// a trace on the disk. Exactly one of the two has it once somebody has looked.
func TestProofBroughtClaimsKilled(t *testing.T) {
	everywhere(t, []string{"path", "http"}, func(t *testing.T, kind string) {
		for name := range bringings {
			t.Run(name, func(t *testing.T) {
				s := sites[kind](t)
				book := s.account(t, "kill points", "SIGKILL in "+name)
				s.killStepped(t, name, book)
				if thorough() && kind == "path" {
					s.killTraced(t, name, book)
				}
				s.sound(t)
			})
		}
	})
}

// bring prepares one try.
func (s *site) bring(t *testing.T, alice, carol *worker) *bringing {
	t.Helper()
	s.scenes++
	b := &bringing{site: s, t: t, alice: alice, carol: carol, key: fmt.Sprintf("task:%d", s.scenes), file: filepath.Join(alice.Home, fmt.Sprintf("claims-%d", s.scenes))}
	alice.must(t, 0, "claim", b.key)
	return b
}

func (s *site) killStepped(t *testing.T, name string, book *ledger) {
	t.Helper()
	alice, carol := s.worker(t, "alice"), s.worker(t, "carol")
	stride := 4
	if thorough() {
		stride = 1
	}
	for n, died := 1, true; died; n += stride {
		b := s.bring(t, alice, carol)
		w, args, then := bringings[name](b)
		if died = dies(t, w.process(t, fmt.Sprintf("reads=true step=%d", n), args...)); died {
			book.struck(-1)
		}
		then()
		b.oneHolder()
	}
}

func (s *site) killTraced(t *testing.T, name string, book *ledger) {
	t.Helper()
	needStrace(t)
	const session = "WORKLEASE_SESSION=work" // or strace is taken for another worker
	alice, carol := s.worker(t, "alice", session), s.worker(t, "carol", session)
	tracedKills("fsync", "renameat", "unlinkat", "mkdirat")(func(kill func(*exec.Cmd) bool) bool {
		b := s.bring(t, alice, carol)
		w, args, then := bringings[name](b)
		died := kill(w.process(t, "", args...))
		if died {
			book.struck(-1)
		}
		then()
		b.oneHolder()
		return died
	})
}

// oneHolder checks that one of the two clones holds the claim, and releases it there.
func (b *bringing) oneHolder() {
	b.t.Helper()
	var holders []*worker
	for _, w := range []*worker{b.carol, b.alice} {
		if w.do(b.t, "renew", b.key).Code == 0 {
			holders = append(holders, w)
		}
	}
	if len(holders) != 1 {
		b.t.Fatalf("%s: %d clones hold it", b.key, len(holders))
	}
	if rec := b.record(b.t, lease.Resource(b.key)); rec.Generation != 1 || rec.Released() {
		b.t.Fatalf("%s", brief(rec))
	}
	holders[0].must(b.t, 0, "release", b.key)
}

// TestProofRepairKilledAtEveryStep: SIGKILL at each step of `doctor --repair` of a record that somebody damaged. It is never free before it is
// repaired, and the next run repairs it.
func TestProofRepairKilledAtEveryStep(t *testing.T) {
	everywhere(t, []string{"path", "http", "ssh", "local"}, func(t *testing.T, kind string) { sites[kind](t).killRepairs(t) })
}

func (s *site) killRepairs(t *testing.T) {
	t.Helper()
	alice, bob := s.worker(t, "alice"), s.worker(t, "bob")
	book := s.account(t, "kill points", "SIGKILL in doctor --repair")
	stride := 5
	if thorough() {
		stride = 1
	}
	for n, died := 1, true; died; n += stride {
		key := fmt.Sprintf("task:%d", n)
		alice.must(t, 0, "claim", key)
		s.damage(t, lease.Resource(key))
		bob.must(t, 2, "claim", key)
		if died = dies(t, bob.process(t, fmt.Sprintf("step=%d", n), "doctor", "--repair"), 2); died {
			book.struck(-1)
		}
		if r := bob.do(t, "claim", key); r.Code != 0 && r.Code != 2 {
			t.Fatalf("step %d: exit %d\n%s", n, r.Code, r.Stdout)
		}
		bob.do(t, "doctor", "--repair")
		alice.must(t, 4, "renew", key)
		bob.must(t, 0, "claim", key)
		if rec := s.record(t, lease.Resource(key)); rec.Generation < 2 {
			t.Fatalf("step %d: %s", n, brief(rec))
		}
		bob.must(t, 0, "release", key)
	}
}

// damage puts something that is no record on top of a resource's.
func (s *site) damage(t *testing.T, r lease.Resource) {
	t.Helper()
	ref := lease.DefaultPrefix + "claims/" + lease.EncodeName(string(r))
	tip := s.git(t, "rev-parse", ref)
	commit := s.git(t, "-c", "user.name=Some One", "-c", "user.email=someone@example.com", "commit-tree", "-p", tip, "-m", "oops", tip+"^{tree}")
	s.git(t, "update-ref", ref, commit, tip)
}
