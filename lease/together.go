package lease

import (
	"context"
	"errors"
	"time"

	"github.com/git-worklease/git-worklease/refstore"
)

// renewals are several claims that are renewed with one read and one request, where nothing contends. What doesn't succeed at once goes on
// by itself.
type renewals struct {
	*Authority
	manner  manner
	results []RenewResult
	// steps are the intents of those that were begun, by place.
	steps map[int]*renewalStep
	// turns end those of the claims that were begun.
	turns []func()
}

// manner is how claims are renewed.
type manner struct {
	// verb is what the renewal is for; empty: itself.
	verb Verb
	// amend may change the records further; nil: nothing is changed.
	amend func(*Record)
	// kept says that a keeper renews: what has expired stays so, and requests may wait for those of other keepers.
	kept bool
	// tips are what stood at the refs of all claims after this process's own last writes, for a keeper that need not read before it writes again:
	// the swap shows whether that still holds. Nil: it is read.
	tips []refstore.Ref
}

// as is the verb of the intents.
func (m *manner) as() Verb {
	if m.verb == "" {
		return VerbRenew
	}
	return m.verb
}

// renewAll renews claims. Each has a result of its own.
func (a *Authority) renewAll(ctx Context, holds []Hold, how manner) []RenewResult {
	r := &renewals{Authority: a, manner: how, results: make([]RenewResult, len(holds)), steps: map[int]*renewalStep{}}
	if len(holds) == 1 && !how.kept {
		r.results[0] = a.renewFrom(ctx, holds[0], nil, how)
		return r.results
	}
	r.together(ctx, holds)
	for _, done := range r.turns {
		done()
	}
	for i, h := range holds {
		if errors.Is(r.results[i].Err, errAgain) {
			r.results[i] = r.alone(ctx, h)
		}
	}
	return r.results
}

// alone goes on with one claim by itself.
func (r *renewals) alone(ctx Context, h Hold) RenewResult {
	now, err := r.current(h)
	if err != nil {
		return RenewResult{Hold: h, Err: err}
	}
	return r.renewFrom(ctx, now, nil, r.manner)
}

// together tries once for all.
func (r *renewals) together(over Context, holds []Hold) {
	ctx, cancel := r.bounded(over, holds...)
	defer cancel()
	s, err := r.view(ctx, resourcesOf(holds))
	for i, h := range holds {
		r.results[i] = RenewResult{Hold: h, Err: err}
		if err == nil {
			r.begin(ctx, i, h, s)
		}
	}
	r.send(ctx)
	for i := range r.results {
		if err := r.results[i].Err; err != nil && outOfTime(ctx, err) && over.Err() == nil && !r.manner.kept {
			r.results[i].Err = errAgain
		}
	}
}

// view is what stands at the refs, or stood there when this process wrote last.
func (r *renewals) view(ctx Context, resources []Resource) (*snapshot, error) {
	if len(r.manner.tips) > 0 {
		if meta, err := r.known(); err == nil && meta.fresh(r.moment()) {
			return r.snapshot(meta, nil, resources, r.manner.tips), nil
		}
	}
	return r.read(ctx, resources)
}

// begin gets one renewal ready to be sent.
func (r *renewals) begin(ctx Context, i int, h Hold, s *snapshot) {
	done, err := r.tryTurn(h)
	if err != nil {
		r.results[i].Err = r.orAgain(err)
		return
	}
	r.turns = append(r.turns, done)
	step, err := r.prepare(ctx, h, s, r.manner)
	if err == nil {
		err = r.start(step.intent)
	}
	if err != nil {
		r.results[i].Err = r.orAgain(err)
		return
	}
	r.steps[i] = step
}

// orAgain is errAgain for what [Authority.again] would deal with.
func (r *renewals) orAgain(err error) error {
	var open *OpenIntentError
	if errors.Is(err, refstore.ErrConflict) || errors.Is(err, ErrIntentBusy) || errors.As(err, &open) {
		return errAgain
	}
	return err
}

// send sends what was begun, and brings local state in line with how that ended.
func (r *renewals) send(ctx Context) {
	var places []int
	var txs []*refstore.Tx
	for i := range r.results {
		if step := r.steps[i]; step != nil {
			places, txs = append(places, i), append(txs, step.intent.Tx)
		}
	}
	if len(txs) == 0 {
		return
	}
	for n, err := range r.swapAll(ctx, r.patience(), txs) {
		i := places[n]
		r.results[i] = r.renewed(r.steps[i], r.finish(r.steps[i].intent, err))
		r.results[i].Err = r.orAgain(r.results[i].Err)
	}
}

// longestWait bounds for how long a keeper's renewal waits for others.
const longestWait = 15 * time.Second

// patience is how long the renewals may wait for others.
func (r *renewals) patience() refstore.Patience {
	if !r.manner.kept {
		return refstore.Patience{}
	}
	m := r.moment()
	least := MaxTTL
	for _, step := range r.steps {
		least = min(least, step.before.Left(m.now(), m.at))
	}
	return refstore.Patience{Wait: min(least/4, longestWait), Life: least}
}

// swapAll swaps transactions together, and with those of other processes where there is time to wait for them.
func (a *Authority) swapAll(ctx context.Context, p refstore.Patience, txs []*refstore.Tx) []error {
	if g, ok := a.store.(refstore.Gatherer); ok && p.Wait > 0 {
		return g.Gather(ctx, p, txs...)
	}
	return refstore.Together(ctx, a.store, txs...)
}
