package server

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/git-worklease/git-worklease/refstore"
)

// update is one line of what git tells a hook. What it says of the old value is not kept: it is what somebody expects, not what stands there.
type update struct {
	ref string
	// next is zero for a deletion.
	next refstore.OID
	// symbolic says that the ref is to point to another.
	symbolic bool
}

// errInput is what no git tells a hook.
var errInput = errors.New("not what git tells a hook")

// maxLine bounds, in bytes, a line: two values and the name of a ref.
const maxLine = 64 << 10

// readUpdates reads lines "<old> <new> <ref>", and what format the repository has.
func readUpdates(in io.Reader) (updates []update, format refstore.Format, err error) {
	lines := bufio.NewScanner(in)
	lines.Buffer(nil, maxLine)
	for lines.Scan() {
		fields := strings.SplitN(lines.Text(), " ", 3)
		if len(fields) != 3 {
			return nil, "", fmt.Errorf("%w: %q", errInput, lines.Text())
		}
		u := update{ref: fields[2]}
		if u.symbolic = strings.HasPrefix(fields[1], "ref:"); !u.symbolic {
			if u.next, err = refstore.ParseOID(fields[1]); err != nil {
				return nil, "", fmt.Errorf("%w: %w", errInput, err)
			}
			format = refstore.SHA1
			if len(fields[1]) == len(refstore.SHA256.ZeroID()) {
				format = refstore.SHA256
			}
		}
		updates = append(updates, u)
	}
	return updates, format, lines.Err()
}
