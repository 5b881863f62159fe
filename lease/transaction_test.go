package lease

import (
	"bytes"
	"crypto/ed25519"
	"errors"
	"testing"
	"time"

	"github.com/git-worklease/git-worklease/refstore"
)

// TestTransitionPassesAllVerbs lets every verb work against a repository that refuses what breaks the rules. None of them is refused, and each kind of step
// is taken.
func TestTransitionPassesAllVerbs(t *testing.T) {
	w := newWorld(t)
	w.dated = true
	g := w.guard()
	alice, bob := w.actor("alice"), w.actor("bob")

	alice.mustClaim(demo, "task:a")
	want(t, alice.renew(), nil)
	if _, err := alice.Move(t.Context(), MoveRequest{Resources: []Resource{demo}, To: "alice-2"}); err != nil {
		t.Fatal(err)
	}
	bob.brought(w.holdOf(alice.process("alice-2")), "p1")
	want(t, bob.renew(), nil)
	bob.mustHandOver(ReleaseRequest{Resources: []Resource{demo}, For: "carol"})
	bob.mustHandOver(ReleaseRequest{Resources: []Resource{demo}, Note: "look at the log"})
	carol := w.actor("carol")
	carol.mustClaim(demo, "task:a")
	w.advance(90 * time.Minute)
	bob.mustClaim(demo, "task:a") // taken over

	carol.mustClaim("path:src/a", "path:src/b")
	w.advance(90 * time.Minute)
	bob.mustClaim("path:src")
	dave := w.actor("dave")
	dave.swapped("path:docs")
	w.advance(time.Second)
	if _, err := dave.process("dave").Renew(t.Context(), RenewRequest{}); err != nil {
		t.Fatal(err)
	}

	g.force = true
	alice.mustForce("path:src")
	g.force = false
	alice.mustClaim("path:src/a")
	alice.mustRelease("path:src/a")
	ref, _ := w.spoil("path:src/a")
	bob.mustRepair(bob.view(ref))
	alice.mustClaim("path:src/a")
	alice.mustRelease("path:src/a")

	w.advance(long)
	alice.apply()
	w.advance(3 * day)
	if res := alice.apply(); res.Deleted == 0 {
		t.Errorf("%+v", res)
	}
	alice.mustClaim("path:src/a")

	for _, err := range g.refused {
		t.Error(err)
	}
	for _, step := range []string{"meta", "create", "renew", "move", "bring", "release", "restamp", "claim", "take over", "overlapped", "force", "repair", "delete"} {
		if g.passed[step] == 0 {
			t.Errorf("no step of the kind %q: %v", step, g.passed)
		}
	}
}

// TestTransitionRefusesForce: without being listed, nobody ends the claim of another, and the claimant is told why in the server's words.
func TestTransitionRefusesForce(t *testing.T) {
	w := newWorld(t)
	w.guard()
	alice, bob := w.actor("alice"), w.actor("bob")
	alice.mustClaim(demo)
	_, err := bob.Force(t.Context(), ForceRequest{Resources: []Resource{demo}, Reason: "mine"})
	var refused *refstore.RefusedError
	if !errors.As(err, &refused) || refused.Words != "task:demo: alice/alice has it, and you are not listed as one who may release by force" {
		t.Errorf("%v", err)
	}
	want(t, alice.verify(), nil)
}

// TestTransactionForgeries: what is no record, or not signed, or at the wrong ref, or of a later version, is refused by itself.
func TestTransactionForgeries(t *testing.T) {
	w := newWorld(t)
	alice := w.actor("alice")
	alice.mustClaim(demo)
	ref, other := refs{DefaultPrefix}.claim(demo), refs{DefaultPrefix}.claim("task:other")
	next := w.tip(demo)
	next = next.renewed(w.repo.Refs()[ref], 2, w.time())
	key := w.holdOf(alice).Key
	_, mallory, err := ed25519.GenerateKey(nil)
	if err != nil {
		t.Fatal(err)
	}
	line := func() []byte {
		_, line, _, err := open(mustEncode(t, next, key))
		if err != nil {
			t.Fatal(err)
		}
		return line
	}
	for name, c := range map[string]struct {
		ref     string
		message []byte
		want    error
	}{
		"no record":       {ref, []byte("hello\n"), ErrCorrupt},
		"wrong signature": {ref, seal("renew", line(), mallory), ErrCorrupt},
		"wrong place":     {other, mustEncode(t, next, key), ErrCorrupt},
		"later version":   {ref, seal("renew", []byte(`{"v":2}`), key), ErrNewer},
		"ttl of two days": {ref, seal("renew", bytes.Replace(line(), []byte(`"ttl_seconds":3600`), []byte(`"ttl_seconds":172800`), 1), key), ErrCorrupt},
		"as it should be": {ref, mustEncode(t, next, key), nil},
	} {
		t.Run(name, func(t *testing.T) {
			parent := w.repo.Refs()[ref]
			oid := w.repo.Add(refstore.EncodeCommit(refstore.SHA1, parent, w.time(), c.message))
			now := refstore.Ref{Name: c.ref, Commit: refstore.Commit{OID: oid, Parent: parent, Message: c.message}}
			old := map[string]refstore.Ref{}
			for name := range w.repo.Refs() {
				old[name] = refstore.Ref{Name: name, Commit: w.commit(name)}
			}
			tx := transactionOf(old, map[string]refstore.Ref{c.ref: now})
			if err := Refusal(tx.Judge(w.time())); !errors.Is(err, c.want) {
				t.Errorf("%v, want %v", err, c.want)
			}
		})
	}
}

func mustEncode(t *testing.T, r *Record, key ed25519.PrivateKey) []byte {
	t.Helper()
	message, err := r.encode(key)
	if err != nil {
		t.Fatal(err)
	}
	return message
}

// TestClaimWithAWrongClockIsStampedAgain: where the server refuses a stamp and its reply shows that it was off, the claim is made anew by the server's clock.
func TestClaimWithAWrongClockIsStampedAgain(t *testing.T) {
	w := newWorld(t)
	w.dated = true
	g := w.guard()
	alice := w.actor("alice")
	alice.clock.off = -10 * time.Minute
	alice.mustClaim(demo)
	late := alice.process("alice") // which knows the authority, and not yet the server's clock
	late.mustClaim("task:other")
	if at := w.tip("task:other").RenewedAt; at.Sub(w.time()).Abs() > time.Second || len(g.refused) == 0 {
		t.Errorf("stamped %s, and %d refusals", at, len(g.refused))
	}
}
