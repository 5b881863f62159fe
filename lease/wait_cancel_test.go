package lease

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/git-worklease/git-worklease/refstore"
)

// steps lets a fate act before and after each exchange.
type steps struct {
	refstore.Transport
	fate *fate
}

func (s steps) Refs(ctx context.Context, prefixes []string) (map[string]refstore.OID, error) {
	s.fate.step()
	defer s.fate.step()
	return s.Transport.Refs(ctx, prefixes)
}

func (s steps) Push(ctx context.Context, tx *refstore.Tx) (*refstore.Report, error) {
	s.fate.step()
	defer s.fate.step()
	return s.Transport.Push(ctx, tx)
}

// cancelledAt lets bob wait and be told to stop at his n-th step, which is one of an exchange or one of the clone's files. It says whether he
// got that far.
func cancelledAt(t *testing.T, w *world, n int, bob *actor, resources ...Resource) (stopped bool) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	f := &fate{at: n, instead: func() {
		stopped = true
		cancel()
		synctest.Wait()
	}}
	p := &actor{w: w, local: bob.local.Process("bob")}
	clock := &bubbleClock{boot: "boot-bob"}
	p.connect(mortal{p.local, f}, "bob", func(o *Options) {
		o.Clock = clock
		o.Attempt = func(ctx Context) (Context, context.CancelFunc) { return context.WithTimeout(ctx, 30*time.Second) }
	})
	p.wire.Transport = steps{p.wire.Transport, f}
	res, err := p.Wait(ctx, waitFor(10*time.Minute, resources...))
	switch {
	case stopped && !errors.Is(err, context.Canceled):
		t.Errorf("step %d: got %+v, %v", n, res, err)
	case stopped && errors.Is(err, ErrPending):
		t.Errorf("step %d: left in doubt: %v", n, err)
	case !stopped && err != nil:
		t.Errorf("%d steps: %v", n, err)
	}
	if stopped {
		nothingLeft(t, w, p, fmt.Sprintf("step %d", n), resources)
	}
	return stopped
}

// nothingLeft checks that a waiter holds nothing and has no write under way, and that others see nothing of it.
func nothingLeft(t *testing.T, w *world, p *actor, when string, resources []Resource) {
	t.Helper()
	if left, busy, err := p.local.Pending(); len(left) > 0 || len(busy) > 0 || err != nil {
		t.Errorf("%s: %d intents left, %d busy, %v", when, len(left), len(busy), err)
	}
	holds, err := p.local.Holds()
	if err != nil {
		t.Fatal(err)
	}
	for _, h := range holds {
		if h.End == nil {
			t.Errorf("%s: %s is held", when, h.Members[0].Resource)
		}
	}
	for _, r := range resources {
		if rec := w.tip(r); rec != nil && rec.Holder.Agent == "bob" && !rec.Released() {
			t.Errorf("%s: %s is bob's at the server", when, r)
		}
	}
}

// TestCase08CancelledAtEveryStep: a waiter who is told to stop, whatever it is doing, leaves nothing behind.
func TestCase08CancelledAtEveryStep(t *testing.T) {
	bundle := []Resource{"port:1", "port:2"}
	for name, prepare := range map[string]func(w *world, alice *actor){
		"first claim of all": func(*world, *actor) {},
		"free":               func(_ *world, alice *actor) { alice.mustClaim("task:before") },
		"released meanwhile": func(w *world, alice *actor) {
			alice.mustClaim(bundle...)
			w.later(20*time.Second, func() { alice.mustRelease(bundle...) })
		},
		"taken over": func(w *world, alice *actor) {
			if _, err := alice.Claim(w.t.Context(), ClaimRequest{Resources: bundle[1:], TTL: 30 * time.Second}); err != nil {
				w.t.Error(err)
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			n := 1
			for stopped := true; stopped; n++ {
				bubble(t, func(t *testing.T, w *world) {
					bob := w.waiter("bob")
					prepare(w, w.waiter("alice"))
					stopped = cancelledAt(t, w, n, bob, bundle...)
				})
			}
			if n < 10 {
				t.Errorf("only %d steps", n)
			}
		})
	}
}

// TestCase08CancelledWhilePausing: nothing more is asked of the server.
func TestCase08CancelledWhilePausing(t *testing.T) {
	bubble(t, func(t *testing.T, w *world) {
		alice, bob := w.waiter("alice"), w.waiter("bob")
		alice.mustClaim(demo)
		ctx, cancel := context.WithCancel(t.Context())
		reads := 0
		w.later(time.Minute, func() {
			reads, _ = bob.wire.asked()
			alice.mustRelease(demo)
			cancel()
		})
		began := time.Now()
		_, err := bob.Wait(ctx, waitFor(10*time.Minute, demo))
		want(t, err, context.Canceled)
		if took := time.Since(began); took != time.Minute || bob.wire.reads != reads || bob.wire.pushes > 0 {
			t.Errorf("after %s, with %d more reads and %d pushes", took, bob.wire.reads-reads, bob.wire.pushes)
		}
		nothingLeft(t, w, bob, "pausing", []Resource{demo})
	})
}

// slowServer answers a push, and does what it says, only after a while, whatever becomes of the client.
func slowServer(after time.Duration) func(*refstore.Tx, func() (*refstore.Report, error)) (*refstore.Report, error) {
	return func(_ *refstore.Tx, send func() (*refstore.Report, error)) (*refstore.Report, error) {
		pass(after)
		return send()
	}
}

// TestCase08CancelledWhileTheSwapLands: a swap that is under way is not cut short, and what it takes is given back.
func TestCase08CancelledWhileTheSwapLands(t *testing.T) {
	for _, lost := range []bool{false, true} {
		bubble(t, func(t *testing.T, w *world) {
			bob := w.waiter("bob")
			bob.mustClaim("task:before")
			ctx, cancel := context.WithCancel(t.Context())
			w.later(time.Second, cancel)
			bob.wire.push = func(tx *refstore.Tx, send func() (*refstore.Report, error)) (*refstore.Report, error) {
				bob.wire.push = nil
				report, err := slowServer(10*time.Second)(tx, send)
				if lost {
					return nil, errBroken()
				}
				return report, err
			}
			_, err := bob.Wait(ctx, waitFor(10*time.Minute, demo))
			want(t, err, context.Canceled)
			if rec := w.tip(demo); rec == nil || !rec.Released() || rec.Release.Outcome != OutcomeAbandoned {
				t.Errorf("%+v", rec)
			}
			if !bob.noticed(NoticeGivenBack) {
				t.Error("nothing was said of it")
			}
			if v := bob.mustStatus("task:before")[0]; !v.Mine {
				t.Error("another claim of the session is gone")
			}
		})
	}
}

// TestCase08CancelledBeforeARival: the swap that was under way is refused, so nothing was taken.
func TestCase08CancelledBeforeARival(t *testing.T) {
	bubble(t, func(t *testing.T, w *world) {
		alice, bob := w.waiter("alice"), w.waiter("bob")
		bob.mustClaim("task:before")
		ctx, cancel := context.WithCancel(t.Context())
		bob.wire.push = func(_ *refstore.Tx, send func() (*refstore.Report, error)) (*refstore.Report, error) {
			cancel()
			alice.mustClaim(demo)
			return send()
		}
		_, err := bob.Wait(ctx, waitFor(10*time.Minute, demo))
		want(t, err, context.Canceled)
		if bob.noticed(NoticeGivenBack) || w.tip(demo).Holder.Agent != "alice" || w.tip(demo).Revision != 1 {
			t.Errorf("%+v", w.tip(demo))
		}
	})
}

// TestCase08CancelledInDoubt: a swap that nobody can tell the end of is named, and stays for the next command to settle.
func TestCase08CancelledInDoubt(t *testing.T) {
	bubble(t, func(t *testing.T, w *world) {
		bob := w.waiter("bob")
		bob.mustClaim("task:before")
		ctx, cancel := context.WithCancel(t.Context())
		late := &swallow{}
		bob.wire.push = func(tx *refstore.Tx, send func() (*refstore.Report, error)) (*refstore.Report, error) {
			cancel()
			return late.push(tx, send)
		}
		_, err := bob.Wait(ctx, waitFor(10*time.Minute, demo))
		want(t, err, context.Canceled)
		want(t, err, ErrPending)
		late.land(t)
		if v := bob.mustStatus(demo)[0]; !v.Mine {
			t.Errorf("%+v", v)
		}
	})
}
