package lease

import (
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/git-worklease/git-worklease/refstore"
)

// FenceRequest says which claims fence what, and sends that.
type FenceRequest struct {
	// Resources name the claims by any of their resources; none: all that the session holds.
	Resources []Resource
	// Send sends tx, the renewals of all claims, together with what they fence, in one request that the server does as a whole or not at all. olds are the
	// commits that tx builds upon. It returns nil once the server has said that all of it is done, what is [refstore.ErrUndecided] where a request was or may have
	// been sent and nothing shows its end, and any other error where nothing was changed or will be. It may be called again, for another tx.
	Send func(ctx Context, tx *refstore.Tx, olds []refstore.Object) error
	// Preview spares a read; nil: there is none.
	Preview *Preview
}

// Preview is what stood at the refs of the session's claims shortly before they are needed, read while something else was under way.
type Preview struct {
	begun Instant
	done  chan struct{}
	s     *snapshot
}

// previewLife is for how long a preview may be used. The swap shows whether it still holds; that it most likely does is worth a read.
const previewLife = 5 * time.Second

// Preview begins to read the refs of all claims that the session holds, and does not wait for that.
func (a *Authority) Preview(ctx Context) *Preview {
	p := &Preview{begun: a.clock.Instant(), done: make(chan struct{})}
	go func() {
		defer close(p.done)
		holds, err := a.local.Holds()
		if err != nil {
			return
		}
		standing := slices.DeleteFunc(slices.Clone(holds), func(h Hold) bool { return h.End != nil })
		ctx, cancel := a.attempt(ctx)
		defer cancel()
		p.s, _ = a.read(ctx, resourcesOf(standing)) // without it, it is read later
		warmKeys()
	}()
	return p
}

// shows is what a preview showed of claims, or nil where they have to be read: it showed nothing, or too long ago, or not what the file says.
func (p *Preview) shows(holds []Hold, now Instant) *snapshot {
	if p == nil {
		return nil
	}
	<-p.done
	if p.s == nil || now.Boot != p.begun.Boot || now.Since-p.begun.Since > previewLife {
		return nil
	}
	for i := range holds {
		h := &holds[i]
		if slices.ContainsFunc(h.resources(), func(r Resource) bool { return p.s.tips[r] == nil }) || h.sameAuthority(p.s) != nil {
			return nil
		}
		if st := stand(h, p.s); st.lost != nil || st.unknown != nil || st.torn {
			return nil
		}
	}
	return p.s
}

// moreFences is how often something is sent again because a claim of ours had been written meanwhile.
const moreFences = 3

// Fence proves claims in the very request that sends what they fence: if one of them was lost, the server refuses it all. A claim that has expired does
// as long as nobody took it, since the swap shows that. It returns what became of the claims once all has landed. Otherwise the error is a [*LostError],
// [ErrNotHeld] or another that a renewal has; the error of Send where the claims stand and were not the reason; or a [*PendingError] where it can't tell what
// landed, and then the next verb of this clone finds out. The context alone bounds the time of Send.
func (a *Authority) Fence(ctx Context, req FenceRequest) ([]RenewResult, error) {
	f := &fence{Authority: a, req: req}
	var t tries
	for {
		results, err := f.once(ctx)
		switch {
		case err == nil:
			return f.revive(ctx, results), nil
		case errors.Is(err, refstore.ErrConflict) && f.sent > moreFences:
			return nil, err
		}
		if err := a.again(ctx, &t, VerbPush, f.resources, err); err != nil {
			return nil, err
		}
	}
}

// fence is one call of Fence.
type fence struct {
	*Authority
	req FenceRequest
	// resources are all of the claims'.
	resources []Resource
	// sent counts the calls of Send.
	sent int
}

// once decides on the renewals, and sends them once.
func (f *fence) once(ctx Context) ([]RenewResult, error) {
	holds, err := f.holds(ctx)
	if err != nil {
		return nil, err
	}
	done, err := f.takeTurn(ctx, holds)
	if err != nil {
		return nil, err
	}
	defer done()
	steps, err := f.decide(ctx, holds)
	if err != nil {
		return nil, err
	}
	for i, step := range steps {
		if err := f.start(step.intent); err != nil {
			f.drop(steps[:i])
			return nil, err
		}
	}
	return f.send(ctx, steps)
}

// holds are the claims that were asked for, all of which must stand by the session's file.
func (f *fence) holds(ctx Context) ([]Hold, error) {
	ctx, cancel := f.attempt(ctx)
	defer cancel()
	groups, err := f.group(ctx, VerbPush, f.req.Resources)
	if err != nil {
		return nil, err
	}
	if len(groups) == 0 {
		return nil, fmt.Errorf("%s: %w", VerbPush, ErrNotHeld)
	}
	var holds []Hold
	for _, g := range groups {
		if g.err != nil {
			return nil, g.err
		}
		holds = append(holds, g.hold)
	}
	f.resources = resourcesOf(holds)
	return holds, nil
}

// quietWait is for how long a push waits for its turn without a word.
const quietWait = 3 * time.Second

// takeTurn waits for the turn for as long as another push may take, and says so: whoever has it may have been stopped.
func (f *fence) takeTurn(ctx Context, holds []Hold) (done func(), err error) {
	quiet, cancel := context.WithTimeout(ctx, quietWait)
	defer cancel()
	if done, err = f.turn(quiet, holds...); err == nil || quiet.Err() == nil || ctx.Err() != nil {
		return done, err
	}
	f.notify(Notice{Kind: NoticeWaits, Verb: VerbPush, Resources: f.resources})
	return f.turn(ctx, holds...)
}

// decide makes the renewals of all claims by one read.
func (f *fence) decide(ctx Context, holds []Hold) ([]*renewalStep, error) {
	ctx, cancel := f.attempt(ctx)
	defer cancel()
	for i := range holds {
		now, err := f.current(holds[i]) // it may have been written while this one waited for its turn
		if err != nil {
			return nil, err
		}
		holds[i] = now
	}
	s, err := f.standing(ctx, holds)
	if err != nil {
		return nil, err
	}
	nonce := make([]byte, 8)
	if err := f.randomBytes(nonce); err != nil {
		return nil, err
	}
	how := manner{verb: VerbPush, amend: func(r *Record) { r.Push = hex.EncodeToString(nonce) }}
	var steps []*renewalStep
	for _, h := range holds {
		step, err := f.prepare(ctx, h, s, how)
		if err != nil {
			return nil, err
		}
		steps = append(steps, step)
	}
	return steps, nil
}

// standing is what stands at the refs.
func (f *fence) standing(ctx Context, holds []Hold) (*snapshot, error) {
	if s := f.req.Preview.shows(holds, f.clock.Instant()); s != nil && f.sent == 0 {
		return s, nil
	}
	return f.read(ctx, f.resources)
}

// drop ends intents of which nothing was sent.
func (f *fence) drop(steps []*renewalStep) {
	for _, step := range steps {
		f.forgot(f.local.End(step.intent))
	}
}

// send sends what was begun, and brings local state in line with how that ended.
func (f *fence) send(ctx Context, steps []*renewalStep) ([]RenewResult, error) {
	tx := &refstore.Tx{Format: steps[0].intent.Tx.Format}
	var olds []refstore.Object
	for _, step := range steps {
		tx.Updates = append(tx.Updates, step.intent.Tx.Updates...)
		for _, c := range step.olds {
			olds = append(olds, c.Object(tx.Format))
		}
	}
	if f.sent++; f.sent > 1 {
		f.notify(Notice{Kind: NoticeAgain, Verb: VerbPush, Resources: f.resources})
	}
	told := f.req.Send(ctx, tx, olds)
	found := told
	if told != nil {
		found = f.find(ctx, tx, told)
	}
	if found == nil {
		f.store.Landed(tx)
	}
	results := make([]RenewResult, len(steps))
	for i, step := range steps {
		results[i] = f.renewed(step, f.finish(step.intent, found))
		results[i].Resources = results[i].Hold.resources()
	}
	return results, f.verdict(results, told, found)
}

// find concludes from the refs what became of what was sent, in the words of a [refstore.Store].
func (f *fence) find(ctx Context, tx *refstore.Tx, told error) error {
	ctx, cancel := f.attempt(ctx)
	defer cancel()
	doubt := errors.Is(told, refstore.ErrUndecided)
	state, refs, err := f.store.Settle(ctx, tx, nil)
	switch {
	case errors.Is(err, refstore.ErrHalfApplied):
		return err
	case err != nil && doubt:
		return &refstore.UndecidedError{Err: told}
	case err != nil:
		return &refstore.RefusedError{Words: told.Error()}
	}
	switch state {
	case refstore.Landed:
		return nil
	case refstore.Dead, refstore.Overtaken:
		return &refstore.ConflictError{Refs: refs, Overtaken: state == refstore.Overtaken}
	}
	if doubt {
		return told
	}
	return &refstore.RefusedError{Words: told.Error()}
}

// verdict is what the call has to say: nil where all has landed, also where a claim has been written or lost since.
func (f *fence) verdict(results []RenewResult, told, found error) error {
	var conflict *refstore.ConflictError
	var refused *refstore.RefusedError
	switch {
	case errors.Is(found, refstore.ErrUndecided): // before all others, because it wraps what went wrong
		return results[0].Err
	case found == nil, errors.As(found, &conflict) && conflict.Overtaken:
		return nil
	case errors.As(found, &refused): // which is about something else than the claims
		return told
	case conflict != nil:
		return fmt.Errorf("%s: %w", VerbPush, found)
	}
	return results[0].Err
}

// revive renews claims once more whose time has mostly gone by while what they fence was sent. What comes of it is theirs alone.
func (f *fence) revive(ctx Context, results []RenewResult) []RenewResult {
	for i := range results {
		r := &results[i]
		m := f.moment()
		if r.Err == nil && r.Hold.Left(m.now(), m.at) >= r.Hold.TTL/2 {
			continue
		}
		now, err := f.current(r.Hold)
		if err == nil {
			attempt, cancel := f.attempt(ctx)
			again := f.renewFrom(attempt, now, nil, manner{})
			cancel()
			err = again.Err
			if err == nil {
				again.Resources, again.Late = r.Resources, r.Late
				*r = again
			}
		}
		r.Err = err
	}
	return results
}
