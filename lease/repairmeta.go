package lease

import (
	"errors"
	"fmt"

	"github.com/git-worklease/git-worklease/refstore"
)

// floorLeap is by how much a floor that is made anew lies above all generations that the clone has seen: others may have seen more.
const floorLeap = 1_000_000

// RepairMeta makes the meta ref anew, where it is gone, rolled back or no meta record, under the ID that this clone has seen there, with a
// floor of floorLeap above all generations that it has seen: seen are all of its sightings. It returns [ErrUnrepairable], wrapped,
// where this clone has not seen the authority, a [*WrongAuthorityError] where another one is there, and [ErrNewer], wrapped, for a record
// of a later version.
func (a *Authority) RepairMeta(ctx Context, seen []Sighting) (*Repaired, error) {
	was, err := a.known()
	switch {
	case err != nil:
		return nil, err
	case was.Authority == "":
		return nil, fmt.Errorf("%s: %w: this clone has never seen its authority", a.refs.meta(), ErrUnrepairable)
	}
	return a.insist(ctx, func() (*Repaired, error) { return a.repairMeta(ctx, was, seen) })
}

func (a *Authority) repairMeta(ctx Context, was MetaSighting, seen []Sighting) (*Repaired, error) {
	begun := a.moment()
	listed, err := a.store.List(ctx, a.refs.claims(), a.refs.meta())
	if err != nil {
		return nil, fmt.Errorf("read: %w", err)
	}
	ref, found := pick(listed, a.refs.meta())
	if found {
		if done, sound, err := a.soundMeta(begun, was, ref); sound || err != nil {
			return done, err
		}
	}
	highest, err := a.highest(was, seen, listed)
	if err != nil {
		return nil, err
	}
	if highest > maxNumber-floorLeap {
		return nil, fmt.Errorf("%s: %w: generation %d was seen", a.refs.meta(), ErrUnrepairable, highest)
	}
	return a.putMeta(ctx, Meta{Authority: was.Authority, Floor: highest + floorLeap, Prev: ref.Commit.OID})
}

// soundMeta says whether a meta ref needs no repair. The error is of one that must not be repaired.
func (a *Authority) soundMeta(begun moment, was MetaSighting, ref refstore.Ref) (done *Repaired, sound bool, err error) {
	if ref.Err != nil {
		return nil, false, nil //nolint:nilerr // it is to be repaired
	}
	meta, err := DecodeMeta(ref.Commit)
	switch {
	case errors.Is(err, ErrNewer):
		return nil, false, err
	case err != nil:
		return nil, false, nil //nolint:nilerr // likewise
	case meta.Authority != was.Authority:
		return nil, false, &WrongAuthorityError{Want: was.Authority, Got: meta.Authority}
	case meta.Floor < was.Floor:
		return nil, false, nil
	}
	now := MetaSighting{Authority: meta.Authority, Tip: ref.Commit.OID, Floor: meta.Floor, At: begun.wall, Read: begun.at, Dated: a.moment().dated}
	a.seeMeta(was, now)
	return &Repaired{Ref: ref.Name, Tip: ref.Commit.OID, Generation: meta.Floor, Already: true}, true, nil
}

// highest is the highest generation that this clone has seen or that stands at a ref. Claims of another authority are a reason to leave
// everything as it is.
func (a *Authority) highest(was MetaSighting, seen []Sighting, listed []refstore.Ref) (Generation, error) {
	highest := was.Floor
	for _, s := range seen {
		highest = max(highest, s.Generation)
	}
	for _, ref := range listed {
		rec, err := a.decode(ref, was.Authority)
		switch {
		case errors.Is(err, ErrWrongAuthority):
			return 0, &WrongAuthorityError{Want: was.Authority, Got: rec.Authority}
		case err == nil:
			highest = max(highest, rec.Generation)
		}
	}
	return highest, nil
}

func (a *Authority) putMeta(ctx Context, meta Meta) (*Repaired, error) {
	m := a.moment()
	meta.CreatedAt = m.stamp()
	change, err := a.metaChange(meta, m)
	if err != nil {
		return nil, err
	}
	tx, err := a.repair(ctx, change)
	if err != nil {
		return nil, err
	}
	tip := tx.Updates[0].New
	a.forgot(a.local.SeeMeta(MetaSighting{Authority: meta.Authority, Tip: tip, Floor: meta.Floor, At: m.wall, Read: m.at, Dated: m.dated}))
	return &Repaired{Ref: change.Ref, Replaced: change.Old, Tip: tip, Generation: meta.Floor}, nil
}
