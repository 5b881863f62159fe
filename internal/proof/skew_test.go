package proof

import (
	"errors"
	"testing"
	"time"

	"github.com/git-worklease/git-worklease/internal/proof/tally"
	"github.com/git-worklease/git-worklease/lease"
)

// century is how far ahead a clock is that stands in 2099.
const century = 73 * 365 * 24 * time.Hour

// TestProofSkew: clocks that are wrong by as much as may be where something makes up for it. Over http the server's Date does, also for a stamp of
// 2099 and for one that is older than a claim lasts; over ssh it is what each clone has seen; without either, grace is for half of it.
func TestProofSkew(t *testing.T) {
	for _, c := range []struct {
		name, kind string
		manner     manner
		offsets    []time.Duration
	}{
		{"ten minutes", "http", dated, []time.Duration{-10 * time.Minute, 10 * time.Minute, 0}},
		{"2099", "http", dated, []time.Duration{century, 0, -10 * time.Minute}},
		{"ten minutes, observed", "ssh", observed, []time.Duration{-10 * time.Minute, 10 * time.Minute, 0}},
		{"2099, observed", "ssh", observed, []time.Duration{0, century, 10 * time.Minute}},
		{"half of the grace", "ssh", undated, []time.Duration{-grace/2 + time.Second, grace/2 - time.Second, 0}},
		{"half of the grace", "path", undated, []time.Duration{grace/2 - time.Second, 0, -grace/2 + time.Second}},
	} {
		t.Run(c.kind+"/"+c.name, func(t *testing.T) {
			sum := tally.Row{Part: "skew", Server: c.kind, Fault: c.name}
			for seed := range fights() {
				row := wage(t, c.kind, seed+100, assaults["none"], c.manner, c.offsets...)
				sum.Add(row)
			}
			sum.Faults = 2 * int(fights()) // the clocks that are wrong
			tally.Add(t, sum)
		})
	}
}

// TestProofStampOfTheFuture: a claim that was stamped in 2099 where nothing corrects clocks. Others don't take it for eternal, nor for theirs before its
// holder must have stopped.
func TestProofStampOfTheFuture(t *testing.T) {
	r := newRun(1, trouble{}) // not corrected
	var claimed, took time.Time
	for i, name := range []string{"alice", "bob"} {
		c := &clone{name: name, local: lease.NewMemoryLocal(name), off: []time.Duration{century, 0}[i]}
		r.turns.begin(time.Duration(i)*ttl/2, func(k *task) {
			w := r.process(k, c, name, []string{name}, r.turns.random)
			if name == "alice" {
				w.claim(t.Context(), resources[:1])
				claimed = r.turns.now()
				return
			}
			for tries := range 40 {
				b := r.history.begin()
				res, err := w.a.Claim(t.Context(), lease.ClaimRequest{Resources: resources[:1]})
				if err == nil {
					w.holds(b, &res.Hold)
					took = r.turns.now()
					return
				}
				if !errors.Is(err, lease.ErrHeld) {
					t.Errorf("try %d: %v", tries, err)
				}
				k.wait(5 * time.Second)
			}
			t.Error("never taken over")
		})
	}
	r.turns.run()
	for _, v := range append(r.broken, violations(r.history, &r.beliefs)...) {
		t.Error(v)
	}
	if after := took.Sub(claimed); after < ttl || after > 2*(ttl+grace) {
		t.Errorf("taken over after %s", after)
	}
}
