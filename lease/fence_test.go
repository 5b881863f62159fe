package lease

import (
	"errors"
	"slices"
	"testing"
	"time"

	"github.com/git-worklease/git-worklease/refstore"
)

// branch is a branch at the server that is pushed together with claims.
type branch struct {
	w    *world
	tip  refstore.OID
	sent int
	// before is called before each push, with its number.
	before func(n int)
	// push stands in for the push itself.
	push func(tx *refstore.Tx, send func() (*refstore.Report, error)) (*refstore.Report, error)
}

var errBranch = errors.New("the branch was refused")

func (b *branch) send(ctx Context, tx *refstore.Tx, olds []refstore.Object) error {
	b.sent++
	if b.before != nil {
		b.before(b.sent)
	}
	if len(olds) != len(tx.Updates) || slices.ContainsFunc(olds, func(o refstore.Object) bool { return tx.Format.Hash("commit", o.Content) != o.OID }) {
		b.w.t.Errorf("the commits below %v are not in %v", tx.Updates, olds)
	}
	code, err := refstore.BuildTx(tx.Format, refstore.Change{Ref: "refs/heads/main", Old: b.tip, Message: []byte("code"), When: epoch.Add(time.Duration(b.sent) * time.Second)})
	if err != nil {
		return err
	}
	all := &refstore.Tx{Format: tx.Format, Updates: append(slices.Clone(tx.Updates), code.Updates...)}
	send := func() (*refstore.Report, error) { return b.w.repo.Transport().Push(ctx, all) }
	report, err := send, error(nil)
	if b.push != nil {
		report = func() (*refstore.Report, error) { return b.push(all, send) }
	}
	switch got, gotErr := report(); {
	case gotErr != nil:
		return &refstore.UndecidedError{Err: gotErr}
	case !got.OK():
		return errBranch
	}
	b.tip = code.Updates[0].New
	return err
}

// at says whether the branch has moved as often as is said.
func (b *branch) at(t *testing.T, commits int) {
	t.Helper()
	s := refstore.New(b.w.repo.Transport(), refstore.Options{})
	listed, err := s.List(t.Context(), "refs/heads/main")
	if err != nil {
		t.Fatal(err)
	}
	n := 0
	if len(listed) > 0 {
		chain, err := s.Log(t.Context(), listed[0].Commit.OID, 100)
		if err != nil {
			t.Fatal(err)
		}
		n = len(chain)
	}
	if n != commits {
		t.Errorf("%d commits on the branch, want %d", n, commits)
	}
}

func (a *actor) fence(t *testing.T, b *branch, resources ...Resource) ([]RenewResult, error) {
	t.Helper()
	return a.Fence(t.Context(), FenceRequest{Resources: resources, Send: b.send})
}

// TestFence: code and all claims move together, and the claims' time starts anew.
func TestFence(t *testing.T) {
	w := newWorld(t)
	alice, main := w.actor("alice"), &branch{w: w}
	if _, err := alice.fence(t, main); !errors.Is(err, ErrNotHeld) {
		t.Fatal(err)
	}
	alice.mustClaim(demo, "port:1")
	alice.mustClaim("task:other")
	w.advance(20 * time.Minute)
	results, err := alice.fence(t, main)
	if err != nil || len(results) != 2 || main.sent != 1 {
		t.Fatalf("%+v, %v", results, err)
	}
	main.at(t, 1)
	for _, r := range []Resource{demo, "port:1", "task:other"} {
		if rec := w.tip(r); rec.Revision != 2 || !rec.RenewedAt.Equal(w.time()) {
			t.Errorf("%s: %+v", r, rec)
		}
	}
	for _, r := range results {
		if r.Err != nil || r.Hold.Revision != 2 || r.Hold.Left(w.time(), alice.clock.Instant()) != time.Hour {
			t.Errorf("%+v", r)
		}
	}
	if _, err := alice.fence(t, main, "port:1"); err != nil || w.tip(demo).Revision != 3 || w.tip("task:other").Revision != 2 {
		t.Errorf("%v", err)
	}
	main.at(t, 2)
}

// TestFenceExpired: what nobody took still does.
func TestFenceExpired(t *testing.T) {
	w := newWorld(t)
	alice, main := w.actor("alice"), &branch{w: w}
	alice.mustClaim(demo)
	w.advance(3 * time.Hour)
	if _, err := alice.fence(t, main); err != nil || !alice.noticed(NoticeLate) {
		t.Errorf("%v, %v", err, alice.notices)
	}
	main.at(t, 1)
}

// TestFenceLost: where the claim is lost, before the push or while it is under way, the branch stays where it was.
func TestFenceLost(t *testing.T) {
	for name, when := range map[string]int{"before": 0, "meanwhile": 1} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			alice, bob, main := w.actor("alice"), w.actor("bob"), &branch{w: w}
			alice.mustClaim("task:other")
			alice.mustClaim(demo, "port:1")
			take := func(n int) {
				if n == when {
					w.advance(2 * time.Hour)
					bob.mustClaim(demo)
				}
			}
			take(0)
			main.before = take
			_, err := alice.fence(t, main)
			var lost *LostError
			if !errors.As(err, &lost) || lost.By.Agent != "bob" || main.sent != when {
				t.Fatalf("%v after %d pushes", err, main.sent)
			}
			main.at(t, 0)
			if rec := w.tip(demo); rec.Holder.Agent != "bob" || rec.Revision != 1 {
				t.Errorf("bob's claim was touched: %+v", rec)
			}
			if !w.tip("port:1").Released() || w.tip("task:other").Revision != 1 {
				t.Error("the rest of the bundle was not given back, or another claim was touched")
			}
			if _, err := alice.fence(t, main, "task:other"); err != nil {
				t.Error(err)
			}
		})
	}
}

// copied is another clone with the same claims, whose processes don't take turns with this one's.
func (a *actor) copied(t *testing.T) *actor {
	t.Helper()
	b := &actor{w: a.w, clock: a.clock, local: NewMemoryLocal(a.local.session)}
	b.connect(b.local, a.local.session)
	holds, err := a.local.Holds()
	if err != nil {
		t.Fatal(err)
	}
	for _, h := range holds {
		if err := b.local.SaveHold(h); err != nil {
			t.Fatal(err)
		}
	}
	return b
}

// TestFenceAgain: where the claim was renewed meanwhile by its own session, the push is sent again, three times at most.
func TestFenceAgain(t *testing.T) {
	for name, tt := range map[string]struct {
		renewals, sent int
		want           error
	}{
		"once": {1, 2, nil}, "three times": {3, 4, nil}, "for ever": {100, 4, refstore.ErrConflict},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			alice, main := w.actor("alice"), &branch{w: w}
			alice.mustClaim(demo)
			other := alice.copied(t)
			main.before = func(n int) {
				if n <= tt.renewals {
					if _, err := other.Renew(t.Context(), RenewRequest{}); err != nil {
						t.Error(err)
					}
				}
			}
			_, err := alice.fence(t, main)
			if !errors.Is(err, tt.want) || main.sent != tt.sent || !alice.noticed(NoticeAgain) && tt.want == nil {
				t.Errorf("%v after %d pushes", err, main.sent)
			}
			moved := 0
			if tt.want == nil {
				moved = 1
			}
			main.at(t, moved)
			if left, busy, err := alice.local.Pending(); err != nil || len(left)+len(busy) > 0 {
				t.Errorf("intents were left: %v", left)
			}
		})
	}
}

// TestFenceRefused: where the code is refused for reasons of its own, that is the error, and the claim is as it was.
func TestFenceRefused(t *testing.T) {
	w := newWorld(t)
	alice, main := w.actor("alice"), &branch{w: w, tip: "1234567890123456789012345678901234567890"}
	alice.mustClaim(demo)
	if _, err := alice.fence(t, main); !errors.Is(err, errBranch) || errors.Is(err, ErrPending) || main.sent != 1 {
		t.Errorf("%v after %d pushes", err, main.sent)
	}
	main.at(t, 0)
	if rec := w.tip(demo); rec.Revision != 1 {
		t.Errorf("%+v", rec)
	}
	main.tip = ""
	if _, err := alice.fence(t, main); err != nil {
		t.Error(err)
	}
}

// TestFenceUnknown: a push whose reply is lost has landed if the claim shows it; otherwise it is UNKNOWN until the next verb has looked, and
// what never landed keeps nobody from pushing again.
func TestFenceUnknown(t *testing.T) {
	w := newWorld(t)
	alice, main := w.actor("alice"), &branch{w: w}
	alice.mustClaim(demo)
	main.push = alice.wire.loseReply
	if _, err := alice.fence(t, main); err != nil {
		t.Fatal(err)
	}
	main.at(t, 1)

	var kept swallow
	main = &branch{w: w, tip: branchTip(t, w), push: kept.push}
	_, err := alice.fence(t, main)
	var pending *PendingError
	if !errors.As(err, &pending) || pending.Verb != VerbPush || pending.Busy {
		t.Fatal(err)
	}
	main.at(t, 1)
	kept.land(t)
	main.at(t, 2)
	if _, err := alice.Renew(t.Context(), RenewRequest{}); err != nil || !alice.noticed(NoticeSettled) || w.tip(demo).Revision != 4 {
		t.Errorf("%v, %v", err, alice.notices)
	}

	main = &branch{w: w, tip: branchTip(t, w), push: (&swallow{}).push}
	if _, err := alice.fence(t, main); !errors.Is(err, ErrPending) {
		t.Error(err)
	}
	main.push = nil
	if _, err := alice.process("alice").fence(t, main); err != nil {
		t.Error(err)
	}
	main.at(t, 3)
}

func branchTip(t *testing.T, w *world) refstore.OID {
	t.Helper()
	tips, err := w.repo.Transport().Refs(t.Context(), []string{"refs/heads/"})
	if err != nil {
		t.Fatal(err)
	}
	return tips["refs/heads/main"]
}

// TestFenceTakesLong: where most of the claim's time has gone by until the push landed, the claim is renewed once more.
func TestFenceTakesLong(t *testing.T) {
	for name, d := range map[string]time.Duration{"most of its time": 40 * time.Minute, "longer": 2 * time.Hour} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			alice, main := w.actor("alice"), &branch{w: w}
			alice.mustClaim(demo)
			main.before = func(int) { w.advance(d) }
			results, err := alice.fence(t, main)
			if err != nil || results[0].Err != nil || results[0].Hold.Revision != 3 {
				t.Fatalf("%+v, %v", results, err)
			}
			if rec := w.tip(demo); rec.Revision != 3 || !rec.RenewedAt.Equal(w.time()) {
				t.Errorf("%+v", rec)
			}
			main.at(t, 1)
		})
	}
}

// TestFenceAndKeeper: a keeper whose time comes while a push is under way waits for its turn, and the push need not be sent again.
func TestFenceAndKeeper(t *testing.T) {
	in(t, func(t *testing.T, w *world) {
		alice, main := w.keeper("alice"), &branch{w: w}
		h := alice.claimFor(30*time.Minute, demo)
		alice.keep(h.Claim)
		main.before = func(int) { <-time.After(14 * time.Minute) }
		pusher := alice.process("alice", func(o *Options) { o.Clock = alice.clock })
		if _, err := pusher.fence(t, main); err != nil || main.sent != 1 {
			t.Errorf("%v after %d pushes", err, main.sent)
		}
		elapse(time.Minute)
		if got := alice.heard(); slices.ContainsFunc(got, func(k KeepKind) bool { return k != KeepRenewed }) {
			t.Errorf("%v", got)
		}
		if rec := w.tip(demo); rec.Revision < 3 {
			t.Errorf("the keeper did not go on: %+v", rec)
		}
		_ = alice.end()
	})
}

// TestFenceWaits: a push waits for another of the clone, and says so.
func TestFenceWaits(t *testing.T) {
	in(t, func(t *testing.T, w *world) {
		alice, main := w.keeper("alice"), &branch{w: w}
		alice.claimFor(30*time.Minute, demo)
		second := alice.process("alice", func(o *Options) { o.Clock = alice.clock })
		landed := make(chan error)
		main.before = func(n int) {
			if n == 1 {
				go func() {
					_, err := second.fence(t, main)
					landed <- err
				}()
				<-time.After(time.Minute)
			}
		}
		if _, err := alice.fence(t, main); err != nil {
			t.Fatal(err)
		}
		if err := <-landed; err != nil || main.sent != 2 || !second.noticed(NoticeWaits) || alice.noticed(NoticeWaits) {
			t.Errorf("%v after %d pushes", err, main.sent)
		}
	})
}

// TestFencePreview: what was read just before need not be read again, unless that was long ago, or it is not what the file says, or the claim was lost.
func TestFencePreview(t *testing.T) {
	for name, tt := range map[string]struct {
		between func(alice, bob *actor)
		reads   int
		want    error
	}{
		"fresh": {func(*actor, *actor) {}, 0, nil},
		"old":   {func(alice, _ *actor) { alice.w.advance(time.Minute) }, 1, nil},
		"renewed since": {func(alice, _ *actor) {
			if _, err := alice.Renew(t.Context(), RenewRequest{}); err != nil {
				t.Error(err)
			}
		}, 1, nil},
		"lost since": {func(alice, bob *actor) {
			alice.w.advance(2 * time.Hour)
			bob.mustClaim(demo)
			alice.w.advance(-2 * time.Hour)
		}, 1, ErrLost},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			alice, bob, main := w.actor("alice"), w.actor("bob"), &branch{w: w}
			alice.mustClaim(demo, "port:1")
			p := alice.Preview(t.Context())
			<-p.done
			tt.between(alice, bob)
			before := alice.wire.reads
			_, err := alice.Fence(t.Context(), FenceRequest{Send: main.send, Preview: p})
			if !errors.Is(err, tt.want) || tt.want == nil && alice.wire.reads-before != tt.reads {
				t.Errorf("%v after %d reads", err, alice.wire.reads-before)
			}
		})
	}
}
