package lease

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// MaxSlots is how many slots a pool may have.
const MaxSlots = 1024

// ErrNoPool is returned for a pool, or a slot of one, that there is none of. See [PoolError].
var ErrNoPool = errors.New("no such pool")

// PoolError names a pool that is not defined, or a slot beyond the last one.
type PoolError struct {
	Resource Resource
	// Slots is how many slots the pool has; 0: it is not defined.
	Slots int
}

func (e *PoolError) Error() string {
	if e.Slots == 0 {
		return fmt.Sprintf("%s: %v", e.Resource, ErrNoPool)
	}
	return fmt.Sprintf("%s: the pool has %d slots", e.Resource, e.Slots)
}

// Is links the type to [ErrNoPool].
func (e *PoolError) Is(target error) bool { return target == ErrNoPool }

var errSlot = fmt.Errorf("want a number of a slot from 1 to %d after the #", MaxSlots)

// checkPool judges a key with the scheme of pools.
func (r Resource) checkPool() error {
	name, number, isSlot := strings.Cut(strings.TrimPrefix(string(r), schemePool+":"), "#")
	k, err := strconv.Atoi(number)
	if name == "" || isSlot && (err != nil || strconv.Itoa(k) != number || k < 1 || k > MaxSlots) {
		return fmt.Errorf("%w: %q: %w", ErrBadResource, r, errSlot)
	}
	return nil
}

// slot takes a pool's resource apart: the pool, and the number of the slot, 0 for the pool itself. ok is false for what is of no pool.
func (r Resource) slot() (pool Resource, k int, ok bool) {
	if r.Scheme() != schemePool {
		return "", 0, false
	}
	name, number, _ := strings.Cut(string(r), "#")
	k, _ = strconv.Atoi(number)
	return Resource(name), k, true
}

// IsPool says whether r is a pool as a whole, which stands for any of its slots.
func (r Resource) IsPool() bool {
	_, k, ok := r.slot()
	return ok && k == 0
}

// in says whether r is a slot of pool.
func (r Resource) in(pool Resource) bool {
	of, k, ok := r.slot()
	return ok && k > 0 && of == pool
}

// size is how many slots a pool has.
func (a *Authority) size(pool Resource) int {
	return a.o.Pools[strings.TrimPrefix(string(pool), schemePool+":")]
}

// slots are all slots of a pool.
func (a *Authority) slots(pool Resource) ([]Resource, error) {
	n := a.size(pool)
	if n == 0 {
		return nil, &PoolError{Resource: pool}
	}
	slots := make([]Resource, n)
	for i := range slots {
		slots[i] = Resource(fmt.Sprintf("%s#%d", pool, i+1))
	}
	return slots, nil
}

// checkSlots refuses slots that their pools don't have.
func (a *Authority) checkSlots(resources []Resource) error {
	for _, r := range resources {
		if pool, k, ok := r.slot(); ok && k > a.size(pool) {
			return &PoolError{Resource: r, Slots: a.size(pool)}
		}
	}
	return nil
}

// Slots are resources with every pool replaced by all of its slots. It returns a [*PoolError] for a pool that is not defined.
func (a *Authority) Slots(resources []Resource) ([]Resource, error) {
	return replacePools(resources, a.slots)
}

// Held are resources with every pool replaced by the slots of it that this session holds, by its file; where it holds none, by the one whose claim
// a dead process left unsettled, or that it held last; where there is none either, the pool stays.
func (a *Authority) Held(resources []Resource) ([]Resource, error) {
	return replacePools(resources, func(pool Resource) ([]Resource, error) {
		slots, last, err := a.heldSlots(pool)
		switch {
		case err != nil || len(slots) > 0:
			return slots, err
		case last != "":
			return []Resource{last}, nil
		default:
			return []Resource{pool}, nil
		}
	})
}

func replacePools(resources []Resource, by func(pool Resource) ([]Resource, error)) ([]Resource, error) {
	if !slices.ContainsFunc(resources, Resource.IsPool) {
		return resources, nil
	}
	var all []Resource
	for _, r := range resources {
		if !r.IsPool() {
			all = append(all, r)
			continue
		}
		slots, err := by(r)
		if err != nil {
			return nil, err
		}
		all = append(all, slots...)
	}
	return all, nil
}

// heldSlots are the slots of a pool that this session holds, or may hold once a dead process's claim is settled, and the last that it held.
func (a *Authority) heldSlots(pool Resource) (held []Resource, last Resource, err error) {
	holds, err := a.local.Holds()
	if err != nil {
		return nil, "", err
	}
	for _, h := range holds {
		for _, m := range h.Members {
			switch {
			case !m.Resource.in(pool):
			case h.End == nil:
				held = append(held, m.Resource)
			default:
				last = m.Resource
			}
		}
	}
	if len(held) > 0 {
		return held, last, nil
	}
	left, _, err := a.local.Pending()
	for _, i := range left {
		for _, r := range i.Resources {
			if i.Verb == VerbClaim && i.Session == a.o.Holder.Session && r.in(pool) {
				held = append(held, r)
			}
		}
		a.forgot(a.local.Leave(i))
	}
	return held, last, err
}
