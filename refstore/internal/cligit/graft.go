package cligit

import (
	"errors"
	"os"
	"strings"

	"github.com/git-worklease/git-worklease/refstore"
)

// grafted adds to env what makes the commits that tx replaces look like first ones: of a ref's past only its tip is here. git looks whether a push goes
// forward, whatever leases say, and since 2.45 fails where it meets a commit that is missing. Which it meets depends on stamps, so that no number of
// commits would be enough.
func grafted(env []string, dir string, tx *refstore.Tx) (_ []string, remove func(), err error) {
	var lines strings.Builder
	for i := range tx.Updates {
		if u := &tx.Updates[i]; !u.Old.IsZero() && !u.New.IsZero() {
			lines.WriteString(string(u.Old) + "\n")
		}
	}
	f, err := os.CreateTemp(dir, "graft-*")
	if err != nil {
		return nil, nil, err
	}
	remove = func() { _ = os.Remove(f.Name()) }
	_, err = f.WriteString(lines.String())
	if err = errors.Join(err, f.Close()); err != nil {
		remove()
		return nil, nil, err
	}
	return append(env, "GIT_GRAFT_FILE="+f.Name()), remove, nil
}
