package main

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/git-worklease/git-worklease/lease"
)

// crowded is a few resources that some workers claim, renew and release in processes of their own, while something is done to the server.
type crowded struct {
	*site
	t       *testing.T
	book    *ledger
	held    []atomic.Pointer[worker]
	granted atomic.Int32
	refused atomic.Int32
	// lives counts those that were lived, each with resources of its own.
	lives int
	// fragile: what is done to the server may break it, and broken says that it has.
	fragile bool
	broken  atomic.Bool
}

const crowdedResources = 3

// live lets each worker live through some rounds.
func (c *crowded) live(workers []*worker, rounds int) {
	c.held, c.lives = make([]atomic.Pointer[worker], crowdedResources), c.lives+1
	var group sync.WaitGroup
	for i, w := range workers {
		group.Go(func() {
			random := rand.New(rand.NewPCG(uint64(i), uint64(rounds))) //nolint:gosec // not for secrets
			for range rounds {
				if !c.t.Failed() && !c.broken.Load() {
					c.round(w, random.IntN(crowdedResources))
				}
			}
		})
	}
	group.Wait()
}

// tried checks that something was put to the test.
func (c *crowded) tried() {
	c.t.Helper()
	if c.granted.Load() == 0 || c.refused.Load() == 0 {
		c.t.Errorf("%d granted, %d refused: nothing was put to the test", c.granted.Load(), c.refused.Load())
	}
}

// key is one of the resources of this life.
func (c *crowded) key(n int) string { return fmt.Sprintf("task:%d-%d", c.lives, n) }

// round is one claim of a worker and what follows from it.
func (c *crowded) round(w *worker, n int) {
	key := c.key(n)
	switch code := c.until(w, []int{0, 3}, "claim", key); code {
	case 3:
		c.refused.Add(1)
	case 0:
		c.granted.Add(1)
		if !c.held[n].CompareAndSwap(nil, w) {
			c.t.Errorf("%s was granted %s, and another holds it", w.name, key)
			return
		}
		c.until(w, []int{0}, "verify", key)
		c.until(w, []int{0}, "renew", key)
		c.held[n].Store(nil)
		c.until(w, []int{0}, "release", key)
	}
}

// until repeats a command while its outcome is unknown, and returns its exit status, which has to be one of wanted.
func (c *crowded) until(w *worker, wanted []int, args ...string) int {
	for try := 0; ; try++ {
		code, out := w.outcome(c.t, args...)
		c.book.done(code)
		for _, want := range wanted {
			if code == want {
				return code
			}
		}
		switch {
		case c.fragile && (code == 2 || code == 6) && c.bad():
			c.broken.Store(true)
			c.book.noticed()
			return code
		case code != 2 && (code != 6 || !c.fragile) || try == 20:
			c.t.Errorf("%s: %v: exit %d\n%s", w.name, args, code, out)
			return code
		}
	}
}

// bad says whether git itself can't use the server's repository any more.
func (c *crowded) bad() bool {
	_, err := c.repo.Git(c.t.Context(), "rev-list", "--max-count=1", "--all")
	return err != nil
}

// mend does what whoever runs a server has to do that has lost objects: it deletes the refs to them. Before that nobody is granted what they stood
// for.
func (c *crowded) mend(workers []*worker) {
	c.t.Helper()
	refs, err := c.repo.Refs(c.t.Context(), lease.DefaultPrefix)
	if err != nil {
		c.t.Fatal(err)
	}
	for ref, oid := range refs {
		if _, err := c.repo.Git(c.t.Context(), "rev-list", "--count", ref); err == nil {
			continue
		}
		if _, err := c.repo.Git(c.t.Context(), "cat-file", "-e", oid); err != nil {
			c.lost(ref, workers)
		}
		c.git(c.t, "update-ref", "-d", ref)
	}
	c.broken.Store(false)
}

// lost checks that nobody is granted the resource of a ref whose record is lost.
func (c *crowded) lost(ref string, workers []*worker) {
	c.t.Helper()
	name, ok := lease.DecodeName(strings.TrimPrefix(ref, lease.DefaultPrefix+"claims/"))
	if !ok {
		c.t.Fatalf("%s has lost its object", ref)
	}
	for _, w := range workers {
		if code, out := w.outcome(c.t, "claim", name); code != 2 && code != 6 {
			c.t.Fatalf("%s: claim %s, whose record is lost: exit %d\n%s", w.name, name, code, out)
		}
	}
}

// TestProofServerCollects: the server packs refs, and collects garbage at once, again and again while workers work. Where git thereby destroys a record
// that has just been pushed, which its manual warns of, the server takes no push any more, and nobody is told that anything is free.
//
// It packs refs once a second at most. git knows a packed-refs file that has changed by its inode and whole seconds: where refs are packed twice within
// one, while a push is under way, git compares with what the file held before, and a swap of what is no longer there may pass.
func TestProofServerCollects(t *testing.T) {
	chores := []struct {
		name string
		args [][]string
		// fragile: git's own manual warns that this may destroy what is being pushed at the same time.
		fragile bool
	}{
		{"gc --prune=now in a loop", [][]string{{"gc", "--quiet", "--prune=now"}}, true},
		{"pack-refs in a loop", [][]string{{"pack-refs", "--all", "--prune"}}, false},
		{"gc in a loop", [][]string{{"gc", "--quiet", "--prune=1.hour.ago"}}, false},
	}
	grants := int32(60)
	if !thorough() {
		chores, grants = chores[:1], 5
	}
	for _, chore := range chores {
		t.Run(chore.name, func(t *testing.T) {
			everywhere(t, []string{"http", "ssh", "path", "local", "git"}, func(t *testing.T, kind string) {
				s := sites[kind](t)
				workers := s.crowd(t, 4, "WORKLEASE_TIMEOUT=5m")
				workers[0].must(t, 0, "claim", "task:first")
				c := &crowded{site: s, t: t, book: s.account(t, "collecting", chore.name), fragile: chore.fragile}
				for c.granted.Load() < grants && !t.Failed() {
					stop := c.repeat(chore.args)
					c.live(workers, 3)
					stop()
					c.mend(workers)
				}
				c.tried()
				s.sound(t)
			})
		})
	}
}

// repeat does a chore of git's at the server again and again until it is stopped.
func (c *crowded) repeat(chore [][]string) (stop func()) {
	last := time.Now().Unix()
	return c.again(func() error {
		now := time.Now().Unix()
		if now == last {
			return c.clock.Sleep(c.t.Context(), 10*time.Millisecond)
		}
		last = now
		c.book.fault()
		for _, args := range chore {
			_, _ = c.repo.Git(c.t.Context(), args...) // it fails where a ref moves under its hands
		}
		return nil
	})
}

// again does something again and again until it is stopped.
func (c *crowded) again(do func() error) (stop func()) {
	ended, done := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(done)
		for {
			if err := do(); err != nil {
				c.t.Error(err)
				return
			}
			select {
			case <-ended:
				return
			default:
			}
		}
	}()
	return func() { close(ended); <-done }
}
