package lease

import (
	"errors"
	"testing"
)

// TestReleasedAndGone: where a claim that this session has released vanished together with the authority, it is not made anew without one.
func TestReleasedAndGone(t *testing.T) {
	for _, gone := range []bool{true, false} {
		w := newWorld(t)
		alice := w.actor("alice")
		alice.mustClaim(demo)
		alice.mustRelease(demo)
		w.repo.Set((refs{DefaultPrefix}).claim(demo), "")
		if gone {
			w.repo.Set((refs{DefaultPrefix}).meta(), "")
		}
		res, err := alice.Claim(t.Context(), req(demo))
		switch {
		case gone && (!errors.Is(err, ErrAuthorityGone) || len(w.repo.Refs()) > 0):
			t.Errorf("%v, %v", err, w.repo.Refs())
		case !gone && (err != nil || res.Records[0].Generation != 2):
			t.Errorf("with the authority there: %v", err)
		}
	}
}
