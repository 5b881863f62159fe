package gitwire

import (
	"io"
	"strings"

	"github.com/git-worklease/git-worklease/refstore"
)

// agent is our name on the wire.
const agent = "git-worklease"

// pushCaps are the capabilities wanted of receive-pack. Servers pass over those that they don't know.
var pushCaps = [...]string{"report-status", "atomic", "side-band-64k", "object-format=sha1"}

// WritePush writes the request that makes tx: the exact old and new OIDs of every ref, and a pack with the new
// commits and the empty tree. a is the server's advertisement, nil where it was not asked for one. It fails, with nothing
// written, where tx is not consistent. tx must be of SHA-1, and each New made from the rest of its update.
func WritePush(w io.Writer, tx *refstore.Tx, a *Advert) error {
	contents, err := newObjects(tx)
	if err != nil {
		return err
	}
	var q request
	for i, u := range tx.Updates {
		caps := ""
		if i == 0 {
			caps = "\x00" + capsFor(a)
		}
		q.line("%s %s %s%s", onWire(tx.Format, u.Old), onWire(tx.Format, u.New), u.Ref, caps)
	}
	q.WriteString(flushPkt)
	if len(contents) > 0 {
		if err := appendPack(&q.Buffer, contents); err != nil {
			return err
		}
	}
	return q.send(w)
}

func onWire(f refstore.Format, oid refstore.OID) string {
	if oid.IsZero() {
		return f.ZeroID()
	}
	return string(oid)
}

// capsFor are the wanted capabilities that the server has, or all where that isn't known.
func capsFor(a *Advert) string {
	var some []string
	for _, c := range pushCaps {
		if a == nil || a.has(c) {
			some = append(some, c)
		}
	}
	return strings.Join(append(some, "agent="+agent), " ")
}
