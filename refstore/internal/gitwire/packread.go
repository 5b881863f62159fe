package gitwire

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/format/packfile"

	"github.com/git-worklease/git-worklease/refstore"
)

// limits bound a pack beyond its length on the wire, which the [Reader] bounds.
type limits struct {
	objects  uint32 // in the pack
	inflated int64  // bytes of all objects and deltas and of what these make, kept or not
	kept     int64  // bytes of the commits
}

var packLimits = limits{objects: 2_000_000, inflated: 1 << 30, kept: 256 << 20}

// maxDelta bounds a delta that makes a commit: such a one is hardly longer than what it makes.
const maxDelta = 2 * refstore.MaxCommit

// packReader collects the commits of a pack. Deltas stand on commits read before or after them; those that stand on
// anything else make no commits and are dropped.
type packReader struct {
	scanner *packfile.Scanner
	limits  limits
	commits []refstore.Object
	at      map[int64]int        // offset in the pack: index in commits
	byOID   map[refstore.OID]int // likewise by ID
	// waiting are deltas by the ID of their base, which has not come yet, and behind those by the offset of such a delta. open are the
	// offsets of both.
	waiting map[refstore.OID][]entry
	behind  map[int64][]entry
	open    map[int64]bool
}

// entry is a commit, or a delta whose base has not come yet, at its offset in the pack.
type entry struct {
	offset int64
	data   []byte
}

// ready is a delta whose base is there.
type ready struct {
	entry
	base []byte
}

// source remembers why a reader ended: the pack's scanner does not tell.
type source struct {
	io.Reader
	err error
}

func (s *source) Read(p []byte) (int, error) {
	n, err := s.Reader.Read(p)
	if err != nil {
		s.err = err
	}
	return n, err
}

// readPack reads a pack to its checksum and returns its commits in the pack's order.
func readPack(r io.Reader, l limits) ([]refstore.Object, error) {
	src := &source{Reader: r}
	p := &packReader{
		scanner: packfile.NewScanner(src),
		limits:  l,
		at:      make(map[int64]int),
		byOID:   make(map[refstore.OID]int),
		waiting: make(map[refstore.OID][]entry),
		behind:  make(map[int64][]entry),
		open:    make(map[int64]bool),
	}
	if err := p.read(); err != nil {
		return nil, fmt.Errorf("pack: %w", src.explain(err))
	}
	return p.commits, nil
}

// explain tells a broken connection from a broken pack.
func (s *source) explain(err error) error {
	switch {
	case errors.Is(err, ErrTooLarge), errors.Is(err, ErrMalformed):
		return err
	case s.err != nil:
		return cut(s.err)
	default:
		return fmt.Errorf("%w: %w", ErrMalformed, err)
	}
}

func (p *packReader) read() error {
	_, count, err := p.scanner.Header()
	if err != nil {
		return err
	}
	if count > p.limits.objects {
		return fmt.Errorf("%w: %d objects", ErrTooLarge, count)
	}
	for range count {
		if err := p.object(); err != nil {
			return err
		}
	}
	_, err = p.scanner.Checksum()
	return err
}

func (p *packReader) object() error {
	h, err := p.scanner.NextObjectHeader()
	if err != nil {
		return err
	}
	p.limits.inflated -= max(h.Length, 0)
	if h.Length < 0 || p.limits.inflated < 0 {
		return fmt.Errorf("%w: an object of %d bytes", ErrTooLarge, h.Length)
	}
	switch h.Type {
	case plumbing.CommitObject:
		content, err := p.inflate(h, refstore.MaxCommit)
		if err != nil || content == nil {
			return err
		}
		return p.add(h.Offset, content)
	case plumbing.OFSDeltaObject, plumbing.REFDeltaObject:
		delta, err := p.inflate(h, maxDelta)
		if err != nil || delta == nil {
			return err
		}
		return p.delta(h, delta)
	case plumbing.TreeObject, plumbing.BlobObject, plumbing.TagObject:
		_, err = p.inflate(h, 0)
		return err
	default:
		return malformed("an object of type %d", h.Type)
	}
}

// inflate reads the object's content, nil where it is longer than most.
func (p *packReader) inflate(h *packfile.ObjectHeader, most int64) ([]byte, error) {
	var buf bytes.Buffer
	var w io.Writer = &buf
	if h.Length > most {
		w = io.Discard
	} else {
		buf.Grow(int(h.Length) + bytes.MinRead)
	}
	n, _, err := p.scanner.NextObject(w)
	if err != nil {
		return nil, err
	}
	if n != h.Length {
		return nil, malformed("an object of %d bytes that should have %d", n, h.Length)
	}
	return buf.Bytes(), nil
}

func (p *packReader) delta(h *packfile.ObjectHeader, delta []byte) error {
	base, known := p.base(h)
	if !known {
		return p.await(h, delta)
	}
	return p.grow(ready{entry{h.Offset, delta}, p.commits[base].Content})
}

// base finds the commit that a delta stands on, among those that are known by now.
func (p *packReader) base(h *packfile.ObjectHeader) (index int, known bool) {
	if h.Type == plumbing.OFSDeltaObject {
		index, known = p.at[h.OffsetReference]
	} else {
		index, known = p.byOID[refstore.OID(h.Reference.String())]
	}
	return index, known
}

// await keeps a delta whose base may come, or become known, later.
func (p *packReader) await(h *packfile.ObjectHeader, delta []byte) error {
	e := entry{h.Offset, delta}
	if h.Type == plumbing.OFSDeltaObject {
		if !p.open[h.OffsetReference] {
			return nil
		}
		p.behind[h.OffsetReference] = append(p.behind[h.OffsetReference], e)
	} else {
		oid := refstore.OID(h.Reference.String())
		p.waiting[oid] = append(p.waiting[oid], e)
	}
	p.open[h.Offset] = true
	p.limits.kept -= int64(len(delta))
	return p.withinKept()
}

func (p *packReader) withinKept() error {
	if p.limits.kept < 0 {
		return fmt.Errorf("%w: more commits than can be kept", ErrTooLarge)
	}
	return nil
}

// add keeps a commit, and makes those that waited for it.
func (p *packReader) add(offset int64, content []byte) error {
	return p.grow(p.keep(entry{offset, content})...)
}

// grow makes commits of deltas, and of those that waited for these, one after another, so that there are never many that can't be kept.
func (p *packReader) grow(todo ...ready) error {
	for len(todo) > 0 {
		next := todo[len(todo)-1]
		todo = todo[:len(todo)-1]
		made, err := patch(next.base, next.data)
		if err != nil {
			return err
		}
		if made != nil {
			todo = append(todo, p.keep(entry{next.offset, made})...)
		}
		if p.limits.inflated -= int64(len(made)); p.limits.inflated < 0 {
			return fmt.Errorf("%w: deltas that make more than that", ErrTooLarge)
		}
		if err := p.withinKept(); err != nil {
			return err
		}
	}
	return p.withinKept()
}

// keep keeps a commit, and returns the deltas that waited for it.
func (p *packReader) keep(commit entry) (waited []ready) {
	oid := refstore.SHA1.Hash("commit", commit.data)
	if _, twice := p.byOID[oid]; !twice {
		p.limits.kept -= int64(len(commit.data))
		p.byOID[oid] = len(p.commits)
		p.commits = append(p.commits, refstore.Object{OID: oid, Content: commit.data})
	}
	p.at[commit.offset] = p.byOID[oid]
	for _, e := range slices.Concat(p.waiting[oid], p.behind[commit.offset]) {
		waited = append(waited, ready{e, commit.data})
	}
	delete(p.waiting, oid)
	delete(p.behind, commit.offset)
	return waited
}

// patch applies a delta; nil where it makes more than a commit may have.
func patch(base, delta []byte) ([]byte, error) {
	_, n := binary.Uvarint(delta)
	if n <= 0 {
		return nil, malformed("a delta of %d bytes", len(delta))
	}
	size, m := binary.Uvarint(delta[n:])
	if m <= 0 {
		return nil, malformed("a delta of %d bytes", len(delta))
	}
	if size > refstore.MaxCommit {
		return nil, nil
	}
	content, err := packfile.PatchDelta(base, delta)
	if err != nil {
		return nil, malformed("%v", err)
	}
	return content, nil
}
