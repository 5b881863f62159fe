//go:build unix

package main

import (
	"fmt"
	"os"
	"path/filepath"
	"syscall"
	"testing"
)

// waitingHooks make a repository wait before it changes refs until it is told to go on, and say when it has changed them.
var waitingHooks = map[string]string{
	"pre-receive": "#!/bin/sh\necho > arrived\nread go < go\n",
	// post-receive would come too late: who reports to nobody is ended by that.
	"reference-transaction": "#!/bin/sh\nif [ $1 = committed ] && mkdir once 2>/dev/null; then echo > landed; fi\n",
}

// TestKilledOverAPath: the client dies while git-receive-pack, its own child, is at the push. That goes on, and lands.
func TestKilledOverAPath(t *testing.T) {
	for _, c := range crimes()[1:] {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			s := pathSite(t)
			alice, bob := s.worker(t, "alice"), s.worker(t, "bob")
			bob.must(t, 0, "claim", "task:first")
			alice.must(t, 0, "status", "task:first")
			at := newScene(t, s, alice, bob)
			c.before(at)
			pipe := s.pipes(t)
			cmd := alice.process(t, "", at.args(c.verb)...)
			out := start(t, cmd)
			pipe("arrived", os.O_RDONLY)
			_ = cmd.Process.Kill()
			if !killed(t, cmd, out) {
				t.Fatal("it was not killed")
			}
			at.truthful(c.verb)
			pipe("go", os.O_WRONLY)
			pipe("landed", os.O_RDONLY)
			for name := range waitingHooks {
				if err := os.Remove(filepath.Join(s.repo.Dir, "hooks", name)); err != nil {
					t.Fatal(err)
				}
			}
			at.aftermath(c.verb, false)
			s.sound(t)
		})
	}
}

// pipes installs the waiting hooks, and returns what waits for them or lets them go on.
func (s *site) pipes(t *testing.T) func(name string, mode int) {
	t.Helper()
	for name, script := range waitingHooks {
		if err := s.repo.Hook(name, script); err != nil {
			t.Fatal(err)
		}
	}
	for _, name := range []string{"arrived", "go", "landed"} {
		if err := syscall.Mkfifo(filepath.Join(s.repo.Dir, name), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return func(name string, mode int) {
		t.Helper()
		f, err := os.OpenFile(filepath.Join(s.repo.Dir, name), mode, 0)
		if err != nil {
			t.Fatal(err)
		}
		if mode == os.O_WRONLY {
			fmt.Fprintln(f)
		} else if _, err := f.Read(make([]byte, 1)); err != nil {
			t.Fatal(err)
		}
		if err := f.Close(); err != nil {
			t.Fatal(err)
		}
	}
}
