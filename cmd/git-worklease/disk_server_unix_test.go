//go:build unix

package main

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"syscall"
	"testing"

	"github.com/git-worklease/git-worklease/lease"
)

// smallDisk is a file system that can be filled to the last page.
type smallDisk struct {
	t   *testing.T
	dir string
}

// newSmallDisk mounts one, for which it takes root's rights; nil where they are not given.
func newSmallDisk(t *testing.T) *smallDisk {
	t.Helper()
	if runtime.GOOS != "linux" {
		return nil
	}
	d := &smallDisk{t: t, dir: t.TempDir()}
	if out, err := exec.CommandContext(t.Context(), "mount", "-t", "tmpfs", "-o", "size=8m", "none", d.dir).CombinedOutput(); err != nil {
		t.Logf("no small disk: %v: %s", err, out)
		return nil
	}
	t.Cleanup(func() {
		if out, err := exec.Command("umount", "-l", d.dir).CombinedOutput(); err != nil { //nolint:noctx // the test's context has ended
			t.Errorf("umount: %v: %s", err, out)
		}
	})
	return d
}

// page is what a tmpfs gives at a time.
const page = 4096

// fill leaves some pages, and returns what takes the rest away again.
func (d *smallDisk) fill(pages int) (free func()) {
	d.t.Helper()
	path := filepath.Join(d.dir, "filler")
	f, err := os.Create(path)
	if err != nil {
		d.t.Fatal(err)
	}
	size, block := int64(0), bytes.Repeat([]byte{1}, page)
	for err == nil {
		_, err = f.WriteAt(block, size)
		size += page
	}
	if !errors.Is(err, syscall.ENOSPC) {
		d.t.Fatal(err)
	}
	if err := errors.Join(f.Truncate(max(0, size-page*int64(pages+1))), f.Close()); err != nil {
		d.t.Fatal(err)
	}
	return func() {
		if err := os.Remove(path); err != nil {
			d.t.Fatal(err)
		}
	}
}

// move moves the server's repository here.
func (d *smallDisk) move(s *site) {
	d.t.Helper()
	there := filepath.Join(d.dir, "app.git")
	if err := errors.Join(os.CopyFS(there, os.DirFS(s.repo.Dir)), os.RemoveAll(s.repo.Dir), os.Symlink(there, s.repo.Dir)); err != nil {
		d.t.Fatal(err)
	}
}

// TestProofServerDiskFull: the server's disk has room for some pages more, for none to as many as a push needs.
func TestProofServerDiskFull(t *testing.T) {
	everywhere(t, []string{"http", "ssh", "path", "git"}, func(t *testing.T, kind string) {
		disk := newSmallDisk(t)
		if disk == nil {
			return // see TestProofServerDiskBroken
		}
		s := sites[kind](t)
		disk.move(s)
		book := s.account(t, "disk", "server disk full")
		alice, bob := s.worker(t, "alice"), s.worker(t, "bob")
		alice.clock, bob.clock = hurriedClock{s.clock}, hurriedClock{s.clock}
		bob.must(t, 0, "claim", "task:first")
		alice.must(t, 0, "claim", "task:second")
		for _, verb := range diskVerbs() {
			for pages, good := 0, 0; good < 2; pages++ {
				c := newScene(t, s, alice, bob)
				code := c.suffer(verb, book, pages%2 == 0, func(args []string) (int, string) {
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

// wrecks are what is broken at the server's disk.
var wrecks = map[string]func(c *scene) (heal func()){
	"objects can't be written": func(c *scene) func() {
		return c.wreck("objects", func(path string) error { return os.WriteFile(path, nil, 0o600) })
	},
	"a lock was left on a ref": func(c *scene) func() {
		path := filepath.Join(c.repo.Dir, lease.DefaultPrefix, "claims", lease.EncodeName(c.keys[1])+".lock")
		if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o750), os.WriteFile(path, nil, 0o600)); err != nil {
			c.t.Fatal(err)
		}
		return func() {
			if err := os.Remove(path); err != nil {
				c.t.Fatal(err)
			}
		}
	},
	"an object was damaged": func(c *scene) func() {
		tip := c.git(c.t, "for-each-ref", "--format=%(objectname)", lease.DefaultPrefix+"claims/"+lease.EncodeName(c.keys[1]))
		if tip == "" {
			return func() {}
		}
		return c.wreck(filepath.Join("objects", tip[:2], tip[2:]), func(path string) error { return os.WriteFile(path, []byte("rust"), 0o600) })
	},
}

// wreck puts something else in a file's or folder's place in the repository.
func (c *scene) wreck(name string, put func(path string) error) (heal func()) {
	c.t.Helper()
	path := filepath.Join(c.repo.Dir, name)
	if err := errors.Join(os.Rename(path, path+".whole"), put(path)); err != nil {
		c.t.Fatal(err)
	}
	return func() {
		if err := errors.Join(os.RemoveAll(path), os.Rename(path+".whole", path)); err != nil {
			c.t.Fatal(err)
		}
	}
}

// TestProofServerDiskBroken: the server can't write, or can't read what it wrote.
func TestProofServerDiskBroken(t *testing.T) {
	everywhere(t, []string{"path", "http", "ssh", "git"}, func(t *testing.T, kind string) {
		s := sites[kind](t)
		alice, bob := s.worker(t, "alice"), s.worker(t, "bob")
		alice.clock, bob.clock = hurriedClock{s.clock}, hurriedClock{s.clock}
		bob.must(t, 0, "claim", "task:first")
		alice.must(t, 0, "claim", "task:second")
		for name, wreck := range wrecks {
			book := s.account(t, "disk", "server: "+name)
			for _, verb := range diskVerbs() {
				c := newScene(t, s, alice, bob)
				c.suffer(verb, book, true, func(args []string) (int, string) {
					heal := wreck(c)
					defer heal()
					r := alice.do(t, args...)
					if seen := bob.do(t, c.args("status")...); verb == "renew" || verb == "checkpoint" {
						for _, v := range seen.views(t) {
							if v.State != lease.StandingHeld && seen.Code == 0 {
								t.Fatalf("%s, %s: to others it is %s", name, verb, v.State)
							}
						}
					}
					return r.Code, r.Stdout
				})
			}
		}
		s.sound(t)
	})
}

// TestProofServerCallFails: each system call by which git changes what is on the server's disk fails with EIO, by strace, over ssh.
func TestProofServerCallFails(t *testing.T) {
	if !thorough() {
		return // TestProofServerDiskBroken stands for it
	}
	needStrace(t)
	s := sshSite(t)
	book := s.account(t, "disk", "server system call fails with EIO")
	alice, bob := s.worker(t, "alice"), s.worker(t, "bob")
	alice.clock, bob.clock = hurriedClock{s.clock}, hurriedClock{s.clock}
	bob.must(t, 0, "claim", "task:first")
	alice.must(t, 0, "claim", "task:second")
	for _, call := range []string{"openat", "write", "fsync", "rename", "link", "unlink", "mkdir"} {
		for _, verb := range diskVerbs() {
			for n := range 25 {
				c := newScene(t, s, alice, bob)
				c.suffer(verb, book, false, func(args []string) (int, string) {
					program := fmt.Sprintf("strace -f -qq -o /dev/null -e trace=%s -e inject=%[1]s:error=EIO:when=%d git-receive-pack", call, n+1)
					if _, err := alice.Git(t.Context(), "config", "remote.origin.receivepack", program); err != nil {
						t.Fatal(err)
					}
					r := alice.do(t, args...)
					if _, err := alice.Git(t.Context(), "config", "--unset", "remote.origin.receivepack"); err != nil {
						t.Fatal(err)
					}
					return r.Code, r.Stdout
				})
			}
		}
	}
	s.sound(t)
}
