package gitwire

import (
	"bytes"
	"compress/zlib"
	"crypto/sha1" //nolint:gosec // a pack ends with its SHA-1
	"encoding/binary"
	"fmt"

	"github.com/go-git/go-git/v5/plumbing"

	"github.com/git-worklease/git-worklease/refstore"
)

// newObjects are the contents of the commits that tx makes, each once. It fails where one isn't what tx says.
func newObjects(tx *refstore.Tx) ([][]byte, error) {
	var contents [][]byte
	seen := make(map[refstore.OID]bool)
	for i := range tx.Updates {
		u := &tx.Updates[i]
		if u.New.IsZero() || seen[u.New] {
			continue
		}
		seen[u.New] = true
		content := u.Content(tx.Format)
		if tx.Format.Hash("commit", content) != u.New {
			return nil, fmt.Errorf("%s: the record is not that of %s", u.Ref, u.New.Short())
		}
		contents = append(contents, content)
	}
	return contents, nil
}

// appendPack adds a pack of commits and the empty tree, which a server needs the first time and is sent always: 12 bytes.
func appendPack(b *bytes.Buffer, commits [][]byte) error {
	start := b.Len()
	b.WriteString("PACK")
	b.Write(binary.BigEndian.AppendUint32(nil, packVersion))
	b.Write(binary.BigEndian.AppendUint32(nil, uint32(len(commits))+1)) //nolint:gosec // a transaction has few commits
	z, err := zlib.NewWriterLevel(b, zlib.BestCompression)
	if err != nil {
		return err
	}
	for _, content := range commits {
		if err := appendObject(b, z, plumbing.CommitObject, content); err != nil {
			return err
		}
	}
	if err := appendObject(b, z, plumbing.TreeObject, nil); err != nil {
		return err
	}
	sum := sha1.Sum(b.Bytes()[start:]) //nolint:gosec // see the import
	b.Write(sum[:])
	return nil
}

const packVersion = 2

func appendObject(b *bytes.Buffer, z *zlib.Writer, kind plumbing.ObjectType, content []byte) error {
	size := len(content)
	head := byte(kind)<<4 | byte(size&0x0f)
	for size >>= 4; size > 0; size >>= 7 {
		b.WriteByte(head | 0x80)
		head = byte(size & 0x7f)
	}
	b.WriteByte(head)
	z.Reset(b)
	if _, err := z.Write(content); err != nil {
		return err
	}
	return z.Close()
}
