package refstore

import (
	"errors"
	"fmt"
)

// OID is the object ID of a commit in lower-case hexadecimal digits, 40 in a SHA-1 repository and 64 in a SHA-256 one.
// It is the token of a compare-and-swap. The zero value stands for a ref that does not exist.
type OID string

// Unreadable stands for the tip of a ref that is there and that the server can't read, such as one whose file was left empty by a crash: the
// upload-pack of git 2.39 lists it with an ID of zeros in every version of the protocol. It is no object's ID: nothing is built upon it, and no change finds it where it expects something.
const Unreadable OID = "unreadable"

// IsZero says whether the OID stands for an absent ref.
func (o OID) IsZero() bool { return o == "" }

// Short is the OID's first twelve digits, for people.
func (o OID) Short() string {
	if len(o) < 12 {
		return string(o)
	}
	return string(o[:12])
}

// ErrBadOID is returned by [ParseOID] for what is no object ID.
var ErrBadOID = errors.New("not an object ID")

// ParseTip reads an object ID that stands beside a ref's name in a listing, where the all-zero ID says that the ref can't be read.
func ParseTip(s string) (OID, error) {
	oid, err := ParseOID(s)
	if err == nil && oid.IsZero() {
		oid = Unreadable
	}
	return oid, err
}

// ParseOID reads an object ID as git writes it. The all-zero ID, git's word for an absent ref, gives the zero OID.
func ParseOID(s string) (OID, error) {
	if len(s) != SHA1.hexLen() && len(s) != SHA256.hexLen() {
		return "", fmt.Errorf("%w: %d digits", ErrBadOID, len(s))
	}
	zero := true
	for i := range len(s) {
		c := s[i]
		if (c < '0' || c > '9') && (c < 'a' || c > 'f') {
			return "", fmt.Errorf("%w: %q", ErrBadOID, s)
		}
		zero = zero && c == '0'
	}
	if zero {
		return "", nil
	}
	return OID(s), nil
}
