package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"
)

// hookHold keeps a push back in a hook of the repository.
type hookHold struct {
	t               *testing.T
	dir             string
	arrived, landed chan struct{}
	release         sync.Once
}

// holdingHook keeps the first push back, and says which process it is in.
const holdingHook = "#!/bin/sh\nmkdir held 2>/dev/null || exit 0\necho $PPID >arrived\nread -r go <go\n"

// holdByHook keeps a push back in the repository's pre-receive hook.
func (s *site) holdByHook(t *testing.T) holdup {
	t.Helper()
	h := &hookHold{t: t, dir: s.repo.Dir, arrived: make(chan struct{}), landed: make(chan struct{})}
	for _, name := range []string{"arrived", "go"} {
		if err := syscall.Mkfifo(filepath.Join(h.dir, name), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := s.repo.Hook("pre-receive", holdingHook); err != nil {
		t.Fatal(err)
	}
	go h.follow()
	return h
}

// follow waits for the push, and for the end of the server's process that has it.
func (h *hookHold) follow() {
	text, err := os.ReadFile(filepath.Join(h.dir, "arrived"))
	if err == nil {
		var pid, fd int
		if pid, err = strconv.Atoi(strings.TrimSpace(string(text))); err == nil {
			fd, err = unix.PidfdOpen(pid, 0)
		}
		close(h.arrived)
		for err == nil {
			var n int
			n, err = unix.Poll([]unix.PollFd{{Fd: int32(fd), Events: unix.POLLIN}}, -1) //nolint:gosec // a file descriptor
			if errors.Is(err, unix.EINTR) {
				err = nil
			} else if n > 0 {
				break
			}
		}
	}
	if err != nil {
		h.t.Error(err)
	}
	close(h.landed)
}

func (h *hookHold) Arrived() <-chan struct{} { return h.arrived }
func (h *hookHold) Landed() <-chan struct{}  { return h.landed }

func (h *hookHold) Release() {
	h.release.Do(func() {
		if err := os.WriteFile(filepath.Join(h.dir, "go"), []byte("go\n"), 0o600); err != nil {
			h.t.Error(err)
		}
	})
}

// TestProofLateLandingThroughHooks: over ssh and a path it is a slow hook that lets a write land after its client has given up.
func TestProofLateLandingThroughHooks(t *testing.T) {
	endings := lateEndings
	if !thorough() {
		const one = "the next claim sends it again"
		endings = map[string]lateEnding{one: lateEndings[one]}
	}
	for _, kind := range []string{"ssh", "path"} {
		for name, test := range endings {
			t.Run(fmt.Sprintf("%s, %s", kind, name), func(t *testing.T) {
				t.Parallel()
				s := sites[kind](t)
				d := s.delay(t, test.verb, func() holdup { return s.holdByHook(t) })
				test.then(t, d)
				d.sound(t)
			})
		}
	}
}
