package lease

import (
	"errors"
	"testing"
)

// TestFound: whoever founds an authority gets the one that came first, and nothing is made where one should be there already.
func TestFound(t *testing.T) {
	w := newWorld(t)
	alice, bob := w.actor("alice"), w.actor("bob")
	if id, made, err := alice.Found(t.Context(), false); id != "" || made || err != nil || len(w.repo.Refs()) != 0 {
		t.Fatalf("%q, %v, %v", id, made, err)
	}
	var first string
	alice.wire.push = alice.after(func() { // bob is quicker
		id, made, err := bob.Found(t.Context(), true)
		if !made || err != nil {
			t.Errorf("%v, %v", made, err)
		}
		first = id
	})
	id, _, err := alice.Found(t.Context(), true)
	if err != nil || id != first || id == "" {
		t.Fatalf("%q after %q, %v", id, first, err)
	}
	again, made, err := alice.Found(t.Context(), true)
	if again != id || made || err != nil {
		t.Errorf("%q, %v, %v", again, made, err)
	}
	if res := alice.mustClaim(demo); res.Records[0].Authority != id {
		t.Errorf("claims are made at %s", res.Records[0].Authority)
	}
}

// TestFoundWhereOneShouldBe: an authority that is named, or was there, is not made anew.
func TestFoundWhereOneShouldBe(t *testing.T) {
	w := newWorld(t)
	named := w.actor("named", func(o *Options) { o.AuthorityID = "abc" })
	if _, _, err := named.Found(t.Context(), true); !errors.Is(err, ErrWrongAuthority) && !errors.Is(err, ErrNoAuthority) {
		t.Errorf("%v", err)
	}
	alice := w.actor("alice")
	alice.mustClaim(demo)
	w.repo.Set((refs{DefaultPrefix}).meta(), "")
	for _, a := range []*actor{alice, w.actor("newcomer")} {
		if _, _, err := a.Found(t.Context(), true); !errors.Is(err, ErrAuthorityGone) {
			t.Errorf("%v", err)
		}
	}
}
