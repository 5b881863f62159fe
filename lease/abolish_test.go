package lease

import (
	"errors"
	"testing"
	"time"

	"github.com/git-worklease/git-worklease/refstore"
)

// TestAbolish: what is somebody's keeps an authority from being ended, unless by force; then no ref is left, and whoever knew it concludes nothing.
func TestAbolish(t *testing.T) {
	w := newWorld(t)
	alice, bob := w.actor("alice"), w.actor("bob")
	alice.mustClaim(demo)
	alice.mustClaim(resourceN(1), resourceN(2))
	alice.mustRelease(resourceN(1))
	before := len(w.repo.Refs())
	_, err := bob.Abolish(t.Context(), false)
	var used *InUseError
	if !errors.As(err, &used) || len(used.Views) != 1 || used.Views[0].Resource != demo || len(w.repo.Refs()) != before {
		t.Fatalf("%v, %v", err, w.repo.Refs())
	}
	if _, err := alice.Abolish(t.Context(), false); !errors.Is(err, ErrInUse) {
		t.Errorf("its own claim: %v", err)
	}
	w.advance(3 * time.Hour)
	if n, err := bob.Abolish(t.Context(), false); err != nil || n != before || len(w.repo.Refs()) != 0 {
		t.Errorf("%d of %d, %v, %v", n, before, err, w.repo.Refs())
	}
	if _, err := alice.Claim(t.Context(), req(demo)); !errors.Is(err, ErrAuthorityGone) {
		t.Errorf("whoever knew it: %v", err)
	}
}

// TestAbolishInTheWay: a claim that is made meanwhile is not deleted unread, and force ends all.
func TestAbolishInTheWay(t *testing.T) {
	w := newWorld(t)
	alice, bob := w.actor("alice"), w.actor("bob")
	alice.mustClaim(demo)
	alice.mustRelease(demo)
	bob.wire.push = bob.after(func() { alice.mustClaim(demo) })
	if _, err := bob.Abolish(t.Context(), false); !errors.Is(err, ErrInUse) || w.tip(demo).Released() {
		t.Errorf("%v", err)
	}
	if _, err := bob.Abolish(t.Context(), true); err != nil || len(w.repo.Refs()) != 0 {
		t.Errorf("%v, %v", err, w.repo.Refs())
	}
	if n, err := bob.Abolish(t.Context(), true); n != 0 || err != nil {
		t.Errorf("with nothing there: %d, %v", n, err)
	}
}

// TestAbolishWithoutEnd: who writes all the time keeps an authority from being ended, and that is said.
func TestAbolishWithoutEnd(t *testing.T) {
	w := newWorld(t)
	alice, bob := w.actor("alice"), w.actor("bob")
	alice.mustClaim(demo)
	bob.wire.push = func(_ *refstore.Tx, send func() (*refstore.Report, error)) (*refstore.Report, error) {
		alice.mustClaim(demo)
		return send()
	}
	if n, err := bob.Abolish(t.Context(), true); n != 0 || !errors.Is(err, refstore.ErrConflict) {
		t.Errorf("%d, %v", n, err)
	}
}
