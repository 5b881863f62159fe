package lease

import (
	"crypto/ed25519"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/git-worklease/git-worklease/refstore"
)

// ClaimRequest asks for 1 to 32 resources, all or none.
type ClaimRequest struct {
	Resources []Resource
	// TTL is for this claim; 0: that of the authority's terms, and for a claim already held, what it has.
	TTL time.Duration
	// Purpose and Meta are for others to read. On a claim already held they replace what it has, by name.
	Purpose string
	Meta    map[string]string
}

// ClaimOutcome says how a claim came to be held.
type ClaimOutcome string

// The outcomes of a claim.
const (
	Claimed ClaimOutcome = "claimed"
	Renewed ClaimOutcome = "renewed" // it was this session's already
)

// ClaimResult is a claim that is held.
type ClaimResult struct {
	Outcome ClaimOutcome
	Hold    Hold
	// Records are what stands at the refs, in the order of Hold.Members, which are all resources of the claim.
	Records []*Record
	// Predecessors are the records that were taken over, or that handed something on.
	Predecessors []*Record
	// Since is when the claim was made.
	Since time.Time
	// Late is for how long a claim already held had expired; 0 if it had not.
	Late time.Duration
}

// Claim takes what is free, released or takeable, and renews what this session holds already. It returns nil only with the claim held; a
// [*HeldError] where another has one of the resources; [ErrMixedBundle] where the session holds a part of them; a
// [*PendingError] where the outcome is unknown, which the next verb of this clone settles.
func (a *Authority) Claim(ctx Context, req ClaimRequest) (*ClaimResult, error) {
	want, err := req.check()
	if err != nil {
		return nil, err
	}
	c := &claimer{Authority: a, req: req, want: want}
	var t tries
	for {
		result, err := c.once(ctx)
		if err == nil {
			return result, nil
		}
		if err := a.again(ctx, &t, VerbClaim, want, err); err != nil {
			return nil, err
		}
	}
}

func (r *ClaimRequest) check() ([]Resource, error) {
	want, err := checkResources(r.Resources)
	if err != nil {
		return nil, err
	}
	if r.TTL != 0 {
		if err := checkTTL(r.TTL); err != nil {
			return nil, err
		}
	}
	if r.Purpose != "" {
		if err := checkText(r.Purpose, MaxText); err != nil {
			return nil, fmt.Errorf("%w: purpose: %w", ErrBadRequest, err)
		}
	}
	return want, checkMeta(r.Meta)
}

func checkMeta(meta map[string]string) error {
	size := 0
	for name, value := range meta {
		size += len(name) + len(value)
		if err := checkText(name, MaxName); err != nil {
			return fmt.Errorf("%w: meta name %q: %w", ErrBadRequest, name, err)
		}
		if err := checkText(value, MaxText); value != "" && err != nil {
			return fmt.Errorf("%w: meta %s: %w", ErrBadRequest, name, err)
		}
	}
	if size > maxMeta {
		return fmt.Errorf("%w: meta of %d bytes", ErrBadRequest, size)
	}
	return nil
}

// claimer is one call of Claim.
type claimer struct {
	*Authority
	req  ClaimRequest
	want []Resource
	// snap is what a refused swap showed; nil: look.
	snap *snapshot
	// settled: nothing of this clone was under way when a refusal was found.
	settled bool
}

// once decides and tries one time.
func (c *claimer) once(ctx Context) (*ClaimResult, error) {
	mine, err := c.touching()
	if err != nil {
		return nil, err
	}
	if len(mine) > 0 {
		return c.renewMine(ctx, mine)
	}
	if c.snap == nil {
		if c.snap, err = c.glance(ctx); err != nil {
			return nil, err
		}
	}
	if c.snap.meta.Authority == "" && !c.mayCreate() {
		return nil, ErrNoAuthority
	}
	m := c.moment()
	plan, err := c.plan(m)
	switch {
	case err != nil && !c.settled && c.inOurName(err):
		return nil, c.refuse(ctx, err)
	case err != nil:
		return nil, err
	}
	return c.take(ctx, m, plan)
}

// inOurName says whether a refusal is by a claim that is named like this session. That decides nothing, but it may be its own.
func (c *claimer) inOurName(err error) bool {
	var held *HeldError
	return errors.As(err, &held) && !held.Reserved && held.Record.Holder == c.o.Holder
}

// refuse makes sure, before a claim is refused, that the claim in its way isn't one that a process of this session has just taken and
// not yet saved.
func (c *claimer) refuse(ctx Context, held error) error {
	open, err := c.settle(ctx, true, c.want)
	switch {
	case err != nil:
		return err
	case len(open) > 0 && open[len(open)-1].Busy:
		c.snap = nil
		return fmt.Errorf("%s: %w", VerbClaim, ErrIntentBusy)
	case len(open) > 0:
		return open[0]
	}
	c.settled = true
	mine, err := c.touching()
	switch {
	case err != nil:
		return err
	case len(mine) == 0:
		return held
	}
	return errAgain
}

// mayCreate says whether a claim may create the authority.
func (a *Authority) mayCreate() bool { return a.o.MayCreate && a.o.AuthorityID == "" }

// touching are this session's claims that have not ended, on any of the wanted resources.
func (c *claimer) touching() ([]Hold, error) {
	holds, err := c.local.Holds()
	if err != nil {
		return nil, err
	}
	return slices.DeleteFunc(slices.Clone(holds), func(h Hold) bool {
		return h.End != nil || !slices.ContainsFunc(c.want, h.has)
	}), nil
}

// renewMine renews the claim that has all that is wanted. Otherwise it looks whether the file is behind the times before it refuses.
func (c *claimer) renewMine(ctx Context, mine []Hold) (*ClaimResult, error) {
	h := mine[0]
	if len(mine) > 1 || !containsAll(&h, c.want) {
		return nil, c.mixed(ctx, mine)
	}
	res, err := c.renewHold(ctx, h, c.amend)
	if errors.Is(err, ErrLost) || errors.Is(err, ErrNotHeld) {
		c.snap = nil
		return nil, c.unlessEnded(h, err)
	}
	if err != nil {
		return nil, err
	}
	return &ClaimResult{Outcome: Renewed, Hold: res.Hold, Records: res.Records, Since: res.Hold.ClaimedAt, Late: res.Late}, nil
}

// unlessEnded turns a loss into another try once the file says that the claim is over.
func (c *claimer) unlessEnded(h Hold, lost error) error {
	holds, err := c.local.Holds()
	if err != nil {
		return err
	}
	if slices.ContainsFunc(holds, func(o Hold) bool { return o.Claim == h.Claim && o.End == nil }) {
		return lost
	}
	return errAgain
}

func (c *claimer) mixed(ctx Context, mine []Hold) error {
	for _, h := range mine {
		st, _, err := c.look(ctx, &h)
		if err != nil {
			return err
		}
		if st.lost != nil {
			lost := c.conclude(ctx, h, st)
			return c.unlessEnded(h, lost)
		}
	}
	return fmt.Errorf("%w: %s is held since %s", ErrMixedBundle, mine[0].Members[0].Resource, mine[0].ClaimedAt.Format(time.RFC3339))
}

func containsAll(h *Hold, want []Resource) bool {
	return !slices.ContainsFunc(want, func(r Resource) bool { return !h.has(r) })
}

// amend changes a held record as the request says.
func (c *claimer) amend(r *Record) {
	if c.req.TTL != 0 {
		r.TTLSeconds = int64(c.req.TTL / time.Second)
	}
	if c.req.Purpose != "" {
		r.Purpose = c.req.Purpose
	}
	if len(c.req.Meta) > 0 {
		meta := maps.Clone(r.Meta)
		if meta == nil {
			meta = map[string]string{}
		}
		maps.Copy(meta, c.req.Meta)
		r.Meta = meta
	}
}

// glance is what has to be known before the first try. Nothing need be read where the authority was read within a day and each resource
// is new to this clone or was seen released: the swap itself then shows whether that still holds.
func (c *claimer) glance(ctx Context) (*snapshot, error) {
	meta, err := c.known()
	if err != nil {
		return nil, err
	}
	if !meta.fresh(c.clock.Now()) {
		return c.read(ctx, c.want)
	}
	before, err := c.local.Seen(c.want...)
	if err != nil {
		return nil, err
	}
	s := &snapshot{meta: meta, before: before, tips: map[Resource]*tip{}}
	for _, r := range c.want {
		seen, known := before[r]
		if known && !seen.Free {
			return c.read(ctx, c.want)
		}
		s.tips[r] = &tip{resource: r, oid: seen.Tip, seen: seen}
	}
	return s, nil
}

// step is what a claim does to one ref.
type step struct {
	tip         *tip
	generation  Generation
	predecessor *Predecessor
	taken       *Record
}

// plan judges every resource; nothing is claimed unless all can be.
func (c *claimer) plan(m moment) ([]step, error) {
	steps := make([]step, 0, len(c.want))
	for _, r := range c.want {
		s, err := c.judgeOne(c.snap.tips[r], m)
		if err != nil {
			return nil, err
		}
		steps = append(steps, s)
	}
	return steps, nil
}

func (c *claimer) judgeOne(t *tip, m moment) (step, error) {
	s := step{tip: t, generation: max(c.snap.meta.Floor, t.seen.Generation) + 1}
	switch {
	case t.err != nil:
		return step{}, t.err
	case t.gone:
		return step{}, c.judgeGone(t)
	case t.rec == nil:
		return s, nil
	}
	v := judge(t.rec, t.seen, c.stance(m))
	if !v.takeable {
		return step{}, v.held(t.rec, m)
	}
	switch {
	case !t.rec.Released():
		s.predecessor, s.taken = t.rec.predecessor(string(v.liveness)), t.rec
	case t.rec.handsOn():
		s.predecessor, s.taken = t.rec.predecessor("released"), t.rec
	}
	return s, nil
}

// judgeGone is about a ref that was deleted. Where the last that this clone saw there was a claim of this session, nobody else's is known
// to have vanished with it.
func (c *claimer) judgeGone(t *tip) error {
	holds, err := c.local.Holds()
	if err != nil {
		return err
	}
	for _, h := range holds {
		for _, m := range h.Members {
			if m.Resource == t.resource && m.Generation == t.seen.Generation {
				t.gone = false
				return errAgain
			}
		}
	}
	return fmt.Errorf("%s: %w: generation %d was seen, and its ref is gone", t.resource, ErrRolledBack, t.seen.Generation)
}

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
	i, err := c.intend(VerbClaim, hold, records, creation...)
	if err != nil {
		return nil, err
	}
	if err := c.write(ctx, i); err != nil {
		return nil, c.refused(ctx, i, err)
	}
	result := &ClaimResult{Outcome: Claimed, Hold: i.Hold, Records: records, Since: hold.ClaimedAt}
	for _, s := range steps {
		if s.taken != nil {
			result.Predecessors = append(result.Predecessors, s.taken)
		}
	}
	return c.correct(ctx, m, i, result)
}

// creation is the change that creates the authority, where that can be a part of the claim's swap. Where it can't, it is made first.
func (c *claimer) creation(ctx Context, m moment) ([]refstore.Change, error) {
	if c.snap.meta.Authority != "" {
		return nil, nil
	}
	if server := c.store.Server(); server.Known.IsZero() || !server.Atomic {
		c.snap = nil
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
		ClaimedAt: stamp, RenewedAt: stamp, TTL: ttl, Grace: grace, Deadline: m.at.after(ttl),
	}
	records := make([]*Record, len(steps))
	for i, s := range steps {
		hold.Members = append(hold.Members, Member{Resource: s.tip.resource, Generation: s.generation})
		records[i] = &Record{
			Authority: hold.Authority, Resource: s.tip.resource, Claim: hold.Claim, Members: c.want, Holder: hold.Holder, Purpose: c.req.Purpose,
			Generation: s.generation, Revision: 1, TTLSeconds: int64(ttl / time.Second), GraceSeconds: int64(grace / time.Second),
			Takeover: c.o.Terms.Takeover, Expiry: c.o.Terms.Expiry, ClaimedAt: stamp, RenewedAt: stamp, State: StateActive,
			Predecessor: s.predecessor, Meta: c.req.Meta, Prev: s.tip.oid,
		}
	}
	return hold, records
}

// after is d later; an instant that can't be compared stays one.
func (i Instant) after(d time.Duration) Instant {
	if i.Boot == "" {
		return i
	}
	return Instant{Boot: i.Boot, Since: i.Since + d}
}

// refused turns a write that did not take the claim into what to do next.
func (c *claimer) refused(ctx Context, i *Intent, err error) error {
	var conflict *refstore.ConflictError
	switch {
	case errors.Is(err, ErrPending):
	case errors.As(err, &conflict) && len(i.Tx.Updates) == len(c.want) && !conflict.Overtaken:
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

// tipsOf is where an intent leaves the refs, for a verb that goes on from there without reading.
func (a *Authority) tipsOf(i *Intent) []refstore.Ref {
	listed := make([]refstore.Ref, len(i.Tx.Updates))
	for n, u := range i.Tx.Updates {
		listed[n] = refstore.Ref{Name: u.Ref, Commit: refstore.Commit{OID: u.New, Parent: u.Old, When: u.When, Message: u.Message}}
	}
	return listed
}

// correct makes sure that a claim stamped before the server's clock was known is not reported held on a wrong stamp or too short a grace.
func (c *claimer) correct(ctx Context, stamped moment, i *Intent, result *ClaimResult) (*ClaimResult, error) {
	change := c.correction(stamped)
	if change == nil {
		return result, nil
	}
	s := c.snapshot(c.snap.meta, nil, c.want, c.tipsOf(i))
	res, err := c.renewFrom(ctx, i.Hold, s, change)
	if errors.Is(err, ErrLost) {
		c.snap = nil
		return nil, c.unlessEnded(i.Hold, err)
	}
	if err != nil {
		return nil, err
	}
	result.Hold, result.Records = res.Hold, res.Records
	return result, nil
}

// correction is how a record stamped at the given moment has to be changed now that a reply has come; nil: not at all.
func (c *claimer) correction(stamped moment) func(*Record) {
	now := c.moment()
	switch {
	case now.dated && (now.skew-stamped.skew).Abs() > stampTolerance:
		return func(*Record) {}
	case c.snap.meta.Dated && !now.dated && c.o.Terms.Grace == nil && !c.o.LocalMode:
		return func(r *Record) { r.GraceSeconds = int64(UndatedGrace / time.Second) }
	}
	return nil
}
