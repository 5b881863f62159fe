package refstore

import (
	"crypto/sha1" //nolint:gosec // git's object IDs are SHA-1; nothing here rests on their strength alone
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"strings"
)

// Format is a repository's object format. The zero value is SHA-1.
type Format string

// The object formats that git has.
const (
	SHA1   Format = "sha1"
	SHA256 Format = "sha256"
)

func (f Format) hexLen() int {
	if f == SHA256 {
		return 2 * sha256.Size
	}
	return 2 * sha1.Size
}

// ZeroID is the format's all-zero ID, git's word on the wire for an absent ref.
func (f Format) ZeroID() string { return strings.Repeat("0", f.hexLen()) }

// EmptyTree is the ID of the tree without entries.
func (f Format) EmptyTree() OID { return f.Hash("tree", nil) }

// Hash is the ID that git gives to an object of the given type ("commit", "tree", "blob") and content.
func (f Format) Hash(kind string, content []byte) OID {
	header := fmt.Appendf(nil, "%s %d\x00", kind, len(content))
	if f == SHA256 {
		h := sha256.New()
		h.Write(header)
		h.Write(content)
		return OID(hex.EncodeToString(h.Sum(nil)))
	}
	h := sha1.New() //nolint:gosec // see the import
	h.Write(header)
	h.Write(content)
	return OID(hex.EncodeToString(h.Sum(nil)))
}
