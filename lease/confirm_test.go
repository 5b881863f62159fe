package lease

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/git-worklease/git-worklease/refstore"
)

// swapped leaves a claim of path behind that has landed, and whose process was killed before it could look again.
func (a *actor) swapped(path Resource) {
	a.w.t.Helper()
	if !a.killedSending(true, claimAll([]Resource{path})) {
		a.w.t.Fatalf("%s: not killed", path)
	}
}

// TestUnconfirmedCountsOnceLookedAt: a claim that landed before its process was killed counts for each verb that looks whether another
// overlaps.
func TestUnconfirmedCountsOnceLookedAt(t *testing.T) {
	for name, verb := range map[string]func(a *actor) error{
		"claim": func(a *actor) error { _, err := a.Claim(t.Context(), req("path:src")); return err },
		"renew": func(a *actor) error {
			_, err := a.Renew(t.Context(), RenewRequest{Resources: []Resource{"path:src"}})
			return err
		},
		"status": func(a *actor) error {
			if v := a.mustStatus("path:src")[0]; !v.Mine || v.State != StandingHeld {
				return v.Problem
			}
			return nil
		},
		"list": func(a *actor) error {
			a.mustStatus("path:src") // which settles
			views, err := a.List(t.Context())
			if err == nil && !views[0].Mine {
				err = views[0].Problem
			}
			return err
		},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			alice := w.actor("alice")
			alice.mustClaim("task:first")
			alice.mustRelease("task:first")
			alice.swapped("path:src")
			if err := verb(alice.process("alice")); err != nil {
				t.Fatal(err)
			}
			if _, err := alice.Verify(t.Context(), "path:src"); err != nil || w.holdOf(alice).Unconfirmed {
				t.Errorf("%v", err)
			}
			if left, busy, _ := alice.local.Pending(); len(left)+len(busy) > 0 {
				t.Errorf("%d intents are left", len(left)+len(busy))
			}
		})
	}
}

// TestBothUnconfirmed: two claims that overlap have both landed, and both processes were killed before they could look again. Neither counts
// until one of them is withdrawn.
func TestBothUnconfirmed(t *testing.T) {
	w := newWorld(t)
	alice, bob := w.actor("alice"), w.actor("bob")
	alice.mustClaim("task:first")
	bothSwapped(alice, bob)
	for _, a := range []*actor{alice, bob} {
		path := w.pathOf(a)
		if v := a.mustStatus(path)[0]; v.Mine || v.State != StandingPending || v.Takeable {
			t.Errorf("%+v", v)
		}
		_, err := a.Verify(t.Context(), path)
		want(t, err, ErrPending)
	}
	_, err := alice.Renew(t.Context(), RenewRequest{})
	var lost *LostError
	if !errors.As(err, &lost) || lost.Resource != "path:src" || lost.By.Agent != "bob" || lost.Reason != "overlapped" {
		t.Fatalf("%v", err)
	}
	if _, err := bob.Verify(t.Context(), "path:src/a"); err != nil {
		t.Error(err)
	}
	_, err = alice.Renew(t.Context(), RenewRequest{Resources: []Resource{"path:src"}})
	want(t, err, ErrNotHeld)
	_, err = alice.Claim(t.Context(), req("path:src"))
	want(t, err, ErrHeld)
}

// bothSwapped: alice has path:src and bob path:src/a, neither of which was confirmed, and both intents were settled.
func bothSwapped(alice, bob *actor) {
	w := alice.w
	died := bob.killedBy(&fate{}, func(_ *refstore.Tx, send func() (*refstore.Report, error)) (*refstore.Report, error) {
		alice.swapped("path:src") // after bob has looked for the first time
		if report, err := send(); err != nil || !report.OK() {
			w.t.Fatalf("%+v, %v", report, err)
		}
		panic(death{})
	}, claimAll([]Resource{"path:src/a"}))
	if !died {
		w.t.Fatal("bob was not killed")
	}
	for _, a := range []*actor{alice, bob} {
		if _, err := a.settle(w.t.Context(), false, nil); err != nil {
			w.t.Fatal(err)
		}
		if h := w.holdOf(a); !h.Unconfirmed || h.End != nil {
			w.t.Fatalf("%+v", h)
		}
	}
}

func (w *world) pathOf(a *actor) Resource { return w.holdOf(a).Members[0].Resource }

// TestOneProcessDecides: while the process that claims is between its second look, which found nothing, and its conclusion from that, a rival's
// claim lands, and another process of the session withdraws because of it. Then the first must not say that it holds.
func TestOneProcessDecides(t *testing.T) {
	w := newWorld(t)
	alice, bob := w.actor("alice"), w.actor("bob")
	alice.mustClaim("task:first")
	second := alice.process("alice")
	bob.wire.push = func(_ *refstore.Tx, send func() (*refstore.Report, error)) (*refstore.Report, error) {
		bob.wire.push = nil
		alice.wire.listed = func(map[string]refstore.OID) { // alice's first look
			alice.wire.listed = func(map[string]refstore.OID) { // and the second
				report, err := send()
				if err != nil || !report.OK() {
					t.Errorf("%+v, %v", report, err)
				}
				_, err = second.Renew(t.Context(), RenewRequest{Resources: []Resource{"path:src"}})
				want(t, err, ErrLost)
			}
		}
		_, err := alice.Claim(t.Context(), req("path:src"))
		want(t, err, ErrHeld)
		return &refstore.Report{Unpack: "ok"}, nil
	}
	bob.mustClaim("path:src/a")
	if _, err := bob.Verify(t.Context(), "path:src/a"); err != nil {
		t.Error(err)
	}
	if rec := w.tip("path:src"); !rec.Released() {
		t.Errorf("%+v", rec)
	}
}

// TestConfirmedStays: once one process has found that the claim counts, no other withdraws it because of a rival that it saw.
func TestConfirmedStays(t *testing.T) {
	w := newWorld(t)
	alice, bob := w.actor("alice"), w.actor("bob")
	alice.mustClaim("task:first")
	alice.mustRelease("task:first")
	alice.swapped("path:src")
	first, second := alice.process("alice"), alice.process("alice")
	bob.mustStatus("path:src/a")
	second.mustStatus("path:src") // settles what was left, and confirms the claim
	h := w.holdOf(alice)
	if h.Unconfirmed {
		t.Fatal("not confirmed")
	}
	// A process that has read the file before that, and finds a rival whose claim has just landed.
	h.Unconfirmed = true
	rival := bob.mustClaim("task:x").Hold
	rec := *w.tip("path:src")
	rec.raw = nil
	rec.Resource, rec.Members, rec.Claim, rec.Prev, rec.Holder = "path:src/a", []Resource{"path:src/a"}, rival.Claim, "", bob.o.Holder
	message, err := rec.encode(rival.Key)
	if err != nil {
		t.Fatal(err)
	}
	w.put(refs{DefaultPrefix}.claim("path:src/a"), message)
	now, err := first.confirmPaths(t.Context(), h, true)
	if err != nil || now.Unconfirmed || w.tip("path:src").Released() {
		t.Fatalf("%+v, %v", now, err)
	}
	if err := alice.local.SaveHold(h); err != nil || w.holdOf(alice).Unconfirmed {
		t.Errorf("the file forgot that it was confirmed: %v", err)
	}
}

// gone is a server that does not answer reads.
type gone struct{ refstore.Transport }

func (gone) Refs(context.Context, []string) (map[string]refstore.OID, error) {
	return nil, &refstore.UnavailableError{Trouble: refstore.TroubleNetwork, Err: errors.New("gone")}
}

// TestLookFails: the claim has landed and the second look finds no server. Nobody can say whether it is held.
func TestLookFails(t *testing.T) {
	w := newWorld(t)
	alice := w.actor("alice")
	alice.mustClaim("task:first")
	broken := alice.process("alice")
	broken.wire.push = func(_ *refstore.Tx, send func() (*refstore.Report, error)) (*refstore.Report, error) {
		defer func() { broken.wire.Transport = gone{broken.wire.Transport} }()
		return send()
	}
	_, err := broken.Claim(t.Context(), req("path:src"))
	want(t, err, ErrPending)
	if h := w.holdOf(alice); !h.Unconfirmed {
		t.Error("confirmed without a look")
	}
	if res := alice.mustClaim("path:src"); res.Outcome != Renewed || res.Hold.Unconfirmed {
		t.Errorf("%+v", res)
	}
}

// TestConfirmedBeforeCorrected: a stamp that is put right, and a reply that takes longer than the claim lasts, go with the second look.
func TestConfirmedBeforeCorrected(t *testing.T) {
	w := newWorld(t)
	w.dated = true
	alice, bob := w.actor("alice"), w.actor("bob")
	alice.clock.off = -time.Minute
	alice.mustClaim("path:src")
	bob.mustRelease()
	if rec := w.tip("path:src"); !rec.RenewedAt.Equal(w.time()) || w.holdOf(alice).Unconfirmed {
		t.Errorf("%+v", rec)
	}
	slow := w.actor("slow")
	slow.mustStatus("path:lib")
	slow.wire.push = func(_ *refstore.Tx, send func() (*refstore.Report, error)) (*refstore.Report, error) {
		slow.wire.push = nil
		report, err := send()
		w.advance(2 * time.Hour)
		bob.mustClaim("path:lib/x")
		bob.mustRelease("path:lib/x")
		return report, err
	}
	slow.mustClaim("path:lib")
	if _, err := slow.Verify(t.Context(), "path:lib"); err != nil || w.tip("path:lib").Generation != 2 {
		t.Errorf("%v, generation %d", err, w.tip("path:lib").Generation)
	}
}

// TestKilledAtEveryStepOfAPath: wherever a process is killed that claims, ends what overlaps, withdraws or confirms, no two hold paths that
// overlap, nothing is held by a key that is lost, and the session's next claim is granted or refused.
func TestKilledAtEveryStepOfAPath(t *testing.T) {
	bundle := []Resource{"path:src", "port:2"}
	for name, c := range map[string]struct {
		before func(w *world, alice, bob *actor)
		verb   func(*actor)
	}{
		"claim": {func(*world, *actor, *actor) {}, claimAll(bundle)},
		"claim that ends another": {func(w *world, _, bob *actor) {
			bob.mustClaim("path:src/a")
			w.advance(2 * time.Hour)
		}, claimAll(bundle)},
		"confirmation": {func(_ *world, alice, _ *actor) { alice.swapped("path:src") },
			func(a *actor) { _, _ = a.Renew(a.w.t.Context(), RenewRequest{Resources: bundle[:1]}) }},
		"withdrawal": {func(_ *world, alice, bob *actor) { bothSwapped(alice, bob) },
			func(a *actor) { _, _ = a.Renew(a.w.t.Context(), RenewRequest{Resources: bundle[:1]}) }},
		"release unconfirmed": {func(_ *world, alice, _ *actor) { alice.swapped("path:src") },
			func(a *actor) { _, _ = a.Release(a.w.t.Context(), ReleaseRequest{Resources: bundle[:1]}) }},
	} {
		for _, rival := range []string{"none", "first", "later"} {
			t.Run(name+", rival "+rival, func(t *testing.T) {
				steps := 0
				for n := 1; ; n++ {
					w := newWorld(t)
					alice, bob := w.actor("alice"), w.actor("bob")
					alice.mustClaim("task:before")
					c.before(w, alice, bob)
					if !alice.killed(n, c.verb) {
						break
					}
					steps++
					w.afterPathCrash(fmt.Sprintf("step %d", n), alice, bob, rival)
				}
				if steps < 8 {
					t.Errorf("only %d steps", steps)
				}
			})
		}
	}
}

func (w *world) afterPathCrash(at string, alice, bob *actor, rival string) {
	w.t.Helper()
	all := []Resource{"path:src", "path:src/a", "port:2"}
	w.ownedOf(at+", crashed", all, alice, bob)
	next := alice.process("alice")
	theirs := false
	contend := func() {
		_, err := bob.Claim(w.t.Context(), req("path:src/a"))
		if theirs = err == nil; !theirs && !errors.Is(err, ErrHeld) {
			w.t.Fatalf("%s: the rival got %v", at, err)
		}
	}
	verified := func() bool {
		_, err := next.Verify(w.t.Context(), "path:src")
		return err == nil
	}
	if rival == "first" {
		contend()
	}
	ours := verified()
	if rival == "later" {
		contend()
	}
	if theirs && (ours || verified()) {
		w.t.Fatalf("%s: both hold", at)
	}
	_, err := next.Claim(w.t.Context(), req("path:src"))
	if err == nil && theirs || err != nil && !errors.Is(err, ErrHeld) {
		w.t.Fatalf("%s: the rival holds: %t, and the next claim got %v", at, theirs, err)
	}
	w.ownedOf(at+", claimed again", all, alice, bob)
	if err != nil {
		return
	}
	if left, busy, _ := next.local.Pending(); len(left)+len(busy) > 0 {
		w.t.Fatalf("%s: %d intents are left, %d busy", at, len(left), len(busy))
	}
	if !verified() {
		w.t.Fatalf("%s: claimed, and not held", at)
	}
}

// TestOneOfTwoNewClaimsStays: of two claims that have landed and see each other, the one with the lesser ID waits for the other to give way.
func TestOneOfTwoNewClaimsStays(t *testing.T) {
	for _, stays := range []string{"alice", "bob"} {
		w := newWorld(t)
		alice, bob := w.actor("alice"), w.actor("bob")
		alice.mustClaim("task:first")
		for n := 0; n == 0 || (w.holdOf(alice).Claim < w.holdOf(bob).Claim) != (stays == "alice"); n++ {
			bothSwapped(alice, bob)
			if (w.holdOf(alice).Claim < w.holdOf(bob).Claim) != (stays == "alice") {
				alice.mustRelease("path:src")
				bob.mustRelease("path:src/a")
			}
		}
		first, second := alice, bob
		if stays == "bob" {
			first, second = bob, alice
		}
		looks := 0
		first.wire.listed = func(map[string]refstore.OID) {
			looks++
			_, err := second.Renew(t.Context(), RenewRequest{Resources: []Resource{w.pathOf(second)}})
			want(t, err, ErrLost)
		}
		if _, err := first.Renew(t.Context(), RenewRequest{Resources: []Resource{w.pathOf(first)}}); err != nil || looks != 1 {
			t.Errorf("%s: %v after %d looks", stays, err, looks)
		}
	}
}
