package lease

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/git-worklease/git-worklease/refstore"
)

// TestGenerationsNeverRepeat: clones with floors of all ages claim, release, lose replies, land late, are restarted and collect, in random
// order and over weeks. No generation of a resource comes twice, in either kind of world.
func TestGenerationsNeverRepeat(t *testing.T) {
	deleted := 0
	for seed := range uint64(60) {
		n, err := interleave(t, seed, (*Meta).proven)
		if deleted += n; err != nil {
			t.Fatalf("seed %d: %v", seed, err)
		}
	}
	if deleted < 50 {
		t.Errorf("only %d tombstones were collected", deleted)
	}
}

// TestFloorMustHaveStood: deleting with the floor that was just written, instead of one that has stood for long enough, is caught by the
// test above.
func TestFloorMustHaveStood(t *testing.T) {
	for seed := range uint64(400) {
		_, err := interleave(t, seed, func(m *Meta, _ time.Time, _ bool) Generation { return m.Floor })
		if err != nil {
			t.Logf("seed %d: %v", seed, err)
			return
		}
	}
	t.Error("no generation came twice")
}

// interleaving is one run.
type interleaving struct {
	*world
	random *rand.Rand
	clones []*actor
	trust  func(*Meta, time.Time, bool) Generation
	// late are requests that the server has not received yet.
	late    []lateRequest
	epochs  map[Resource]epochSeen
	deleted int
	failed  error
}

type lateRequest struct {
	at   time.Time
	send func() (*refstore.Report, error)
}

// epochSeen is the last epoch that the server showed of a resource.
type epochSeen struct {
	claim      ClaimID
	generation Generation
}

// lateBy is how long a request may be held up on its way: two of them, a raise and a claim, and what the deadlines allow stay below what the
// floor's age leaves.
const lateBy = 10 * time.Hour

func interleave(t *testing.T, seed uint64, trust func(*Meta, time.Time, bool) Generation) (deleted int, err error) {
	w := newWorld(t)
	w.dated = seed%3 > 0
	x := &interleaving{world: w, random: rand.New(rand.NewPCG(seed, 1)), trust: trust, epochs: map[Resource]epochSeen{}}
	for i := range 4 {
		a := w.actor(fmt.Sprintf("clone%d", i))
		a.clock.off = time.Duration(x.random.Int64N(int64(2*day))) - day
		a.wire.push = x.push
		x.clones = append(x.clones, a)
	}
	for step := range 250 {
		err := x.step()
		x.look()
		if err == nil {
			err = x.failed
		}
		if err != nil {
			return x.deleted, fmt.Errorf("step %d: %w", step, err)
		}
	}
	return x.deleted, nil
}

// push loses a reply now and then, or keeps a request for later.
func (x *interleaving) push(_ *refstore.Tx, send func() (*refstore.Report, error)) (*refstore.Report, error) {
	switch x.random.IntN(20) {
	case 0:
		x.late = append(x.late, lateRequest{x.time(), send})
		return nil, errBroken()
	case 1:
		_, _ = send()
		return nil, errBroken()
	}
	return send()
}

// step does something at random. What a verb returns does not matter, unless it calls the remote rolled back, which it never is.
func (x *interleaving) step() error {
	a := x.clones[x.random.IntN(len(x.clones))]
	r := resourceN(x.random.IntN(3))
	ctx := x.t.Context()
	var err error
	switch n := x.random.IntN(20); {
	case n < 6:
		_, err = a.Claim(ctx, req(r))
	case n < 9:
		_, err = a.Release(ctx, ReleaseRequest{})
	case n == 9:
		_, err = a.Renew(ctx, RenewRequest{})
	case n == 10:
		_, err = a.Status(ctx, r)
	case n == 11:
		a.clock.boot += "+"
	case n < 15:
		var res *Collection
		if res, err = a.collect(ctx, CollectRequest{Retention: MinRetention, Apply: true}, x.trust); res != nil {
			x.deleted += res.Deleted
		}
	case n < 18:
		x.pass(time.Duration(x.random.Int64N(int64(12 * time.Hour))))
	default:
		x.pass(time.Duration(x.random.Int64N(int64(5 * day))))
	}
	if errors.Is(err, ErrRolledBack) || errors.Is(err, ErrAuthorityGone) {
		return err
	}
	return nil
}

// pass lets time pass, in which late requests arrive or get lost.
func (x *interleaving) pass(d time.Duration) {
	late := x.late
	x.late = nil
	for _, l := range late {
		switch until := lateBy - x.time().Sub(l.at); {
		case until > d && x.random.IntN(2) == 0:
			x.late = append(x.late, l)
		case until > 0:
			by := time.Duration(x.random.Int64N(int64(min(until, d) + 1)))
			x.advance(by)
			d -= by
			_, _ = l.send()
			x.look()
		}
	}
	x.advance(d)
}

// look compares what the server has with the epochs before.
func (x *interleaving) look() {
	for i := range 3 {
		r := resourceN(i)
		rec := x.tip(r)
		was := x.epochs[r]
		switch {
		case rec == nil || rec.Claim == was.claim:
		case rec.Generation <= was.generation:
			x.failed = fmt.Errorf("%s: generation %d after %d", r, rec.Generation, was.generation)
		default:
			x.epochs[r] = epochSeen{rec.Claim, rec.Generation}
		}
	}
}
