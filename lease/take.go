package lease

import (
	"context"
	"crypto/ed25519"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/git-worklease/git-worklease/refstore"
)

// take builds the records and swaps them in.
func (c *claimer) take(ctx Context, m moment, steps []step) (*ClaimResult, error) {
	creation, err := c.creation(ctx, m)
	if err != nil {
		return nil, err
	}
	key, err := c.newKey()
	if err != nil {
		return nil, err
	}
	hold, records := c.draft(m, key, steps)
	endings, err := c.ending(hold, c.ended)
	if err != nil {
		return nil, err
	}
	i, err := c.intend(VerbClaim, hold, records, append(creation, endings...)...)
	if err != nil {
		return nil, err
	}
	if err := c.send(ctx, i); err != nil {
		return nil, c.refused(ctx, m, i, err)
	}
	if err := c.recheck(ctx, i); err != nil {
		return nil, err
	}
	if i.Hold.Unconfirmed {
		if i.Hold, err = c.confirmPaths(ctx, i.Hold, true); err != nil {
			return nil, c.unconfirmed(i.Hold, err)
		}
	}
	result := &ClaimResult{Outcome: Claimed, Hold: i.Hold, Records: records, Since: hold.ClaimedAt}
	for _, t := range c.ended {
		result.Overlapped = append(result.Overlapped, t.rec)
	}
	for _, s := range steps {
		if s.taken != nil {
			result.Predecessors = append(result.Predecessors, s.taken)
		}
	}
	return c.correct(ctx, m, i, result)
}

// recheck is for a process that slept after it had read the floor, so that its request arrived later than any should. Where the claim has created a
// ref at or below the floor, its generation may be one that came before, and it is given back before anybody is told of it.
func (c *claimer) recheck(ctx Context, i *Intent) error {
	if c.snap.meta.fresh(c.moment()) || i.above(maxNumber) {
		return nil
	}
	meta, _, err := c.readMeta(ctx)
	switch {
	case errors.Is(err, refstore.ErrUnavailable):
		return &PendingError{Verb: VerbClaim, Session: i.Session, Resources: c.want, Err: err}
	case err != nil:
		return err
	case i.above(meta.Floor):
		return nil
	}
	if err := c.withdraw(ctx, i.Hold); err != nil {
		return fmt.Errorf("the floor has risen; giving the claim back: %w", err)
	}
	c.snap = nil
	return errAgain
}

// send writes the claim. A swap that is to stay whole has a bound of its own, and is not begun by a call that was told to stop.
func (c *claimer) send(ctx Context, i *Intent) error {
	if c.whole == nil {
		return c.write(ctx, i)
	}
	if err := ctx.Err(); err != nil {
		return timeUp(err)
	}
	c.whole.made = append(c.whole.made, i)
	whole, cancel := c.attempt(context.WithoutCancel(ctx))
	defer cancel()
	return c.write(whole, i)
}

// creation is the change that creates the authority, where that can be a part of the claim's swap. Where it can't, it is made first.
func (c *claimer) creation(ctx Context, m moment) ([]refstore.Change, error) {
	if c.snap.meta.Authority != "" {
		return nil, nil
	}
	if server := c.store.Server(); server.Known.IsZero() || !server.Atomic {
		c.snap, c.created = nil, true
		if err := c.createMeta(ctx); err != nil {
			return nil, err
		}
		return nil, errAgain
	}
	meta, change, err := c.newMeta(m)
	if err != nil {
		return nil, err
	}
	c.snap.meta = meta
	return []refstore.Change{change}, nil
}

func (a *Authority) newKey() (ed25519.PrivateKey, error) {
	a.random.Lock()
	defer a.random.Unlock()
	return newKey(a.o.Rand)
}

// draft is the hold and the records of a new claim.
func (c *claimer) draft(m moment, key ed25519.PrivateKey, steps []step) (Hold, []*Record) {
	ttl := c.req.TTL
	if ttl == 0 {
		ttl = c.o.Terms.TTL
	}
	stamp, grace := m.stamp(), c.grace(m.dated || c.snap.meta.Dated)
	ttl, grace = ttl.Truncate(time.Second), (grace + time.Second - 1).Truncate(time.Second)
	hold := Hold{
		Authority: c.snap.meta.Authority, Claim: claimID(public(key)), Key: key, Holder: c.o.Holder, Revision: 1,
		ClaimedAt: stamp, RenewedAt: stamp, TTL: ttl, Grace: grace, Deadline: m.at.after(ttl), Unconfirmed: anyPath(c.want),
	}
	records := make([]*Record, len(steps))
	for i, s := range steps {
		hold.Members = append(hold.Members, Member{Resource: s.tip.resource, Generation: s.generation})
		records[i] = &Record{
			Authority: hold.Authority, Resource: s.tip.resource, Claim: hold.Claim, Members: c.want, Holder: hold.Holder, Purpose: c.req.Purpose,
			Generation: s.generation, Revision: 1, TTLSeconds: int64(ttl / time.Second), GraceSeconds: int64(grace / time.Second),
			Takeover: c.o.Terms.Takeover, Expiry: c.o.Terms.Expiry, ClaimedAt: stamp, RenewedAt: stamp, State: StateActive,
			Predecessor: s.predecessor, Meta: c.meta(s.tip.rec), Prev: s.tip.oid,
		}
	}
	return hold, records
}

// meta is that of a new claim on a resource where before stands, or nothing.
func (c *claimer) meta(before *Record) map[string]string {
	if before == nil || c.o.Inherit == nil {
		return c.req.Meta
	}
	return withMeta(c.o.Inherit(before), c.req.Meta)
}

// after is d later; an instant that can't be compared stays one.
func (i Instant) after(d time.Duration) Instant {
	if i.Boot == "" {
		return i
	}
	return Instant{Boot: i.Boot, Since: i.Since + d}
}

// refused turns a write that did not take the claim, and was stamped at the given moment, into what to do next.
func (c *claimer) refused(ctx Context, stamped moment, i *Intent, err error) error {
	var conflict *refstore.ConflictError
	switch {
	case errors.Is(err, refstore.ErrRefused) && c.misstamped(stamped): // by a server whose hook minds the stamp
		c.snap = nil
		return fmt.Errorf("%w: %w", errAgain, err)
	case errors.Is(err, ErrPending):
	case errors.As(err, &conflict) && vanished(i.Tx, conflict.Refs): // the authority may have gone with it
		c.attested, c.snap = true, nil
	case errors.As(err, &conflict) && len(i.Tx.Updates) == len(c.want) && !conflict.Overtaken && !anyPath(c.want):
		c.snap = c.after(c.snap, c.want, conflict.Refs)
	case errors.Is(err, refstore.ErrHalfApplied):
		if werr := c.withdraw(ctx, i.Hold); werr != nil {
			return fmt.Errorf("%w; giving it back: %w", err, werr)
		}
	default:
		c.snap = nil
	}
	return err
}

// vanished says whether a ref that tx was to move is not there.
func vanished(tx *refstore.Tx, refs []refstore.Ref) bool {
	return slices.ContainsFunc(tx.Updates, func(u refstore.Update) bool {
		return !u.Old.IsZero() && !slices.ContainsFunc(refs, func(r refstore.Ref) bool { return r.Name == u.Ref })
	})
}

// tipsOf is where an intent leaves the refs, for a verb that goes on from there without reading.
func (a *Authority) tipsOf(i *Intent) []refstore.Ref {
	listed := make([]refstore.Ref, len(i.Tx.Updates))
	for n, u := range i.Tx.Updates {
		listed[n] = refstore.Ref{Name: u.Ref, Commit: refstore.Commit{OID: u.New, Parent: u.Old, When: u.When, Message: u.Message}}
	}
	return listed
}

// correct makes sure that a claim is not reported held on a wrong stamp or too short a grace, where it was stamped before the server's clock
// was known, nor after its time was up, where the reply took as long as that.
func (c *claimer) correct(ctx Context, stamped moment, i *Intent, result *ClaimResult) (*ClaimResult, error) {
	change := c.correction(stamped, &i.Hold)
	if change == nil {
		return result, nil
	}
	s := c.snapshot(c.snap.meta, nil, c.want, c.tipsOf(i))
	res := c.renewFrom(ctx, i.Hold, s, manner{amend: change})
	if errors.Is(res.Err, ErrLost) {
		c.snap = nil
		return nil, c.unlessEnded(i.Hold, res.Err)
	}
	if errors.Is(res.Err, refstore.ErrUnavailable) { // the claim stands, but nobody can say so
		return nil, &PendingError{Verb: VerbClaim, Session: i.Session, Resources: c.want, Err: res.Err}
	}
	if res.Err != nil {
		return nil, res.Err
	}
	result.Hold, result.Records = res.Hold, res.Records
	return result, nil
}

// tolerated is by how much a stamp may be off: what a clock may be that nothing corrects, half of the grace that contenders wait for.
func tolerated(grace time.Duration) time.Duration {
	return max(min(stampTolerance, grace/2), dateTolerance)
}

// misstamped says whether the server's clock, as it is known by now, shows that a stamp was off.
func (c *claimer) misstamped(stamped moment) bool {
	now := c.moment()
	return now.dated && (now.skew-stamped.skew).Abs() > stampTolerance
}

// correction is how a record stamped at the given moment has to be changed now that a reply has come; nil: not at all.
func (c *claimer) correction(stamped moment, h *Hold) func(*Record) {
	now := c.moment()
	switch {
	case now.dated && (now.skew-stamped.skew).Abs() > tolerated(h.Grace):
		return func(*Record) {}
	case c.snap.meta.Dated && !now.dated && c.o.Terms.Grace == nil && !c.o.LocalMode:
		return func(r *Record) { r.GraceSeconds = int64(UndatedGrace / time.Second) }
	case h.Left(now.now(), now.at) <= 0:
		return func(*Record) {}
	}
	return nil
}
