package lease

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/git-worklease/git-worklease/refstore"
)

// Repaired is what a repair has done.
type Repaired struct {
	Ref string
	// Resource is "" for the authority's own ref.
	Resource Resource
	// Replaced is what stood there, zero for nothing; Tip is what stands there now.
	Replaced, Tip refstore.OID
	// Generation is that of the tombstone, or the new floor: above all that was seen.
	Generation Generation
	// Already says that the ref was in order by then, and nothing was written.
	Already bool
}

// RepairRecord puts a tombstone on top of the corrupt record that v names, and of no other: its generation is above all that this clone has seen
// and all that the records below may have had, by floorLeap where nobody can tell; forced, by this session's holder. The resource can be claimed after that. A newer or foreign
// record is left alone: its error is returned. It returns [ErrUnrepairable], wrapped, where the resource's name is not known, and
// [refstore.ErrConflict], wrapped, where another corrupt record stands there by now.
func (a *Authority) RepairRecord(ctx Context, v View) (*Repaired, error) {
	if !strings.HasPrefix(v.Ref, a.refs.claims()) || v.Tip.IsZero() {
		return nil, fmt.Errorf("%w: repair of %q", ErrBadRequest, v.Ref)
	}
	return a.insist(ctx, func() (*Repaired, error) { return a.repairRecord(ctx, v) })
}

// insist tries a repair again where the ref has moved under it.
func (a *Authority) insist(ctx Context, repair func() (*Repaired, error)) (*Repaired, error) {
	for try := 1; ; try++ {
		done, err := repair()
		if err == nil || try == maxTries || !errors.Is(err, refstore.ErrConflict) {
			return done, err
		}
		if err := a.pause(ctx, try); err != nil {
			return nil, timeUp(err)
		}
	}
}

func (a *Authority) repairRecord(ctx Context, v View) (*Repaired, error) {
	meta, listed, err := a.listWithMeta(ctx, v.Ref)
	if err != nil {
		return nil, err
	}
	ref, found := pick(listed, v.Ref)
	if !found {
		return nil, fmt.Errorf("%s: %w", v.Ref, refstore.ErrConflict)
	}
	rec, err := a.decode(ref, meta.Authority)
	switch {
	case err == nil:
		return &Repaired{Ref: v.Ref, Resource: rec.Resource, Tip: ref.Commit.OID, Generation: rec.Generation, Already: true}, nil
	case !errors.Is(err, ErrCorrupt):
		return nil, fmt.Errorf("%s: %w", v.Ref, err)
	case ref.Commit.OID != v.Tip:
		return nil, fmt.Errorf("%s: %w", v.Ref, refstore.ErrConflict)
	}
	return a.entomb(ctx, ref, meta)
}

// entomb writes the tombstone over a corrupt tip.
func (a *Authority) entomb(ctx Context, ref refstore.Ref, meta MetaSighting) (*Repaired, error) {
	newest, below, err := a.below(ctx, ref, meta.Authority)
	if err != nil {
		return nil, err
	}
	resource := a.refs.resource(ref)
	if resource == "" && newest != nil {
		resource = newest.Resource
	}
	if resource == "" {
		return nil, fmt.Errorf("%s: %w: its name is a hash, and no record below it tells the resource", ref.Name, ErrUnrepairable)
	}
	seen, err := a.local.Seen(resource)
	if err != nil {
		return nil, err
	}
	highest := max(meta.Floor, below, seen[resource].Generation)
	if newest == nil && seen[resource].Generation == 0 {
		highest += floorLeap
	}
	rec := a.repairTomb(meta.Authority, resource, highest+1)
	rec.Prev = ref.Commit.OID
	if newest != nil {
		rec.Predecessor = newest.predecessor("corrupt")
	}
	return a.putTomb(ctx, rec)
}

// below finds, in what lies below a tip, the newest valid record of its ref, nil for none, and the highest generation that there may have been: that of the valid
// records, and one more for each that is not valid above them. What is not signed is not believed.
func (a *Authority) below(ctx Context, ref refstore.Ref, authority string) (newest *Record, highest Generation, err error) {
	commits, err := a.store.Log(ctx, ref.Commit.OID, mostDepth)
	if err != nil {
		return nil, 0, fmt.Errorf("history of %s: %w", ref.Name, err)
	}
	for _, c := range slices.Backward(commits) {
		rec, err := a.decode(refstore.Ref{Name: ref.Name, Commit: c, Err: CheckCommit(c)}, authority)
		if err != nil {
			highest++
			continue
		}
		newest, highest = rec, max(highest, rec.Generation)
	}
	return newest, highest, nil
}

// repairTomb is a released record of nobody's claim.
func (a *Authority) repairTomb(authority string, resource Resource, g Generation) *Record {
	m := a.moment()
	by := a.o.Holder
	return &Record{
		Authority: authority, Resource: resource, Members: []Resource{resource}, Holder: by, Generation: g, Revision: 1,
		TTLSeconds: int64(a.o.Terms.TTL / time.Second), GraceSeconds: int64((a.grace(m.dated) + time.Second - 1) / time.Second),
		Takeover: a.o.Terms.Takeover, Expiry: a.o.Terms.Expiry, ClaimedAt: m.stamp(), RenewedAt: m.stamp(), State: StateReleased,
		Release: &Release{Reason: "repaired", Outcome: OutcomeAbandoned, At: m.stamp(), By: &by, Forced: true},
	}
}

// putTomb signs a tombstone with a key that is forgotten, and swaps it in. It needs no intent: it holds nothing for anybody.
func (a *Authority) putTomb(ctx Context, rec *Record) (*Repaired, error) {
	key, err := a.newKey()
	if err != nil {
		return nil, err
	}
	rec.Claim = claimID(public(key))
	change, err := a.change(rec, Hold{Key: key})
	if err != nil {
		return nil, err
	}
	tx, err := a.repair(ctx, change)
	if err != nil {
		return nil, err
	}
	tip := tx.Updates[0].New
	a.forgot(a.local.See(rec.sighting(tip, a.moment())))
	return &Repaired{Ref: change.Ref, Resource: rec.Resource, Replaced: change.Old, Tip: tip, Generation: rec.Generation}, nil
}

// repair swaps one change in.
func (a *Authority) repair(ctx Context, change refstore.Change) (*refstore.Tx, error) {
	tx, err := a.store.Build(change)
	if err != nil {
		return nil, fmt.Errorf("repair: %w: %w", ErrBadRequest, err)
	}
	if err := a.store.Swap(ctx, tx, nil); err != nil {
		return nil, fmt.Errorf("repair %s: %w", change.Ref, err)
	}
	return tx, nil
}
