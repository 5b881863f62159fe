package lease

import (
	"testing"
	"time"
)

func (a *actor) were(epochs ...Epoch) []Past {
	a.w.t.Helper()
	pasts, err := a.Were(a.w.t.Context(), epochs)
	if err != nil {
		a.w.t.Fatal(err)
	}
	return pasts
}

func (a *actor) expectPast(r Resource, pasts map[Generation]Past) {
	a.w.t.Helper()
	for g, want := range pasts {
		if got := a.were(Epoch{r, g})[0]; got != want {
			a.w.t.Errorf("%s %d: %s, want %s", r, g, got, want)
		}
	}
}

func TestWere(t *testing.T) {
	w := newWorld(t)
	alice, bob := w.actor("alice"), w.actor("bob")
	alice.expectPast(demo, map[Generation]Past{1: PastNever})
	alice.mustClaim(demo)
	alice.expectPast(demo, map[Generation]Past{1: PastWas, 2: PastNever, 0: PastNever})
	alice.mustRelease(demo)
	bob.mustClaim(demo)
	for range 100 { // more than are read at first
		w.advance(time.Minute)
		if _, err := bob.Renew(t.Context(), RenewRequest{}); err != nil {
			t.Fatal(err)
		}
	}
	bob.mustRelease(demo)
	alice.mustClaim(demo)
	alice.mustClaim("task:other")
	w.actor("carol").expectPast(demo, map[Generation]Past{1: PastWas, 2: PastWas, 3: PastWas, 4: PastNever})
	got := bob.were(Epoch{demo, 1}, Epoch{"task:other", 1}, Epoch{demo, 9}, Epoch{"task:other", 2}, Epoch{"task:none", 1})
	for i, want := range []Past{PastWas, PastWas, PastNever, PastNever, PastNever} {
		if got[i] != want {
			t.Errorf("%d: %s, want %s", i, got[i], want)
		}
	}
}

// TestWereAfterCollecting: what gc has deleted can't be told any more, also once the resource is claimed anew.
func TestWereAfterCollecting(t *testing.T) {
	w, alice := buried(t, 1)
	w.advance(long)
	alice.apply()
	w.advance(3 * day)
	if done := alice.apply(); done.Deleted != 1 {
		t.Fatalf("%+v", done)
	}
	floor := alice.mustCollect(CollectRequest{}).Floor
	alice.expectPast(demo, map[Generation]Past{1: PastGone, floor: PastGone, floor + 1: PastNever})
	if g := alice.mustClaim(demo).Hold.Members[0].Generation; g != floor+1 {
		t.Fatalf("generation %d above a floor of %d", g, floor)
	}
	alice.expectPast(demo, map[Generation]Past{1: PastGone, floor: PastGone, floor + 1: PastWas, floor + 2: PastNever})
}

// TestWereBelowWhatCantBeRead: a damaged record hides what it was, and nothing else.
func TestWereBelowWhatCantBeRead(t *testing.T) {
	w := newWorld(t)
	alice := w.actor("alice")
	alice.mustClaim(demo)
	w.spoil(demo)
	w.actor("bob").expectPast(demo, map[Generation]Past{1: PastWas, 2: PastGone})
}

func TestWereRefuses(t *testing.T) {
	w := newWorld(t)
	alice := w.actor("alice")
	_, err := alice.Were(t.Context(), []Epoch{{"", 1}})
	want(t, err, ErrBadResource)
	if pasts, err := alice.Were(t.Context(), nil); pasts != nil || err != nil {
		t.Errorf("%v, %v", pasts, err)
	}
}
