package lease

import (
	"errors"
	"testing"
	"time"
)

// TestAsk: one question about claims of several sessions, keys and paths.
func TestAsk(t *testing.T) {
	w := newWorld(t)
	alice, bob := w.actor("alice"), w.actor("bob")
	helper := alice.process("helper")
	one, two := alice.mustClaim("task:a", "task:b").Hold, helper.mustClaim("path:src").Hold
	bob.mustClaim("task:c")
	bob.mustClaim("path:db")
	w.advance(10 * time.Minute)
	q := Question{Holds: []Hold{one, two}, Resources: []Resource{"task:c", "task:free"}, Paths: true}
	before := alice.wire.reads
	a, err := alice.Ask(t.Context(), q)
	if alice.wire.reads != before+1 {
		t.Errorf("%d reads", alice.wire.reads-before)
	}
	if err != nil || len(a.Claims) != 2 || len(a.Views) != 2 || len(a.Paths) != 2 {
		t.Fatalf("%+v, %v", a, err)
	}
	for i, c := range a.Claims {
		if c.Err != nil || c.Left != 50*time.Minute || c.Hold.Claim != q.Holds[i].Claim || c.Record == nil {
			t.Errorf("claim %d: %+v", i, c)
		}
	}
	if v := a.Views[0]; v.State != StandingHeld || v.Record.Holder.Agent != "bob" || v.Left != 50*time.Minute || a.Views[1].State != StandingFree {
		t.Errorf("views: %+v", a.Views)
	}
	if a.Paths[0].Resource != "path:db" || a.Paths[0].Mine || !a.Paths[1].Mine {
		t.Errorf("paths: %+v", a.Paths)
	}
	if a, err := alice.Ask(t.Context(), Question{}); err != nil || len(a.Claims)+len(a.Views)+len(a.Paths) != 0 {
		t.Errorf("nothing: %+v, %v", a, err)
	}
}

// TestAskAboutWhatIsOver: each way in which a claim does not stand.
func TestAskAboutWhatIsOver(t *testing.T) {
	w := newWorld(t)
	alice, bob := w.actor("alice"), w.actor("bob")
	ask := func(h Hold) error {
		t.Helper()
		a, err := alice.Ask(t.Context(), Question{Holds: []Hold{h}})
		if err != nil {
			t.Fatal(err)
		}
		return a.Claims[0].Err
	}
	h := alice.mustClaim("task:a").Hold
	unconfirmed := h
	unconfirmed.Unconfirmed = true
	if err := ask(unconfirmed); err == nil {
		t.Error("an unconfirmed claim counts")
	}
	w.advance(61 * time.Minute)
	want(t, ask(h), ErrExpired)
	w.advance(time.Hour)
	bob.mustClaim("task:a")
	want(t, ask(h), ErrLost)
	h.Authority = "other"
	var wrong *WrongAuthorityError
	if _, err := alice.Ask(t.Context(), Question{Holds: []Hold{h}}); !errors.As(err, &wrong) {
		t.Errorf("a claim of another authority: %v", err)
	}
}
