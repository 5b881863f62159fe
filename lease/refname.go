package lease

import (
	"crypto/sha256"
	"encoding/hex"
	"strings"

	"github.com/git-worklease/git-worklease/refstore"
)

// DefaultPrefix is where an authority keeps its refs.
const DefaultPrefix = "refs/worklease/"

// The parts of a name that was too long.
const (
	maxEncoded = 200
	keptBytes  = 120
)

// EncodeName makes of any bytes a name that is safe in every git and on every file system, and different for different bytes: flat,
// without capitals, at most 200 bytes.
func EncodeName(key string) string {
	name := escape(key)
	if reservedOnWindows(name) {
		name = escapeByte(name[0]) + name[1:]
	}
	if len(name) <= maxEncoded {
		return name
	}
	sum := sha256.Sum256([]byte(key))
	return name[:keptBytes] + "+" + hex.EncodeToString(sum[:])
}

// DecodeName is the key whose name it is. A name that was too long to keep can't be read back, and neither can one that [EncodeName] does
// not make: then ok is false.
func DecodeName(name string) (key string, ok bool) {
	var b strings.Builder
	for i := 0; i < len(name); i++ {
		if name[i] != '%' {
			b.WriteByte(name[i])
			continue
		}
		if i+3 > len(name) {
			return "", false
		}
		c, err := hex.DecodeString(name[i+1 : i+3])
		if err != nil {
			return "", false
		}
		b.Write(c)
		i += 2
	}
	key = b.String()
	return key, key != "" && EncodeName(key) == name
}

func escape(key string) string {
	var b strings.Builder
	b.Grow(len(key) + 16)
	for i := range len(key) {
		c := key[i]
		if c >= 'a' && c <= 'z' || c >= '0' && c <= '9' || c == '_' || c == '-' && i > 0 {
			b.WriteByte(c)
			continue
		}
		b.WriteString(escapeByte(c))
	}
	return b.String()
}

func escapeByte(c byte) string {
	const digits = "0123456789abcdef"
	return string([]byte{'%', digits[c>>4], digits[c&15]})
}

// reservedOnWindows knows the names that Windows takes for devices. Those with other characters can't come out of escape.
func reservedOnWindows(name string) bool {
	switch name {
	case "con", "prn", "aux", "nul":
		return true
	}
	if len(name) != 4 || name[3] < '0' || name[3] > '9' {
		return false
	}
	return name[:3] == "com" || name[:3] == "lpt"
}

// refs is the naming of one authority's refs.
type refs struct{ prefix string }

func (n refs) meta() string            { return n.prefix + "meta" }
func (n refs) claims() string          { return n.prefix + "claims/" }
func (n refs) claim(r Resource) string { return n.claims() + EncodeName(string(r)) }
func (n refs) of(rs []Resource) []string {
	names := make([]string, len(rs))
	for i, r := range rs {
		names[i] = n.claim(r)
	}
	return names
}

// resource is what a ref's name says; "" where it is too long to say it, and where it is not the name of
// anything that could be a resource.
func (n refs) resource(ref refstore.Ref) Resource {
	key, ok := DecodeName(strings.TrimPrefix(ref.Name, n.claims()))
	if !ok || checkText(key, MaxResource) != nil {
		return ""
	}
	return Resource(key)
}
