package lease

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/git-worklease/git-worklease/refstore"
)

func TestWaitForARelease(t *testing.T) {
	bubble(t, func(t *testing.T, w *world) {
		alice, bob := w.waiter("alice"), w.waiter("bob")
		alice.mustClaim(demo)
		w.later(5*time.Minute, func() { alice.mustRelease(demo) })
		obstacles, began := 0, time.Now()
		wait := waitFor(10*time.Minute, demo, "task:other")
		wait.Tell = func(err error) {
			obstacles++
			var held *HeldError
			if !errors.As(err, &held) || held.Record.Holder.Agent != "alice" {
				t.Errorf("told %v", err)
			}
		}
		res, err := bob.Wait(t.Context(), wait)
		if err != nil || res.Outcome != Claimed || len(res.Hold.Members) != 2 {
			t.Fatalf("%+v, %v", res, err)
		}
		if took := time.Since(began); took < 5*time.Minute || took > 5*time.Minute+lastSpan {
			t.Errorf("it took %s", took)
		}
		if bob.wire.pushes != 1 || bob.wire.reads != obstacles+1 {
			t.Errorf("%d pushes, %d reads, %d obstacles", bob.wire.pushes, bob.wire.reads, obstacles)
		}
		if obstacles < 20 || obstacles > 60 {
			t.Errorf("%d looks in 5 min", obstacles)
		}
	})
}

// TestCase09WaitForADeadHolder: a waiter takes over as soon as that is allowed, by the clock or by what it has itself seen.
func TestCase09WaitForADeadHolder(t *testing.T) {
	const ttl, grace = time.Hour, 30 * time.Second
	ephemeral := func(o *Options) { o.Terms.Expiry = ExpiryObserved }
	for name, tt := range map[string]struct {
		options []actorOption
		// from is since when the claim's age counts, before the wait began.
		from time.Duration
	}{
		"clock":    {nil, 20 * time.Minute},
		"observed": {[]actorOption{ephemeral}, 0},
	} {
		t.Run(name, func(t *testing.T) {
			bubble(t, func(t *testing.T, w *world) {
				alice, bob := w.waiter("alice", tt.options...), w.waiter("bob", tt.options...)
				alice.mustClaim(demo)
				pass(20 * time.Minute)
				began := time.Now()
				res, err := bob.Wait(t.Context(), waitFor(3*time.Hour, demo))
				if err != nil || len(res.Predecessors) != 1 {
					t.Fatalf("%+v, %v", res, err)
				}
				due := ttl + grace - tt.from
				if took := time.Since(began); took < due || took > due+wakeSpread {
					t.Errorf("it took %s, and was due after %s", took, due)
				}
			})
		})
	}
}

func TestWaitEnds(t *testing.T) {
	bubble(t, func(t *testing.T, w *world) {
		alice, bob := w.waiter("alice"), w.waiter("bob")
		alice.mustClaim(demo)
		began := time.Now()
		_, err := bob.Wait(t.Context(), waitFor(10*time.Minute, demo))
		want(t, err, ErrHeld)
		if took := time.Since(began); took != 10*time.Minute {
			t.Errorf("it took %s", took)
		}
		before := bob.wire.reads
		_, err = bob.Wait(t.Context(), waitFor(0, demo))
		want(t, err, ErrHeld)
		if n := bob.wire.reads - before; n != 1 {
			t.Errorf("%d reads instead of one try", n)
		}
		_, err = bob.Wait(t.Context(), waitFor(-time.Second, demo))
		want(t, err, ErrBadRequest)
		if bob.wire.pushes != 0 {
			t.Errorf("%d pushes", bob.wire.pushes)
		}
	})
}

// TestWaitThroughASuspension: the time in which the machine sleeps counts, and there is one more try after it.
func TestWaitThroughASuspension(t *testing.T) {
	for _, boot := range []string{"boot", ""} {
		bubble(t, func(t *testing.T, w *world) {
			alice := w.waiter("alice")
			clock := &bubbleClock{boot: boot}
			bob := w.actor("bob", func(o *Options) { o.Clock = clock })
			alice.mustClaim(demo)
			w.later(time.Minute, func() { clock.off.Store(int64(20 * time.Minute)) })
			began := time.Now()
			_, err := bob.Wait(t.Context(), waitFor(10*time.Minute, demo))
			want(t, err, ErrHeld)
			if took := time.Since(began); took < time.Minute || took > time.Minute+lastSpan {
				t.Errorf("boot %q: it took %s", boot, took)
			}
		})
	}
}

// trouble is a wire that fails for a while, which begins some time from now.
func trouble(w *wire, kind refstore.Trouble, in, during time.Duration) refstore.Transport {
	begin := time.Now().Add(in)
	return faulty{w.Transport, func() error {
		if since := time.Since(begin); since >= 0 && since < during {
			return &refstore.UnavailableError{URL: "memory", Trouble: kind, Err: errors.New("trouble")}
		}
		return nil
	}}
}

type faulty struct {
	refstore.Transport
	fault func() error
}

func (f faulty) Refs(ctx context.Context, prefixes []string) (map[string]refstore.OID, error) {
	if err := f.fault(); err != nil {
		return nil, err
	}
	return f.Transport.Refs(ctx, prefixes)
}

// TestWaitOutTrouble: a remote that does not answer is waited for, and one that says no is not.
func TestWaitOutTrouble(t *testing.T) {
	for kind, passes := range map[refstore.Trouble]bool{
		refstore.TroubleNetwork: true, refstore.TroubleDeadline: true, refstore.TroubleBusy: true, refstore.TroubleGarbage: true,
		refstore.TroubleAuth: false, refstore.TroubleDenied: false, refstore.TroubleNotFound: false, refstore.TroubleLocal: false,
	} {
		t.Run(string(kind), func(t *testing.T) {
			bubble(t, func(t *testing.T, w *world) {
				bob := w.waiter("bob")
				told := 0
				wait := waitFor(10*time.Minute, demo)
				wait.Tell = func(err error) {
					told++
					want(t, err, refstore.ErrUnavailable)
				}
				began := time.Now()
				bob.wire.Transport = trouble(bob.wire, kind, 0, 5*time.Minute)
				_, err := bob.Wait(t.Context(), wait)
				if !passes {
					want(t, err, refstore.ErrUnavailable)
					if told > 0 || time.Since(began) > 0 {
						t.Errorf("told %d times in %s", told, time.Since(began))
					}
					return
				}
				if err != nil || told == 0 || time.Since(began) < 5*time.Minute {
					t.Errorf("%v, told %d times, after %s", err, told, time.Since(began))
				}
				w.waiter("alice").mustClaim("port:1")
				bob.mustStatus("port:1")
				bob.wire.Transport = trouble(bob.wire, kind, 0, time.Hour)
				wait.Claim = req("port:1")
				_, err = bob.Wait(t.Context(), wait)
				want(t, err, refstore.ErrUnavailable)
			})
		})
	}
}

// TestWaitOutAPendingWrite: a swap of which nobody knows whether it landed is settled by the tries that follow.
func TestWaitOutAPendingWrite(t *testing.T) {
	bubble(t, func(t *testing.T, w *world) {
		bob := w.waiter("bob")
		bob.mustClaim("task:before")
		late := &swallow{}
		bob.wire.push = func(tx *refstore.Tx, send func() (*refstore.Report, error)) (*refstore.Report, error) {
			if time.Since(bubbleEpoch) < time.Minute {
				return late.push(tx, send)
			}
			late.land(t)
			return send()
		}
		wait := waitFor(10*time.Minute, demo)
		wait.Tell = func(err error) { want(t, err, ErrPending) }
		if _, err := bob.Wait(t.Context(), wait); err != nil {
			t.Fatal(err)
		}
		if rec := w.tip(demo); rec.Generation != 1 || rec.Holder.Agent != "bob" {
			t.Errorf("%+v", rec)
		}
	})
}

// TestARefusalCostsOneRead: a claim of what is known to be taken reads once, and sends nothing.
func TestARefusalCostsOneRead(t *testing.T) {
	dead := func(o *Options) { o.Terms.Takeover = TakeoverDead }
	for name, tt := range map[string]struct {
		prepare   func(w *world, alice *actor)
		resources []Resource
		options   []actorOption
	}{
		"held":     {func(_ *world, alice *actor) { alice.mustClaim(demo) }, []Resource{demo}, nil},
		"reserved": {func(_ *world, alice *actor) { alice.reserve(demo, "carol") }, []Resource{demo}, nil},
		"expired": {func(w *world, alice *actor) {
			alice.mustClaim(demo)
			w.advance(time.Hour + time.Second)
		}, []Resource{demo}, nil},
		"stale": {func(w *world, alice *actor) {
			alice.mustClaim(demo)
			w.advance(2 * time.Hour)
		}, []Resource{demo}, []actorOption{dead}},
		"in a bundle": {func(_ *world, alice *actor) { alice.mustClaim("port:2", demo) }, []Resource{"port:1", "port:2", "port:3"}, nil},
		"held in the same name": {func(_ *world, alice *actor) { alice.mustClaim(demo) }, []Resource{demo}, []actorOption{
			func(o *Options) { o.Holder = Holder{Agent: "alice", Session: "alice", Host: "box"} },
		}},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			alice, bob := w.actor("alice"), w.actor("bob", tt.options...)
			tt.prepare(w, alice)
			bob.mustStatus(tt.resources...)
			for range 3 {
				before := bob.wire.reads
				_, err := bob.Claim(t.Context(), req(tt.resources...))
				want(t, err, ErrHeld)
				if n := bob.wire.reads - before; n != 1 || bob.wire.pushes != 0 {
					t.Errorf("%d reads, %d pushes", n, bob.wire.pushes)
				}
			}
		})
	}
}

// reserve claims, and releases for another agent alone.
func (a *actor) reserve(r Resource, agent string) {
	a.w.t.Helper()
	h := a.mustClaim(r).Hold
	st, _, err := a.look(a.w.t.Context(), &h)
	if err != nil {
		a.w.t.Fatal(err)
	}
	at := a.moment().stamp()
	err = a.bury(a.w.t.Context(), h, st.ours, Release{At: at, Outcome: OutcomeReview, ReservedFor: agent, ReservedUntil: at.Add(h.TTL)})
	if err != nil {
		a.w.t.Fatal(err)
	}
}

// TestWaitForAReservation: one that nobody takes lapses.
func TestWaitForAReservation(t *testing.T) {
	bubble(t, func(t *testing.T, w *world) {
		alice, bob := w.waiter("alice"), w.waiter("bob")
		alice.reserve(demo, "carol")
		began := time.Now()
		if _, err := bob.Wait(t.Context(), waitFor(3*time.Hour, demo)); err != nil {
			t.Fatal(err)
		}
		const due = time.Hour + 30*time.Second
		if took := time.Since(began); took < due || took > due+wakeSpread {
			t.Errorf("it took %s", took)
		}
	})
}
