package gitwire

import (
	"fmt"
	"io"
	"strings"

	"github.com/git-worklease/git-worklease/refstore"
)

// WriteLsRefs asks, in version 2, for the refs whose names start with any of prefixes. The server may send others.
func WriteLsRefs(w io.Writer, prefixes []string) error {
	var q request
	q.line("command=ls-refs\n")
	q.WriteString(delimPkt)
	for _, p := range prefixes {
		q.line("ref-prefix %s\n", p)
	}
	q.WriteString(flushPkt)
	return q.send(w)
}

// ReadRefs reads the answer to [WriteLsRefs].
func ReadRefs(r *Reader) (map[string]refstore.OID, error) {
	refs := make(map[string]refstore.OID)
	for {
		kind, text, err := r.line()
		switch {
		case err != nil:
			return nil, fmt.Errorf("ls-refs: %w", err)
		case kind == Flush:
			return refs, nil
		case kind != Data:
			return nil, malformed("a section in the refs")
		}
		if err := addRef(refs, text); err != nil {
			return nil, err
		}
	}
}

// addRef takes a line "OID NAME", possibly with attributes.
func addRef(refs map[string]refstore.OID, text string) error {
	id, rest, ok := strings.Cut(text, " ")
	if ok && id == "unborn" {
		return nil
	}
	oid, err := refstore.ParseTip(id)
	if err != nil || !ok {
		return malformed("%.80q where a ref should be", text)
	}
	if len(refs) >= MaxRefs {
		return fmt.Errorf("%w: over %d refs", ErrTooLarge, MaxRefs)
	}
	name, _, _ := strings.Cut(rest, " ")
	if name != "" {
		refs[name] = oid
	}
	return nil
}
