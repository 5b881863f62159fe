package lease

import (
	"testing"
)

// TestPoolBesideItsSlots: a pool whose every slot is in the same request is a bad request, not a claim of nothing.
func TestPoolBesideItsSlots(t *testing.T) {
	w := newWorld(t)
	alice := w.actor("alice", pools(1))
	for range 2 { // never claimed, and released
		res, err := alice.Claim(t.Context(), req("pool:gpu", "pool:gpu#1"))
		if want(t, err, ErrBadRequest); res != nil {
			t.Errorf("%+v", res)
		}
		alice.mustClaim("pool:gpu#1")
		alice.mustRelease("pool:gpu#1")
	}
}
