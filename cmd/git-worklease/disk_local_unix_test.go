//go:build unix

package main

import (
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/git-worklease/git-worklease/internal/gitserver"
	"github.com/git-worklease/git-worklease/lease"
)

// diskVerbs are those that meet a disk that is full or broken; where there is little time, the first alone.
func diskVerbs() []string {
	verbs := []string{"claim", "renew", "checkpoint", "release"}
	if thorough() {
		return verbs
	}
	return verbs[:1]
}

// suffer runs a verb of alice's with something wrong, and checks what must hold then: it says so and leaves nothing in doubt that the next command
// does not end, and nobody else gets what she holds.
func (c *scene) suffer(verb string, book *ledger, rival bool, run func(args []string) (code int, out string)) (code int) {
	c.t.Helper()
	like := verb
	if verb != "claim" {
		c.alice.must(c.t, 0, c.args("claim")...)
	}
	args := c.args(verb)
	if verb == "checkpoint" {
		args, like = c.args(verb, `{"phase":"tests"}`), "renew"
	}
	code, out := run(args)
	book.struck(code)
	if code != 0 && code != 2 && code != 6 {
		c.t.Fatalf("%s: exit %d\n%s", verb, code, out)
	}
	if rec := c.record(c.t, lease.Resource(c.keys[0])); code == 0 && (rec == nil || rec.Released() != (verb == "release")) {
		c.t.Fatalf("%s: exit 0, and at the server stands %s\n%s", verb, brief(rec), out)
	}
	c.aftermath(like, rival)
	return code
}

// TestProofLocalDiskFull: the disk with what the clone keeps has room for some pages more, for none to as many as a verb needs.
func TestProofLocalDiskFull(t *testing.T) {
	everywhere(t, []string{"path", "http", "ssh", "local"}, func(t *testing.T, kind string) {
		disk := newSmallDisk(t)
		if disk == nil {
			return // see TestProofLocalFilesCantGrow
		}
		s := sites[kind](t)
		book := s.account(t, "disk", "local disk full")
		alice, bob := s.worker(t, "alice", "WORKLEASE_STATE_DIR="+filepath.Join(disk.dir, "state")), s.worker(t, "bob")
		if kind == "local" {
			bob = s.worker(t, "bob", "WORKLEASE_STATE_DIR="+filepath.Join(disk.dir, "state"))
			s.repo = (&gitserver.Repos{Root: filepath.Join(disk.dir, "state")}).Repo("local")
		}
		bob.must(t, 0, "claim", "task:first")
		alice.must(t, 0, "claim", "task:second")
		for _, verb := range diskVerbs() {
			for pages, good := 0, 0; good < 3; pages++ {
				c := newScene(t, s, alice, bob)
				code := c.suffer(verb, book, false, func(args []string) (int, string) {
					free := disk.fill(pages)
					defer free()
					r := alice.do(t, args...)
					return r.Code, r.Stdout
				})
				if good++; code != 0 {
					good = 0
				}
			}
		}
		s.sound(t)
	})
}

// TestProofLocalFilesCantGrow: no file can grow beyond some bytes, so that each write to what the clone keeps fails in the middle.
func TestProofLocalFilesCantGrow(t *testing.T) {
	everywhere(t, []string{"path", "http", "local"}, func(t *testing.T, kind string) {
		s := sites[kind](t)
		book := s.account(t, "disk", "local files can't grow")
		alice, bob := s.worker(t, "alice"), s.worker(t, "bob")
		bob.must(t, 0, "claim", "task:first")
		alice.must(t, 0, "claim", "task:second")
		sizes := []int{0, 1, 2, 4, 8, 16, 32}
		if !thorough() {
			sizes = sizes[1:3]
		}
		for _, verb := range diskVerbs() {
			for _, blocks := range sizes {
				c := newScene(t, s, alice, bob)
				c.suffer(verb, book, blocks%4 == 0, func(args []string) (int, string) {
					cmd := alice.process(t, "", args...)
					cmd.Args = append([]string{"sh", "-c", fmt.Sprintf("trap '' XFSZ; ulimit -f %d; exec \"$@\"", blocks), "sh", cmd.Path}, cmd.Args[1:]...)
					cmd.Path = "/bin/sh"
					out := start(t, cmd)
					_ = cmd.Wait() // its status tells
					return cmd.ProcessState.ExitCode(), out.String()
				})
			}
		}
		s.sound(t)
	})
}

// brokenLocal is local state whose n-th write fails: before it was made, or after, as an fsync does.
type brokenLocal struct {
	lease.Local
	n    *int
	late bool
}

// errDisk is what the system says of a disk that is broken.
var errDisk = &fs.PathError{Op: "write", Path: "state", Err: syscall.EIO}

func (b brokenLocal) write(do func() error) error {
	*b.n--
	if *b.n != 0 {
		return do()
	}
	if b.late {
		return errors.Join(do(), errDisk)
	}
	return errDisk
}

func (b brokenLocal) SaveHold(h lease.Hold) error {
	return b.write(func() error { return b.Local.SaveHold(h) })
}

func (b brokenLocal) Begin(i *lease.Intent) error { return b.unlocking(i, b.Local.Begin, b.late) }
func (b brokenLocal) End(i *lease.Intent) error   { return b.unlocking(i, b.Local.End, !b.late) }
func (b brokenLocal) Leave(i *lease.Intent) error { return b.unlocking(i, b.Local.Leave, !b.late) }

// unlocking is write that unlocks the intent if it fails while that is locked, as the end of the process would.
func (b brokenLocal) unlocking(i *lease.Intent, do func(*lease.Intent) error, locked bool) error {
	err := b.write(func() error { return do(i) })
	if errors.Is(err, errDisk) && locked {
		return errors.Join(err, b.Local.Leave(i))
	}
	return err
}

func (b brokenLocal) See(s ...lease.Sighting) error {
	return b.write(func() error { return b.Local.See(s...) })
}

func (b brokenLocal) SeeMeta(s lease.MetaSighting) error {
	return b.write(func() error { return b.Local.SeeMeta(s) })
}

// TestProofLocalWriteFails: each write of a verb to what the clone keeps fails with EIO, before and after it was made.
func TestProofLocalWriteFails(t *testing.T) {
	everywhere(t, []string{"path", "http", "local"}, func(t *testing.T, kind string) {
		s := sites[kind](t)
		book := s.account(t, "disk", "local write fails with EIO")
		alice, bob := s.worker(t, "alice"), s.worker(t, "bob")
		bob.must(t, 0, "claim", "task:first")
		alice.must(t, 0, "claim", "task:second")
		for _, verb := range diskVerbs() {
			for _, late := range []bool{false, true} {
				for at, left := 1, 0; left <= 0; at++ {
					c := newScene(t, s, alice, bob)
					c.suffer(verb, book, at%2 == 0, func(args []string) (int, string) {
						left = at
						r := alice.run(t, &env{args: args, local: func(l lease.Local) lease.Local { return brokenLocal{l, &left, late} }})
						return r.Code, r.Stdout + r.Stderr
					})
				}
			}
		}
		s.sound(t)
	})
}

// TestProofLocalCallFails: each system call by which a verb changes what is on the disk fails with EIO, by strace.
func TestProofLocalCallFails(t *testing.T) {
	if !thorough() {
		return // TestProofLocalWriteFails does the same a level higher
	}
	needStrace(t)
	for _, kind := range []string{"path", "http", "local"} {
		t.Run(kind, func(t *testing.T) {
			t.Parallel()
			s := sites[kind](t)
			book := s.account(t, "disk", "local system call fails with EIO")
			alice, bob := s.worker(t, "alice"), s.worker(t, "bob")
			bob.must(t, 0, "claim", "task:first")
			alice.must(t, 0, "claim", "task:second")
			for _, call := range []string{"fsync", "renameat", "unlinkat", "ftruncate", "flock", "mkdirat"} {
				for _, verb := range diskVerbs() {
					for n := range 12 {
						c := newScene(t, s, alice, bob)
						c.suffer(verb, book, false, func(args []string) (int, string) {
							cmd := traced(alice.process(t, "", args...), fmt.Sprintf("%s:error=EIO:when=%d", call, n+1))
							out := start(t, cmd)
							_ = cmd.Wait() // its status tells
							return cmd.ProcessState.ExitCode(), out.String()
						})
					}
				}
			}
			s.sound(t)
		})
	}
}
