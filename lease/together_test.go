package lease

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/git-worklease/git-worklease/refstore"
)

// holding is an actor with n claims of one resource each.
func (w *world) holding(name string, n int) *actor {
	w.t.Helper()
	a := w.actor(name)
	for i := range n {
		a.mustClaim(resourceN(i))
	}
	return a
}

// TestRenewSeveral: one read and one push for all claims of a session.
func TestRenewSeveral(t *testing.T) {
	w := newWorld(t)
	alice := w.holding("alice", 5)
	reads, pushes := alice.wire.reads, alice.wire.pushes
	results, err := alice.Renew(t.Context(), RenewRequest{})
	if err != nil || len(results) != 5 {
		t.Fatalf("%+v, %v", results, err)
	}
	if alice.wire.reads-reads != 1 || alice.wire.pushes-pushes != 1 {
		t.Errorf("%d reads, %d pushes", alice.wire.reads-reads, alice.wire.pushes-pushes)
	}
	for i, res := range results {
		if rec := w.tip(resourceN(i)); rec.Revision != 2 || res.Hold.Revision != 2 || len(res.Records) != 1 || res.Resources[0] != resourceN(i) {
			t.Errorf("%+v", res)
		}
	}
	reads = alice.wire.reads
	if _, err := alice.Verify(t.Context()); err != nil || alice.wire.reads-reads != 1 {
		t.Errorf("verify: %v, %d reads", err, alice.wire.reads-reads)
	}
}

// TestRenewSeveralOneLost: one claim was taken over, one is expired and nobody's, and one is not held at all. Each gets what is its due.
func TestRenewSeveralOneLost(t *testing.T) {
	w := newWorld(t)
	alice, bob := w.holding("alice", 3), w.actor("bob")
	w.advance(2 * time.Hour)
	bob.mustClaim(resourceN(1))
	results, err := alice.Renew(t.Context(), RenewRequest{Resources: []Resource{resourceN(0), resourceN(1), "task:nothing", resourceN(2)}})
	want(t, err, ErrLost)
	for i, target := range []error{nil, ErrLost, ErrNotHeld, nil} {
		if !errors.Is(results[i].Err, target) {
			t.Errorf("%d: %v", i, results[i].Err)
		}
	}
	if results[0].Late != time.Hour || results[3].Late != time.Hour {
		t.Errorf("late by %s and %s", results[0].Late, results[3].Late)
	}
	if w.tip(resourceN(1)).Holder.Agent != "bob" {
		t.Error("the other's was touched")
	}
	if _, err := alice.Verify(t.Context()); err != nil {
		t.Error(err)
	}
}

// TestRenewSeveralInTrouble: whatever becomes of the common request, each claim ends renewed, or says why not.
func TestRenewSeveralInTrouble(t *testing.T) {
	refuse := func(tx *refstore.Tx, send func() (*refstore.Report, error)) (*refstore.Report, error) {
		report := &refstore.Report{Unpack: "ok", Refused: map[string]string{}}
		bad := false
		for _, u := range tx.Updates {
			report.Refused[u.Ref] = "hook declined"
			bad = bad || u.Ref == (refs{DefaultPrefix}).claim(resourceN(1))
		}
		if bad {
			return report, nil
		}
		return send()
	}
	for name, test := range map[string]struct {
		set  func(w *world, a *actor)
		want error
	}{
		"the reply is lost":           {func(_ *world, a *actor) { a.wire.push = a.wire.loseReply }, nil},
		"not known to be atomic":      {func(_ *world, a *actor) { a.wire.unknown = true }, nil},
		"not atomic":                  {func(w *world, _ *actor) { w.repo.NotAtomic = true }, nil},
		"one is refused":              {func(_ *world, a *actor) { a.wire.push = refuse }, refstore.ErrRefused},
		"no answer":                   {func(_ *world, a *actor) { a.wire.push = (&swallow{}).push }, ErrPending},
		"another process was quicker": {func(_ *world, a *actor) { a.wire.push = a.quicker() }, nil},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			alice := w.holding("alice", 3)
			test.set(w, alice)
			results, err := alice.Renew(t.Context(), RenewRequest{})
			if !errors.Is(err, test.want) || len(results) != 3 {
				t.Fatalf("%+v, %v", results, err)
			}
			alice.wire.push = nil
			if test.want == nil {
				return
			}
			for i, res := range results {
				if alone := test.want == refstore.ErrRefused && i != 1; alone != (res.Err == nil) { //nolint:errorlint // the test's own
					t.Errorf("%d: %v", i, res.Err)
				}
			}
			if _, err := alice.Renew(t.Context(), RenewRequest{}); err != nil {
				t.Error(err)
			}
			if _, err := alice.Verify(t.Context()); err != nil {
				t.Error(err)
			}
		})
	}
}

// quicker renews one of the claims by another process just before the next push.
func (a *actor) quicker() func(*refstore.Tx, func() (*refstore.Report, error)) (*refstore.Report, error) {
	return func(_ *refstore.Tx, send func() (*refstore.Report, error)) (*refstore.Report, error) {
		a.wire.push = nil
		s := refstore.New(a.w.repo.Transport(), refstore.Options{})
		holds, err := a.local.Holds()
		if err != nil {
			return nil, fmt.Errorf("holds: %w", err)
		}
		rec := a.w.tip(resourceN(2))
		c, err := a.change(rec.renewed(refstore.OID(holds[2].Members[0].Tip), 2, rec.RenewedAt), holds[2])
		if err != nil {
			return nil, err
		}
		tx, err := s.Build(c)
		if err == nil {
			err = s.Swap(a.w.t.Context(), tx, nil)
		}
		if err != nil {
			return nil, err
		}
		return send()
	}
}

// TestRenewSlowServer: what was given up for the sake of another try is tried again, for as long as the caller has time.
func TestRenewSlowServer(t *testing.T) {
	for n := 1; n <= 2; n++ {
		in(t, func(t *testing.T, w *world) {
			alice := w.keeper("alice")
			for i := range n {
				alice.claimFor(10*time.Second, resourceN(i))
			}
			pushes := 0
			alice.wire.push = func(_ *refstore.Tx, send func() (*refstore.Report, error)) (*refstore.Report, error) {
				if pushes++; pushes == 1 { // it arrives, and the reply takes longer than a renewal may wait
					_, _ = send()
					<-time.After(6 * time.Second)
					return nil, &refstore.UnavailableError{Trouble: refstore.TroubleDeadline, Sent: true, Err: errors.New("late")}
				}
				return send()
			}
			ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
			defer cancel()
			if _, err := alice.Renew(ctx, RenewRequest{}); err != nil {
				t.Fatal(err)
			}
			if _, err := alice.Verify(ctx); err != nil {
				t.Error(err)
			}
		})
	}
}
