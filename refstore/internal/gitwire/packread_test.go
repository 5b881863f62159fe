package gitwire

import (
	"bytes"
	"compress/zlib"
	"crypto/sha1" //nolint:gosec // a pack ends with its SHA-1
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"runtime"
	"strings"
	"testing"

	"github.com/go-git/go-git/v5/plumbing"

	"github.com/git-worklease/git-worklease/refstore"
)

// packed is an object for a pack made by hand.
type packed struct {
	kind plumbing.ObjectType
	base refstore.OID // of a ref-delta
	back int          // of an ofs-delta: how many objects before it its base is
	data []byte
	size int // as declared, where it is a lie
}

func makePack(t testing.TB, objects ...packed) []byte {
	t.Helper()
	var b bytes.Buffer
	b.WriteString("PACK\x00\x00\x00\x02")
	b.Write(binary.BigEndian.AppendUint32(nil, uint32(len(objects)))) //nolint:gosec // few
	z := zlib.NewWriter(&b)
	offsets := make([]int, len(objects))
	for i, o := range objects {
		offsets[i] = b.Len()
		size := len(o.data)
		if o.size != 0 {
			size = o.size
		}
		head := byte(o.kind)<<4 | byte(size&0x0f)
		for size >>= 4; size > 0; size >>= 7 {
			b.WriteByte(head | 0x80)
			head = byte(size & 0x7f)
		}
		b.WriteByte(head)
		if o.base != "" {
			id, err := hex.DecodeString(string(o.base))
			if err != nil {
				t.Fatal(err)
			}
			b.Write(id)
		}
		if o.kind == plumbing.OFSDeltaObject {
			b.Write(backwards(offsets[i] - offsets[i-o.back]))
		}
		z.Reset(&b)
		_, _ = z.Write(o.data)
		_ = z.Close()
	}
	sum := sha1.Sum(b.Bytes()) //nolint:gosec // see the import
	return append(b.Bytes(), sum[:]...)
}

// backwards is how an ofs-delta writes how far before it its base is.
func backwards(n int) []byte {
	b := []byte{byte(n & 0x7f)}
	for n >>= 7; n > 0; n >>= 7 {
		n--
		b = append([]byte{byte(n&0x7f) | 0x80}, b...)
	}
	return b
}

// delta copies all of base and appends tail.
func delta(base []byte, tail string) []byte {
	d := binary.AppendUvarint(nil, uint64(len(base)))
	d = binary.AppendUvarint(d, uint64(len(base)+len(tail)))
	d = append(d, 0xb0, byte(len(base)), byte(len(base)>>8), byte(len(tail)))
	return append(d, tail...)
}

// copied is a delta that makes its base once more.
func copied(id refstore.OID, base []byte) packed {
	return packed{kind: plumbing.REFDeltaObject, base: id, data: delta(base, "")[:len(delta(base, ""))-1]}
}

func commit(text string) []byte { return refstore.EncodeCommit(refstore.SHA1, "", when, []byte(text)) }

// Deltas may come before their bases, in any order.
func TestPackWithLateBases(t *testing.T) {
	one := commit("one")
	two := append(bytes.Clone(one), "2"...)
	three := append(bytes.Clone(two), "3"...)
	pack := makePack(t,
		packed{kind: plumbing.REFDeltaObject, base: refstore.SHA1.Hash("commit", two), data: delta(two, "3")},
		packed{kind: plumbing.REFDeltaObject, base: refstore.SHA1.Hash("commit", one), data: delta(one, "2")},
		packed{kind: plumbing.REFDeltaObject, base: refstore.SHA1.Hash("blob", nil), data: delta(one, "x")},
		packed{kind: plumbing.CommitObject, data: one},
	)
	objects, err := readPack(bytes.NewReader(pack), packLimits)
	if err != nil || len(objects) != 3 {
		t.Fatalf("%d objects, %v", len(objects), err)
	}
	for i, want := range [][]byte{one, two, three} {
		if !bytes.Equal(objects[i].Content, want) || objects[i].OID != refstore.SHA1.Hash("commit", want) {
			t.Errorf("object %d is %q", i, objects[i].Content)
		}
	}
}

// A delta may stand, by its offset, on one that waits for its own base.
func TestPackWithDeltasBehindWaitingOnes(t *testing.T) {
	one := commit("one")
	two := append(bytes.Clone(one), "2"...)
	three := append(bytes.Clone(two), "3"...)
	pack := makePack(t,
		packed{kind: plumbing.REFDeltaObject, base: refstore.SHA1.Hash("commit", one), data: delta(one, "2")},
		packed{kind: plumbing.OFSDeltaObject, back: 1, data: delta(two, "3")},
		packed{kind: plumbing.BlobObject, data: one},
		packed{kind: plumbing.OFSDeltaObject, back: 1, data: delta(one, "no commit")},
		packed{kind: plumbing.CommitObject, data: one},
	)
	objects, err := readPack(bytes.NewReader(pack), packLimits)
	if err != nil || len(objects) != 3 {
		t.Fatalf("%d objects, %v", len(objects), err)
	}
	for i, want := range [][]byte{one, two, three} {
		if !bytes.Equal(objects[i].Content, want) {
			t.Errorf("object %d is %q", i, objects[i].Content)
		}
	}
}

// TestPackOfManyDeltas: what waits for one base is not made before it is known whether it can be kept.
func TestPackOfManyDeltas(t *testing.T) {
	const many, size, most = 2000, 60_000, 1 << 20
	base := commit(strings.Repeat("x", size))
	objects := make([]packed, 0, many+1)
	for i := range many {
		objects = append(objects, packed{kind: plumbing.REFDeltaObject, base: refstore.SHA1.Hash("commit", base), data: delta(base, fmt.Sprint(i))})
	}
	pack := makePack(t, append(objects, packed{kind: plumbing.CommitObject, data: base})...)
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	_, err := readPack(bytes.NewReader(pack), limits{many + 1, 1 << 30, most})
	runtime.ReadMemStats(&after)
	if !errors.Is(err, ErrTooLarge) {
		t.Errorf("got %v", err)
	}
	if used := after.TotalAlloc - before.TotalAlloc; used > 64*most { // all of them would be twice that
		t.Errorf("%d bytes were used for at most %d", used, most)
	}
}

func TestHostilePacks(t *testing.T) {
	one := commit("one")
	id := refstore.SHA1.Hash("commit", one)
	base := packed{kind: plumbing.CommitObject, data: one}
	bomb := func(target int) []byte {
		d := binary.AppendUvarint(nil, uint64(len(one)))
		d = binary.AppendUvarint(d, uint64(target)) //nolint:gosec // positive
		for range target / len(one) {
			d = append(d, 0xb0, byte(len(one)), byte(len(one)>>8))
		}
		return d
	}
	cases := []struct {
		name    string
		objects []packed
		limits  limits
		want    error
		commits int
	}{
		{"twice the same", []packed{base, base}, packLimits, nil, 1},
		{"too many objects", []packed{base, base}, limits{1, 1 << 20, 1 << 20}, ErrTooLarge, 0},
		{"too much inflated", []packed{{kind: plumbing.BlobObject, data: make([]byte, 2048)}}, limits{9, 2047, 1 << 20}, ErrTooLarge, 0},
		{"too much kept", []packed{base}, limits{9, 1 << 20, 10}, ErrTooLarge, 0},
		{"too much made, and nothing new", []packed{base, copied(id, one), copied(id, one)}, limits{9, int64(2 * len(one)), 1 << 20}, ErrTooLarge, 0},
		{"too much waiting", []packed{{kind: plumbing.REFDeltaObject, base: id, data: delta(one, "x")}}, limits{9, 1 << 20, 5}, ErrTooLarge, 0},
		{"a delta that makes much", []packed{base, {kind: plumbing.REFDeltaObject, base: id, data: bomb(refstore.MaxCommit + 1)}}, packLimits, nil, 1},
		{"a delta with a lie", []packed{base, {kind: plumbing.REFDeltaObject, base: id, data: bomb(900)}}, packLimits, ErrMalformed, 0},
		{"an empty delta", []packed{base, {kind: plumbing.REFDeltaObject, base: id}}, packLimits, ErrMalformed, 0},
		{"half a delta", []packed{base, {kind: plumbing.REFDeltaObject, base: id, data: []byte{1}}}, packLimits, ErrMalformed, 0},
		{"longer than declared", []packed{{kind: plumbing.CommitObject, data: one, size: 1}}, packLimits, ErrMalformed, 0},
		{"shorter than declared", []packed{{kind: plumbing.CommitObject, data: one, size: 9999}}, packLimits, ErrMalformed, 0},
		{"an unknown type", []packed{{kind: 5, data: one}}, packLimits, ErrMalformed, 0},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			objects, err := readPack(bytes.NewReader(makePack(t, c.objects...)), c.limits)
			if !errors.Is(err, c.want) || len(objects) != c.commits {
				t.Errorf("%d commits, %v; want %d, %v", len(objects), err, c.commits, c.want)
			}
		})
	}
	pack := makePack(t, base)
	pack[len(pack)-1] ^= 1
	if _, err := readPack(bytes.NewReader(pack), packLimits); !errors.Is(err, ErrMalformed) {
		t.Errorf("wrong checksum: %v", err)
	}
}
