package lease

import (
	"testing"

	"github.com/git-worklease/git-worklease/refstore"
)

// TestHiddenRefs: a server that takes refs and does not list them can't be an authority, and the first claim says so.
func TestHiddenRefs(t *testing.T) {
	w := newWorld(t)
	alice := w.actor("alice")
	alice.wire.unknown = true
	var hide func(map[string]refstore.OID)
	hide = func(refs map[string]refstore.OID) {
		clear(refs)
		alice.wire.listed = hide
	}
	alice.wire.listed = hide
	_, err := alice.Claim(t.Context(), req("task:demo"))
	want(t, err, ErrHidden)
	if rec := w.tip("task:demo"); rec != nil {
		t.Errorf("claimed: %+v", rec)
	}
}
