package lease

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/git-worklease/git-worklease/refstore"
)

func (a *actor) mustMove(to string, resources ...Resource) {
	a.w.t.Helper()
	if _, err := a.Move(a.w.t.Context(), MoveRequest{Resources: resources, To: to}); err != nil {
		a.w.t.Fatal(err)
	}
}

func (a *actor) renewal(r Resource) error {
	_, err := a.Renew(a.w.t.Context(), RenewRequest{Resources: []Resource{r}})
	return err
}

// TestMove: the claim stays what it is and becomes another session's. The old one has no key any more.
func TestMove(t *testing.T) {
	w := newWorld(t)
	one := w.actor("one")
	two := one.process("two")
	one.mustClaim(demo, "port:1")
	was := w.tip(demo)
	w.advance(time.Minute)
	one.mustMove("two", demo)
	now := w.tip(demo)
	if now.Claim != was.Claim || now.Generation != 1 || now.Revision != 2 || now.Holder.Session != "two" || now.Holder.Agent != "one" || !now.RenewedAt.Equal(epoch.Add(time.Minute)) {
		t.Errorf("%+v", now)
	}
	want(t, one.renewal(demo), ErrNotHeld)
	_, err := one.Verify(t.Context(), demo)
	want(t, err, ErrNotHeld)
	_, err = one.Release(t.Context(), ReleaseRequest{Resources: []Resource{demo}})
	want(t, err, ErrNotHeld)
	_, err = one.Claim(t.Context(), req(demo))
	want(t, err, ErrHeld)
	holds, err := one.local.Holds()
	if err != nil || holds[0].Key != nil || holds[0].End.How != EndMoved || holds[0].End.Reason != "two" {
		t.Errorf("%+v, %v", holds, err)
	}
	if _, err := two.Verify(t.Context(), demo, "port:1"); err != nil {
		t.Error(err)
	}
	if res := two.mustClaim("port:1"); res.Outcome != Renewed || res.Hold.Claim != was.Claim {
		t.Errorf("%+v", res)
	}
	two.mustRelease(demo)
	one.mustClaim(demo, "port:1")
}

// TestMoveThereAndBack: a claim may come back to a session that had it before, and further.
func TestMoveThereAndBack(t *testing.T) {
	w := newWorld(t)
	one := w.actor("one")
	two := one.process("two")
	one.mustClaim(demo)
	one.mustClaim("task:other")
	for range 3 {
		one.mustMove("two", demo)
		want(t, one.renewal(demo), ErrNotHeld)
		two.mustMove("one", demo)
		want(t, two.renewal(demo), ErrNotHeld)
	}
	if err := one.renewal(demo); err != nil {
		t.Fatal(err)
	}
	one.mustRelease(demo)
	if rec := w.tip(demo); rec.Generation != 1 || !rec.Released() {
		t.Errorf("%+v", rec)
	}
}

func TestMoveRefused(t *testing.T) {
	w := newWorld(t)
	one, bob := w.actor("one"), w.actor("bob")
	one.mustClaim(demo)
	for _, to := range []string{"one", "", " x", "a\nb"} {
		_, err := one.Move(t.Context(), MoveRequest{To: to})
		want(t, err, ErrBadRequest)
	}
	_, err := one.Move(t.Context(), MoveRequest{To: "two", Resources: []Resource{"task:never"}})
	want(t, err, ErrNotHeld)
	w.advance(2 * time.Hour)
	bob.mustClaim(demo)
	_, err = one.Move(t.Context(), MoveRequest{To: "two"})
	want(t, err, ErrLost)
	if rec := w.tip(demo); rec.Holder.Agent != "bob" {
		t.Errorf("%+v", rec)
	}
	if res, err := one.Move(t.Context(), MoveRequest{To: "two"}); res != nil || err != nil {
		t.Errorf("%v, %v", res, err)
	}
}

// TestMoveOfAnExpiredClaim: nobody took it, so it is handed on, with a notice.
func TestMoveOfAnExpiredClaim(t *testing.T) {
	w := newWorld(t)
	one := w.actor("one")
	one.mustClaim(demo)
	w.advance(3 * time.Hour)
	res, err := one.Move(t.Context(), MoveRequest{To: "two"})
	if err != nil || res[0].Late != 2*time.Hour || !one.noticed(NoticeLate) {
		t.Errorf("%+v, %v", res, err)
	}
}

// TestMoveToASessionThatHadIt: the other session's file still has an older claim on the resource, which it has not yet learned to be lost.
func TestMoveToASessionThatHadIt(t *testing.T) {
	w := newWorld(t)
	one := w.actor("one")
	two := one.process("two")
	two.mustClaim(demo)
	w.advance(2 * time.Hour)
	one.mustClaim(demo, "port:1")
	one.mustMove("two", demo)
	if err := two.renewal(demo); err != nil {
		t.Fatal(err)
	}
	if res := two.mustClaim(demo, "port:1"); res.Outcome != Renewed || res.Records[1].Generation != 2 {
		t.Errorf("%+v", res)
	}
	two.mustRelease()
}

// TestStaleHandsOfAMovedClaim: a process of the old session had read the file before the claim was moved. Whatever it wanted to do with it, it must
// not, although it has the key in its memory.
func TestStaleHandsOfAMovedClaim(t *testing.T) {
	for name, verb := range map[string]func(*actor) error{
		"renew":   func(a *actor) error { return a.renewal(demo) },
		"release": func(a *actor) error { _, err := a.Release(a.w.t.Context(), ReleaseRequest{}); return err },
		"move":    func(a *actor) error { _, err := a.Move(a.w.t.Context(), MoveRequest{To: "three"}); return err },
		"checkpoint": func(a *actor) error {
			_, err := a.Checkpoint(a.w.t.Context(), CheckpointRequest{Data: []byte("1")})
			return err
		},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			one := w.actor("one")
			one.mustClaim(demo)
			stale := one.process("one")
			stale.wire.listed = func(shown map[string]refstore.OID) {
				one.mustMove("two")
				ref := refs{DefaultPrefix}.claim(demo)
				shown[ref] = w.repo.Refs()[ref]
			}
			want(t, verb(stale), ErrNotHeld)
			if rec := w.tip(demo); rec.Released() || rec.Revision != 2 || rec.Holder.Session != "two" {
				t.Errorf("%+v", rec)
			}
			if err := one.process("two").renewal(demo); err != nil {
				t.Error(err)
			}
		})
	}
}

// TestMoveEndsWhatWasLeft: the reply is lost and can't be read. The old session's next verb ends the move, and is told that it has nothing.
func TestMoveEndsWhatWasLeft(t *testing.T) {
	for _, arrives := range []bool{false, true} {
		w := newWorld(t)
		one := w.actor("one")
		two := one.process("two")
		one.mustClaim(demo)
		var late *refstore.Tx
		one.wire.push = func(tx *refstore.Tx, _ func() (*refstore.Report, error)) (*refstore.Report, error) {
			late = tx
			return nil, errBroken()
		}
		_, err := one.Move(t.Context(), MoveRequest{To: "two"})
		want(t, err, ErrPending)
		one.wire.push = nil
		if v := one.mustStatus(demo)[0]; v.State != StandingHeld {
			t.Errorf("%+v", v)
		}
		_, err = one.Verify(t.Context(), demo)
		want(t, err, ErrPending)
		if !arrives {
			want(t, one.renewal(demo), ErrNotHeld)
		}
		report, err := w.repo.Transport().Push(t.Context(), late)
		if err != nil || report.OK() != arrives {
			t.Error(report, err)
		}
		if err := two.renewal(demo); err != nil {
			t.Error(err)
		}
		want(t, one.renewal(demo), ErrNotHeld)
		if left, busy, _ := one.local.Pending(); len(left)+len(busy) != 0 {
			t.Errorf("%d intents", len(left)+len(busy))
		}
	}
}

// TestMoveThatWasOvertaken: it landed unseen, and another took over before anybody looked. The new session has lost it; the old one has nothing.
func TestMoveThatWasOvertaken(t *testing.T) {
	w := newWorld(t)
	one, bob := w.actor("one"), w.actor("bob")
	one.mustClaim(demo, "port:1")
	one.killedSending(true, func(p *actor) { _, _ = p.Move(t.Context(), MoveRequest{To: "two"}) })
	w.advance(2 * time.Hour)
	bob.mustClaim(demo)
	two := one.process("two")
	want(t, two.renewal(demo), ErrLost)
	want(t, one.process("one").renewal(demo), ErrNotHeld)
	if rec := w.tip("port:1"); !rec.Released() {
		t.Errorf("the rest was not given back: %+v", rec)
	}
}

// TestMoveKilledAtEveryStep: wherever the mover is killed, exactly one of the two sessions has the claim once the next verb has looked, with and
// without a rival who takes over, and whichever session looks first.
func TestMoveKilledAtEveryStep(t *testing.T) {
	for _, rival := range []bool{false, true} {
		for _, first := range []string{"one", "two"} {
			steps := 0
			for died := true; died; steps++ {
				w := newWorld(t)
				one, bob := w.actor("one"), w.actor("bob")
				one.mustClaim("port:1", "port:2")
				w.advance(time.Minute)
				died = one.killed(steps+1, func(p *actor) { _, _ = p.Move(t.Context(), MoveRequest{To: "two"}) })
				w.moved(fmt.Sprintf("step %d, rival %t, first %s", steps+1, rival, first), one, bob, rival, first)
			}
			if steps < 10 {
				t.Errorf("only %d steps", steps)
			}
		}
	}
}

func (w *world) moved(at string, one, bob *actor, rival bool, first string) {
	w.t.Helper()
	w.owned(at, one, bob)
	if rival {
		w.advance(2 * time.Hour)
		bob.mustClaim("port:2")
	}
	holders := map[string]bool{}
	for _, name := range []string{first, map[string]string{"one": "two", "two": "one"}[first]} {
		err := one.process(name).renewal("port:1")
		holders[name] = err == nil
		if err != nil && !errors.Is(err, ErrNotHeld) && !errors.Is(err, ErrLost) {
			w.t.Fatalf("%s: %s got %v", at, name, err)
		}
	}
	if rival == (holders["one"] || holders["two"]) || holders["one"] && holders["two"] {
		w.t.Fatalf("%s: held by %v", at, holders)
	}
	if left, busy, _ := one.local.Pending(); len(left)+len(busy) > 0 {
		w.t.Fatalf("%s: %d intents are left", at, len(left)+len(busy))
	}
	for _, name := range []string{"one", "two"} {
		if holders[name] {
			one.process(name).mustRelease("port:1")
		}
	}
	if rec := w.tip("port:1"); !rec.Released() {
		w.t.Fatalf("%s: %+v", at, rec)
	}
}

// TestKeeperOfAMovedClaim: the old session's keeper finds the claim over, and renews nothing more.
func TestKeeperOfAMovedClaim(t *testing.T) {
	w := newWorld(t)
	one := w.actor("one")
	hold := one.mustClaim(demo).Hold
	p := one.process("one")
	ticks := 0
	p.Authority.clock = &tickingClock{logicalClock: p.clock, tick: func() {
		w.advance(time.Minute)
		if ticks++; ticks == 30 {
			one.mustMove("two")
		}
	}}
	var over error
	err := p.Keep(t.Context(), KeepRequest{Claims: []ClaimID{hold.Claim}, Tell: func(e KeepEvent) {
		if e.Kind == KeepOver {
			over = e.Err
		}
	}})
	if err != nil {
		t.Fatal(err)
	}
	want(t, over, ErrNotHeld)
	was := w.tip(demo).Revision
	if err := one.process("two").renewal(demo); err != nil || w.tip(demo).Revision != was+1 {
		t.Error(err)
	}
}

// tickingClock does something each time that somebody waits.
type tickingClock struct {
	*logicalClock
	tick func()
}

func (c *tickingClock) Sleep(ctx context.Context, _ time.Duration) error {
	c.tick()
	return ctx.Err()
}

// TestMoveAgainstRenewals: processes of the session renew while it is handed there and back. In the end one session has it, and it is alive.
func TestMoveAgainstRenewals(t *testing.T) {
	w := newWorld(t)
	one := w.actor("one", racer)
	two := one.process("two", racer)
	one.mustClaim(demo, "port:1")
	var done atomic.Bool
	var group sync.WaitGroup
	for _, name := range []string{"one", "two", "one", "two"} {
		p := one.process(name, racer)
		group.Go(func() {
			for !done.Load() {
				if err := p.renewal(demo); err != nil && !errors.Is(err, ErrNotHeld) {
					t.Error(name, err)
					return
				}
			}
		})
	}
	for range 10 {
		one.mustMove("two")
		two.mustMove("one")
	}
	done.Store(true)
	group.Wait()
	if err := one.renewal(demo); err != nil {
		t.Error(err)
	}
	want(t, two.renewal(demo), ErrNotHeld)
	if rec := w.tip(demo); rec.Generation != 1 || rec.Released() {
		t.Errorf("%+v", rec)
	}
}
