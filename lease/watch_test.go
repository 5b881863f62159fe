package lease

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/git-worklease/git-worklease/refstore"
)

func TestWatchUntilFree(t *testing.T) {
	bubble(t, func(t *testing.T, w *world) {
		alice, bob, carol := w.waiter("alice"), w.waiter("bob"), w.waiter("carol")
		alice.mustClaim(demo)
		bob.mustClaim("port:1")
		w.later(5*time.Minute, func() { alice.mustRelease(demo) })
		refsBefore := len(w.repo.Refs())
		began := time.Now()
		views, err := carol.Watch(t.Context(), WatchRequest{Resources: []Resource{demo, "task:never", "port:1"}})
		if err != nil || len(views) != 3 {
			t.Fatalf("%+v, %v", views, err)
		}
		// bob's port is takeable at last, and no second before.
		const due = time.Hour + 30*time.Second
		if took := time.Since(began); took < due || took > due+wakeSpread {
			t.Errorf("it took %s", took)
		}
		if carol.wire.pushes > 0 || len(w.repo.Refs()) != refsBefore {
			t.Errorf("%d pushes", carol.wire.pushes)
		}
	})
}

func TestWatchUntilChange(t *testing.T) {
	bubble(t, func(t *testing.T, w *world) {
		alice, bob := w.waiter("alice"), w.waiter("bob")
		alice.mustClaim(demo)
		w.later(5*time.Minute, func() {
			if _, err := alice.Renew(t.Context(), RenewRequest{}); err != nil {
				t.Error(err)
			}
		})
		began := time.Now()
		views, err := bob.Watch(t.Context(), WatchRequest{Resources: []Resource{demo}, Until: AwaitChange})
		if err != nil || views[0].Record.Revision != 2 {
			t.Fatalf("%+v, %v", views, err)
		}
		if took := time.Since(began); took < 5*time.Minute || took > 5*time.Minute+lastSpan {
			t.Errorf("it took %s", took)
		}
	})
}

// TestWatchTimesOut: that is normal, and says what was there.
func TestWatchTimesOut(t *testing.T) {
	for _, until := range []Awaited{AwaitFree, AwaitChange} {
		bubble(t, func(t *testing.T, w *world) {
			alice, bob := w.waiter("alice"), w.waiter("bob")
			alice.mustClaim(demo)
			began := time.Now()
			views, err := bob.Watch(t.Context(), WatchRequest{Resources: []Resource{demo}, Until: until, For: 5 * time.Minute})
			want(t, err, ErrTimeUp)
			if len(views) != 1 || views[0].State != StandingHeld || time.Since(began) != 5*time.Minute {
				t.Errorf("%+v after %s", views, time.Since(began))
			}
		})
	}
}

// TestWatchTakesNothingUnknownForAnAnswer: neither a remote that does not answer, nor a record that can't be judged, is free or changed.
func TestWatchTakesNothingUnknownForAnAnswer(t *testing.T) {
	for name, spoil := range map[string]func(w *world, bob *actor){
		"no answer": func(_ *world, bob *actor) {
			bob.wire.Transport = trouble(bob.wire, refstore.TroubleNetwork, time.Minute, time.Hour)
		},
		"rolled back": func(w *world, _ *actor) {
			w.later(time.Minute, func() { w.repo.Set(refs{DefaultPrefix}.claim(demo), "") })
		},
	} {
		for _, until := range []Awaited{AwaitFree, AwaitChange} {
			t.Run(name+", until "+string(until), func(t *testing.T) {
				bubble(t, func(t *testing.T, w *world) {
					alice, bob := w.waiter("alice"), w.waiter("bob")
					alice.mustClaim(demo)
					spoil(w, bob)
					_, err := bob.Watch(t.Context(), WatchRequest{Resources: []Resource{demo}, Until: until, For: 5 * time.Minute})
					if !errors.Is(err, ErrTimeUp) && !errors.Is(err, refstore.ErrUnavailable) {
						t.Errorf("got %v", err)
					}
				})
			})
		}
	}
}

func TestWatchGoesOnThroughTrouble(t *testing.T) {
	bubble(t, func(t *testing.T, w *world) {
		alice, bob := w.waiter("alice"), w.waiter("bob")
		alice.mustClaim(demo)
		w.later(2*time.Minute, func() { alice.mustRelease(demo) })
		bob.wire.Transport = trouble(bob.wire, refstore.TroubleBusy, 0, 5*time.Minute)
		failed := 0
		views, err := bob.Watch(t.Context(), WatchRequest{Resources: []Resource{demo}, Tell: func(_ []View, err error) {
			if err != nil {
				failed++
			}
		}})
		if err != nil || !views[0].Takeable || failed == 0 {
			t.Errorf("%+v, %v, told %d times", views, err, failed)
		}
		bob.wire.Transport = trouble(bob.wire, refstore.TroubleDenied, 0, time.Hour)
		_, err = bob.Watch(t.Context(), WatchRequest{Resources: []Resource{demo}})
		want(t, err, refstore.ErrUnavailable)
	})
}

func TestWatchInterrupted(t *testing.T) {
	bubble(t, func(t *testing.T, w *world) {
		alice, bob := w.waiter("alice"), w.waiter("bob")
		alice.mustClaim(demo)
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		_, err := bob.Watch(ctx, WatchRequest{Resources: []Resource{demo}})
		want(t, err, context.DeadlineExceeded)
	})
}

func TestWatchRequestIsChecked(t *testing.T) {
	bob := newWorld(t).actor("bob")
	for _, r := range []WatchRequest{
		{},
		{Resources: []Resource{demo}, For: -1},
		{Resources: []Resource{demo}, Until: "doomsday"},
	} {
		_, err := bob.Watch(t.Context(), r)
		want(t, err, ErrBadRequest)
	}
}
