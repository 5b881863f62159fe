package lease

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/git-worklease/git-worklease/refstore"
)

// blind is a way to the server on which the next reads fail.
type blind struct {
	refstore.Transport
	reads int
}

func (b *blind) Refs(ctx context.Context, prefixes []string) (map[string]refstore.OID, error) {
	if b.reads > 0 {
		b.reads--
		return gone{}.Refs(ctx, prefixes)
	}
	return b.Transport.Refs(ctx, prefixes)
}

func (a *actor) goBlind() *blind {
	b := &blind{Transport: a.wire.Transport}
	a.wire.Transport = b
	return b
}

// early does something before the next read.
type early struct {
	refstore.Transport
	do func()
}

func (e *early) Refs(ctx context.Context, prefixes []string) (map[string]refstore.OID, error) {
	if do := e.do; do != nil {
		e.do = nil
		do()
	}
	return e.Transport.Refs(ctx, prefixes)
}

// TestPoolBesideItsSlots: a pool whose every slot is in the same request is a bad request, not a claim of nothing.
func TestPoolBesideItsSlots(t *testing.T) {
	w := newWorld(t)
	alice := w.actor("alice", pools(1))
	for range 2 { // never claimed, and released
		res, err := alice.Claim(t.Context(), req("pool:gpu", "pool:gpu#1"))
		if want(t, err, ErrBadRequest); res != nil {
			t.Errorf("%+v", res)
		}
		alice.mustClaim("pool:gpu#1")
		alice.mustRelease("pool:gpu#1")
	}
}

// TestPoolOfEveryVerb: a pool stands for the slot that the session holds, whatever the verb.
func TestPoolOfEveryVerb(t *testing.T) {
	w := newWorld(t)
	alice := w.actor("alice", pools(2))
	alice.mustClaim("pool:gpu")
	pool := []Resource{"pool:gpu"}
	if _, err := alice.Checkpoint(t.Context(), CheckpointRequest{Resources: pool, Data: []byte("1")}); err != nil {
		t.Error(err)
	}
	if _, err := alice.Move(t.Context(), MoveRequest{Resources: pool, To: "next"}); err != nil {
		t.Error(err)
	}
	next := alice.process("next", pools(2))
	if _, err := next.Verify(t.Context(), pool...); err != nil {
		t.Error(err)
	}
}

// TestWatchPool: a pool is free as soon as any of its slots is, as it is for a claim.
func TestWatchPool(t *testing.T) {
	w := newWorld(t)
	alice, bob := w.actor("alice", pools(2)), w.actor("bob", pools(2))
	alice.mustClaim("pool:gpu#1")
	watch := WatchRequest{Resources: []Resource{"pool:gpu"}, For: time.Hour, Tell: func([]View, error) { w.advance(time.Minute) }}
	if views, err := bob.Watch(t.Context(), watch); err != nil || len(views) != 2 {
		t.Errorf("%+v, %v", views, err)
	}
	alice.mustClaim("pool:gpu#2")
	watch.For = time.Minute
	_, err := bob.Watch(t.Context(), watch)
	want(t, err, ErrTimeUp)
}

// TestWaitForPoolStoppedInDoubt: a waiter is told to stop while the swap of a slot is under way, whose reply is lost. The slot is given back.
func TestWaitForPoolStoppedInDoubt(t *testing.T) {
	w := newWorld(t)
	bob := w.actor("bob", pools(1))
	bob.mustClaim("task:before")
	bob.mustRelease("task:before")
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	blind := bob.goBlind()
	bob.wire.push = func(tx *refstore.Tx, send func() (*refstore.Report, error)) (*refstore.Report, error) {
		bob.wire.push = nil
		cancel()
		blind.reads = 1
		return bob.wire.loseReply(tx, send)
	}
	_, err := bob.Wait(ctx, waitFor(time.Hour, "pool:gpu"))
	if want(t, err, context.Canceled); errors.Is(err, ErrPending) {
		t.Error(err)
	}
	nothingLeft(t, w, &actor{w: w, local: bob.local}, "stopped", nil)
	if rec := w.tip("pool:gpu#1"); rec == nil || !rec.Released() {
		t.Errorf("%+v", rec)
	}
}

// TestWaitClaimsWhatItTook: the wait takes a path in one try and can only look around in the next. It has claimed it, and does not call it held before.
func TestWaitClaimsWhatItTook(t *testing.T) {
	w := newWorld(t)
	bob := w.actor("bob")
	bob.mustClaim("task:before")
	blind := bob.goBlind()
	bob.wire.push = func(_ *refstore.Tx, send func() (*refstore.Report, error)) (*refstore.Report, error) {
		bob.wire.push = nil
		blind.reads = 1
		return send()
	}
	res, err := bob.Wait(t.Context(), waitFor(time.Hour, "path:src"))
	if err != nil || res.Outcome != Claimed {
		t.Errorf("%+v, %v", res, err)
	}
}

// TestMoveOfWhatIsConfirmed: a process hands a path claim on that it has read before another confirmed it. It counts in the other session as well.
func TestMoveOfWhatIsConfirmed(t *testing.T) {
	w := newWorld(t)
	alice := w.actor("alice")
	alice.mustClaim("task:first")
	alice.swapped("path:src")
	mover, second := alice.process("alice"), alice.process("alice")
	if _, err := mover.settle(t.Context(), true, nil); err != nil {
		t.Fatal(err)
	}
	mover.wire.listed = func(map[string]refstore.OID) { second.mustStatus("path:src") } // which confirms it
	if _, err := mover.Move(t.Context(), MoveRequest{Resources: []Resource{"path:src"}, To: "next"}); err != nil {
		t.Fatal(err)
	}
	if h := w.holdOf(alice.process("next")); h.Unconfirmed {
		t.Error("the next session's claim does not count any more")
	}
}

// TestMoveOfWhatOverlaps: a path claim that came at the same time as another's is withdrawn rather than handed on.
func TestMoveOfWhatOverlaps(t *testing.T) {
	w := newWorld(t)
	alice, bob := w.actor("alice"), w.actor("bob")
	alice.mustClaim("task:first")
	bothSwapped(alice, bob)
	_, err := alice.Move(t.Context(), MoveRequest{Resources: []Resource{"path:src"}, To: "next"})
	want(t, err, ErrLost)
	if rec := w.tip("path:src"); !rec.Released() {
		t.Errorf("%+v", rec)
	}
}

// a release, now and later.
func TestReleasedStaysReleased(t *testing.T) {
	w := newWorld(t)
	alice, bob := w.actor("alice"), w.actor("bob")
	alice.mustClaim("task:1")
	second := alice.process("alice")
	second.wire.Transport = &early{second.wire.Transport, func() {
		alice.mustRelease("task:1")
		bob.mustClaim("task:1")
	}}
	if _, err := second.Renew(t.Context(), RenewRequest{}); err == nil {
		t.Error("renewed")
	}
	if h := w.holdOf(alice); h.End == nil || h.End.How != EndReleased {
		t.Errorf("%+v", h.End)
	}
	if res := alice.mustRelease("task:1"); !res[0].Already {
		t.Errorf("%+v", res)
	}
}
