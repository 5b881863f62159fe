package lease

import (
	"errors"
	"testing"
	"time"

	"github.com/git-worklease/git-worklease/refstore"
)

// TestLateLanding: every request of a claim arrives long after the client gave up.
func TestLateLanding(t *testing.T) {
	w := newWorld(t)
	alice, bob := w.actor("alice"), w.actor("bob")
	alice.mustClaim("task:before")
	late := &swallow{}
	alice.wire.push = late.push
	_, err := alice.Claim(t.Context(), req(demo))
	want(t, err, ErrPending)
	if s := alice.state(demo); s != StandingPending {
		t.Errorf("state %s", s)
	}
	if views := alice.mustStatus(); len(views) != 2 || views[0].State != StandingHeld && views[1].State != StandingHeld {
		t.Errorf("%+v", views)
	}
	_, err = alice.Verify(t.Context(), demo)
	want(t, err, ErrPending)
	_, err = alice.Claim(t.Context(), req(demo))
	want(t, err, ErrPending)
	late.land(t)
	if v := alice.mustStatus(demo)[0]; v.State != StandingHeld || !v.Mine {
		t.Errorf("%+v", v)
	}
	if !alice.noticed(NoticeSettled) {
		t.Error("nothing was said of it")
	}
	_, err = bob.Claim(t.Context(), req(demo))
	want(t, err, ErrHeld)
}

// TestLateLandingAgainstARival: the rival was first, so the late request must never count.
func TestLateLandingAgainstARival(t *testing.T) {
	w := newWorld(t)
	alice, bob := w.actor("alice"), w.actor("bob")
	alice.mustClaim("task:before")
	late := &swallow{}
	alice.wire.push = late.push
	_, err := alice.Claim(t.Context(), req(demo, "port:1"))
	want(t, err, ErrPending)
	bob.mustClaim("port:1")
	late.land(t)
	alice.wire.push = nil
	_, err = alice.Claim(t.Context(), req(demo, "port:1"))
	want(t, err, ErrHeld)
	if rec := w.tip(demo); rec != nil {
		t.Errorf("half of it landed: %+v", rec)
	}
}

// TestPendingIsSentAgain: a claim whose request never arrived is sent again, identically, by the session's next claim.
func TestPendingIsSentAgain(t *testing.T) {
	w := newWorld(t)
	alice := w.actor("alice")
	alice.mustClaim("task:before")
	lost := &swallow{}
	alice.wire.push = lost.push
	_, err := alice.Claim(t.Context(), req(demo))
	want(t, err, ErrPending)
	alice.wire.push = nil
	res := alice.mustClaim(demo)
	if res.Outcome != Renewed || w.tip(demo).Generation != 1 || w.tip(demo).Revision != 2 {
		t.Errorf("%+v", res)
	}
	lost.land(t)
	if w.tip(demo).Revision != 2 {
		t.Error("the old request changed something")
	}
}

// TestReleaseIsSentAgainBesideItsSession: a release whose request never arrived is sent again by another process of its session. The claim stands
// meanwhile, and the first process must not think that it may go on. Other sessions of the clone have no part in it.
func TestReleaseIsSentAgainBesideItsSession(t *testing.T) {
	w := newWorld(t)
	alice := w.actor("alice")
	alice.mustClaim(demo)
	second, carol := alice.process("alice"), alice.process("carol")
	alice.wire.push = (&swallow{}).push
	_, err := alice.Release(t.Context(), ReleaseRequest{Resources: []Resource{demo}})
	want(t, err, ErrPending)
	asked := false
	second.wire.push = func(_ *refstore.Tx, send func() (*refstore.Report, error)) (*refstore.Report, error) {
		if asked {
			return send()
		}
		asked = true
		_, err := alice.Verify(t.Context(), demo)
		var p *PendingError
		if !errors.As(err, &p) || !p.Busy || p.Verb != VerbRelease {
			t.Errorf("its session was told %v", err)
		}
		if s := alice.state(demo); s != StandingPending {
			t.Errorf("its session saw %s", s)
		}
		_, err = carol.Verify(t.Context(), demo)
		want(t, err, ErrNotHeld)
		return send()
	}
	second.mustRelease(demo)
	if !asked || !w.tip(demo).Released() {
		t.Errorf("asked %v, %+v", asked, w.tip(demo))
	}
	_, err = alice.Verify(t.Context(), demo)
	want(t, err, ErrNotHeld)
}

// TestReleasedAndTakenUnheard: a release lands, and nobody of the clone hears so before another claims. It was no loss, whichever verb finds that out.
func TestReleasedAndTakenUnheard(t *testing.T) {
	for verb, ask := range map[string]func(*actor) error{
		"release": func(a *actor) error {
			res, err := a.Release(t.Context(), ReleaseRequest{Resources: []Resource{demo}})
			if err == nil && !res[0].Already {
				t.Errorf("%+v", res[0])
			}
			return err
		},
		"renew": func(a *actor) error { return a.renew(demo) },
		"move": func(a *actor) error {
			_, err := a.Move(t.Context(), MoveRequest{To: "other", Resources: []Resource{demo}})
			return err
		},
	} {
		w := newWorld(t)
		alice, bob := w.actor("alice"), w.actor("bob")
		alice.mustClaim(demo)
		blind := alice.goBlind()
		alice.wire.push = func(tx *refstore.Tx, send func() (*refstore.Report, error)) (*refstore.Report, error) {
			defer func() { blind.reads = 20 }()
			return alice.wire.loseReply(tx, send)
		}
		_, err := alice.Release(t.Context(), ReleaseRequest{Resources: []Resource{demo}})
		want(t, err, ErrPending)
		bob.mustClaim(demo)
		err = ask(alice.process("alice"))
		if verb == "release" && err != nil || verb != "release" && (!errors.Is(err, ErrNotHeld) || errors.Is(err, ErrLost)) {
			t.Errorf("%s: %v", verb, err)
		}
		if err := bob.verify(demo); err != nil {
			t.Error(err)
		}
	}
}

// TestReleaseBeginsWhileVerified: a process looks whether its claim stands, and another of its session begins to release it before the answer is there.
func TestReleaseBeginsWhileVerified(t *testing.T) {
	w := newWorld(t)
	alice := w.actor("alice")
	alice.mustClaim(demo)
	second := alice.process("alice")
	second.wire.push = (&swallow{}).push
	alice.wire.listed = func(map[string]refstore.OID) {
		_, err := second.Release(t.Context(), ReleaseRequest{Resources: []Resource{demo}})
		want(t, err, ErrPending)
	}
	_, err := alice.Verify(t.Context(), demo)
	var p *PendingError
	if !errors.As(err, &p) || p.Verb != VerbRelease || p.Busy {
		t.Errorf("%v", err)
	}
}

// TestVerifyMindsOnlyItsOwn: a claim of unknown outcome is no doubt of another session of the clone, which does not hold the resource however it ends.
func TestVerifyMindsOnlyItsOwn(t *testing.T) {
	w := newWorld(t)
	alice := w.actor("alice")
	alice.mustClaim("task:before")
	alice.wire.push = (&swallow{}).push
	_, err := alice.Claim(t.Context(), req(demo))
	want(t, err, ErrPending)
	_, err = alice.process("carol").Verify(t.Context(), demo)
	want(t, err, ErrNotHeld)
	_, err = alice.Verify(t.Context(), demo)
	want(t, err, ErrPending)
}

// TestPendingExpires: nobody waits for a write that can't matter any more.
func TestPendingExpires(t *testing.T) {
	w := newWorld(t)
	alice := w.actor("alice")
	alice.mustClaim("task:before")
	alice.wire.push = (&swallow{}).push
	_, err := alice.Claim(t.Context(), req(demo))
	want(t, err, ErrPending)
	w.advance(time.Hour)
	if s := alice.state(demo); s != StandingPending {
		t.Errorf("state %s", s)
	}
	w.advance(time.Minute)
	if s := alice.state(demo); s != StandingFree {
		t.Errorf("state %s", s)
	}
}

// TestSeenBeforeSaved: another process of the session reads a claim that has landed and is not yet saved, and claims the same.
func TestSeenBeforeSaved(t *testing.T) {
	w := newWorld(t)
	alice, bob := w.actor("alice"), w.actor("bob")
	bob.mustClaim(demo)
	alice.mustStatus(demo)
	w.advance(2 * time.Hour)
	second := alice.process("alice")
	alice.wire.push = func(_ *refstore.Tx, send func() (*refstore.Report, error)) (*refstore.Report, error) {
		report, err := send()
		second.mustStatus(demo)
		if _, err := second.Claim(t.Context(), req(demo)); !errors.Is(err, ErrPending) {
			t.Errorf("the second got %v", err)
		}
		return report, err
	}
	alice.mustClaim(demo)
	// The same after the first was killed.
	alice.mustRelease(demo)
	bob.mustClaim(demo)
	w.advance(2 * time.Hour)
	if !alice.killedSending(true, claimAll([]Resource{demo})) || w.tip(demo).Holder.Agent != "alice" {
		t.Fatalf("not killed, or too early: %+v", w.tip(demo))
	}
	w.advance(time.Second)
	if _, err := second.List(t.Context()); err != nil {
		t.Fatal(err)
	}
	if res := second.mustClaim(demo); res.Outcome != Renewed {
		t.Errorf("%+v", res)
	}
}

// TestRenewalLeftBehind: a renewal of a killed process is not sent again by anybody else.
func TestRenewalLeftBehind(t *testing.T) {
	w := newWorld(t)
	alice := w.actor("alice")
	alice.mustClaim(demo)
	w.advance(30 * time.Minute)
	if !alice.killedSending(false, func(a *actor) { _, _ = a.Renew(t.Context(), RenewRequest{}) }) {
		t.Fatal("not killed")
	}
	other := alice.process("other")
	_, err := other.Claim(t.Context(), req(demo))
	want(t, err, ErrHeld)
	if rec := w.tip(demo); rec.Revision != 1 {
		t.Errorf("it was renewed: %+v", rec)
	}
	w.advance(31 * time.Minute)
	other.mustClaim(demo)
	_, err = alice.Renew(t.Context(), RenewRequest{})
	want(t, err, ErrLost)
}

// TestRefusalInDoubt: the server refuses what is sent again, which says nothing of the request before.
func TestRefusalInDoubt(t *testing.T) {
	w := newWorld(t)
	alice := w.actor("alice")
	alice.mustClaim("task:before")
	late := &swallow{}
	alice.wire.push = late.push
	_, err := alice.Claim(t.Context(), req(demo))
	want(t, err, ErrPending)
	alice.wire.push = func(*refstore.Tx, func() (*refstore.Report, error)) (*refstore.Report, error) {
		return &refstore.Report{Unpack: "ok", Refused: map[string]string{refs{DefaultPrefix}.claim(demo): "busy"}}, nil
	}
	_, err = alice.Claim(t.Context(), req(demo))
	want(t, err, ErrPending)
	late.land(t)
	if v := alice.mustStatus(demo)[0]; !v.Mine {
		t.Errorf("%+v", v)
	}
}
