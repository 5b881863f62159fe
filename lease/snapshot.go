package lease

import (
	"errors"
	"fmt"
	"slices"

	"github.com/git-worklease/git-worklease/refstore"
)

// snapshot is what one exchange showed of some resources. It is no snapshot in time.
type snapshot struct {
	meta MetaSighting
	// before is what the clone had seen before the exchange began; only that may be compared with what it showed, because other processes
	// go on.
	before map[Resource]Sighting
	tips   map[Resource]*tip
	// others are the claims of paths that overlap with the resources; see [Authority.readPaths].
	others []*tip
}

// tip is what stands at the ref of a resource.
type tip struct {
	resource Resource
	// oid is zero for an absent ref.
	oid refstore.OID
	// commit is what oid names, as far as it could be read.
	commit refstore.Commit
	// rec is nil for an absent ref, for one that can't be judged (err says why; a newer record is there nevertheless), and for a release that
	// is known by its sighting alone.
	rec *Record
	err error
	// seen is what the clone knows of the resource, this exchange included.
	seen Sighting
	// gone: the ref is absent, and neither a release nor the floor explains that.
	gone bool
}

// read lists the resources' refs together with the authority's, and remembers what it saw.
func (a *Authority) read(ctx Context, resources []Resource) (*snapshot, error) {
	s, _, err := a.readWith(ctx, resources)
	return s, err
}

// readWith is read that lists the refs of further patterns, and returns all that was listed.
func (a *Authority) readWith(ctx Context, resources []Resource, patterns ...string) (*snapshot, []refstore.Ref, error) {
	before, err := a.local.Seen(resources...)
	if err != nil {
		return nil, nil, err
	}
	meta, listed, err := a.listWithMeta(ctx, slices.Concat(a.refs.of(resources), patterns)...)
	if err != nil {
		return nil, nil, err
	}
	s := a.snapshot(meta, before, resources, listed)
	a.see(s)
	return s, listed, nil
}

// vanished is the error for a ref that is gone.
func (t *tip) vanished() error {
	return fmt.Errorf("%s: %w: generation %d was seen, and its ref is gone", t.resource, ErrRolledBack, t.seen.Generation)
}

// snapshot judges what was listed.
func (a *Authority) snapshot(meta MetaSighting, before map[Resource]Sighting, resources []Resource, listed []refstore.Ref) *snapshot {
	s := &snapshot{meta: meta, before: before, tips: make(map[Resource]*tip, len(resources))}
	m := a.moment()
	byName := make(map[string]refstore.Ref, len(listed))
	for _, ref := range listed {
		byName[ref.Name] = ref
	}
	for _, r := range resources {
		ref, found := byName[a.refs.claim(r)]
		t := &tip{resource: r, seen: before[r]}
		if found {
			a.judgeTip(t, ref, meta.Authority, m)
		} else {
			t.gone = t.seen.Generation > meta.Floor && !t.seen.Free
		}
		s.tips[r] = t
	}
	return s
}

// judgeTip reads the record at a ref, and compares it with what was seen.
func (a *Authority) judgeTip(t *tip, ref refstore.Ref, authority string, m moment) {
	t.oid, t.commit = ref.Commit.OID, ref.Commit
	t.rec, t.err = a.decode(ref, authority)
	if t.err != nil {
		t.err = fmt.Errorf("%s: %w", t.resource, t.err)
		return
	}
	if t.rec.Resource != t.resource {
		t.rec, t.err = nil, fmt.Errorf("%s: %w: a record of %q", t.resource, ErrCorrupt, t.rec.Resource)
		return
	}
	now := t.rec.sighting(t.oid, m)
	if was := t.seen; !was.older(now) && was.Tip != now.Tip {
		t.err = fmt.Errorf("%s: %w: generation %d.%d was seen, and there is %d.%d", t.resource, ErrRolledBack,
			was.Generation, was.Revision, now.Generation, now.Revision)
		return
	}
	t.seen = t.seen.Merge(now)
}

// decode reads the lease at a ref of this authority. The record is there beside an [ErrNewer] or [ErrWrongAuthority].
func (a *Authority) decode(ref refstore.Ref, authority string) (*Record, error) {
	switch {
	case errors.Is(ref.Err, ErrCorrupt):
		return nil, ref.Err
	case ref.Err != nil:
		return nil, fmt.Errorf("%w: %w", ErrCorrupt, ref.Err)
	}
	rec, err := DecodeRecord(ref.Commit)
	if err != nil {
		return rec, err
	}
	if a.refs.claim(rec.Resource) != ref.Name {
		return nil, fmt.Errorf("%w: a record of %q", ErrCorrupt, rec.Resource)
	}
	if rec.Authority != authority {
		return rec, &WrongAuthorityError{Resource: rec.Resource, Want: authority, Got: rec.Authority}
	}
	return rec, nil
}

// see remembers the tips that are new to this clone.
func (a *Authority) see(s *snapshot) {
	var news []Sighting
	for r, t := range s.tips {
		if t.rec != nil && t.err == nil && t.seen != s.before[r] {
			news = append(news, t.seen)
		}
	}
	if len(news) > 0 {
		a.forgot(a.local.See(news...))
	}
}

// after is what a refused swap showed of the same resources.
func (a *Authority) after(s *snapshot, resources []Resource, listed []refstore.Ref) *snapshot {
	next := a.snapshot(s.meta, s.before, resources, listed)
	a.see(next)
	return next
}
