package lease

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/git-worklease/git-worklease/refstore"
)

// TestLostReplies: a reply that is lost changes nothing of what a verb reports.
func TestLostReplies(t *testing.T) {
	w := newWorld(t)
	alice := w.actor("alice")
	alice.wire.push = alice.wire.loseReply
	res := alice.mustClaim(demo, "port:1")
	if _, err := alice.Verify(t.Context(), demo); err != nil {
		t.Fatal(err)
	}
	if rec := w.tip(demo); rec.Claim != res.Hold.Claim || rec.Revision != 1 {
		t.Errorf("%+v", rec)
	}
	if _, err := alice.Renew(t.Context(), RenewRequest{}); err != nil || w.tip(demo).Revision != 2 {
		t.Errorf("%+v, %v", w.tip(demo), err)
	}
	alice.mustRelease(demo)
	if !w.tip("port:1").Released() {
		t.Error("not released")
	}
}

// TestReleaseOvertaken: the reply to a release is lost, and a rival claims before it is looked for.
func TestReleaseOvertaken(t *testing.T) {
	w := newWorld(t)
	alice, bob := w.actor("alice"), w.actor("bob")
	alice.mustClaim(demo)
	alice.wire.push = func(_ *refstore.Tx, send func() (*refstore.Report, error)) (*refstore.Report, error) {
		if _, err := send(); err != nil {
			return nil, err
		}
		bob.mustClaim(demo)
		if _, err := bob.Renew(t.Context(), RenewRequest{}); err != nil {
			t.Error(err)
		}
		return nil, errBroken()
	}
	if res := alice.mustRelease(demo); res[0].Hold.End == nil || res[0].Hold.End.How != EndReleased {
		t.Errorf("%+v", res)
	}
	if rec := w.tip(demo); rec.Holder.Agent != "bob" || rec.Released() {
		t.Errorf("bob's was touched: %+v", rec)
	}
}

// TestReleaseTooLate: the claim was taken over while its release was under way.
func TestReleaseTooLate(t *testing.T) {
	w := newWorld(t)
	alice, bob := w.actor("alice"), w.actor("bob")
	alice.mustClaim(demo)
	w.advance(2 * time.Hour)
	alice.wire.push = func(_ *refstore.Tx, send func() (*refstore.Report, error)) (*refstore.Report, error) {
		alice.wire.push = nil
		bob.mustClaim(demo)
		return send()
	}
	_, err := alice.Release(t.Context(), ReleaseRequest{Resources: []Resource{demo}})
	want(t, err, ErrLost)
}

// TestRefusals: errors of the store pass through, and nothing stays open.
func TestRefusals(t *testing.T) {
	w := newWorld(t)
	alice := w.actor("alice")
	alice.mustClaim("task:before")
	for name, tt := range map[string]struct {
		push func(tx *refstore.Tx, _ func() (*refstore.Report, error)) (*refstore.Report, error)
		want error
	}{
		"refused": {func(*refstore.Tx, func() (*refstore.Report, error)) (*refstore.Report, error) {
			return &refstore.Report{Unpack: "ok", Words: "no", Refused: map[string]string{refs{DefaultPrefix}.claim(demo): "hook declined"}}, nil
		}, refstore.ErrRefused},
		"unavailable": {func(*refstore.Tx, func() (*refstore.Report, error)) (*refstore.Report, error) {
			return nil, &refstore.UnavailableError{Trouble: refstore.TroubleAuth, Err: errors.New("401")}
		}, refstore.ErrUnavailable},
		"unsupported": {func(*refstore.Tx, func() (*refstore.Report, error)) (*refstore.Report, error) {
			return nil, &refstore.UnsupportedError{Feature: refstore.FeatureAtomic}
		}, ErrNotAtomic},
	} {
		alice.wire.push = tt.push
		_, err := alice.Claim(t.Context(), req(demo))
		if !errors.Is(err, tt.want) || errors.Is(err, ErrPending) {
			t.Errorf("%s: %v", name, err)
		}
		if s := alice.state(demo); s != StandingFree {
			t.Errorf("%s: state %s", name, s)
		}
	}
	alice.wire.push = nil
	alice.mustClaim(demo)
}

// TestFullDisk: the claim landed and can't be saved; the intent still has it.
func TestFullDisk(t *testing.T) {
	w := newWorld(t)
	alice := w.actor("alice")
	alice.mustClaim("task:before")
	full := &actor{w: w, clock: alice.clock, local: alice.local.Process("alice")}
	full.connect(fullDisk{full.local}, "alice")
	_, err := full.Claim(t.Context(), req(demo))
	want(t, err, ErrPending)
	want(t, err, errFull)
	if v := alice.mustStatus(demo)[0]; !v.Mine {
		t.Errorf("%+v", v)
	}
}

var errFull = errors.New("disk full")

type fullDisk struct{ Local }

func (fullDisk) SaveHold(Hold) error { return errFull }

func TestCancelled(t *testing.T) {
	w := newWorld(t)
	alice := w.actor("alice")
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err := alice.Claim(ctx, req(demo))
	want(t, err, context.Canceled)
	if len(w.repo.Refs()) != 0 {
		t.Errorf("%v", w.repo.Refs())
	}
}

// TestBusyWriter: another process of the session is in the middle of the same claim.
func TestBusyWriter(t *testing.T) {
	w := newWorld(t)
	alice := w.actor("alice")
	alice.mustClaim("task:before")
	second := alice.process("alice")
	alice.wire.push = func(_ *refstore.Tx, send func() (*refstore.Report, error)) (*refstore.Report, error) {
		_, err := second.Claim(t.Context(), req(demo))
		var p *PendingError
		if !errors.As(err, &p) || !p.Busy {
			t.Errorf("the second got %v", err)
		}
		if s := second.state(demo); s != StandingPending {
			t.Errorf("the second saw %s", s)
		}
		if s := second.state("task:other"); s != StandingFree {
			t.Errorf("another resource is %s", s)
		}
		return send()
	}
	alice.mustClaim(demo)
	alice.wire.push = nil
	if res := second.mustClaim(demo); res.Outcome != Renewed {
		t.Errorf("%+v", res)
	}
}

// TestServerLosesAtomicity: a server that was atomic stops to be. What it grants in part is given back, one by one where need be.
func TestServerLosesAtomicity(t *testing.T) {
	w := newWorld(t)
	alice, bob := w.actor("alice"), w.actor("bob")
	bob.mustClaim("port:2")
	alice.mustClaim("port:8", "port:9")
	w.repo.NotAtomic = true
	alice.wire.push = func(tx *refstore.Tx, send func() (*refstore.Report, error)) (*refstore.Report, error) {
		if len(tx.Updates) == 2 {
			return nil, &refstore.UnsupportedError{Feature: refstore.FeatureAtomic}
		}
		return send()
	}
	_, err := alice.Claim(t.Context(), req("port:1", "port:2", "port:3"))
	want(t, err, ErrNotAtomic)
	for _, r := range []Resource{"port:1", "port:3"} {
		if rec := w.tip(r); !rec.Released() || rec.Release.Reason != "withdrawn" {
			t.Errorf("%+v", rec)
		}
	}
	alice.mustRelease("port:8")
	if !w.tip("port:8").Released() || !w.tip("port:9").Released() {
		t.Error("not released one by one")
	}
}

// TestTornView: a listing that was read while refs moved is read again before a claim is given up.
func TestTornView(t *testing.T) {
	w := newWorld(t)
	alice := w.actor("alice")
	alice.mustClaim("port:1", "port:2")
	alice.wire.listed = func(listed map[string]refstore.OID) { delete(listed, refs{DefaultPrefix}.claim("port:2")) }
	if _, err := alice.Renew(t.Context(), RenewRequest{}); err != nil {
		t.Fatal(err)
	}
	if rec := w.tip("port:1"); rec.Released() || rec.Revision != 2 {
		t.Errorf("%+v", rec)
	}
}

// TestTornAtTheFounding: a listing that was read while another's claim founded the authority shows the one and not yet the other. It is no
// authority that is gone.
func TestTornAtTheFounding(t *testing.T) {
	w := newWorld(t)
	w.actor("alice").mustClaim("port:1")
	for name, ask := range map[string]func(*actor) error{
		"claim":  func(a *actor) error { _, err := a.Claim(t.Context(), req("port:2")); return err },
		"status": func(a *actor) error { _, err := a.Status(t.Context(), "port:1"); return err },
		"list":   func(a *actor) error { _, err := a.List(t.Context()); return err },
	} {
		bob := w.actor("bob-" + name)
		torn := func(listed map[string]refstore.OID) { delete(listed, refs{DefaultPrefix}.meta()) }
		bob.wire.listed = torn
		if err := ask(bob); err != nil || bob.wire.listed != nil {
			t.Errorf("%s: %v", name, err)
		}
		carol := w.actor("carol-" + name)
		carol.wire.listed = func(listed map[string]refstore.OID) { torn(listed); carol.wire.listed = torn }
		if err := ask(carol); name != "claim" && !errors.Is(err, ErrAuthorityGone) {
			t.Errorf("%s, shown twice: %v", name, err)
		}
	}
}

// TestClaimTellsOfALoss: a claim that goes on from one that was lost says so. A release is no loss.
func TestClaimTellsOfALoss(t *testing.T) {
	w := newWorld(t)
	alice, bob := w.actor("alice"), w.actor("bob")
	alice.mustClaim(demo, "port:1")
	w.repo.Set(refs{DefaultPrefix}.claim(demo), "")
	if alice.mustClaim(demo); !alice.noticed(NoticeLost) {
		t.Error("the deletion of the ref was passed over")
	}
	alice.notices = nil
	alice.process("alice").mustRelease(demo)
	alice.mustClaim(demo)
	w.advance(3 * time.Hour)
	alice.mustClaim(demo) // late, and nobody took it
	if alice.noticed(NoticeLost) {
		t.Errorf("%+v", alice.notices)
	}
	w.advance(3 * time.Hour)
	bob.mustClaim(demo)
	if _, err := alice.Claim(t.Context(), req(demo)); !errors.Is(err, ErrHeld) || !alice.noticed(NoticeLost) {
		t.Errorf("%v, %+v", err, alice.notices)
	}
}

// TestReleasedByAnother: a process of the same session is first.
func TestReleasedByAnother(t *testing.T) {
	w := newWorld(t)
	alice := w.actor("alice")
	alice.mustClaim(demo)
	second := alice.process("alice")
	alice.wire.listed = func(map[string]refstore.OID) {
		w.advance(time.Second)
		second.mustRelease(demo)
		w.advance(time.Second)
	}
	if res := alice.mustRelease(demo); res[0].Hold.End == nil {
		t.Errorf("%+v", res)
	}
	alice.mustClaim(demo)
	alice.wire.listed = func(map[string]refstore.OID) { second.mustRelease(demo) }
	_, err := alice.Renew(t.Context(), RenewRequest{})
	want(t, err, ErrNotHeld)
	// And a claim, of what is being released, claims it anew.
	alice.mustClaim(demo)
	alice.wire.listed = func(map[string]refstore.OID) { second.mustRelease(demo) }
	if res := alice.mustClaim(demo); res.Outcome != Claimed {
		t.Errorf("%+v", res)
	}
}

// TestLongNames: what stands at a ref whose name says nothing is judged by what it is.
func TestLongNames(t *testing.T) {
	w := newWorld(t)
	alice := w.actor("alice")
	long := Resource("task:" + strings.Repeat("é", 400))
	alice.mustClaim(long)
	if v := alice.mustStatus(long)[0]; !v.Mine {
		t.Errorf("%+v", v)
	}
	views, err := alice.List(t.Context())
	if err != nil || len(views) != 1 || views[0].Resource != long {
		t.Fatalf("%+v, %v", views, err)
	}
	oid := w.repo.Refs()[refs{DefaultPrefix}.claim(long)]
	elsewhere := refs{DefaultPrefix}.claim(long + "x")
	w.repo.Set(elsewhere, oid)
	views, err = alice.List(t.Context())
	if err != nil || len(views) != 2 {
		t.Fatalf("%+v, %v", views, err)
	}
	for _, v := range views {
		if (v.State == StandingCorrupt) != (v.Ref == elsewhere) {
			t.Errorf("%+v", v)
		}
	}
}
