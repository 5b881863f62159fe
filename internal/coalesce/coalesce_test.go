package coalesce

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/git-worklease/git-worklease/lease"
	"github.com/git-worklease/git-worklease/refstore"
	"github.com/git-worklease/git-worklease/refstore/memory"
)

// clone is one clone, its processes, and the repository that they push to. It lives in a synctest bubble.
type clone struct {
	t    *testing.T
	repo *memory.Repository
	dir  string
	// machine is the clock of all processes.
	machine *machineClock

	mu     sync.Mutex
	pushes []*refstore.Tx
	// onPush stands in for the pushes of all processes while it is set.
	onPush func(tx *refstore.Tx, send func() (*refstore.Report, error)) (*refstore.Report, error)
}

// machineClock is the clock of a bubble, which suspends may put forward.
type machineClock struct {
	lease.SystemClock
	start time.Time
	mu    sync.Mutex
	slept time.Duration
}

func (c *machineClock) Instant() lease.Instant {
	c.mu.Lock()
	defer c.mu.Unlock()
	return lease.Instant{Boot: "b", Since: time.Since(c.start) + c.slept}
}

func (c *machineClock) suspend(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.slept += d
}

// in runs a test in a bubble.
func in(t *testing.T, test func(t *testing.T, c *clone)) {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "renewals")
	synctest.Test(t, func(t *testing.T) {
		test(t, &clone{t: t, repo: &memory.Repository{}, dir: dir, machine: &machineClock{start: time.Now()}})
	})
}

// process is one process of the clone.
func (c *clone) process() *Store {
	inner := refstore.New(&wire{Transport: c.repo.Transport(), c: c}, refstore.Options{})
	return New(inner, c.dir, c.machine)
}

// wire counts pushes, and has their faults.
type wire struct {
	refstore.Transport
	c *clone
}

func (w *wire) Push(ctx context.Context, tx *refstore.Tx) (*refstore.Report, error) {
	w.c.mu.Lock()
	w.c.pushes = append(w.c.pushes, tx)
	fault := w.c.onPush
	w.c.mu.Unlock()
	send := func() (*refstore.Report, error) { return w.Transport.Push(ctx, tx) }
	if fault == nil {
		return send()
	}
	return fault(tx, send)
}

func (c *clone) pushed() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return len(c.pushes)
}

func refN(n int) string { return fmt.Sprintf("refs/worklease/claims/task%%3a%d", n) }

// tx makes the record of a ref, or the one that follows old.
func (c *clone) tx(s refstore.Store, n int, old refstore.OID, text string) *refstore.Tx {
	c.t.Helper()
	tx, err := s.Build(refstore.Change{Ref: refN(n), Old: old, Message: []byte(text + "\n"), When: time.Unix(1_800_000_000, 0)})
	if err != nil {
		c.t.Fatal(err)
	}
	return tx
}

func (c *clone) at(n int) refstore.OID { return c.repo.Refs()[refN(n)] }

// clean checks that nothing is left in the folder but the lock.
func (c *clone) clean() {
	c.t.Helper()
	entries, err := os.ReadDir(c.dir)
	for _, entry := range entries {
		if entry.Name() != "lock" {
			c.t.Errorf("left behind: %s", entry.Name())
		}
	}
	if err != nil {
		c.t.Error(err)
	}
}

var patient = refstore.Patience{Wait: 15 * time.Second, Life: 20 * time.Minute}

// all lets n processes gather at once, each a change of its own, and returns what came of them.
func (c *clone) all(n int, change func(s refstore.Store, i int) *refstore.Tx) []error {
	c.t.Helper()
	errs := make([]error, n)
	var group sync.WaitGroup
	for i := range n {
		s := c.process()
		tx := change(s, i)
		group.Go(func() {
			_ = c.machine.Sleep(c.t.Context(), time.Duration(i)*20*time.Millisecond)
			errs[i] = s.Gather(c.t.Context(), patient, tx)[0]
		})
	}
	group.Wait()
	return errs
}

// TestOnePush: thirty processes that want to write within a moment are served by one push.
func TestOnePush(t *testing.T) {
	in(t, func(t *testing.T, c *clone) {
		errs := c.all(30, func(s refstore.Store, i int) *refstore.Tx { return c.tx(s, i, "", "one") })
		for i, err := range errs {
			if err != nil || c.at(i).IsZero() {
				t.Errorf("%d: %v", i, err)
			}
		}
		if c.pushed() != 1 {
			t.Errorf("%d pushes", c.pushed())
		}
		c.clean()
	})
}

// TestSeveralOfOneProcess: a process with several changes gets an answer to each, and twice the same ref goes out in two requests.
func TestSeveralOfOneProcess(t *testing.T) {
	in(t, func(t *testing.T, c *clone) {
		s := c.process()
		first := c.tx(s, 1, "", "one")
		errs := s.Gather(t.Context(), patient, first, c.tx(s, 2, "", "two"), c.tx(s, 1, first.Updates[0].New, "three"), c.tx(s, 2, "4444444444444444444444444444444444444444", "late"))
		if errs[0] != nil || errs[1] != nil || errs[2] != nil || !errors.Is(errs[3], refstore.ErrConflict) {
			t.Errorf("%v", errs)
		}
		if errs := s.Gather(t.Context(), patient); len(errs) != 0 {
			t.Errorf("%v", errs)
		}
		c.clean()
	})
}

// TestOneBadDoesNotStarveOthers: a conflict or a refusal of one is that of nobody else, and costs few pushes.
func TestOneBadDoesNotStarveOthers(t *testing.T) {
	for name, test := range map[string]struct {
		spoil  func(c *clone)
		want   error
		pushes int
	}{
		"conflict": {func(c *clone) { c.repo.Set(refN(3), c.repo.Add([]byte("tree x\n\nanother\n"))) }, refstore.ErrConflict, 2},
		"refused": {func(c *clone) {
			c.onPush = func(tx *refstore.Tx, send func() (*refstore.Report, error)) (*refstore.Report, error) {
				refused := map[string]string{}
				bad := false
				for _, u := range tx.Updates {
					refused[u.Ref] = "declined"
					bad = bad || u.Ref == refN(3)
				}
				if bad {
					return &refstore.Report{Unpack: "ok", Refused: refused}, nil
				}
				return send()
			}
		}, refstore.ErrRefused, 4 + 9 + 4}, // a request that is refused is sent four times
	} {
		t.Run(name, func(t *testing.T) {
			in(t, func(t *testing.T, c *clone) {
				test.spoil(c)
				errs := c.all(10, func(s refstore.Store, i int) *refstore.Tx { return c.tx(s, i, "", "one") })
				for i, err := range errs {
					if i == 3 && !errors.Is(err, test.want) || i != 3 && (err != nil || c.at(i).IsZero()) {
						t.Errorf("%d: %v", i, err)
					}
				}
				if c.pushed() > test.pushes {
					t.Errorf("%d pushes", c.pushed())
				}
				c.clean()
			})
		})
	}
}

// TestWithoutAtomic: nothing is merged, and everything lands.
func TestWithoutAtomic(t *testing.T) {
	in(t, func(t *testing.T, c *clone) {
		c.repo.NotAtomic = true
		for i, err := range c.all(5, func(s refstore.Store, i int) *refstore.Tx { return c.tx(s, i, "", "one") }) {
			if err != nil || c.at(i).IsZero() {
				t.Errorf("%d: %v", i, err)
			}
		}
		for _, tx := range c.pushes {
			if len(tx.Updates) != 1 {
				t.Errorf("%d refs at once", len(tx.Updates))
			}
		}
	})
}

// TestFolderUnusable: nobody is kept from writing by the folder, nor by rubbish in it.
func TestFolderUnusable(t *testing.T) {
	in(t, func(t *testing.T, c *clone) {
		if err := os.WriteFile(c.dir, nil, 0o600); err != nil {
			t.Fatal(err)
		}
		s := c.process()
		if errs := s.Gather(t.Context(), patient, c.tx(s, 1, "", "one")); errs[0] != nil || c.at(1).IsZero() {
			t.Errorf("%v", errs)
		}
	})
	in(t, func(t *testing.T, c *clone) {
		s := c.process()
		for _, text := range []string{"", "{", `{"txs":[null]}`, `{"txs":[{}]}`, `[]`} {
			r := c.posted(c.tx(s, 1, "", "one"))
			if err := r.write(posted, []byte(text)); err != nil {
				t.Fatal(err)
			}
			if errs := s.Gather(t.Context(), patient, c.tx(s, 2, c.at(2), text)); errs[0] != nil {
				t.Errorf("%q: %v", text, errs)
			}
			r.forget()
		}
		if !c.at(1).IsZero() {
			t.Error("rubbish was sent")
		}
		c.clean()
	})
}

// TestManyRounds: processes that write again and again, with replies that get lost, senders that die, and no order. Each change lands exactly as its writer
// is told.
func TestManyRounds(t *testing.T) {
	in(t, func(t *testing.T, c *clone) {
		lost := 0
		c.onPush = func(_ *refstore.Tx, send func() (*refstore.Report, error)) (*refstore.Report, error) {
			c.mu.Lock()
			lost++
			n := lost
			c.mu.Unlock()
			switch {
			case n%7 == 3: // it arrives, and the reply does not
				_, _ = send()
				return nil, &refstore.UnavailableError{Trouble: refstore.TroubleNetwork, Sent: true, Err: errors.New("reset")}
			case n%11 == 5: // it does not arrive
				return nil, &refstore.UnavailableError{Trouble: refstore.TroubleNetwork, Sent: true, Err: errors.New("reset")}
			}
			return send()
		}
		var group sync.WaitGroup
		for i := range 12 {
			group.Go(func() { c.rounds(i) })
		}
		group.Wait()
		if c.pushed() > 12*10/2 {
			t.Errorf("%d pushes for %d changes", c.pushed(), 12*10)
		}
		c.clean()
	})
}

// rounds writes ten records on top of each other.
func (c *clone) rounds(i int) {
	s := c.process()
	old := refstore.OID("")
	for n := range 10 {
		_ = c.machine.Sleep(c.t.Context(), time.Duration(i*n%5)*37*time.Millisecond)
		tx := c.tx(s, i, old, fmt.Sprintf("%d", n))
		switch err := s.Gather(c.t.Context(), refstore.Patience{Wait: 4 * time.Second, Life: time.Minute}, tx)[0]; {
		case err == nil && c.at(i) == tx.Updates[0].New:
			old = c.at(i)
		case errors.Is(err, refstore.ErrUndecided):
			old = c.at(i)
		default:
			c.t.Errorf("%d.%d: %v, and at the ref is %s", i, n, err, c.at(i).Short())
			return
		}
	}
}

// TestPrivate: the files of a request are for this user alone.
func TestPrivate(t *testing.T) {
	in(t, func(t *testing.T, c *clone) {
		r := c.posted(c.tx(c.process(), 1, "", "one"))
		entries, err := os.ReadDir(c.dir)
		if err != nil || len(entries) != 2 {
			t.Fatalf("%v, %v", entries, err)
		}
		for _, entry := range entries {
			if info, err := entry.Info(); err != nil || info.Mode().Perm() != 0o600 || !strings.HasPrefix(entry.Name(), r.id) {
				t.Errorf("%s: %v, %v", entry.Name(), info.Mode(), err)
			}
		}
		r.forget()
	})
}
