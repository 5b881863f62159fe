//go:build unix

package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"syscall"
	"testing"

	"github.com/git-worklease/git-worklease/lease"
)

// refFiles are the files of the refs of a scene's resources. Between them may be one at which git has to wait.
type refFiles struct {
	t    *testing.T
	dir  string
	refs [2]string
	// path is that of the file in between.
	path string
}

func newRefFiles(c *scene) *refFiles {
	s := &refFiles{t: c.t, dir: filepath.Join(c.repo.Dir, lease.DefaultPrefix, "claims")}
	for i, key := range c.keys {
		s.refs[i] = lease.EncodeName(key)
	}
	return s
}

// stick puts a ref at which git has to wait between the two, both as the system lists them and by its name: which counts differs by version of git.
func (s *refFiles) stick() {
	s.t.Helper()
	for n := range 10000 {
		name := fmt.Sprintf("%s-%d", s.refs[0], n) // so that it is read whoever asks for the first by its name
		s.path = filepath.Join(s.dir, name)
		if err := syscall.Mkfifo(s.path, 0o600); err != nil {
			s.t.Fatal(err)
		}
		if s.between(name) {
			return
		}
		s.put(1, s.tips()) // some file systems list the newest first
		if s.between(name) {
			return
		}
		s.remove()
	}
	s.t.Fatal("no name is between the two refs")
}

// between says whether the system lists name between the two refs.
func (s *refFiles) between(name string) bool {
	s.t.Helper()
	dir, err := os.Open(s.dir)
	if err != nil {
		s.t.Fatal(err)
	}
	names, err := dir.Readdirnames(-1)
	if err := errors.Join(err, dir.Close()); err != nil {
		s.t.Fatal(err)
	}
	at, first, second := slices.Index(names, name), slices.Index(names, s.refs[0]), slices.Index(names, s.refs[1])
	return min(first, second) < at && at < max(first, second)
}

func (s *refFiles) remove() {
	if err := os.Remove(s.path); err != nil {
		s.t.Fatal(err)
	}
}

// meanwhile waits until git has come to the ref, and lets it go on once do has returned.
func (s *refFiles) meanwhile(do func()) {
	f, err := os.OpenFile(s.path, os.O_WRONLY, 0)
	if err != nil {
		s.t.Error(err)
		return
	}
	do()
	s.remove()
	if err := f.Close(); err != nil {
		s.t.Error(err)
	}
}

// unstick lets a writer go on that git has not come to, and says whether it had to.
func (s *refFiles) unstick() bool {
	f, err := os.OpenFile(s.path, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return false
	}
	_ = f.Close()
	return true
}

// tips are what the refs hold.
func (s *refFiles) tips() (tips [2]string) {
	for i, name := range s.refs {
		text, err := os.ReadFile(filepath.Join(s.dir, name))
		if err != nil {
			s.t.Error(err)
		}
		tips[i] = string(text)
	}
	return tips
}

// put makes a ref hold its tip, as git does: by a new file that takes the old one's place.
func (s *refFiles) put(i int, tips [2]string) {
	path := filepath.Join(s.dir, s.refs[i])
	if err := errors.Join(os.WriteFile(path+".lock", []byte(tips[i]), 0o600), os.Rename(path+".lock", path)); err != nil {
		s.t.Error(err)
	}
}

func (s *refFiles) putBoth(tips [2]string) {
	s.put(0, tips)
	s.put(1, tips)
}

// TestProofTornViewOfFiles: git itself, over ssh and a path, has read one ref of a claim when both move, and then reads the other. A newcomer who lists
// them then is told nothing false.
func TestProofTornViewOfFiles(t *testing.T) {
	everywhere(t, []string{"path", "ssh", "git", "http"}, func(t *testing.T, kind string) {
		s := sites[kind](t)
		alice := s.worker(t, "alice")
		alice.must(t, 0, "claim", "task:second")
		book := s.account(t, "troubles", "listing delayed between two refs")
		for _, move := range []string{"renew", "release"} {
			for verb, want := range map[string]int{"status": 0, "claim": 3} {
				c := newScene(t, s, alice, nil)
				alice.must(t, 0, c.args("claim")...)
				newcomer := s.worker(t, "newcomer")
				files := newRefFiles(c)
				old := files.tips()
				alice.must(t, 0, move, c.keys[0])
				moved := files.tips()
				files.putBoth(old)
				files.stick()
				done := make(chan struct{})
				go func() {
					defer close(done)
					files.meanwhile(func() { files.putBoth(moved) })
				}()
				r := newcomer.do(t, c.args(verb)...)
				smooth := files.unstick()
				<-done
				if smooth {
					t.Log("this version of git takes no notice of what is no regular file, and can't be held up")
					return
				}
				book.struck(r.Code)
				if r.Code != want {
					t.Fatalf("%s during %s: exit %d\n%s", verb, move, r.Code, r.Stdout)
				}
				alice.must(t, 0, c.args("claim")...)
				alice.must(t, 0, c.args("release")...)
			}
		}
		s.sound(t)
	})
}
