package gitwire

import (
	"bytes"
	"encoding/binary"
	"errors"
	"maps"
	"slices"
	"testing"

	"github.com/go-git/go-git/v5/plumbing"

	"github.com/git-worklease/git-worklease/refstore"
)

func FuzzFetch(f *testing.F) {
	one := commit("one")
	pack := string(makePack(f, packed{kind: plumbing.CommitObject, data: one},
		packed{kind: plumbing.REFDeltaObject, base: refstore.SHA1.Hash("commit", one), data: delta(one, "x")}))
	f.Add([]byte(pkts("shallow-info\n", "shallow x\n") + delimPkt + pkts("packfile\n", "\x01"+pack, "")))
	f.Add([]byte(pkts("NAK\n", "\x01"+pack, "")))
	f.Add([]byte(pack))
	f.Fuzz(func(t *testing.T, in []byte) {
		for _, fetch := range []func(*Reader) ([]refstore.Object, error){ReadFetch, ReadFetchV0} {
			objects, err := fetch(read(in))
			if wants(t, err) {
				checkSound(t, objects)
			}
		}
	})
}

// checkSound: objects have their content's names, each once, and none is larger than a record's commit.
func checkSound(t *testing.T, objects []refstore.Object) (total int) {
	t.Helper()
	seen := map[refstore.OID]bool{}
	for _, o := range objects {
		if len(o.Content) > refstore.MaxCommit || refstore.SHA1.Hash("commit", o.Content) != o.OID || seen[o.OID] {
			t.Errorf("object %s of %d bytes", o.OID, len(o.Content))
		}
		seen[o.OID] = true
		total += len(o.Content)
	}
	return total
}

// design reads objects of a pack from the fuzzer's bytes: of each its kind, one number, and up to 255 bytes.
type design []byte

func (d *design) byte() int {
	if len(*d) == 0 {
		return 0
	}
	b := (*d)[0]
	*d = (*d)[1:]
	return int(b)
}

func (d *design) bytes() []byte {
	n := min(d.byte(), len(*d))
	b := (*d)[:n:n]
	*d = (*d)[n:]
	return b
}

// sketch is a pack that was designed: what there is in it, and what has to come out.
type sketch struct {
	objects []packed
	content [][]byte // of each object, where it is a commit; nil where nobody can tell
	wild    bool     // a delta is of any bytes
}

var kinds = [...]plumbing.ObjectType{
	plumbing.CommitObject, plumbing.TreeObject, plumbing.BlobObject, plumbing.TagObject, plumbing.REFDeltaObject, plumbing.OFSDeltaObject,
}

// draw makes a pack in which deltas stand on objects that were drawn before; afterwards the order of ref-deltas may be another.
func (d *design) draw() *sketch {
	s := &sketch{}
	for len(*d) > 0 && len(s.objects) < 24 {
		kind, wild, arg, data := kinds[d.byte()%len(kinds)], false, d.byte(), d.bytes()
		o := packed{kind: kind, data: data}
		var made []byte
		switch {
		case kind == plumbing.CommitObject:
			made = append([]byte{}, data...)
		case kind != plumbing.REFDeltaObject && kind != plumbing.OFSDeltaObject:
		case len(s.objects) == 0:
			continue
		default:
			o.back = 1 + arg%len(s.objects)
			base := s.content[len(s.objects)-o.back]
			wild = len(data) > 0 && data[0] == 'w'
			if len(base) > 0 && !wild {
				o.data = delta(base, string(data[:min(len(data), 127)]))
				if len(data) == 0 {
					o.data = o.data[:len(o.data)-1]
				}
				made = append(bytes.Clone(base), data[:min(len(data), 127)]...)
			}
			switch {
			case kind == plumbing.OFSDeltaObject:
			case base == nil:
				o.base = refstore.SHA1.Hash("blob", data)
			default:
				o.base = refstore.SHA1.Hash("commit", base)
			}
			s.wild = s.wild || wild || base != nil && len(base) == 0
		}
		s.objects, s.content = append(s.objects, o), append(s.content, made)
	}
	return s
}

// FuzzPack: of any pack that is well formed come the commits that are in it, whatever stands on what and comes first, and never more than may be kept.
func FuzzPack(f *testing.F) {
	f.Add([]byte("\x00\x00\x03one\x04\x00\x01x\x05\x00\x01y\x02\x00\x04blob\x05\x00\x01z"), false, 1<<20)
	f.Add([]byte("\x00\x00\x03one\x04\x00\x01x\x04\x00\x01y\x04\x01\x00"), true, 10)
	f.Add([]byte("\x00\x00\x03one\x04\x00\x08w\x03\x04\xb0\x03\x01xx"), false, 1<<20)
	f.Fuzz(func(t *testing.T, in []byte, late bool, most int) {
		s := (*design)(&in).draw()
		if late { // the first commit comes last, after all that stands on it
			s.moveFirstCommit()
		}
		objects, err := readPack(bytes.NewReader(makePack(t, s.objects...)), limits{objects: 24, inflated: 1 << 20, kept: int64(most)})
		if !wants(t, err) {
			if !s.wild && (!errors.Is(err, ErrTooLarge) || most > 1<<17) {
				t.Errorf("a good pack: %v", err)
			}
			return
		}
		if total := checkSound(t, objects); total > max(most, 0) {
			t.Errorf("%d bytes of at most %d", total, most)
		}
		want := map[string]bool{}
		for _, c := range s.content {
			if c != nil {
				want[string(c)] = true
			}
		}
		got := map[string]bool{}
		for _, o := range objects {
			got[string(o.Content)] = true
		}
		if !s.wild && !maps.Equal(got, want) {
			t.Errorf("got %q, want %q", slices.Sorted(maps.Keys(got)), slices.Sorted(maps.Keys(want)))
		}
		checkAgain(t, objects)
	})
}

// moveFirstCommit puts the first commit last, where nothing stands on it by its offset.
func (s *sketch) moveFirstCommit() {
	if len(s.objects) < 2 || s.objects[0].kind != plumbing.CommitObject {
		return
	}
	for i, o := range s.objects {
		if o.kind == plumbing.OFSDeltaObject && i == o.back {
			return
		}
	}
	s.objects = append(s.objects[1:], s.objects[0])
}

// checkAgain: what was read can be written, and read again.
func checkAgain(t *testing.T, objects []refstore.Object) {
	t.Helper()
	var commits [][]byte
	for _, o := range objects {
		commits = append(commits, o.Content)
	}
	var b bytes.Buffer
	if err := appendPack(&b, commits); err != nil {
		t.Fatal(err)
	}
	back, err := readPack(&b, packLimits)
	if err != nil || len(back) != len(objects) {
		t.Fatalf("%d objects became %d, %v", len(objects), len(back), err)
	}
	for i, o := range objects {
		if back[i].OID != o.OID {
			t.Errorf("object %d became another", i)
		}
	}
}

// FuzzPatch compares with a delta as git's documentation has it.
func FuzzPatch(f *testing.F) {
	base := []byte("tree 0\n\nmessage\n")
	f.Add(base, delta(base, "more"))
	f.Add(base, []byte{byte(len(base)), 4, 0x91, 2, 4})
	f.Add(base, binary.AppendUvarint([]byte{byte(len(base))}, refstore.MaxCommit+1))
	f.Add(make([]byte, 0x10000), []byte("\x80\x80\x04\x80\x80\x04\x80"))
	f.Fuzz(func(t *testing.T, base, delta []byte) {
		got, err := patch(base, delta)
		want, good := plainPatch(base, delta)
		switch {
		case err != nil && !errors.Is(err, ErrMalformed):
			t.Errorf("got %v", err)
		case err != nil && good && len(base) > 0 && len(want) > 0:
			t.Errorf("%q is good, and makes %q: %v", delta, want, err)
		case err == nil && got != nil && (!good || !bytes.Equal(got, want)):
			t.Errorf("%q makes %q, not %q (%t)", delta, want, got, good)
		case err == nil && got == nil && good && len(want) > 0 && len(want) <= refstore.MaxCommit:
			t.Errorf("%q makes %q, and was left out", delta, want)
		}
	})
}

// plainPatch applies a delta without regard to time.
func plainPatch(base, delta []byte) (made []byte, good bool) {
	from, n := binary.Uvarint(delta)
	if n <= 0 || from != uint64(len(base)) {
		return nil, false
	}
	to, m := binary.Uvarint(delta[n:])
	if m <= 0 || to > 1<<24 {
		return nil, false
	}
	for rest := delta[n+m:]; len(rest) > 0; {
		op := rest[0]
		rest = rest[1:]
		switch {
		case op == 0 || op < 0x80 && int(op) > len(rest):
			return nil, false
		case op < 0x80:
			made, rest = append(made, rest[:op]...), rest[op:]
		default:
			var numbers [7]byte
			for i := range numbers {
				if op>>i&1 == 0 {
					continue
				}
				if len(rest) == 0 {
					return nil, false
				}
				numbers[i], rest = rest[0], rest[1:]
			}
			at, size := int(binary.LittleEndian.Uint32(numbers[:4])), int(numbers[4])|int(numbers[5])<<8|int(numbers[6])<<16
			if size == 0 {
				size = 0x10000
			}
			if at+size > len(base) {
				return nil, false
			}
			made = append(made, base[at:at+size]...)
		}
		if uint64(len(made)) > to {
			return nil, false
		}
	}
	return made, uint64(len(made)) == to
}
