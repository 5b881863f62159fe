package proof

import (
	"errors"
	"maps"
	"slices"
	"testing"
	"time"

	"github.com/git-worklease/git-worklease/lease"
	"github.com/git-worklease/git-worklease/refstore"
)

// TestProofTransitions: a repository that refuses what breaks the rules of steps ([lease.Transition]) refuses nothing that workers do whose clocks are as
// good as they have to be, but what reaches it later than a stamp may be old. The faults are those of all runs in memory.
func TestProofTransitions(t *testing.T) {
	steps, refused := 0, 0
	for fault := range troubles {
		for seed := range uint64(6) {
			r := newRun(seed, troubles[fault])
			if r.manner == observed { // its clocks are wrong by more
				continue
			}
			r.repo.Guard = func(old, next map[string]refstore.Ref) error {
				err := judge(old, next, r.turns.now())
				var breach *lease.BreachError
				switch {
				case err == nil:
					steps += len(next)
				case errors.As(err, &breach) && breach.Breach == lease.BreachStamp && stampOf(next).Before(r.turns.now()):
					refused++
				default:
					t.Errorf("%s, seed %d, %s: %v", fault, seed, r.manner, err)
				}
				return err
			}
			for _, v := range r.all(t).broken {
				t.Errorf("%s, seed %d, %s: %s", fault, seed, r.manner, v)
			}
		}
	}
	if steps < 1000 || refused == 0 {
		t.Errorf("only %d steps, and %d that came too late", steps, refused)
	}
}

// judge judges what a repository is asked for.
func judge(old, next map[string]refstore.Ref, now time.Time) error {
	tx := &lease.Transaction{Prefix: lease.DefaultPrefix, Meta: old[lease.DefaultPrefix+"meta"]}
	for _, name := range slices.Sorted(maps.Keys(next)) {
		tx.Steps = append(tx.Steps, lease.RefStep{Ref: name, Old: old[name], New: next[name]})
	}
	tx.Standing = func() (highest lease.Generation, authority string, err error) {
		for name, ref := range old {
			if rec, err := lease.ReadRecord(lease.DefaultPrefix, name, ref.Commit); err == nil {
				highest, authority = max(highest, rec.Generation), rec.Authority
			}
		}
		return highest, authority, nil
	}
	return lease.Refusal(tx.Judge(now))
}

// stampOf is when a change was stamped.
func stampOf(next map[string]refstore.Ref) time.Time {
	var at time.Time
	for _, ref := range next {
		if !ref.Commit.When.IsZero() {
			at = ref.Commit.When
		}
	}
	return at
}
