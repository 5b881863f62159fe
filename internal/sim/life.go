package sim

import (
	"context"
	"fmt"
	"math/rand/v2"
	"sync"
	"time"

	"github.com/git-worklease/git-worklease/lease"
)

// life is one session of a worker, in one process or, where it dies and comes back, in several.
type life struct {
	*worker

	// p is the process that runs; nil: none does.
	p       *process
	rng     *rand.Rand
	session string
	off     time.Duration
	ttl     time.Duration
	// want is what is to be claimed, and hold the claim.
	want []lease.Resource
	hold lease.Hold
	// read is what the worker has read, and not written yet.
	read reading
	// err is what the last call returned.
	err error
	// stopKeeper ends the keeper; nil: there is none.
	stopKeeper func()
}

// live plays the script of the worker's kind.
func (l *life) live() {
	if l.kind.clocks {
		l.off = l.wrongness()
	}
	if !l.start(l.session) {
		return
	}
	l.kind.script(l)
	l.end()
}

// wrongness draws by how much a clock is off: by no more than half of the grace, unless the server's Date corrects it.
func (l *life) wrongness() time.Duration {
	most := l.grace / 2
	if l.ground.dated && l.rng.IntN(2) == 0 {
		most = 10 * time.Minute
	}
	return time.Duration(l.rng.Int64N(int64(2*most)+1)) - most
}

// start starts a process.
func (l *life) start(session string) bool {
	p, err := l.clone.open(l.name, session, l.off)
	if err != nil {
		l.abort(fmt.Errorf("%s: %w", l.name, err))
		return false
	}
	l.p = p
	return true
}

// end is the end of a process that may leave claims behind.
func (l *life) end() {
	l.unkeep()
	l.referee.leaves(l.hold.Claim)
	if l.p != nil {
		l.p.close()
		l.p = nil
	}
}

// die is the end of a process that was killed.
func (l *life) die() {
	l.p.fate.die()
	l.meter.count(func(t *tally) { t.deaths++ })
	l.end()
}

// begin claims something, with a few tries.
func (l *life) begin() bool {
	for range 4 {
		select {
		case l.want = <-l.post:
		default:
			l.want = l.field.pick(l.rng)
		}
		switch l.claim() {
		case done:
			return true
		case refused:
			if !l.rest(200*time.Millisecond, 1500*time.Millisecond) {
				return false
			}
		default:
			return false
		}
	}
	return false
}

// claim claims what is wanted, and where the outcome is unknown once more, as one is told to.
func (l *life) claim() outcome {
	out := l.tryClaim()
	if (out == unknown || out == failed) && l.over.Err() == nil {
		out = l.tryClaim()
	}
	return out
}

func (l *life) tryClaim() outcome {
	req := lease.ClaimRequest{Resources: l.want, TTL: l.ttl, Purpose: "simulation"}
	var res *lease.ClaimResult
	var out outcome
	if l.rng.IntN(5) == 0 {
		out = l.waitFor(lease.WaitRequest{Claim: req, For: time.Duration(2+l.rng.IntN(6)) * time.Second}, &res)
	} else {
		out = l.call(verbClaim, func(ctx context.Context) (err error) {
			res, err = l.p.Claim(ctx, req)
			return err
		})
	}
	switch out {
	case done:
		l.got(res)
	case refused:
		l.refusals++
	case lost: // it was lost within the call
		l.referee.leaves(l.hold.Claim)
	}
	return out
}

// waitFor claims with patience.
func (l *life) waitFor(req lease.WaitRequest, res **lease.ClaimResult) outcome {
	*res, l.err = l.p.Wait(l.over, req)
	out := judge(l.err)
	if l.over.Err() != nil && l.err != nil {
		out = stopped
	}
	l.meter.waited(out, l.err)
	l.after(out)
	return out
}

// got is what a worker does with a claim that it got. It has no other.
func (l *life) got(res *lease.ClaimResult) {
	l.believe(res.Hold)
	l.read = l.referee.read(res.Hold.Claim)
	l.claims++
	l.meter.count(func(t *tally) {
		t.claims++
		t.takeovers += len(res.Overlapped)
		for _, p := range res.Predecessors {
			switch {
			case !p.Released():
				t.takeovers++
			case p.Release != nil && p.Release.ReservedFor == l.name:
				t.handed++
			}
		}
	})
}

// believe makes the referee know that the worker was told that it holds a claim.
func (l *life) believe(h lease.Hold) {
	l.hold = h
	l.vouch(&h)
}

func (l *life) vouch(h *lease.Hold) {
	at := l.o.Clock.Now()
	l.referee.holds(l.session, h, at, l.p.left(h))
}

// keep renews the claim in the background from now on.
func (l *life) keep() {
	ctx, cancel := context.WithCancel(context.WithoutCancel(l.over))
	var keeper sync.WaitGroup
	p := l.p
	keeper.Go(func() {
		_ = p.Keep(ctx, lease.KeepRequest{Claims: []lease.ClaimID{l.hold.Claim}, Tell: l.told}) // it tells what happens
	})
	l.stopKeeper = func() {
		cancel()
		keeper.Wait()
	}
}

// told hears what the keeper tells.
func (l *life) told(e lease.KeepEvent) {
	switch e.Kind {
	case lease.KeepRenewed:
		l.vouch(&e.Hold)
		l.meter.count(func(t *tally) { t.kept++ })
	case lease.KeepFailed:
		l.meter.renewalFailed(e.Err)
		if judge(e.Err) == broken {
			l.abort(fmt.Errorf("the keeper of %s: %w", l.session, e.Err))
		}
	case lease.KeepOver:
		l.meter.count(func(t *tally) { t.losses++ })
		l.robbed(e.Hold.Claim, e.Err)
	}
}

// robbed makes the referee judge that a claim is over.
func (l *life) robbed(claim lease.ClaimID, err error) {
	if overFor(err) {
		l.referee.loses(claim, err)
	} else {
		l.referee.leaves(claim)
	}
}

func (l *life) unkeep() {
	if l.stopKeeper != nil {
		l.stopKeeper()
		l.stopKeeper = nil
	}
}

// renew renews whatever the session holds, however late.
func (l *life) renew() bool {
	var res []lease.RenewResult
	out := l.call(verbRenew, func(ctx context.Context) (err error) {
		res, err = l.p.Renew(ctx, lease.RenewRequest{})
		if err == nil && len(res) == 0 {
			err = lease.ErrNotHeld
		}
		return err
	})
	switch out {
	case done:
		l.believe(res[0].Hold)
		if res[0].Late > 0 {
			l.meter.count(func(t *tally) { t.late++ })
		}
	case lost:
		l.robbed(l.hold.Claim, l.err)
	}
	return out == done
}

// renewIfDue renews what has less than two thirds of its time left, and says whether the work may go on.
func (l *life) renewIfDue() bool {
	if l.p.left(&l.hold) > l.hold.TTL*2/3 {
		return true
	}
	return l.renew()
}

// verify says whether the remote shows the claim to be this session's.
func (l *life) verify() bool {
	out := l.call(verbVerify, func(ctx context.Context) error {
		_, err := l.p.Verify(ctx, l.want...)
		return err
	})
	if out == lost {
		l.robbed(l.hold.Claim, l.err)
	}
	return out == done
}

// work takes some time, and then writes what was read, increased.
func (l *life) work(longest time.Duration) bool {
	return l.rest(longest/8, longest) && l.write()
}

func (l *life) write() (ok bool) {
	l.read, ok = l.referee.write(l.hold.Claim, l.read)
	if !ok {
		l.meter.count(func(t *tally) { t.tooLate++ })
	}
	return ok
}

// release releases the claim for an agent, "" for everybody, with a few tries.
func (l *life) release(to string) bool {
	l.unkeep()
	l.referee.leaves(l.hold.Claim)
	for range 3 {
		out := l.call(verbRelease, func(ctx context.Context) error {
			_, err := l.p.Release(ctx, lease.ReleaseRequest{Resources: l.want, For: to})
			return err
		})
		if out != unknown && out != failed {
			return out == done
		}
	}
	return false
}
