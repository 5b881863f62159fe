package sim

import (
	"context"
	"fmt"
	"time"

	"github.com/git-worklease/git-worklease/lease"
)

// worker is somebody who works, in one session after the other.
type worker struct {
	*Sim
	n     int
	kind  kind
	name  string
	clone *clone
	// post are resources that were released for this worker.
	post chan []lease.Resource
	// claims and refusals are this worker's own.
	claims, refusals int
	// failures is how many calls in a row the remote has failed.
	failures int
}

// mostPost is how many releases may wait for a worker.
const mostPost = 8

func newWorker(s *Sim, n int) *worker {
	k := kinds[n%len(kinds)]
	return &worker{
		Sim: s, n: n, kind: k, name: fmt.Sprintf("%s-%d", k.name, n/len(kinds)+1), clone: s.clones[n%len(s.clones)],
		post: make(chan []lease.Resource, mostPost),
	}
}

// run is one session after the other until the run is over.
func (w *worker) run() {
	first := w.random(w.n, 0)
	if w.o.Clock.Sleep(w.over, time.Duration(first.Int64N(int64(min(gathering, w.o.Span))))) != nil {
		return
	}
	for n := 1; w.over.Err() == nil; n++ {
		l := &life{worker: w, rng: w.random(w.n, n), session: fmt.Sprintf("%s.%d", w.name, n)}
		l.ttl = lease.MinTTL + time.Duration(l.rng.Int64N(int64(ttlSpread))).Truncate(time.Second)
		l.live()
		l.rest(200*time.Millisecond, time.Second)
	}
}

// partner is another worker that work can be released for, or this one where there is none.
func (w *worker) partner(draw func(n int) int) *worker {
	var others []*worker
	for _, o := range w.workers {
		if o != w && o.kind.name == w.kind.name {
			others = append(others, o)
		}
	}
	if len(others) == 0 {
		return w
	}
	return others[draw(len(others))]
}

// call makes a call of a verb as soon as there is a place for it. Renewals do not wait: their time is running.
func (l *life) call(v verb, do func(context.Context) error) outcome {
	if v != verbRenew {
		for !l.gate.enter() {
			if l.o.Clock.Sleep(l.over, l.gate.pause(l.rng)) != nil {
				return stopped
			}
		}
	}
	ctx, cancel := l.exchange(l.over)
	defer cancel()
	began := l.o.Clock.Now()
	l.err = do(ctx)
	took := l.o.Clock.Now().Sub(began)
	out := judge(l.err)
	if v != verbRenew {
		l.gate.leave(took, out == failed || out == unknown)
	}
	l.meter.called(v, out, l.err, took)
	l.after(out)
	return out
}

// after ends the run at what must not be, and lets the remote rest after it has failed.
func (l *life) after(out outcome) {
	switch out {
	case broken:
		l.abort(fmt.Errorf("%s, session %s: %w", l.name, l.session, l.err))
	case failed, unknown:
		l.failures = min(l.failures+1, mostFailures)
		longest := time.Second << l.failures
		l.rest(longest/2, longest)
	case done, refused:
		l.failures = 0
	}
}

// mostFailures bounds the pauses after failures: to half a minute.
const mostFailures = 5

// rest passes some time, and says whether the run goes on.
func (l *life) rest(least, most time.Duration) bool {
	return l.o.Clock.Sleep(l.over, least+time.Duration(l.rng.Int64N(int64(most-least)+1))) == nil
}
