package lease

import (
	"errors"
	"testing"
	"time"

	"github.com/git-worklease/git-worklease/refstore"
)

// TestSettledWhereStampsAreMinded: what a killed process never sent is settled by its session's next command also where the server takes the stamp for too
// old by then; it is the session's, or over, and its time counts from when it landed.
func TestSettledWhereStampsAreMinded(t *testing.T) {
	for name, c := range crashes() {
		if name == "half applied" || name == "renew" || name == "checkpoint" { // no server that judges is not atomic; renewals are not sent again
			continue
		}
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			w.guard()
			alice, bob := w.actor("alice"), w.actor("bob")
			c.before(w, alice, bob)
			if !alice.killedSending(false, c.verb) {
				t.Fatal("not killed")
			}
			w.advance(10 * time.Minute)
			next := alice.process("alice")
			c.verb(next)
			if left, busy, err := alice.local.Pending(); err != nil || len(left)+len(busy) > 0 {
				t.Errorf("%d intents are left, %v", len(left)+len(busy), err)
			}
			w.owned(name, alice, bob)
			for _, h := range must(alice.local.Holds()) {
				if rec := w.tip(h.Members[0].Resource); h.End == nil && !rec.RenewedAt.Equal(h.RenewedAt) {
					t.Errorf("%s: the file has %s, and the record %s", h.Members[0].Resource, h.RenewedAt, rec.RenewedAt)
				}
			}
		})
	}
}

func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}

// TestOneOfTwoStampsLands: a request that was held up on its way, and the same stamped anew, replace the same object, and the claim lasts as long as the one
// says that has landed.
func TestOneOfTwoStampsLands(t *testing.T) {
	for _, first := range []string{"the old one", "the new one"} {
		t.Run(first, func(t *testing.T) {
			w := newWorld(t)
			alice := w.actor("alice")
			alice.mustClaim("task:before")
			var late swallow
			alice.killedBy(&fate{}, func(tx *refstore.Tx, send func() (*refstore.Report, error)) (*refstore.Report, error) {
				_, _ = late.push(tx, send)
				panic(death{})
			}, claimAll([]Resource{demo}))
			w.advance(10 * time.Minute)
			next := alice.process("alice")
			refusals := 0
			next.wire.push = func(_ *refstore.Tx, send func() (*refstore.Report, error)) (*refstore.Report, error) {
				if refusals++; refusals <= 4 { // the identical request, as often as it is sent
					return &refstore.Report{Unpack: "ok", Refused: map[string]string{refs{DefaultPrefix}.claim(demo): "stamp"}}, nil
				}
				if first == "the old one" && refusals == 5 {
					late.land(t)
				}
				return send()
			}
			if _, err := next.Claim(t.Context(), req(demo)); err != nil {
				t.Fatal(err)
			}
			if first == "the new one" {
				late.land(t)
			}
			rec, h := w.tip(demo), w.holdOf(alice)
			if rec.Claim != h.Claim || !rec.RenewedAt.Equal(h.RenewedAt) || rec.Generation != 1 {
				t.Errorf("%+v, and the file has %+v", rec, h)
			}
			if _, err := next.Verify(t.Context(), demo); err != nil && !errors.Is(err, ErrExpired) {
				t.Error(err)
			}
		})
	}
}

// TestOfTwoStampsNoneIsHeard: what was sent anew lands unheard. The next command takes the claim for this session's, and no record for one that was rolled back.
func TestOfTwoStampsNoneIsHeard(t *testing.T) {
	w := newWorld(t)
	alice := w.actor("alice")
	alice.mustClaim("task:before")
	alice.killedBy(&fate{}, func(*refstore.Tx, func() (*refstore.Report, error)) (*refstore.Report, error) { panic(death{}) }, claimAll([]Resource{demo}))
	w.advance(10 * time.Minute)
	next := alice.process("alice")
	sent := 0
	var late swallow
	next.wire.push = func(tx *refstore.Tx, send func() (*refstore.Report, error)) (*refstore.Report, error) {
		if sent++; sent <= 4 { // the identical request, as often as it is sent
			return &refstore.Report{Unpack: "ok", Refused: map[string]string{refs{DefaultPrefix}.claim(demo): "stamp"}}, nil
		}
		return late.push(tx, send)
	}
	if _, err := next.Claim(t.Context(), req(demo)); !errors.Is(err, ErrPending) {
		t.Fatal(err)
	}
	late.land(t)
	last := alice.process("alice")
	for range 2 {
		if _, err := last.Renew(t.Context(), RenewRequest{Resources: []Resource{demo}}); err != nil {
			t.Error(err)
		}
	}
	if rec, h := w.tip(demo), w.holdOf(alice); rec.Claim != h.Claim || rec.Generation != 1 || rec.Revision != 3 {
		t.Errorf("%+v, and the file has %+v", rec, h)
	}
}
