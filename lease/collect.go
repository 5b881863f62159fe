package lease

import (
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/git-worklease/git-worklease/refstore"
)

// The bounds of collecting.
const (
	// MinRetention is the least age of a tombstone that may be deleted: reservations have lapsed by then, and whoever lost a claim over night
	// still reads why.
	MinRetention = 24 * time.Hour
	// DefaultRetention is for how long tombstones are kept if nobody says otherwise.
	DefaultRetention = 90 * 24 * time.Hour
	// DefaultCollect is how many tombstones are deleted by one call if nobody says otherwise.
	DefaultCollect = 10_000
	// collectBatch is how many are deleted by one push.
	collectBatch = 100
)

// CollectRequest says what may be deleted.
type CollectRequest struct {
	// Retention is for how long a tombstone is kept after its release, at least [MinRetention]; 0: [DefaultRetention].
	Retention time.Duration
	// Limit is how many are deleted at most; 0: [DefaultCollect].
	Limit int
	// Apply raises the floor and deletes. Without it nothing is written.
	Apply bool
	// Progress, which may be nil, is told how many of how many have been deleted, after each push.
	Progress func(deleted, of int)
}

func (r *CollectRequest) check() error {
	if r.Retention == 0 {
		r.Retention = DefaultRetention
	}
	if r.Limit == 0 {
		r.Limit = DefaultCollect
	}
	switch {
	case r.Retention < MinRetention:
		return fmt.Errorf("%w: retention of %s, which is less than %s", ErrBadRequest, r.Retention, MinRetention)
	case r.Limit < 0:
		return fmt.Errorf("%w: limit of %d", ErrBadRequest, r.Limit)
	}
	return nil
}

// Fate is what collecting makes of a ref.
type Fate string

// The fates of refs.
const (
	FateClaimed  Fate = "claimed"    // not released, whatever its age: ended by a take-over or by force, never by collecting
	FateReserved Fate = "reserved"   // released, and kept for an agent
	FateRecent   Fate = "recent"     // released, and younger than the retention
	FateWaiting  Fate = "waiting"    // old enough, but no floor that covers it has stood for long enough
	FateDue      Fate = "due"        // may be deleted
	FateUnread   Fate = "unreadable" // no valid record of this authority and version, or an absurd generation; never touched
)

// Tombstone is a release that is due.
type Tombstone struct {
	Resource   Resource
	Ref        string
	Generation Generation
	ReleasedAt time.Time
}

// Collection is what was found, and what was done.
type Collection struct {
	// Counts are the refs by their fate when the call began.
	Counts map[Fate]int
	// Due are those that may be deleted, as far as the limit goes.
	Due []Tombstone
	// Deleted is how many of them are gone by this call, or by another in the same moment. The others have changed or gone before their turn came,
	// unless an error came in between.
	Deleted int
	// Floor is the floor, and RaiseTo the one that it has to be raised to for those that wait; 0 where it need not or can't be yet.
	Floor, RaiseTo Generation
	// Raised says that this call has raised it.
	Raised bool
	// Ready is when those that wait can be deleted at the earliest, on this machine's clock; zero where the floor has yet to be raised, and
	// where none waits.
	Ready time.Time

	// cover is the highest generation of those that wait.
	cover Generation
}

// Collect deletes the refs of claims that were released long ago, in two steps. It raises the floor to cover them, and deletes what a floor
// covers that was raised at least 48 hours earlier: no claim of a lower generation can be made then any more by a clone that has not
// heard of that floor. Without a server's Date four days more are waited for. Nothing is deleted but tombstones, each by the object that was
// read just before, so that it is safe beside every other verb, and may be interrupted at any time. With an error, the
// result says how far it came; nil means that nothing was begun.
//
// A delete is an exact swap only where the server still has the old object. It has it here: it stood at the ref a moment ago, and a claim that
// replaces it has it as its parent. Only a ref that is deleted, created anew and pruned within that moment could be hit.
func (a *Authority) Collect(ctx Context, req CollectRequest) (*Collection, error) {
	return a.collect(ctx, req, (*Meta).proven)
}

// collect is Collect with the rule of how far the floor of a meta record is to be trusted.
func (a *Authority) collect(ctx Context, req CollectRequest, trust func(*Meta, time.Time, bool) Generation) (*Collection, error) {
	if err := req.check(); err != nil {
		return nil, err
	}
	c := &collector{Authority: a, req: req, trust: trust}
	meta, tips, err := c.look(ctx, a.refs.claims())
	if err != nil {
		return nil, fmt.Errorf("collect: %w", err)
	}
	c.plan(meta, tips)
	if meta == nil || !req.Apply {
		return c.res, nil
	}
	if c.res.RaiseTo > 0 {
		if meta, c.res.Raised, err = a.raise(ctx, c.res.cover); err != nil {
			return c.res, fmt.Errorf("raise the floor: %w", err)
		}
		c.tellFloor(meta)
	}
	return c.res, c.sweep(ctx)
}

// collector is one call of Collect.
type collector struct {
	*Authority
	req   CollectRequest
	trust func(*Meta, time.Time, bool) Generation
	res   *Collection
	// single: the server can't delete several at once.
	single bool
}

// grave is a ref as it was read, and what is to become of it.
type grave struct {
	*tip
	ref  string
	fate Fate
}

// look reads refs, and judges them by the floor that was read with them.
func (c *collector) look(ctx Context, patterns ...string) (*Meta, []grave, error) {
	meta, listed, err := c.withMeta(ctx, patterns...)
	if err != nil || meta == nil {
		return nil, nil, err
	}
	listed = slices.DeleteFunc(listed, func(ref refstore.Ref) bool { return ref.Name == c.refs.meta() })
	before, err := c.local.Seen(c.resourcesOf(listed)...)
	if err != nil {
		return nil, nil, err
	}
	m := c.moment()
	trusted := c.trust(meta, m.now(), c.corrected(m))
	tombs := make([]grave, len(listed))
	for i, t := range c.tipsIn(listed, meta.Authority, before, m) {
		tombs[i] = grave{t, listed[i].Name, c.fate(t, trusted, m)}
	}
	return meta, tombs, nil
}

func (c *collector) resourcesOf(listed []refstore.Ref) []Resource {
	var rs []Resource
	for _, ref := range listed {
		if r := c.refs.resource(ref); r != "" {
			rs = append(rs, r)
		} else if rec, err := DecodeRecord(ref.Commit); err == nil {
			rs = append(rs, rec.Resource)
		}
	}
	return rs
}

// fate judges one ref by the floor that is to be trusted.
func (c *collector) fate(t *tip, trusted Generation, m moment) Fate {
	switch {
	case t.err != nil:
		return FateUnread
	case !t.rec.Released():
		return FateClaimed
	case t.rec.Generation > maxFloor:
		return FateUnread
	case judge(t.rec, t.seen, stance{grace: c.grace(m.dated), moment: m}).reserved:
		return FateReserved
	case m.now().Sub(t.rec.Release.At) < c.req.Retention:
		return FateRecent
	case t.rec.Generation > trusted:
		return FateWaiting
	default:
		return FateDue
	}
}

// plan counts, and says what is to be done. It writes nothing.
func (c *collector) plan(meta *Meta, tombs []grave) {
	c.res = &Collection{Counts: map[Fate]int{}}
	for _, t := range tombs {
		c.res.Counts[t.fate]++
		switch {
		case t.fate == FateWaiting:
			c.res.cover = max(c.res.cover, t.rec.Generation)
		case t.fate == FateDue && len(c.res.Due) < c.req.Limit:
			c.res.Due = append(c.res.Due, Tombstone{t.resource, t.ref, t.rec.Generation, t.rec.Release.At})
		}
	}
	if meta != nil {
		c.tellFloor(meta)
	}
}

// tellFloor says how it stands with the floor for those that wait.
func (c *collector) tellFloor(meta *Meta) {
	c.res.Floor, c.res.RaiseTo, c.res.Ready = meta.Floor, 0, time.Time{}
	if c.res.cover == 0 {
		return
	}
	m := c.moment()
	if r, waits := meta.waiting(m.now(), c.corrected(m)); waits {
		c.res.Ready = m.wall.Add(r.ripeAt(c.corrected(m)).Sub(m.now()))
		return
	}
	c.res.RaiseTo = max(meta.Floor, c.res.cover)
}

// sweep deletes what is due, batch by batch.
func (c *collector) sweep(ctx Context) error {
	for rest := c.res.Due; len(rest) > 0; {
		n := min(c.size(), len(rest))
		err := c.sweepBatch(ctx, rest[:n])
		if n > 1 && errors.Is(err, refstore.ErrUnsupported) {
			c.single = true
			continue
		}
		if err != nil {
			return fmt.Errorf("delete tombstones: %w", err)
		}
		if rest = rest[n:]; c.req.Progress != nil {
			c.req.Progress(c.res.Deleted, len(c.res.Due))
		}
	}
	return nil
}

// size is how many refs one push may delete.
func (c *collector) size() int {
	if server := c.store.Server(); c.single || !server.Known.IsZero() && !server.Atomic {
		return 1
	}
	return collectBatch
}

// sweepBatch deletes those of a batch that are still due when they are read again, and leaves the others.
func (c *collector) sweepBatch(ctx Context, batch []Tombstone) error {
	for try := 1; ; try++ {
		err := c.sweepOnce(ctx, batch)
		if !errors.Is(err, refstore.ErrConflict) && !errors.Is(err, refstore.ErrHalfApplied) || try == maxTries {
			return err
		}
		if err := c.pause(ctx, try); err != nil {
			return timeUp(err)
		}
	}
}

func (c *collector) sweepOnce(ctx Context, batch []Tombstone) error {
	names := make([]string, len(batch))
	for i, t := range batch {
		names[i] = t.Ref
	}
	_, tombs, err := c.look(ctx, names...)
	if err != nil {
		return err
	}
	var changes []refstore.Change
	for _, t := range tombs {
		if t.fate == FateDue {
			changes = append(changes, refstore.Change{Ref: t.ref, Old: t.oid, When: c.moment().stamp()})
		}
	}
	if len(changes) == 0 {
		return nil
	}
	tx, err := c.store.Build(changes...)
	if err != nil {
		return err
	}
	ctx, cancel := c.attempt(ctx)
	defer cancel()
	err = c.store.Swap(ctx, tx, nil)
	var half *refstore.HalfAppliedError
	switch {
	case err == nil:
		c.res.Deleted += len(changes)
	case errors.As(err, &half) && !c.store.Server().Atomic: // otherwise another call did that part
		c.res.Deleted += len(half.Applied)
	}
	return err
}
