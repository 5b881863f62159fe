package lease

import (
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/git-worklease/git-worklease/refstore"
)

// Meta is the record at the authority's meta ref.
type Meta struct {
	V         int    `json:"v"`
	Kind      Kind   `json:"kind"`
	Authority string `json:"authority"`
	// Format is the version of the layout of refs; a later one is refused.
	Format int `json:"format"`
	// Floor is a generation that every new epoch lies above.
	Floor Generation `json:"floor"`
	// Raises are the last times that the floor was raised, newest last.
	Raises    []Raise      `json:"raises,omitempty"`
	CreatedAt time.Time    `json:"created_at"`
	Key       []byte       `json:"key"`
	Prev      refstore.OID `json:"prev,omitempty"`

	// raw is the line that the record was read from, "" for a new one.
	raw []byte
}

// fresh says whether what is known may stand in for reading it. That it was read within [floorLife] must be shown by the wall clock and, where
// there is one, by the clock that runs through suspend: a wall clock that was set back makes no floor young.
func (m MetaSighting) fresh(now moment) bool {
	age := now.wall.Sub(m.At)
	if m.Authority == "" || age < 0 || age > floorLife || m.Read.Boot != now.at.Boot {
		return false
	}
	return m.Read.Boot == "" || now.at.Since-m.Read.Since <= floorLife
}

// DecodeMeta reads the meta record that a commit carries. It returns [ErrCorrupt] or [ErrNewer], wrapped.
func DecodeMeta(c refstore.Commit) (*Meta, error) {
	_, line, _, err := open(c.Message)
	if err != nil {
		return nil, err
	}
	m := &Meta{raw: line}
	err = json.Unmarshal(line, m)
	switch {
	case newer(line), err == nil && m.Format > Version:
		return nil, fmt.Errorf("%w: meta", ErrNewer)
	case err != nil:
		return nil, fmt.Errorf("%w: meta: %w", ErrCorrupt, err)
	case m.V != Version || m.Kind != KindMeta || m.Format != Version || !validID(m.Authority) || m.Prev != c.Parent || m.Floor > maxNumber:
		return nil, fmt.Errorf("%w: meta", ErrCorrupt)
	}
	return m, nil
}

// validID says whether s may be an authority's ID: 1 to 64 lower-case hexadecimal digits.
func validID(s string) bool {
	for i := range len(s) {
		if c := s[i]; (c < '0' || c > '9') && (c < 'a' || c > 'f') {
			return false
		}
	}
	return s != "" && len(s) <= 64
}

// known is what this clone knows of its authority. What the policy names and what the clone is bound to must agree.
func (a *Authority) known() (MetaSighting, error) {
	m, err := a.local.Meta()
	if err != nil {
		return MetaSighting{}, err
	}
	if want := a.o.AuthorityID; want != "" && m.Authority != "" && m.Authority != want {
		return MetaSighting{}, &WrongAuthorityError{Want: want, Got: m.Authority}
	}
	return m, nil
}

// listWithMeta lists refs beside the authority's, and judges that one; a result of zero: there is no authority yet. No listing is a snapshot, so one
// that shows claims and no authority, where none was known, may have been read while it was founded. It is read again before anything is concluded.
func (a *Authority) listWithMeta(ctx Context, patterns ...string) (MetaSighting, []refstore.Ref, error) {
	was, err := a.known()
	if err != nil {
		return MetaSighting{}, nil, err
	}
	patterns = append(slices.Clip(patterns), a.refs.meta())
	for again := false; ; again = true {
		begun := a.moment()
		listed, err := a.store.List(ctx, patterns...)
		if err != nil {
			return MetaSighting{}, nil, fmt.Errorf("read: %w", err)
		}
		a.watchClock()
		meta, err := a.judgeMeta(begun, was, listed)
		if torn := was.Authority == "" && errors.Is(err, ErrAuthorityGone); torn && !again {
			continue
		}
		return meta, listed, err
	}
}

// judgeMeta compares the meta ref that was read, by a request that was begun at the given moment, with what was known before, and remembers
// it. With neither, the result is zero: there is no authority yet.
func (a *Authority) judgeMeta(begun moment, was MetaSighting, listed []refstore.Ref) (MetaSighting, error) {
	ref, found := pick(listed, a.refs.meta())
	if !found {
		return MetaSighting{}, a.metaAbsent(was, listed)
	}
	if ref.Err != nil {
		return MetaSighting{}, fmt.Errorf("%w: meta: %w", ErrCorrupt, ref.Err)
	}
	meta, err := DecodeMeta(ref.Commit)
	if err != nil {
		return MetaSighting{}, err
	}
	want := was.Authority
	if want == "" {
		want = a.o.AuthorityID
	}
	if want != "" && want != meta.Authority {
		return MetaSighting{}, &WrongAuthorityError{Want: want, Got: meta.Authority}
	}
	if meta.Floor < was.Floor {
		return MetaSighting{}, fmt.Errorf("%w: floor %d after %d", ErrAuthorityGone, meta.Floor, was.Floor)
	}
	now := MetaSighting{
		Authority: meta.Authority, Tip: ref.Commit.OID, Floor: meta.Floor, At: begun.wall, Read: begun.at, Dated: a.moment().dated,
	}
	a.seeMeta(was, now)
	return now, nil
}

// metaAbsent says what it means that there is no meta ref. Claims without one show that there was an authority.
func (a *Authority) metaAbsent(was MetaSighting, listed []refstore.Ref) error {
	switch {
	case was.Authority != "":
		return fmt.Errorf("%w: %s", ErrAuthorityGone, was.Authority)
	case a.o.AuthorityID != "":
		return &WrongAuthorityError{Want: a.o.AuthorityID}
	case len(listed) > 0:
		return fmt.Errorf("%w: it has claims and no meta ref", ErrAuthorityGone)
	}
	return nil
}

// seeMeta remembers what was read, unless it would only move the time a little.
func (a *Authority) seeMeta(was, now MetaSighting) {
	age := now.At.Sub(was.At)
	if was.Authority == now.Authority && was.Tip == now.Tip && was.Dated == now.Dated && was.Read.Boot == now.Read.Boot && age >= 0 && age < time.Hour {
		return
	}
	a.forgot(a.local.SeeMeta(now))
}

// newMeta is a change that creates the authority under a new ID.
func (a *Authority) newMeta(m moment) (MetaSighting, refstore.Change, error) {
	id := make([]byte, 16)
	if err := a.randomBytes(id); err != nil {
		return MetaSighting{}, refstore.Change{}, err
	}
	meta := Meta{Authority: hex.EncodeToString(id), CreatedAt: m.stamp()}
	change, err := a.metaChange(meta, m)
	return MetaSighting{Authority: meta.Authority, At: m.wall, Read: m.at, Dated: m.dated}, change, err
}

// metaChange is the change that writes a meta record on top of meta.Prev, signed by a key of its own.
func (a *Authority) metaChange(meta Meta, m moment) (refstore.Change, error) {
	key, err := a.newKey()
	if err != nil {
		return refstore.Change{}, err
	}
	meta.V, meta.Kind, meta.Format, meta.Key = Version, KindMeta, Version, public(key)
	line, err := meta.line()
	if err == nil && len(line) > maxRecord {
		err = fmt.Errorf("%w: meta: record of %d bytes", ErrBadRequest, len(line))
	}
	if err != nil {
		return refstore.Change{}, err
	}
	return refstore.Change{Ref: a.refs.meta(), Old: meta.Prev, Message: seal("authority "+meta.Authority, line, key), When: m.stamp()}, nil
}

// createMeta makes the authority by a swap of its own. It needs no intent: it holds nothing for anybody, and whoever's comes first is
// the one that everybody reads afterwards.
func (a *Authority) createMeta(ctx Context) error {
	now, change, err := a.newMeta(a.moment())
	if err != nil {
		return err
	}
	tx, err := a.store.Build(change)
	if err != nil {
		return err
	}
	if err := a.store.Swap(ctx, tx, nil); err != nil && !errors.Is(err, refstore.ErrConflict) {
		return fmt.Errorf("create the authority: %w", err)
	} else if err == nil {
		now.Tip, now.At = tx.Updates[0].New, time.Time{} // not read yet
		a.forgot(a.local.SeeMeta(now))
	}
	return nil
}

func pick(listed []refstore.Ref, name string) (refstore.Ref, bool) {
	for _, ref := range listed {
		if ref.Name == name {
			return ref, true
		}
	}
	return refstore.Ref{}, false
}
