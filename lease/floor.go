package lease

import (
	"encoding/json"
	"errors"
	"slices"
	"time"

	"github.com/git-worklease/git-worklease/refstore"
)

// A generation never comes twice because of two things. While a resource has a ref, the next epoch is counted on from what stands there. Once
// its tombstone was deleted, the next one begins above the floor, and only what a floor covers is ever deleted. A claimant may know an old
// floor, so that a floor must have stood for a while before anything is deleted on the strength of it:
//
//   - A claim that creates a ref uses a floor that its clone read at most floorLife ago, by the clock that runs through suspend.
//   - It is sent at once, within one deadline (at most an hour); what a process sends that slept in between is checked when it wakes up.
//   - It is sent again by others only if it lies above the floor as read just then.
//
// So whoever does not know a new floor has sent its last such claim 25 hours after the floor was raised, and what is left of floorAge, 23 hours,
// is for a request that is held up on its way, and for errors of the clocks.
const (
	// floorLife is for how long a floor that was read may be used.
	floorLife = 24 * time.Hour
	// floorAge is how long a floor must have stood before what it covers may be deleted, by clocks that the server's Date corrects.
	floorAge = 2 * floorLife
	// clockMargin is added where nothing corrects the clock that stamped the floor or the one that reads it. Whatever these two are wrong by
	// together may be as much.
	clockMargin = 4 * 24 * time.Hour
	// farAhead is a stamp of the future that no clock that is about right has written.
	farAhead = time.Hour
	// raiseTolerance is how long it may take until a raise has landed, which is stamped before.
	raiseTolerance = time.Hour
	// keptRaises is how many raises a meta record remembers. As there is none while another waits, the last two would do if all clocks agreed.
	keptRaises = 4
	// maxFloor leaves room above the floor, whatever the generations of the records that somebody may have made up.
	maxFloor Generation = maxNumber / 2
)

// Raise is one time that the floor was raised.
type Raise struct {
	Floor Generation `json:"floor"`
	// At is when, by the clock of whoever did it.
	At time.Time `json:"at"`
	// Dated says that the server's Date corrected that clock, or that the authority is a machine's own, with one clock.
	Dated bool `json:"dated,omitempty"`
}

// ripeAt is from when the floor may be relied on, by a clock that is corrected, or by one that is not.
func (r Raise) ripeAt(corrected bool) time.Time {
	if corrected && r.Dated {
		return r.At.Add(floorAge)
	}
	return r.At.Add(floorAge + clockMargin)
}

// proven is the highest floor that has stood for long enough: nobody can create a ref at or below it any more.
func (m *Meta) proven(now time.Time, corrected bool) Generation {
	var floor Generation
	for _, r := range m.Raises {
		if r.Floor <= m.Floor && sane(r.At) && !now.Before(r.ripeAt(corrected)) {
			floor = max(floor, r.Floor)
		}
	}
	return floor
}

// waiting is the newest raise if it is neither ripe nor of the future. The floor is not raised while one waits, or the waiting would never end.
func (m *Meta) waiting(now time.Time, corrected bool) (Raise, bool) {
	if len(m.Raises) == 0 {
		return Raise{}, false
	}
	r := m.Raises[len(m.Raises)-1]
	return r, sane(r.At) && now.Before(r.ripeAt(corrected)) && !r.At.After(now.Add(farAhead))
}

// raised is the record that follows m, with a floor that is at least as high.
func (m *Meta) raised(r Raise, prev refstore.OID) *Meta {
	next := *m
	next.Floor, next.Prev = max(m.Floor, r.Floor), prev
	next.Raises = slices.Concat(m.Raises[max(0, len(m.Raises)-keptRaises+1):], []Raise{r})
	return &next
}

// line is the record as one line of JSON. Like [Record], it keeps what this version does not know.
func (m *Meta) line() ([]byte, error) {
	line, err := marshal(m)
	if err != nil || m.raw == nil {
		return line, err
	}
	var was Meta
	if err := json.Unmarshal(m.raw, &was); err != nil {
		return nil, err
	}
	wasLine, err := marshal(&was)
	if err != nil {
		return nil, err
	}
	return rewrite(m.raw, wasLine, line, metaMembers())
}

// corrected says whether the wall clock is one that all agree on.
func (a *Authority) corrected(m moment) bool { return m.dated || a.o.LocalMode }

// readMeta reads the authority's record, which must be there.
func (a *Authority) readMeta(ctx Context) (*Meta, refstore.OID, error) {
	meta, listed, err := a.withMeta(ctx)
	if err == nil && meta == nil {
		err = ErrAuthorityGone
	}
	if err != nil {
		return nil, "", err
	}
	ref, _ := pick(listed, a.refs.meta())
	return meta, ref.Commit.OID, nil
}

// withMeta lists refs beside the authority's, which it judges; nil where there is no authority yet.
func (a *Authority) withMeta(ctx Context, patterns ...string) (*Meta, []refstore.Ref, error) {
	ctx, cancel := a.attempt(ctx)
	defer cancel()
	now, listed, err := a.listWithMeta(ctx, patterns...)
	if err != nil || now.Authority == "" {
		return nil, nil, err
	}
	ref, _ := pick(listed, a.refs.meta())
	meta, err := DecodeMeta(ref.Commit)
	return meta, listed, err
}

// raise raises the floor to cover the given generation, unless a raise waits, and returns the record that stands then. It needs no intent: it
// holds nothing for anybody, and a higher floor harms nobody.
func (a *Authority) raise(ctx Context, cover Generation) (*Meta, bool, error) {
	var t tries
	for {
		meta, tip, err := a.readMeta(ctx)
		if err != nil {
			return nil, false, err
		}
		if _, waits := meta.waiting(a.moment().now(), a.corrected(a.moment())); waits {
			return meta, false, nil
		}
		next, err := a.raiseFrom(ctx, meta, tip, max(meta.Floor, cover))
		if err == nil {
			return next, true, nil
		}
		if t.again++; !errors.Is(err, refstore.ErrConflict) || t.again > maxTries {
			return nil, false, err
		}
		if err := a.pause(ctx, t.again); err != nil {
			return nil, false, timeUp(err)
		}
	}
}

// raiseFrom writes the raise upon the meta record that was read. One that took long to land, because the machine slept, is stamped again.
func (a *Authority) raiseFrom(ctx Context, meta *Meta, tip refstore.OID, floor Generation) (*Meta, error) {
	ctx, cancel := a.attempt(ctx)
	defer cancel()
	for base := meta; ; {
		m := a.moment()
		next := base.raised(Raise{Floor: floor, At: m.stamp(), Dated: a.corrected(m)}, tip)
		var err error
		if tip, err = a.swapMeta(ctx, next, m); err != nil {
			return nil, err
		}
		a.forgot(a.local.SeeMeta(MetaSighting{Authority: next.Authority, Tip: tip, Floor: next.Floor, At: m.wall, Read: m.at, Dated: m.dated}))
		if now := a.moment(); now.at.Since-m.at.Since <= raiseTolerance {
			return next, nil
		}
		base = &Meta{}
		*base = *next
		base.Raises = meta.Raises
	}
}

// swapMeta replaces the authority's record, under a key of its own: nothing is ever proved by who signed it.
func (a *Authority) swapMeta(ctx Context, next *Meta, m moment) (refstore.OID, error) {
	change, err := a.metaChange(*next, m)
	if err != nil {
		return "", err
	}
	tx, err := a.store.Build(change)
	if err != nil {
		return "", err
	}
	return tx.Updates[0].New, a.store.Swap(ctx, tx, nil)
}
