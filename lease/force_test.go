package lease

import (
	"errors"
	"sync"
	"testing"
	"time"

	"github.com/git-worklease/git-worklease/refstore"
)

// after runs act once, between what a verb has decided and its next push.
func (a *actor) after(act func()) func(*refstore.Tx, func() (*refstore.Report, error)) (*refstore.Report, error) {
	return func(_ *refstore.Tx, send func() (*refstore.Report, error)) (*refstore.Report, error) {
		a.wire.push = nil
		act()
		return send()
	}
}

func (a *actor) mustForce(r Resource) ForceResult {
	a.w.t.Helper()
	res, err := a.Force(a.w.t.Context(), ForceRequest{Resources: []Resource{r}, Reason: "left the company"})
	if err != nil {
		a.w.t.Fatal(err)
	}
	return res[0]
}

// TestForce frees what is live, expired, stale or reserved. The record keeps its place in the resource's numbers, says who did it, and the next
// claim goes on from there, in a clone that saw the claim before and in one that did not.
func TestForce(t *testing.T) {
	for name, before := range map[string]func(w *world, alice *actor){
		"live":    func(*world, *actor) {},
		"expired": func(w *world, _ *actor) { w.advance(time.Hour + time.Second) },
		"stale":   func(w *world, _ *actor) { w.advance(2 * time.Hour) },
		"reserved": func(_ *world, alice *actor) {
			alice.mustHandOver(ReleaseRequest{For: "zoe", Resources: []Resource{demo}})
		},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			alice, bob, carol := w.actor("alice"), w.actor("bob"), w.actor("carol")
			alice.mustClaim(demo)
			carol.mustStatus(demo)
			before(w, alice)
			was := w.tip(demo)
			res := bob.mustForce(demo)
			now := w.tip(demo)
			if now.Generation != was.Generation || now.Revision != was.Revision+1 || now.Claim == was.Claim || now.Holder != was.Holder {
				t.Errorf("%+v after %+v", now, was)
			}
			if rel := now.Release; !now.Released() || !rel.Forced || rel.By.Agent != "bob" || rel.Reason != "left the company" || rel.ReservedFor != "" {
				t.Errorf("%+v", now.Release)
			}
			if res.Displaced.Claim != was.Claim || res.Record.Claim != now.Claim {
				t.Errorf("%+v", res)
			}
			if s := alice.state(demo); s != StandingReleased {
				t.Errorf("to its holder it is %s", s)
			}
			for _, a := range []*actor{carol, w.actor("dave")} {
				claimed := a.mustClaim(demo)
				if claimed.Records[0].Generation <= was.Generation {
					t.Errorf("%+v", claimed.Records[0])
				}
				a.mustRelease(demo)
			}
			entries, err := bob.History(t.Context(), demo, 0)
			if err != nil || !historyHas(entries, EventForced) {
				t.Errorf("%+v, %v", entries, err)
			}
		})
	}
}

func historyHas(entries []Entry, event Event) bool {
	for _, e := range entries {
		if e.Event == event {
			return true
		}
	}
	return false
}

// TestForcedHolderLearns: its next verb says by whom and why, and gives the rest of the bundle back. The file remembers it.
func TestForcedHolderLearns(t *testing.T) {
	w := newWorld(t)
	alice, bob := w.actor("alice"), w.actor("bob")
	alice.mustClaim(demo, "port:1", "port:2")
	bob.mustForce("port:1")
	for _, verb := range []func() error{
		func() error { _, err := alice.Verify(t.Context(), demo); return err },
		func() error { _, err := alice.Renew(t.Context(), RenewRequest{}); return err },
		func() error {
			_, err := alice.Renew(t.Context(), RenewRequest{Resources: []Resource{demo}})
			return err
		},
		func() error {
			_, err := alice.Release(t.Context(), ReleaseRequest{Resources: []Resource{demo}})
			return err
		},
	} {
		err := verb()
		var lost *LostError
		if want(t, err, ErrLost); !errors.As(err, &lost) || lost.By == nil || lost.By.Agent != "bob" || lost.Words != "left the company" || lost.Reason != "released by force" {
			t.Fatalf("%+v", lost)
		}
	}
	for _, r := range []Resource{demo, "port:2"} {
		if rec := w.tip(r); !rec.Released() || rec.Release.Forced {
			t.Errorf("%s: %+v", r, rec.Release)
		}
	}
	bob.mustClaim(demo, "port:1", "port:2")
	alice.mustClaim("task:other")

	bob.mustForce("task:other")
	bob.mustClaim("task:other")
	err := alice.renewal("task:other")
	var lost *LostError
	if want(t, err, ErrLost); !errors.As(err, &lost) || lost.Reason != "released by force, and claimed since" {
		t.Errorf("%+v", lost)
	}
}

// TestForceFindsNothing: free, released, lapsed and already forced.
func TestForceFindsNothing(t *testing.T) {
	w := newWorld(t)
	alice, bob := w.actor("alice"), w.actor("bob")
	force := func() error {
		_, err := bob.Force(t.Context(), ForceRequest{Resources: []Resource{demo}, Reason: "x"})
		return err
	}
	alice.mustClaim("task:other")
	want(t, force(), ErrFree)
	alice.mustClaim(demo)
	bob.mustForce(demo)
	want(t, force(), ErrFree)
	alice.mustClaim(demo)
	alice.mustHandOver(ReleaseRequest{Resources: []Resource{demo}, For: "zoe"})
	w.advance(time.Hour + 30*time.Second)
	want(t, force(), ErrFree)
	if rec := w.tip(demo); rec.Release.Forced {
		t.Errorf("%+v", rec)
	}
	for _, bad := range []ForceRequest{{Resources: []Resource{demo}}, {Reason: "x"}, {Resources: []Resource{demo}, Reason: "a\nb"}, {Resources: []Resource{demo, demo}, Reason: "x"}} {
		if _, err := bob.Force(t.Context(), bad); !errors.Is(err, ErrBadRequest) && !errors.Is(err, ErrBadResource) {
			t.Errorf("%+v: %v", bad, err)
		}
	}
}

// TestForceRefusesWhatCantBeJudged names the reason.
func TestForceRefusesWhatCantBeJudged(t *testing.T) {
	for name, c := range map[string]struct {
		edit func(*Record)
		want error
	}{
		"of another authority": {func(r *Record) { r.Authority = "bb" }, ErrWrongAuthority},
		"of another resource":  {func(r *Record) { r.Resource, r.Members = "task:else", []Resource{"task:else"} }, ErrCorrupt},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			bob := w.actor("bob")
			bob.mustClaim("task:other")
			meta, err := bob.local.Meta()
			if err != nil {
				t.Fatal(err)
			}
			r := foreignRecord(meta.Authority, "")
			r.Resource, r.Members = demo, []Resource{demo}
			c.edit(r)
			message, err := r.encode(testKey(9))
			if err != nil {
				t.Fatal(err)
			}
			w.put(refs{DefaultPrefix}.claim(demo), message)
			_, err = bob.Force(t.Context(), ForceRequest{Resources: []Resource{demo}, Reason: "x"})
			want(t, err, c.want)
		})
	}
}

// TestForceHitsWhoWasMeant: the holder may renew meanwhile and is displaced all the same; whoever took over meanwhile is not.
func TestForceHitsWhoWasMeant(t *testing.T) {
	w := newWorld(t)
	alice, bob, carol := w.actor("alice"), w.actor("bob"), w.actor("carol")
	alice.mustClaim(demo)
	bob.wire.push = bob.after(func() {
		if _, err := alice.Renew(t.Context(), RenewRequest{}); err != nil {
			t.Error(err)
		}
	})
	bob.mustForce(demo)
	_, err := alice.Renew(t.Context(), RenewRequest{})
	want(t, err, ErrLost)

	alice.mustClaim(demo)
	w.advance(2 * time.Hour)
	bob.wire.push = bob.after(func() { carol.mustClaim(demo) })
	_, err = bob.Force(t.Context(), ForceRequest{Resources: []Resource{demo}, Reason: "x"})
	var held *HeldError
	if want(t, err, ErrHeld); !errors.As(err, &held) || held.Record.Holder.Agent != "carol" {
		t.Errorf("%v", err)
	}
	if _, err := carol.Verify(t.Context(), demo); err != nil {
		t.Error(err)
	}
}

// TestForceWithoutAReply: what has landed is found; where that can't be told, it is said, and nothing of the clone's is in the way afterwards.
func TestForceWithoutAReply(t *testing.T) {
	w := newWorld(t)
	alice, bob := w.actor("alice"), w.actor("bob")
	alice.mustClaim(demo)
	bob.wire.push = bob.wire.loseReply
	bob.mustForce(demo)
	alice.mustClaim(demo)
	late := &swallow{}
	bob.wire.push = late.push
	_, err := bob.Force(t.Context(), ForceRequest{Resources: []Resource{demo}, Reason: "x"})
	want(t, err, ErrPending)
	bob.wire.push = nil
	if left, busy, _ := bob.local.Pending(); len(left)+len(busy) != 0 {
		t.Errorf("%d intents", len(left)+len(busy))
	}
	late.land(t)
	if rec := w.tip(demo); !rec.Released() || !rec.Release.Forced {
		t.Errorf("%+v", rec)
	}
	bob.mustClaim(demo)
}

// TestForcedByTheHoldersOwnKey: a record that says forced and is signed by the claim's key is a release by whoever has that key.
func TestForcedByTheHoldersOwnKey(t *testing.T) {
	w := newWorld(t)
	alice := w.actor("alice")
	alice.mustClaim(demo)
	holds, err := alice.local.Holds()
	if err != nil {
		t.Fatal(err)
	}
	s, err := alice.read(t.Context(), []Resource{demo})
	if err != nil {
		t.Fatal(err)
	}
	by := Holder{Agent: "mallory", Session: "m"}
	tip := s.tips[demo]
	message, err := tip.rec.tombstone(tip.oid, 2, Release{Forced: true, By: &by, Reason: "x", At: epoch, Outcome: OutcomeDone}).encode(holds[0].Key)
	if err != nil {
		t.Fatal(err)
	}
	tx, err := alice.store.Build(refstore.Change{Ref: alice.refs.claim(demo), Old: tip.oid, Message: message, When: epoch})
	if err == nil {
		err = alice.store.Swap(t.Context(), tx, nil)
	}
	if err != nil {
		t.Fatal(err)
	}
	_, err = alice.Renew(t.Context(), RenewRequest{Resources: []Resource{demo}})
	want(t, err, ErrLost)
	if res := alice.mustRelease(demo); !res[0].Already {
		t.Errorf("%+v", res)
	}
	alice.mustClaim(demo)
}

// TestForceAgainstRenewals: however they interleave, the claim ends, and no renewal comes back from it.
func TestForceAgainstRenewals(t *testing.T) {
	for range 20 {
		w := newWorld(t)
		alice, bob := w.actor("alice", racer), w.actor("bob", racer)
		alice.mustClaim(demo, "port:1")
		var group sync.WaitGroup
		for _, r := range []Resource{demo, "port:1"} {
			group.Go(func() {
				res, err := bob.Force(t.Context(), ForceRequest{Resources: []Resource{r}, Reason: "x"})
				if err != nil && !errors.Is(err, ErrFree) { // the holder has given it back, having lost the other
					t.Error(res, err)
				}
			})
		}
		group.Go(func() {
			for {
				_, err := alice.Renew(t.Context(), RenewRequest{Resources: []Resource{demo}})
				if errors.Is(err, ErrLost) {
					return
				}
				if err != nil {
					t.Error(err)
					return
				}
			}
		})
		group.Wait()
		for _, r := range []Resource{demo, "port:1"} {
			if rec := w.tip(r); !rec.Released() {
				t.Fatalf("%s: %+v", r, rec)
			}
		}
	}
}
