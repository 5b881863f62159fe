package lease

import (
	"encoding/binary"
	"errors"
	"fmt"
	"slices"
)

// drawing is one call of Claim for any slots of pools.
type drawing struct {
	*Authority
	// left are the slots of each pool that may still be had, in the order in which they are tried.
	left map[Resource][]Resource
	// refusals are why the others can't be had.
	refusals map[Resource][]error
}

// draw claims a slot of each pool in the request, together with what else is in it. A slot that this session holds is that slot. Otherwise
// the free ones are tried from a random one on.
func (a *Authority) draw(ctx Context, req ClaimRequest, w *whole) (*ClaimResult, error) {
	wanted, err := checkResources(req.Resources)
	if err != nil {
		return nil, err
	}
	d := &drawing{Authority: a, left: map[Resource][]Resource{}, refusals: map[Resource][]error{}}
	for _, pool := range wanted {
		if !pool.IsPool() {
			continue
		}
		if err := d.look(ctx, pool, wanted); err != nil {
			return nil, err
		}
	}
	for {
		req.Resources = nil
		for _, r := range wanted {
			switch slots := d.left[r]; {
			case !r.IsPool():
				req.Resources = append(req.Resources, r)
			case len(slots) == 0:
				return nil, d.full(r)
			default:
				req.Resources = append(req.Resources, slots[0])
			}
		}
		res, err := a.claim(ctx, req, w)
		if err == nil || !d.dropped(err) {
			return res, err
		}
	}
}

// look finds out which slots of a pool may be had.
func (d *drawing) look(ctx Context, pool Resource, wanted []Resource) error {
	held, _, err := d.heldSlots(pool)
	if err != nil || len(held) > 0 {
		d.left[pool] = held
		return err
	}
	slots, err := d.slots(pool)
	if err != nil {
		return err
	}
	views, err := d.Status(ctx, slots...)
	if err != nil {
		return err
	}
	var b [4]byte
	if err := d.randomBytes(b[:]); err != nil {
		return err
	}
	start := int(binary.NativeEndian.Uint32(b[:]) % uint32(len(views)))
	for _, v := range slices.Concat(views[start:], views[:start]) {
		switch {
		case slices.Contains(wanted, v.Resource): // as itself
		case v.Takeable:
			d.left[pool] = append(d.left[pool], v.Resource)
		case v.Problem != nil:
			d.refusals[pool] = append(d.refusals[pool], v.Problem)
		case v.Record != nil:
			d.refusals[pool] = append(d.refusals[pool], v.held())
		}
	}
	return nil
}

// held is the refusal that a view of what another has, or will get, means.
func (v *View) held() *HeldError {
	return &HeldError{
		Resource: v.Resource, Record: v.Record, Liveness: v.Liveness, Reserved: v.State == StandingReserved, Until: v.Deadline, TakeableAt: v.TakeableAt,
	}
}

// dropped says whether err is that a slot can't be had after all, which is then not tried again.
func (d *drawing) dropped(err error) bool {
	var held *HeldError
	if !errors.As(err, &held) {
		return false
	}
	for pool, slots := range d.left {
		if held.Resource.in(pool) && len(slots) > 0 && slots[0] == held.Resource {
			d.left[pool], d.refusals[pool] = slots[1:], append(d.refusals[pool], err)
			return true
		}
	}
	return false
}

// full is the refusal of a pool: by the slot that comes free first, or by what is wrong with a slot where none is held.
func (d *drawing) full(pool Resource) error {
	var soonest *HeldError
	for _, err := range d.refusals[pool] {
		var held *HeldError
		if errors.As(err, &held) && (soonest == nil || held.TakeableAt.Before(soonest.TakeableAt)) {
			soonest = held
		}
	}
	switch {
	case len(d.refusals[pool]) == 0:
		return fmt.Errorf("%w: %s beside all of its slots", ErrBadRequest, pool)
	case soonest == nil:
		return errors.Join(d.refusals[pool]...)
	}
	full := *soonest
	full.Pool, full.Slots = pool, max(d.size(pool), len(d.refusals[pool]))
	return &full
}
