package lease

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/git-worklease/git-worklease/refstore"
)

// pools gives an actor a pool of n slots.
func pools(n int) actorOption {
	return func(o *Options) { o.Pools = map[string]int{"gpu": n} }
}

func TestPoolGivesAnySlot(t *testing.T) {
	w := newWorld(t)
	alice, bob, carol := w.actor("alice", pools(2)), w.actor("bob", pools(2)), w.actor("carol", pools(2))
	first := alice.mustClaim("pool:gpu").Hold
	if r := first.Members[0].Resource; r != "pool:gpu#1" && r != "pool:gpu#2" {
		t.Fatalf("%s", r)
	}
	w.advance(time.Minute)
	if again := alice.mustClaim("pool:gpu"); again.Outcome != Renewed || again.Hold.Claim != first.Claim {
		t.Errorf("%+v", again)
	}
	second := bob.mustClaim("pool:gpu").Hold
	if first.Members[0].Resource == second.Members[0].Resource {
		t.Fatalf("both have %s", first.Members[0].Resource)
	}
	w.advance(time.Minute)
	alice.mustClaim("pool:gpu")
	_, err := carol.Claim(t.Context(), req("pool:gpu"))
	var held *HeldError
	if !errors.As(err, &held) || held.Pool != "pool:gpu" || held.Slots != 2 || held.Resource != second.Members[0].Resource || held.Record.Holder.Agent != "bob" {
		t.Fatalf("%v, %+v", err, held) // bob's was not renewed, so it is the next to come free
	}
	if views := carol.mustStatus("task:x", "pool:gpu"); len(views) != 3 || views[1].Resource != "pool:gpu#1" || views[1].State != StandingHeld {
		t.Errorf("%+v", views)
	}
	for _, verb := range []func() error{
		func() error { _, err := alice.Verify(t.Context(), "pool:gpu"); return err },
		func() error {
			_, err := alice.Renew(t.Context(), RenewRequest{Resources: []Resource{"pool:gpu"}})
			return err
		},
	} {
		if err := verb(); err != nil {
			t.Error(err)
		}
	}
	alice.mustRelease("pool:gpu")
	if res := alice.mustRelease("pool:gpu"); !res[0].Already {
		t.Errorf("%+v", res)
	}
	if got := carol.mustClaim("pool:gpu").Hold.Members[0].Resource; got != first.Members[0].Resource {
		t.Errorf("%s", got)
	}
	_, err = alice.Verify(t.Context(), "pool:gpu")
	want(t, err, ErrNotHeld)
	_, err = alice.History(t.Context(), "pool:gpu", 0)
	want(t, err, ErrBadRequest)
}

func TestPoolTakesOverStaleSlots(t *testing.T) {
	w := newWorld(t)
	alice, bob := w.actor("alice", pools(1)), w.actor("bob", pools(1))
	alice.mustClaim("pool:gpu")
	w.advance(2 * time.Hour)
	if res := bob.mustClaim("pool:gpu"); len(res.Predecessors) != 1 {
		t.Errorf("%+v", res)
	}
}

func TestPoolBesideOthers(t *testing.T) {
	w := newWorld(t)
	alice, bob := w.actor("alice", pools(2)), w.actor("bob", pools(2))
	res := alice.mustClaim("pool:gpu", "task:x", "pool:gpu#1")
	if len(res.Hold.Members) != 3 || !res.Hold.has("pool:gpu#2") {
		t.Errorf("%+v", res.Hold.Members)
	}
	_, err := bob.Claim(t.Context(), req("pool:gpu", "task:y"))
	want(t, err, ErrHeld)
	alice.mustRelease()
	alice.mustClaim("task:y")
	_, err = bob.Claim(t.Context(), req("pool:gpu", "task:y"))
	var held *HeldError
	if !errors.As(err, &held) || held.Resource != "task:y" || held.Slots != 0 {
		t.Errorf("%v", err)
	}
	_, err = bob.Claim(t.Context(), req("pool:gpu", "pool:gpu"))
	want(t, err, ErrBadRequest)
	alice.mustClaim("pool:gpu")
	_, err = alice.Claim(t.Context(), req("pool:gpu", "task:z"))
	want(t, err, ErrMixedBundle)
}

func TestPoolsThatAreNot(t *testing.T) {
	w := newWorld(t)
	alice := w.actor("alice", pools(2))
	for _, r := range []Resource{"pool:tpu", "pool:tpu#1", "pool:gpu#3"} {
		_, err := alice.Claim(t.Context(), req(r))
		var e *PoolError
		if !errors.As(err, &e) || e.Resource != r || (e.Slots == 2) != (r == "pool:gpu#3") {
			t.Errorf("%s: %v", r, err)
		}
	}
	_, err := alice.Status(t.Context(), "pool:tpu")
	want(t, err, ErrNoPool)
	_, err = alice.Renew(t.Context(), RenewRequest{Resources: []Resource{"pool:tpu"}})
	want(t, err, ErrNotHeld)
	// A pool that has become smaller still lets go of its slots.
	alice.mustClaim("pool:gpu#2")
	less := alice.process("alice", pools(1))
	if res := less.mustClaim("pool:gpu"); res.Outcome != Renewed {
		t.Errorf("%+v", res)
	}
	less.mustRelease("pool:gpu")
	_, err = less.Claim(t.Context(), req("pool:gpu#2"))
	want(t, err, ErrNoPool)
}

// TestPoolAfterACrash: a slot that a killed process took is the session's.
func TestPoolAfterACrash(t *testing.T) {
	w := newWorld(t)
	alice := w.actor("alice", pools(3))
	alice.mustClaim("task:first")
	killed := alice.process("alice", pools(3))
	killed.wire.push = func(_ *refstore.Tx, send func() (*refstore.Report, error)) (*refstore.Report, error) {
		_, _ = send()
		panic(death{})
	}
	func() {
		defer func() { _ = recover(); killed.local.Die() }()
		_, _ = killed.Claim(t.Context(), req("pool:gpu"))
	}()
	if res := alice.mustClaim("pool:gpu"); res.Outcome != Renewed {
		t.Errorf("%+v", res)
	}
}

// TestPoolRace: more sessions than slots; each slot goes to one.
func TestPoolRace(t *testing.T) {
	w := newWorld(t)
	w.actor("first").mustClaim("task:first")
	var mu sync.Mutex
	got := map[Resource]int{}
	var refused atomic.Int32
	var group sync.WaitGroup
	for i := range 8 {
		a := w.actor(fmt.Sprintf("racer%d", i), pools(5), racer)
		group.Go(func() {
			res, err := a.Claim(context.Background(), req("pool:gpu"))
			var held *HeldError
			switch {
			case errors.As(err, &held) && held.Slots == 5:
				refused.Add(1)
			case err != nil:
				t.Error(err)
			default:
				mu.Lock()
				got[res.Hold.Members[0].Resource]++
				mu.Unlock()
			}
		})
	}
	group.Wait()
	if len(got) != 5 || refused.Load() != 3 {
		t.Errorf("%v, %d refused", got, refused.Load())
	}
}
