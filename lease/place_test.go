package lease

import (
	"crypto/ed25519"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/git-worklease/git-worklease/refstore"
)

// brought gives another clone a claim with its key.
func (a *actor) brought(h Hold, place string) {
	a.w.t.Helper()
	if err := a.local.SaveHold(h.MoveTo(place, a.o.Holder)); err != nil {
		a.w.t.Fatal(err)
	}
}

func (a *actor) verify(resources ...Resource) error {
	_, err := a.Verify(a.w.t.Context(), resources...)
	return err
}

func (a *actor) renew(resources ...Resource) error {
	_, err := a.Renew(a.w.t.Context(), RenewRequest{Resources: resources})
	return err
}

// TestMoveLeavesTheOtherBehind: once a claim was renewed where it was brought to, whoever else has its key finds it lost, and nobody before.
func TestMoveLeavesTheOtherBehind(t *testing.T) {
	w := newWorld(t)
	alice, bob, carol := w.actor("alice"), w.actor("bob"), w.actor("carol")
	h := alice.mustClaim("task:a", "task:b").Hold
	bob.brought(h, "p1")
	carol.brought(h, "p2")
	want(t, bob.verify(), ErrMoving)
	want(t, alice.verify(), nil)
	want(t, alice.renew(), nil)
	want(t, bob.Prove(t.Context(), h), nil)

	want(t, bob.renew(), nil)
	want(t, bob.verify(), nil)
	for _, left := range []*actor{alice, carol} {
		var lost *LostError
		if err := left.verify("task:b"); !errors.As(err, &lost) || lost.By.Session != "bob" || !strings.HasPrefix(lost.Reason, "moved") {
			t.Errorf("verify: %v", err)
		}
		if v := left.mustStatus("task:a")[0]; v.Mine || v.Record.Holder.Session != "bob" {
			t.Errorf("status: %+v", v)
		}
		want(t, left.renew("task:a"), ErrLost)
		want(t, left.renew("task:a"), ErrLost)
		if _, err := left.Claim(t.Context(), req("task:a")); !errors.Is(err, ErrHeld) {
			t.Errorf("claim: %v", err)
		}
	}
	want(t, alice.Prove(t.Context(), h), ErrLost)
	want(t, bob.verify(), nil)
	if rec := w.tip("task:a"); rec.Generation != 1 || rec.Released() {
		t.Errorf("record: %+v", rec)
	}
	bob.mustRelease()
}

// TestMoveOfWhatIsOver: the other end has released the claim, or somebody else has it.
func TestMoveOfWhatIsOver(t *testing.T) {
	w := newWorld(t)
	alice, bob := w.actor("alice"), w.actor("bob")
	h := alice.mustClaim("task:a").Hold
	bob.brought(h, "p1")
	alice.mustRelease()
	want(t, bob.Prove(t.Context(), h), ErrLost)
	want(t, bob.renew(), ErrLost)
	alice.mustClaim("task:a")
	want(t, bob.Prove(t.Context(), h), ErrLost)
}

// TestMoveAndRelease: what was brought can be released before it was ever renewed.
func TestMoveAndRelease(t *testing.T) {
	w := newWorld(t)
	alice, bob := w.actor("alice"), w.actor("bob")
	bob.brought(alice.mustClaim("task:a").Hold, "p1")
	bob.mustRelease()
	want(t, alice.renew(), ErrLost)
	alice.mustClaim("task:a")
}

// TestMoveIsNotImagined: replies that are lost, and renewals that land after nobody remembers them, move no claim.
func TestMoveIsNotImagined(t *testing.T) {
	for _, moved := range []bool{false, true} {
		w := newWorld(t)
		alice, bob := w.actor("alice"), w.actor("bob")
		a := alice
		h := alice.mustClaim("task:a").Hold
		if moved {
			bob.brought(h, "p1")
			a = bob
		}
		a.wire.push = a.wire.loseReply
		_ = a.renew() // held or unknown, as its settling has it
		a.wire.push = nil
		want(t, a.renew(), nil)
		want(t, a.verify(), nil)

		var late *refstore.Tx
		a.wire.push = func(tx *refstore.Tx, _ func() (*refstore.Report, error)) (*refstore.Report, error) {
			late = tx
			return nil, errBroken()
		}
		want(t, a.renew(), ErrPending)
		a.local.Die()
		a.wire.push = nil
		a.mustStatus("task:a") // forgets the renewal
		if _, err := w.repo.Transport().Push(t.Context(), late); err != nil {
			t.Fatal(err)
		}
		want(t, a.verify(), nil)
		want(t, a.renew(), nil)
	}
}

func TestHoldCheck(t *testing.T) {
	w := newWorld(t)
	good := w.actor("alice").mustClaim("task:a", "task:b").Hold
	want(t, good.Check(), nil)
	moved := good.MoveTo("p", good.Holder)
	want(t, moved.Check(), nil)
	bad := map[string]func(*Hold){
		"no key":        func(h *Hold) { h.Key = nil },
		"short key":     func(h *Hold) { h.Key = h.Key[:5] },
		"other key":     func(h *Hold) { h.Key = ed25519.NewKeyFromSeed(make([]byte, ed25519.SeedSize)) },
		"half key":      func(h *Hold) { h.Key[0]++ },
		"ended":         func(h *Hold) { h.End = &End{How: EndLost} },
		"authority":     func(h *Hold) { h.Authority = "../x" },
		"no resources":  func(h *Hold) { h.Members = nil },
		"not sorted":    func(h *Hold) { h.Members = []Member{h.Members[1], h.Members[0]} },
		"bad resource":  func(h *Hold) { h.Members[0].Resource = "a\nb" },
		"no generation": func(h *Hold) { h.Members[0].Generation = 0 },
		"ttl":           func(h *Hold) { h.TTL = 25 * time.Hour },
		"grace":         func(h *Hold) { h.Grace = -1 },
		"stamp":         func(h *Hold) { h.RenewedAt = time.Time{} },
		"revision":      func(h *Hold) { h.Revision = 0 },
		"agent":         func(h *Hold) { h.Holder.Agent = "a\x1b" },
		"place":         func(h *Hold) { h.From = []string{strings.Repeat("p", MaxName+1)} },
	}
	for name, spoil := range bad {
		h := good
		h.Members, h.Key = slices.Clone(good.Members), slices.Clone(good.Key)
		spoil(&h)
		if err := h.Check(); !errors.Is(err, ErrBadHold) {
			t.Errorf("%s: %v", name, err)
		}
	}
}
