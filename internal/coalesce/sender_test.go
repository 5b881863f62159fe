package coalesce

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/git-worklease/git-worklease/internal/lockfile"
	"github.com/git-worklease/git-worklease/refstore"
)

// posted is the request of another process that lives, as it stands in the folder.
func (c *clone) posted(tx *refstore.Tx) *request {
	c.t.Helper()
	s := c.process()
	r, err := s.post(c.t.Context(), patient, []*refstore.Tx{tx})
	if err != nil {
		c.t.Fatal(err)
	}
	return r
}

// dies frees the lock of a request, as the death of its process does.
func (r *request) dies(t *testing.T) {
	t.Helper()
	if err := r.unlock(); err != nil {
		t.Fatal(err)
	}
}

// TestCase47OnlyTheLivingAreServed: what a dead process posted is never sent, and is swept away.
func TestCase47OnlyTheLivingAreServed(t *testing.T) {
	in(t, func(t *testing.T, c *clone) {
		s := c.process()
		c.posted(c.tx(s, 1, "", "dead")).dies(t)
		c.posted(c.tx(s, 2, "", "dead")).dies(t)
		if errs := s.Gather(t.Context(), patient, c.tx(s, 3, "", "alive")); errs[0] != nil {
			t.Error(errs)
		}
		if !c.at(1).IsZero() || !c.at(2).IsZero() || c.at(3).IsZero() {
			t.Errorf("%v", c.repo.Refs())
		}
		c.clean()
	})
}

// TestSenderDies: a sender is killed after it had taken the request of a living process. That gets the right answer from the next sender.
func TestSenderDies(t *testing.T) {
	for name, test := range map[string]struct {
		did  func(c *clone, tx *refstore.Tx)
		want error
	}{
		"before it sent": {func(*clone, *refstore.Tx) {}, nil},
		"after it sent": {func(c *clone, tx *refstore.Tx) {
			if err := refstore.New(c.repo.Transport(), refstore.Options{}).Swap(c.t.Context(), tx, nil); err != nil {
				c.t.Error(err)
			}
		}, nil},
		"and another was quicker": {func(c *clone, _ *refstore.Tx) { c.repo.Set(refN(1), c.repo.Add([]byte("tree x\n\nanother\n"))) }, refstore.ErrConflict},
		"and the next is refused": {func(c *clone, _ *refstore.Tx) {
			c.onPush = func(tx *refstore.Tx, _ func() (*refstore.Report, error)) (*refstore.Report, error) {
				refused := map[string]string{}
				for _, u := range tx.Updates {
					refused[u.Ref] = "declined"
				}
				return &refstore.Report{Unpack: "ok", Refused: refused}, nil
			}
		}, refstore.ErrUndecided},
	} {
		t.Run(name, func(t *testing.T) {
			in(t, func(t *testing.T, c *clone) {
				s := c.process()
				tx := c.tx(s, 1, "", "one")
				r := c.posted(tx)
				if !r.take() {
					t.Fatal("not taken")
				}
				r.doubt = false
				test.did(c, tx)
				errs := s.Gather(t.Context(), patient, c.tx(s, 2, "", "two"))
				if test.want != refstore.ErrUndecided && errs[0] != nil { //nolint:errorlint // the test's own
					t.Errorf("the sender: %v", errs[0])
				}
				got := r.result()
				if len(got) != 1 || !errors.Is(got[0], test.want) {
					t.Errorf("%v", got)
				}
				r.forget()
				c.clean()
			})
		})
	}
}

// TestSenderHangs: whoever has waited for long enough for another process goes alone, in doubt where that had taken the request.
func TestSenderHangs(t *testing.T) {
	for name, took := range map[string]bool{"before it took the request": false, "after it took the request": true} {
		t.Run(name, func(t *testing.T) {
			in(t, func(t *testing.T, c *clone) {
				if err := os.MkdirAll(c.dir, 0o700); err != nil {
					t.Fatal(err)
				}
				unlock, err := lockfile.TryLock(filepath.Join(c.dir, "lock"))
				if err != nil {
					t.Fatal(err)
				}
				s := c.process()
				tx := c.tx(s, 1, "", "one")
				began := time.Now()
				result := make(chan []error)
				go func() { result <- s.Gather(t.Context(), patient, tx) }()
				<-time.After(time.Second)
				if took {
					c.takeAll()
				}
				if errs := <-result; errs[0] != nil || c.at(1).IsZero() {
					t.Errorf("%v", errs)
				}
				if waited := time.Since(began); waited < patient.Wait || waited > patient.Wait+time.Second {
					t.Errorf("waited for %s", waited)
				}
				if c.pushes[0].Doubt != took {
					t.Errorf("in doubt: %t", c.pushes[0].Doubt)
				}
				_ = unlock()
				c.clean()
			})
		})
	}
}

// takeAll takes whatever is posted, as a sender does.
func (c *clone) takeAll() {
	s := c.process()
	for _, id := range s.ids() {
		(&request{store: s, id: id}).take()
	}
}

// TestTimeUpWhileWaiting: nothing is sent, or it is not known whether it was.
func TestTimeUpWhileWaiting(t *testing.T) {
	for took, want := range map[bool]error{false: refstore.ErrUnavailable, true: refstore.ErrUndecided} {
		in(t, func(t *testing.T, c *clone) {
			if err := os.MkdirAll(c.dir, 0o700); err != nil {
				t.Fatal(err)
			}
			unlock, err := lockfile.TryLock(filepath.Join(c.dir, "lock"))
			if err != nil {
				t.Fatal(err)
			}
			s := c.process()
			ctx, cancel := context.WithTimeout(t.Context(), 3*time.Second)
			defer cancel()
			result := make(chan []error)
			tx := c.tx(s, 1, "", "one")
			go func() { result <- s.Gather(ctx, patient, tx) }()
			<-time.After(time.Second)
			if took {
				c.takeAll()
			}
			if errs := <-result; !errors.Is(errs[0], want) || errors.Is(errs[0], refstore.ErrUndecided) != took {
				t.Errorf("%v", errs)
			}
			if !c.at(1).IsZero() {
				t.Error("it was sent")
			}
			_ = unlock()
			c.clean()
		})
	}
}

// TestTooOld: what has waited through a suspend is not sent any more, by anybody.
func TestTooOld(t *testing.T) {
	in(t, func(t *testing.T, c *clone) {
		s := c.process()
		other := c.posted(c.tx(s, 1, "", "one"))
		taken := c.posted(c.tx(s, 2, "", "two"))
		taken.take()
		c.machine.suspend(oldest + time.Second)
		if errs := s.Gather(t.Context(), patient, c.tx(s, 3, "", "three")); errs[0] != nil {
			t.Error(errs)
		}
		if got := other.result(); len(got) != 1 || !errors.Is(got[0], refstore.ErrUnavailable) || errors.Is(got[0], refstore.ErrUndecided) {
			t.Errorf("%v", got)
		}
		if got := taken.result(); len(got) != 1 || !errors.Is(got[0], refstore.ErrUndecided) {
			t.Errorf("%v", got)
		}
		if !c.at(1).IsZero() || !c.at(2).IsZero() {
			t.Error("they were sent")
		}
	})
	in(t, func(t *testing.T, c *clone) { // its own
		s := c.process()
		tx := c.tx(s, 1, "", "one")
		result := make(chan []error)
		go func() {
			result <- s.Gather(t.Context(), refstore.Patience{Wait: 2 * time.Second, Life: 10 * time.Second}, tx)
		}()
		<-time.After(100 * time.Millisecond)
		c.machine.suspend(time.Minute)
		if errs := <-result; !errors.Is(errs[0], refstore.ErrUnavailable) || !c.at(1).IsZero() {
			t.Errorf("%v", errs)
		}
	})
}

// TestSenderIsInterrupted: the others get an answer although the sender's own time was up.
func TestSenderIsInterrupted(t *testing.T) {
	in(t, func(t *testing.T, c *clone) {
		s := c.process()
		other := c.posted(c.tx(s, 1, "", "one"))
		ctx, cancel := context.WithCancel(t.Context())
		c.onPush = func(_ *refstore.Tx, send func() (*refstore.Report, error)) (*refstore.Report, error) {
			cancel()
			<-time.After(time.Second)
			return send()
		}
		if errs := s.Gather(ctx, patient, c.tx(s, 2, "", "two")); errs[0] != nil {
			t.Error(errs)
		}
		if got := other.result(); len(got) != 1 || got[0] != nil {
			t.Errorf("%v", got)
		}
		// One that takes too long does not keep the sender for ever.
		ctx, cancel = context.WithCancel(t.Context())
		another := c.posted(c.tx(s, 4, "", "one"))
		c.onPush = func(*refstore.Tx, func() (*refstore.Report, error)) (*refstore.Report, error) {
			cancel()
			<-time.After(extra + time.Second)
			return nil, &refstore.UnavailableError{Trouble: refstore.TroubleDeadline, Sent: true, Err: errors.New("cancelled")}
		}
		began := time.Now()
		errs := s.Gather(ctx, patient, c.tx(s, 3, "", "three"))
		if got := another.result(); !errors.Is(errs[0], refstore.ErrUndecided) || len(got) != 1 || !errors.Is(got[0], refstore.ErrUndecided) {
			t.Errorf("%v, %v", errs, got)
		}
		if time.Since(began) > 15*time.Second {
			t.Errorf("it took %s", time.Since(began))
		}
	})
}

// TestSleptWhileItWaited: a process that was suspended while another had the lock does not send what is too old by then.
func TestSleptWhileItWaited(t *testing.T) {
	in(t, func(t *testing.T, c *clone) {
		s := c.process()
		c.posted(c.tx(s, 2, "", "two")).forget() // which makes the folder
		unlock, err := lockfile.TryLock(s.path("lock"))
		if err != nil {
			t.Fatal(err)
		}
		tx := c.tx(s, 1, "", "one")
		result := make(chan []error)
		go func() {
			result <- s.Gather(t.Context(), refstore.Patience{Wait: 2 * time.Second, Life: 10 * time.Second}, tx)
		}()
		<-time.After(100 * time.Millisecond)
		c.machine.suspend(time.Minute)
		if errs := <-result; !errors.Is(errs[0], refstore.ErrUnavailable) || errors.Is(errs[0], refstore.ErrUndecided) || !c.at(1).IsZero() {
			t.Errorf("%v", errs)
		}
		_ = unlock()
	})
}
