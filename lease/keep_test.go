package lease

import (
	"context"
	"errors"
	"slices"
	"sync"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/git-worklease/git-worklease/refstore"
)

// TestNextRenewal: it comes after a sixth to a third of the time to live, on a grid that divides that of every longer one.
func TestNextRenewal(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		ttl := time.Duration(rapid.Int64Range(int64(MinTTL/time.Second), int64(MaxTTL/time.Second)).Draw(t, "ttl")) * time.Second
		renewed := time.Duration(rapid.Int64Range(0, int64(1000*time.Hour)).Draw(t, "renewed"))
		next := nextRenewal(&Hold{TTL: ttl, Deadline: Instant{Boot: "b", Since: renewed + ttl}})
		grid := keepGrid(ttl)
		switch {
		case next > renewed+ttl/3:
			t.Fatalf("later than a third: %s", next-renewed)
		case next < renewed+ttl/6:
			t.Fatalf("sooner than a sixth: %s", next-renewed)
		case next%grid != 0 || grid > ttl/6 || 2*grid <= ttl/6:
			t.Fatalf("grid of %s for %s", grid, ttl)
		case grid/time.Second&(grid/time.Second-1) != 0:
			t.Fatalf("%s is no power of two seconds", grid)
		}
	})
}

// TestKeepRenewsOnTheGrid: half an hour's claim is renewed each 512 s, for as long as the keeper runs, and by nobody afterwards.
func TestKeepRenewsOnTheGrid(t *testing.T) {
	in(t, func(t *testing.T, w *world) {
		alice := w.keeper("alice")
		h := alice.claimFor(30*time.Minute, demo)
		alice.keep(h.Claim)
		elapse(5 * time.Hour)
		if err := alice.end(); !errors.Is(err, context.Canceled) {
			t.Error(err)
		}
		if got := alice.heard(); !slices.Equal(got, []KeepKind{KeepRenewed}) {
			t.Errorf("%v", got)
		}
		if n := len(alice.events); n < 34 || n > 36 {
			t.Errorf("%d renewals", n)
		}
		for _, e := range alice.events {
			if off := (e.Hold.Deadline.Since - e.Hold.TTL) % (256 * time.Second); off > keepTick {
				t.Errorf("renewed %s after a point of the grid", off)
			}
			if e.Left <= e.Hold.TTL-2*keepTick {
				t.Errorf("%s left after a renewal", e.Left)
			}
		}
		revision := w.tip(demo).Revision
		elapse(time.Hour)
		if got := w.tip(demo).Revision; got != revision {
			t.Errorf("revision %d became %d after the end", revision, got)
		}
	})
}

// TestKeepManyClaims: more claims than one claim may have resources, and one read and one push for all of them.
func TestKeepManyClaims(t *testing.T) {
	in(t, func(t *testing.T, w *world) {
		alice := w.keeper("alice")
		const n = 40
		for i := range n {
			alice.claimFor(30*time.Minute, resourceN(i))
		}
		reads, pushes := alice.wire.reads, alice.wire.pushes
		alice.keep()
		elapse(11 * time.Minute)
		if alice.wire.pushes-pushes != 1 || alice.wire.reads-reads != 1 {
			t.Errorf("%d reads, %d pushes", alice.wire.reads-reads, alice.wire.pushes-pushes)
		}
		if len(alice.events) != n {
			t.Errorf("%d events", len(alice.events))
		}
		for i := range n {
			if w.tip(resourceN(i)).Revision != 2 {
				t.Errorf("%s: revision %d", resourceN(i), w.tip(resourceN(i)).Revision)
			}
		}
		elapse(20 * time.Hour) // from then on it knows what stands there, and reads once in that time
		if pushes := alice.wire.pushes - pushes; pushes < 130 || pushes > 150 || alice.wire.reads-reads > 2 {
			t.Errorf("%d reads, %d pushes", alice.wire.reads-reads, pushes)
		}
		// Another process of the session renews one of them.
		second := alice.process("alice", func(o *Options) { o.Clock = alice.clock })
		if _, err := second.Renew(t.Context(), RenewRequest{Resources: []Resource{resourceN(3)}}); err != nil {
			t.Error(err)
		}
		elapse(time.Hour)
		if got := alice.heard(); !slices.Equal(got, []KeepKind{KeepRenewed}) {
			t.Errorf("%v", got)
		}
		_ = alice.end()
	})
}

// TestKeepHowClaimsEnd: each end is told once, and with the last of those that were named the keeper ends.
func TestKeepHowClaimsEnd(t *testing.T) {
	for name, test := range map[string]struct {
		end  func(t *testing.T, w *world, alice *keeperActor, h Hold)
		want error
	}{
		"released by another process": {func(t *testing.T, _ *world, alice *keeperActor, _ Hold) {
			t.Helper()
			alice.process("alice", func(o *Options) { o.Clock = alice.clock }).mustRelease(demo)
		}, ErrNotHeld},
		"handed to another session": {func(t *testing.T, _ *world, alice *keeperActor, h Hold) {
			t.Helper()
			h.End = &End{How: EndMoved, At: alice.clock.Now(), Reason: "agent-2"}
			if err := alice.local.SaveHold(h); err != nil {
				t.Fatal(err)
			}
		}, ErrNotHeld},
		"deleted": {func(t *testing.T, w *world, _ *keeperActor, _ Hold) {
			t.Helper()
			w.repo.Set(refs{DefaultPrefix}.claim(demo), "")
		}, ErrLost},
	} {
		t.Run(name, func(t *testing.T) {
			in(t, func(t *testing.T, w *world) {
				alice := w.keeper("alice")
				h := alice.claimFor(30*time.Minute, demo)
				other := alice.claimFor(30*time.Minute, "task:other")
				alice.keep(h.Claim)
				elapse(time.Minute)
				test.end(t, w, alice, h)
				elapse(11 * time.Minute)
				if err := alice.end(); err != nil {
					t.Errorf("Keep: %v", err)
				}
				if e := alice.last(); e.Kind != KeepOver || !errors.Is(e.Err, test.want) || len(alice.heard()) != 1 {
					t.Errorf("%v, %+v", alice.heard(), e)
				}
				if w.tip("task:other").Revision != other.Revision {
					t.Error("a claim was renewed that was not named")
				}
			})
		})
	}
}

// TestCase51KeeperAfterRelease: what was released stays released, whatever a keeper was about to do.
func TestCase51KeeperAfterRelease(t *testing.T) {
	in(t, func(t *testing.T, w *world) {
		alice := w.keeper("alice")
		h := alice.claimFor(10*time.Second, demo)
		second := alice.process("alice", func(o *Options) { o.Clock = alice.clock })
		alice.wire.push = func(_ *refstore.Tx, send func() (*refstore.Report, error)) (*refstore.Report, error) {
			alice.wire.push = nil
			listed, err := second.store.List(t.Context(), second.refs.claim(demo))
			if err != nil || len(listed) != 1 {
				t.Errorf("%v, %v", listed, err)
			}
			rec, err := DecodeRecord(listed[0].Commit)
			if err != nil {
				t.Error(err)
				return send()
			}
			// Released between the keeper's look and its push.
			grave, err := second.change(rec.tombstone(listed[0].Commit.OID, 2, Release{At: alice.clock.Now(), Outcome: OutcomeDone}), h)
			if err != nil {
				t.Error(err)
			}
			tx, err := second.store.Build(grave)
			if err == nil {
				err = second.store.Swap(t.Context(), tx, nil)
			}
			if err != nil {
				t.Error(err)
			}
			return send()
		}
		alice.keep(h.Claim)
		elapse(10 * time.Second)
		if err := alice.end(); err != nil {
			t.Error(err)
		}
		if rec := w.tip(demo); !rec.Released() || rec.Revision != 2 {
			t.Errorf("%+v", rec)
		}
		if e := alice.last(); e.Kind != KeepOver || !errors.Is(e.Err, ErrNotHeld) {
			t.Errorf("%+v", e)
		}
	})
}

// TestKeepOfNothing: a claim that the file doesn't have is over at once, and a file that can't be read is an error.
func TestKeepOfNothing(t *testing.T) {
	in(t, func(t *testing.T, w *world) {
		alice := w.keeper("alice")
		alice.keep("0123456789abcdef0123456789abcdef")
		elapse(time.Second)
		if err := alice.end(); err != nil {
			t.Error(err)
		}
		if e := alice.last(); e.Kind != KeepOver || !errors.Is(e.Err, ErrNotHeld) {
			t.Errorf("%+v", e)
		}
		broken := &unreadable{Local: alice.local}
		broken.set(errors.New("torn"))
		bob := w.keeper("bob", func(o *Options) { o.Local = broken })
		if err := bob.Keep(t.Context(), KeepRequest{}); err == nil {
			t.Error("no error")
		}
	})
}

// unreadable is local state whose file of claims can't be read at times.
type unreadable struct {
	Local
	mu  sync.Mutex
	err error
}

func (u *unreadable) set(err error) {
	u.mu.Lock()
	defer u.mu.Unlock()
	u.err = err
}

func (u *unreadable) Holds() ([]Hold, error) {
	u.mu.Lock()
	defer u.mu.Unlock()
	if u.err != nil {
		return nil, u.err
	}
	return u.Local.Holds()
}

// TestKeepWhileTheFileIsUnreadable: the claim is kept once the file is there again, and is not thought to be over before.
func TestKeepWhileTheFileIsUnreadable(t *testing.T) {
	in(t, func(t *testing.T, w *world) {
		var u *unreadable
		alice := w.keeper("alice", func(o *Options) {
			u = &unreadable{Local: o.Local}
			o.Local = u
		})
		h := alice.claimFor(30*time.Minute, demo)
		alice.keep(h.Claim)
		elapse(5 * time.Minute)
		u.set(errors.New("torn"))
		elapse(10 * time.Minute)
		if got := alice.heard(); !slices.Equal(got, []KeepKind{KeepFailed}) {
			t.Errorf("%v", got)
		}
		u.set(nil)
		elapse(10 * time.Minute)
		if got := alice.heard(); !slices.Equal(got, []KeepKind{KeepFailed, KeepRenewed}) {
			t.Errorf("%v", got)
		}
		_ = alice.end()
	})
}

// TestKeepAll: claims that are made later are kept too, and so is an expired one that the session renews itself.
func TestKeepAll(t *testing.T) {
	in(t, func(t *testing.T, w *world) {
		alice := w.keeper("alice")
		alice.keep()
		elapse(time.Hour)
		alice.claimFor(30*time.Minute, demo)
		elapse(time.Hour)
		if got := alice.heard(); !slices.Equal(got, []KeepKind{KeepRenewed}) {
			t.Errorf("%v", got)
		}
		alice.clock.jump(time.Hour, time.Hour)
		elapse(time.Minute)
		if e := alice.last(); e.Kind != KeepOver {
			t.Errorf("%+v", e)
		}
		if _, err := alice.Renew(t.Context(), RenewRequest{}); err != nil {
			t.Fatal(err)
		}
		elapse(time.Hour)
		if got := alice.heard(); !slices.Equal(got, []KeepKind{KeepRenewed, KeepOver, KeepRenewed}) {
			t.Errorf("%v", got)
		}
		_ = alice.end()
	})
}
