package lease

import (
	"errors"
	"testing"
	"time"

	"github.com/git-worklease/git-worklease/refstore"
)

// TestCase41OverlapIsRefused: a path that overlaps with another's is refused, and it is said with which.
func TestCase41OverlapIsRefused(t *testing.T) {
	w := newWorld(t)
	alice, bob := w.actor("alice"), w.actor("bob")
	res := alice.mustClaim("path:src")
	if res.Hold.Unconfirmed || w.holdOf(alice).Unconfirmed {
		t.Error("it is not confirmed")
	}
	_, err := bob.Claim(t.Context(), req("task:x", "path:SRC/a"))
	var held *HeldError
	if !errors.As(err, &held) || held.Resource != "path:src" || held.Wanted != "path:SRC/a" || held.Record.Holder.Agent != "alice" {
		t.Fatalf("%v, %+v", err, held)
	}
	if w.tip("task:x") != nil {
		t.Error("a part of it was claimed")
	}
	bob.mustClaim("path:srcs", "task:x")
	alice.mustRelease("path:src")
	bob.mustClaim("path:src/a")
}

// holdOf is the newest claim in an actor's file.
func (w *world) holdOf(a *actor) Hold {
	w.t.Helper()
	holds, err := a.local.Holds()
	if err != nil || len(holds) == 0 {
		w.t.Fatalf("%d claims, %v", len(holds), err)
	}
	return holds[len(holds)-1]
}

// TestOwnPathsDoNotExclude: the keys of the session decide, not its name.
func TestOwnPathsDoNotExclude(t *testing.T) {
	w := newWorld(t)
	alice := w.actor("alice")
	alice.mustClaim("path:src")
	if res := alice.mustClaim("path:src/a"); res.Outcome != Claimed {
		t.Errorf("%+v", res)
	}
	namesake := w.actor("alice")
	_, err := namesake.Claim(t.Context(), req("path:src/a/b"))
	want(t, err, ErrHeld)
}

// TestOwnPathNotYetSaved: another process of the session has taken an overlapping path, and was killed before it could save that.
func TestOwnPathNotYetSaved(t *testing.T) {
	w := newWorld(t)
	alice := w.actor("alice")
	alice.mustClaim("task:before")
	if !alice.killedSending(true, claimAll([]Resource{"path:src"})) {
		t.Fatal("not killed")
	}
	alice.mustClaim("path:src/a")
	if _, err := alice.Verify(t.Context()); err != nil {
		t.Error(err)
	}
}

// TestTakeableOverlapsAreEnded: in the same swap, by a tombstone that says by whom, and whoever is displaced learns of it.
func TestTakeableOverlapsAreEnded(t *testing.T) {
	w := newWorld(t)
	alice, bob, carol := w.actor("alice"), w.actor("bob"), w.actor("carol")
	alice.mustClaim("path:src/a", "task:x")
	carol.mustClaim("path:src/b")
	w.advance(time.Hour + time.Second)
	_, err := bob.Claim(t.Context(), req("path:src"))
	want(t, err, ErrHeld) // the grace has not passed
	w.advance(time.Hour)
	before := w.tip("path:src/a")
	pushes := bob.wire.pushes
	res := bob.mustClaim("path:src")
	if bob.wire.pushes != pushes+1 || len(res.Overlapped) != 2 || res.Overlapped[0].Holder.Agent != "alice" {
		t.Errorf("%d pushes, %+v", bob.wire.pushes-pushes, res.Overlapped)
	}
	rec := w.tip("path:src/a")
	if !rec.Released() || rec.Release.Reason != "overlapped" || rec.Release.By.Agent != "bob" || rec.Claim != res.Hold.Claim ||
		rec.Generation != before.Generation || rec.Revision != before.Revision+1 || rec.Holder != before.Holder || len(rec.Members) != 2 {
		t.Errorf("%+v", rec)
	}
	_, err = alice.Renew(t.Context(), RenewRequest{})
	var lost *LostError
	if !errors.As(err, &lost) || lost.By == nil || lost.By.Agent != "bob" || lost.Reason != "overlapped" {
		t.Errorf("%v", err)
	}
	if rec := w.tip("task:x"); !rec.Released() {
		t.Error("the rest of the displaced claim stands")
	}
	_, err = carol.Verify(t.Context(), "path:src/b")
	want(t, err, ErrLost)
	bob.mustRelease("path:src")
	if res := alice.mustClaim("path:src/a"); res.Records[0].Generation != before.Generation+1 {
		t.Errorf("%+v", res.Records[0])
	}
}

// TestCase52LateRenewalAgainstAClaimBelow: whichever of the two reaches the server first wins, and the other is told.
func TestCase52LateRenewalAgainstAClaimBelow(t *testing.T) {
	t.Run("the claim first", func(t *testing.T) {
		w := newWorld(t)
		alice, bob := w.actor("alice"), w.actor("bob")
		alice.mustClaim("path:src")
		w.advance(2 * time.Hour)
		alice.wire.push = func(_ *refstore.Tx, send func() (*refstore.Report, error)) (*refstore.Report, error) {
			alice.wire.push = nil
			bob.mustClaim("path:src/a")
			return send()
		}
		_, err := alice.Renew(t.Context(), RenewRequest{})
		var lost *LostError
		if !errors.As(err, &lost) || lost.By.Agent != "bob" || lost.Reason != "overlapped" {
			t.Fatalf("%v", err)
		}
		if _, err := bob.Verify(t.Context(), "path:src/a"); err != nil {
			t.Error(err)
		}
	})
	t.Run("the renewal first", func(t *testing.T) {
		w := newWorld(t)
		alice, bob := w.actor("alice"), w.actor("bob")
		alice.mustClaim("path:src")
		w.advance(2 * time.Hour)
		bob.wire.push = func(_ *refstore.Tx, send func() (*refstore.Report, error)) (*refstore.Report, error) {
			bob.wire.push = nil
			if _, err := alice.Renew(t.Context(), RenewRequest{}); err != nil {
				t.Error(err)
			}
			return send()
		}
		_, err := bob.Claim(t.Context(), req("path:src/a"))
		want(t, err, ErrHeld)
		if _, err := alice.Verify(t.Context(), "path:src"); err != nil {
			t.Error(err)
		}
		if rec := w.tip("path:src/a"); rec != nil {
			t.Errorf("something is left of the loser: %+v", rec)
		}
	})
}

// TestOverlapWithWhatCantBeJudged: what can't be read is never free, also where it only overlaps.
func TestOverlapWithWhatCantBeJudged(t *testing.T) {
	names := refs{DefaultPrefix}
	for name, tt := range map[string]struct {
		ref  string
		make func(authority string) []byte
		want error
	}{
		"garbage":      {names.claim("path:src"), func(string) []byte { return []byte("hello\n") }, ErrCorrupt},
		"hashed name":  {names.claims() + "path%3ax+" + "00", func(string) []byte { return []byte("hello\n") }, ErrCorrupt},
		"newer":        {names.claim("path:src"), func(string) []byte { return seal("x", []byte(`{"v":2}`), testKey(1)) }, ErrNewer},
		"foreign":      {names.claim("path:src"), func(string) []byte { return pathRecord(t, "bb", "path:src") }, ErrWrongAuthority},
		"path unknown": {names.claim("path:../x"), func(authority string) []byte { return pathRecord(t, authority, "path:../x") }, ErrHeld},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			alice := w.actor("alice")
			authority := alice.mustClaim("task:first").Hold.Authority
			w.put(tt.ref, tt.make(authority))
			_, err := alice.Claim(t.Context(), req("path:src/a"))
			want(t, err, tt.want)
			if rec := w.tip("path:src/a"); rec != nil {
				t.Errorf("%+v", rec)
			}
			if name != "hashed name" && name != "path unknown" {
				alice.mustClaim("path:lib")
			}
		})
	}
}

func pathRecord(t *testing.T, authority string, path Resource) []byte {
	t.Helper()
	r := foreignRecord(authority, "")
	r.Resource, r.Members, r.RenewedAt = path, []Resource{path}, epoch
	message, err := r.encode(testKey(9))
	if err != nil {
		t.Fatal(err)
	}
	return message
}

// TestOverlapRolledBack: an overlapping path stands at an earlier state than this clone has seen.
func TestOverlapRolledBack(t *testing.T) {
	w := newWorld(t)
	alice, bob := w.actor("alice"), w.actor("bob")
	alice.mustClaim("path:src")
	alice.mustRelease("path:src")
	ref := refs{DefaultPrefix}.claim("path:src")
	old := w.repo.Refs()[ref]
	alice.mustClaim("path:src")
	bob.mustStatus("path:src")
	w.repo.Set(ref, old)
	_, err := bob.Claim(t.Context(), req("path:src/a"))
	want(t, err, ErrRolledBack)
}

// TestOverlapObserved: where age is judged by what a clone has seen, that counts for overlapping paths as well.
func TestOverlapObserved(t *testing.T) {
	observed := func(o *Options) { o.Terms.Expiry = ExpiryObserved }
	w := newWorld(t)
	alice, bob := w.actor("alice", observed), w.actor("bob", observed)
	alice.mustClaim("path:src")
	w.advance(3 * time.Hour)
	_, err := bob.Claim(t.Context(), req("path:src/a"))
	want(t, err, ErrHeld)
	w.advance(2 * time.Hour)
	bob.mustClaim("path:src/a")
}

// TestOverlapReserved: a release that is kept for another agent keeps the paths that overlap as well.
func TestOverlapReserved(t *testing.T) {
	w := newWorld(t)
	alice, bob, carol := w.actor("alice"), w.actor("bob"), w.actor("carol")
	held := alice.mustClaim("path:src")
	rec := w.tip("path:src")
	release := Release{At: epoch, ReservedFor: "bob", ReservedUntil: epoch.Add(time.Hour)}
	message, err := rec.tombstone(w.repo.Refs()[refs{DefaultPrefix}.claim("path:src")], 2, release).encode(held.Hold.Key)
	if err != nil {
		t.Fatal(err)
	}
	w.put(refs{DefaultPrefix}.claim("path:src"), message)
	_, err = carol.Claim(t.Context(), req("path:src/a"))
	var refusal *HeldError
	if !errors.As(err, &refusal) || !refusal.Reserved {
		t.Fatalf("%v", err)
	}
	bob.mustClaim("path:src/a")
}

// TestPathsWithoutAtomic: a claim that need not end others works on a server that changes one ref at a time; any other is refused.
func TestPathsWithoutAtomic(t *testing.T) {
	w := newWorld(t)
	alice, bob := w.actor("alice"), w.actor("bob")
	one := func(tx *refstore.Tx, send func() (*refstore.Report, error)) (*refstore.Report, error) {
		if len(tx.Updates) > 1 {
			return nil, &refstore.UnsupportedError{Feature: refstore.FeatureAtomic}
		}
		return send()
	}
	alice.mustClaim("task:first")
	alice.wire.push, bob.wire.push = one, one
	alice.mustClaim("path:src")
	_, err := bob.Claim(t.Context(), req("path:src/a"))
	want(t, err, ErrHeld)
	w.advance(2 * time.Hour)
	_, err = bob.Claim(t.Context(), req("path:src/a"))
	want(t, err, ErrNotAtomic)
	if rec := w.tip("path:src"); rec.Released() {
		t.Error("it was ended nevertheless")
	}
	bob.mustClaim("path:src")
}

// TestNamesCostNoListing: what is no path is claimed as before, without a read.
func TestNamesCostNoListing(t *testing.T) {
	w := newWorld(t)
	alice := w.actor("alice")
	alice.mustClaim("task:first")
	reads, pushes := alice.wire.reads, alice.wire.pushes
	alice.mustClaim("task:second")
	if alice.wire.reads != reads || alice.wire.pushes != pushes+1 {
		t.Errorf("%d reads, %d pushes", alice.wire.reads-reads, alice.wire.pushes-pushes)
	}
	alice.mustClaim("path:src")
	if alice.wire.reads != reads+2 || alice.wire.pushes != pushes+2 {
		t.Errorf("for a path: %d reads, %d pushes", alice.wire.reads-reads, alice.wire.pushes-pushes-1)
	}
}
