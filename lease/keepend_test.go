package lease

import (
	"errors"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"github.com/git-worklease/git-worklease/refstore"
)

// TestKeepTellsTheEnd: without the remote it is tried again and again, then the end is announced once, then comes; nothing is written after it.
func TestKeepTellsTheEnd(t *testing.T) {
	in(t, func(t *testing.T, w *world) {
		alice := w.keeper("alice")
		h := alice.claimFor(time.Minute, demo)
		deadline := time.Now().Add(time.Minute)
		var latest time.Time
		tries := 0
		alice.wire.push = func(*refstore.Tx, func() (*refstore.Report, error)) (*refstore.Report, error) {
			latest, tries = time.Now(), tries+1
			return nil, &refstore.UnavailableError{Trouble: refstore.TroubleNetwork, Err: errors.New("no route")}
		}
		alice.keep(h.Claim)
		elapse(2 * time.Minute)
		if err := alice.end(); err != nil {
			t.Error(err)
		}
		if got := alice.heard(); !slices.Equal(got, []KeepKind{KeepFailed, KeepEnding, KeepFailed, KeepOver}) {
			t.Errorf("%v", got)
		}
		for _, e := range alice.events {
			if e.Kind == KeepEnding && (e.Left > 10*time.Second || e.Left < 8*time.Second) {
				t.Errorf("announced with %s left", e.Left)
			}
		}
		if !errors.Is(alice.last().Err, ErrExpired) || latest.After(deadline) || tries < 8 || tries > 40 {
			t.Errorf("%v; %d tries, the last %s before the end", alice.last().Err, tries, deadline.Sub(latest))
		}
	})
}

// TestKeepRecovers: a renewal that succeeds after the end was announced takes that back, and it can be announced again.
func TestKeepRecovers(t *testing.T) {
	in(t, func(t *testing.T, w *world) {
		alice := w.keeper("alice")
		h := alice.claimFor(time.Minute, demo)
		var up atomic.Bool
		alice.wire.push = func(_ *refstore.Tx, send func() (*refstore.Report, error)) (*refstore.Report, error) {
			if up.Load() {
				return send()
			}
			return nil, &refstore.UnavailableError{Trouble: refstore.TroubleNetwork, Err: errors.New("no route")}
		}
		alice.keep(h.Claim)
		for range 2 {
			elapse(53 * time.Second)
			up.Store(true)
			elapse(6 * time.Second)
			up.Store(false)
		}
		got := alice.heard()
		if !slices.Contains(got, KeepEnding) || slices.Contains(got, KeepOver) || got[len(got)-1] == KeepEnding {
			t.Errorf("%v", got)
		}
		_ = alice.end()
	})
}

// TestKeepNeverRevives: after a pause that is longer than the claim lasts, by either clock, nothing is written, whether anybody took it or not.
func TestKeepNeverRevives(t *testing.T) {
	for name, jump := range map[string]struct{ wall, since time.Duration }{
		"suspend":            {2 * time.Hour, 2 * time.Hour},
		"boot clock alone":   {0, 2 * time.Hour},
		"wall clock forward": {2 * time.Hour, 0},
		"set back on waking": {-24 * time.Hour, 2 * time.Hour},
	} {
		t.Run(name, func(t *testing.T) {
			in(t, func(t *testing.T, w *world) {
				alice := w.keeper("alice")
				h := alice.claimFor(30*time.Minute, demo)
				alice.keep(h.Claim)
				elapse(time.Minute)
				pushes := alice.wire.pushes
				alice.clock.jump(jump.wall, jump.since)
				elapse(time.Hour)
				if err := alice.end(); err != nil {
					t.Error(err)
				}
				if e := alice.last(); e.Kind != KeepOver || !errors.Is(e.Err, ErrExpired) || len(alice.events) != 1 {
					t.Errorf("%+v", alice.events)
				}
				if alice.wire.pushes != pushes {
					t.Error("something was written")
				}
			})
		})
	}
}

// TestKeepWallClockSetBack: the clock that runs through suspend still ends and renews the claim in time.
func TestKeepWallClockSetBack(t *testing.T) {
	in(t, func(t *testing.T, w *world) {
		alice := w.keeper("alice")
		h := alice.claimFor(30*time.Minute, demo)
		alice.keep(h.Claim)
		elapse(time.Minute)
		alice.clock.jump(-time.Hour, 0)
		elapse(10 * time.Minute)
		if len(alice.events) != 1 || alice.last().Kind != KeepRenewed {
			t.Errorf("%+v", alice.events)
		}
		_ = alice.end()
	})
}

// TestKeepWithoutBootClock: the wall clock alone has to do.
func TestKeepWithoutBootClock(t *testing.T) {
	in(t, func(t *testing.T, w *world) {
		alice := w.keeper("alice")
		alice.clock.boot = ""
		h := alice.claimFor(time.Minute, demo)
		alice.keep(h.Claim)
		elapse(10 * time.Minute)
		if got := alice.heard(); !slices.Equal(got, []KeepKind{KeepRenewed}) || len(alice.events) < 25 {
			t.Errorf("%v, %d", got, len(alice.events))
		}
		_ = alice.end()
	})
}

// TestKeepReplyAfterTheEnd: a renewal is under way when the time runs out. The claim is over, and stays so when the reply comes.
func TestKeepReplyAfterTheEnd(t *testing.T) {
	in(t, func(t *testing.T, w *world) {
		alice := w.keeper("alice")
		h := alice.claimFor(time.Minute, demo)
		alice.wire.push = func(_ *refstore.Tx, send func() (*refstore.Report, error)) (*refstore.Report, error) {
			elapse(2 * time.Minute)
			return send()
		}
		alice.keep(h.Claim)
		elapse(5 * time.Minute)
		if err := alice.end(); err != nil {
			t.Error(err)
		}
		if got := alice.heard(); !slices.Equal(got, []KeepKind{KeepEnding, KeepOver}) {
			t.Errorf("%v", got)
		}
	})
}
