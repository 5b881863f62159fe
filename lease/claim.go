package lease

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"
)

// ClaimRequest asks for 1 to 32 resources, all or none.
type ClaimRequest struct {
	Resources []Resource
	// TTL is for this claim; 0: that of the authority's terms, and for a claim already held, what it has.
	TTL time.Duration
	// Purpose and Meta are for others to read. On a claim already held they replace what it has, by name.
	Purpose string
	Meta    map[string]string
	// Supersede takes over what another session of the same agent holds as soon as it is stale, also where the terms would have it dead first.
	Supersede bool
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
	// Overlapped are the claims of others, takeable ones, that were ended because paths overlap.
	Overlapped []*Record
	// Since is when the claim was made.
	Since time.Time
	// Late is for how long a claim already held had expired; 0 if it had not.
	Late time.Duration
}

// Claim takes what is free, released or takeable, and renews what this session holds already. It returns nil only with the claim held; a
// [*HeldError] where another has one of the resources or a path that overlaps; [ErrMixedBundle] where the session holds a part of them; a
// [*PendingError] where the outcome is unknown, which the next verb of this clone settles.
//
// A pool among the resources stands for any of its slots: the one that this session holds, or one that can be had. Where none can, the
// [*HeldError] is that of the slot that comes free first, with the pool.
func (a *Authority) Claim(ctx Context, req ClaimRequest) (*ClaimResult, error) {
	return a.claimWhole(ctx, req, nil)
}

// claimWhole is Claim, with swaps that are not cut in half when ctx ends unless w is nil.
func (a *Authority) claimWhole(ctx Context, req ClaimRequest, w *whole) (*ClaimResult, error) {
	if slices.ContainsFunc(req.Resources, Resource.IsPool) {
		return a.draw(ctx, req, w)
	}
	return a.claim(ctx, req, w)
}

// claim is Claim without pools.
func (a *Authority) claim(ctx Context, req ClaimRequest, w *whole) (*ClaimResult, error) {
	want, err := req.check()
	if err != nil {
		return nil, err
	}
	c := &claimer{Authority: a, req: req, want: want, whole: w}
	return c.claim(ctx)
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
	// attested: a ref was found gone, and the authority is read since.
	attested bool
	// created: this call has just created the authority.
	created bool
	// whole keeps swaps whole; nil: they end with the call.
	whole *whole
	// ended are the claims of others that the plan is to end.
	ended []*tip
}

// whole is of calls whose swaps go on when they are told to stop, so that none is cut in half.
type whole struct {
	// made are the intents of claims that were tried to be taken.
	made []*Intent
}

// claim decides and tries until the claim is held or refused.
func (c *claimer) claim(ctx Context) (*ClaimResult, error) {
	var t tries
	for {
		result, err := c.once(ctx)
		if err == nil {
			return result, nil
		}
		if err := c.again(ctx, &t, VerbClaim, c.want, err); err != nil {
			return nil, err
		}
	}
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
	if err := c.checkSlots(c.want); err != nil {
		return nil, err
	}
	if c.snap == nil {
		c.snap, err = c.glance(ctx)
		switch {
		case c.created && errors.Is(err, ErrAuthorityGone):
			return nil, fmt.Errorf("%w: %s", ErrHidden, c.refs.meta())
		case err != nil:
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
	return errors.As(err, &held) && !held.Reserved && held.Record.Holder.Session == c.o.Holder.Session
}

// refuse makes sure, before a claim is refused, that the claim in its way isn't one that a process of this session has just taken and
// not yet saved.
func (c *claimer) refuse(ctx Context, refusal error) error {
	var held *HeldError
	errors.As(refusal, &held)
	open, err := c.settle(ctx, true, append(slices.Clip(c.want), held.Resource))
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
	if err != nil {
		return err
	}
	holds, err := c.local.Holds()
	switch {
	case err != nil:
		return err
	case len(mine) == 0 && !owns(holds, held.Record.Claim):
		return refusal
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
	res := c.renewFrom(ctx, h, nil, manner{amend: c.amend})
	if errors.Is(res.Err, ErrLost) || errors.Is(res.Err, ErrNotHeld) {
		c.snap = nil
		return nil, c.unlessEnded(h, res.Err)
	}
	if res.Err != nil {
		return nil, res.Err
	}
	return &ClaimResult{Outcome: Renewed, Hold: res.Hold, Records: res.Records, Since: res.Hold.ClaimedAt, Late: res.Late}, nil
}

// unlessEnded turns a loss into another try, which tells of the loss, once the file says that the claim is over.
func (c *claimer) unlessEnded(h Hold, lost error) error {
	holds, err := c.local.Holds()
	if err != nil {
		return err
	}
	if slices.ContainsFunc(holds, func(o Hold) bool { return o.Claim == h.Claim && o.End == nil }) {
		return lost
	}
	if errors.Is(lost, ErrLost) {
		c.notify(Notice{Kind: NoticeLost, Resources: h.resources(), Err: lost})
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
	i := slices.IndexFunc(c.want, mine[0].has)
	return fmt.Errorf("%w: %s", ErrMixedBundle, c.want[max(i, 0)])
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
	r.Meta = withMeta(r.Meta, c.req.Meta)
}

// withMeta is meta with more in it, which replaces what it has by name.
func withMeta(meta, more map[string]string) map[string]string {
	if len(more) == 0 {
		return meta
	}
	all := maps.Clone(meta)
	if all == nil {
		all = map[string]string{}
	}
	maps.Copy(all, more)
	return all
}
