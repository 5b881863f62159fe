// Package objects writes commits into the objects directory of a repository of ours, and reads them from there. Loose objects
// are handled in this process; what is packed is read through one git process. It knows nothing of refs.
//
// Objects never change, so any number of processes may use a directory at once.
package objects

import (
	"fmt"
	"path/filepath"
	"slices"

	"github.com/git-worklease/git-worklease/refstore"
)

// Dir is an objects directory.
type Dir struct {
	// Path is the directory "objects" of the repository.
	Path string
	// Format is the repository's object format.
	Format refstore.Format
	// Fleeting says that nothing of it need outlive a loss of power.
	Fleeting bool
}

// WriteTx writes the commits that tx makes, the empty tree, and others as they are. It fails, with nothing written, where a New is not made from the
// rest of its update, or the content of another is not what its ID names.
func (d Dir) WriteTx(tx *refstore.Tx, others ...refstore.Object) error {
	commits := slices.Clone(others)
	for i := range tx.Updates {
		if u := &tx.Updates[i]; !u.New.IsZero() {
			commits = append(commits, refstore.Object{OID: u.New, Content: u.Content(d.Format)})
		}
	}
	for _, c := range commits {
		if d.Format.Hash("commit", c.Content) != c.OID {
			return fmt.Errorf("the content is not that of %s", c.OID.Short())
		}
	}
	w := d.writer()
	err := w.write("tree", d.Format.EmptyTree(), nil)
	for _, c := range commits {
		if err == nil {
			err = w.write("commit", c.OID, c.Content)
		}
	}
	return err
}

// file is where the loose object is.
func (d Dir) file(oid refstore.OID) string {
	return filepath.Join(d.Path, string(oid[:2]), string(oid[2:]))
}
