// Package objects writes commits into the objects directory of a repository of ours, and reads them from there. Loose objects
// are handled in this process; what is packed is read through one git process. It knows nothing of refs.
//
// Objects never change, so any number of processes may use a directory at once.
package objects

import (
	"fmt"
	"path/filepath"

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

// WriteTx writes the commits that tx makes, and the empty tree. It fails, with nothing written, where a New is not made from the
// rest of its update.
func (d Dir) WriteTx(tx *refstore.Tx) error {
	contents := make([][]byte, len(tx.Updates))
	for i := range tx.Updates {
		u := &tx.Updates[i]
		if u.New.IsZero() {
			continue
		}
		contents[i] = u.Content(d.Format)
		if d.Format.Hash("commit", contents[i]) != u.New {
			return fmt.Errorf("%s: the record is not that of %s", u.Ref, u.New.Short())
		}
	}
	w := d.writer()
	if err := w.write("tree", d.Format.EmptyTree(), nil); err != nil {
		return err
	}
	for i, content := range contents {
		if content == nil {
			continue
		}
		if err := w.write("commit", tx.Updates[i].New, content); err != nil {
			return err
		}
	}
	return nil
}

// WriteCommits writes commits as they are. It fails where a content is not what its ID names.
func (d Dir) WriteCommits(commits []refstore.Object) error {
	w := d.writer()
	for _, c := range commits {
		if d.Format.Hash("commit", c.Content) != c.OID {
			return fmt.Errorf("the content is not that of %s", c.OID.Short())
		}
		if err := w.write("commit", c.OID, c.Content); err != nil {
			return err
		}
	}
	return nil
}

// file is where the loose object is.
func (d Dir) file(oid refstore.OID) string {
	return filepath.Join(d.Path, string(oid[:2]), string(oid[2:]))
}
