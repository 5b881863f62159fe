package refstore_test

import (
	"testing"

	"github.com/git-worklease/git-worklease/refstore"
)

func TestContradicts(t *testing.T) {
	tips := map[string]refstore.OID{"refs/w/a": "1", "refs/w/c": "3"}
	update := func(ref string, old refstore.OID) refstore.Update {
		return refstore.Update{Change: refstore.Change{Ref: ref, Old: old}}
	}
	for _, c := range []struct {
		name    string
		updates []refstore.Update
		want    bool
	}{
		{"at Old", []refstore.Update{update("refs/w/a", "1")}, false},
		{"elsewhere", []refstore.Update{update("refs/w/a", "2")}, true},
		{"there", []refstore.Update{update("refs/w/a", "")}, true},
		{"absent", []refstore.Update{update("refs/w/b", "")}, false},
		{"gone", []refstore.Update{update("refs/w/b", "1")}, true},
		{"all at Old", []refstore.Update{update("refs/w/a", "1"), update("refs/w/b", ""), update("refs/w/c", "3")}, false},
		{"the last elsewhere", []refstore.Update{update("refs/w/a", "1"), update("refs/w/c", "4")}, true},
		{"nothing", nil, false},
	} {
		tx := &refstore.Tx{Updates: c.updates}
		if got := tx.Contradicts(tips); got != c.want {
			t.Errorf("%s: %v", c.name, got)
		}
	}
}
