package refstore

import (
	"errors"
	"fmt"
	"slices"
	"strings"
)

// ErrBadChange is returned by Build for a change that no server should be asked for.
var ErrBadChange = errors.New("bad change")

func (s *store) Build(changes ...Change) (*Tx, error) {
	return BuildTx(s.format(), changes...)
}

// BuildTx makes the transaction of changes for a repository of the given format.
func BuildTx(f Format, changes ...Change) (*Tx, error) {
	if len(changes) == 0 {
		return nil, fmt.Errorf("%w: none given", ErrBadChange)
	}
	tx := &Tx{Format: f}
	seen := make(map[string]bool, len(changes))
	for _, c := range changes {
		if err := c.valid(f); err != nil {
			return nil, err
		}
		if seen[c.Ref] {
			return nil, fmt.Errorf("%w: %s twice", ErrBadChange, c.Ref)
		}
		seen[c.Ref] = true
		u := Update{Change: c}
		if c.Message != nil {
			u.New = f.Hash("commit", u.Content(f))
		}
		tx.Updates = append(tx.Updates, u)
	}
	return tx, nil
}

// Contradicts says whether tips, the refs as they were read, show that tx can't succeed: one is not at Old. Those that are not in tips are
// taken to be absent.
func (tx *Tx) Contradicts(tips map[string]OID) bool {
	return slices.ContainsFunc(tx.Updates, func(u Update) bool { return tips[u.Ref] != u.Old })
}

// Content is the commit object that the update makes.
func (u *Update) Content(f Format) []byte {
	return EncodeCommit(f, u.Old, u.When, u.Message)
}

func (c *Change) valid(f Format) error {
	switch {
	case !ValidRef(c.Ref):
		return fmt.Errorf("%w: ref name %q", ErrBadChange, c.Ref)
	case c.Message == nil && c.Old.IsZero():
		return fmt.Errorf("%w: delete %s without naming what it holds", ErrBadChange, c.Ref)
	case c.Old == Unreadable:
		return fmt.Errorf("%s: %w", c.Ref, ErrUnreadable)
	case !c.Old.IsZero() && len(c.Old) != f.hexLen():
		return fmt.Errorf("%w: %s holds no object of format %s", ErrBadChange, c.Ref, f)
	case len(c.Message) > MaxCommit/2:
		// half, because the headers need room and a reader's bound must never be met by a writer
		return fmt.Errorf("%w: record of %d bytes", ErrBadChange, len(c.Message))
	}
	return nil
}

// ValidRef says whether name is a ref name that this package will write: below refs/, of printable ASCII, and well formed by git's own
// rules, so that it means the same in every protocol and command language of git.
func ValidRef(name string) bool {
	if !strings.HasPrefix(name, "refs/") || len(name) > 512 {
		return false
	}
	for part := range strings.SplitSeq(name, "/") {
		if part == "" || part[0] == '.' || part[0] == '-' || strings.HasSuffix(part, ".lock") || strings.HasSuffix(part, ".") {
			return false
		}
	}
	for i := range len(name) {
		if c := name[i]; c <= ' ' || c > '~' || strings.IndexByte("~^:?*[\\", c) >= 0 {
			return false
		}
	}
	return !strings.Contains(name, "..") && !strings.Contains(name, "@{")
}
