package lease

import (
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/git-worklease/git-worklease/refstore"
)

// TestShorterRenewalLandsLate: a renewal that shortens the claim gets no answer, is given up, and lands afterwards. The session must not
// think that it has longer than the record at the ref says.
func TestShorterRenewalLandsLate(t *testing.T) {
	w := newWorld(t)
	alice, bob := w.actor("alice"), w.actor("bob")
	if _, err := alice.Claim(t.Context(), ClaimRequest{Resources: []Resource{demo}, TTL: MaxTTL}); err != nil {
		t.Fatal(err)
	}
	var late *refstore.Tx
	alice.wire.push = func(tx *refstore.Tx, _ func() (*refstore.Report, error)) (*refstore.Report, error) {
		late = tx
		return nil, errBroken()
	}
	_, err := alice.Claim(t.Context(), ClaimRequest{Resources: []Resource{demo}, TTL: MinTTL})
	want(t, err, ErrPending)
	alice.wire.push = nil
	if _, err := alice.Verify(t.Context(), demo); err != nil {
		t.Fatal(err)
	}
	if report, err := w.repo.Transport().Push(t.Context(), late); err != nil || !report.OK() {
		t.Fatal(report, err)
	}
	w.advance(MinTTL + 31*time.Second)
	bob.mustClaim(demo)
	holds, err := alice.local.Holds()
	if err != nil {
		t.Fatal(err)
	}
	if left := holds[0].Left(alice.clock.Now(), alice.clock.Instant()); left > 0 {
		t.Errorf("bob has it, and alice thinks that it is hers for %s", left)
	}
}

// TestReleaseSeenByRenewal: a renewal begins before another process of the session releases the claim, and then reads the tombstone. The
// claim was released all the same.
func TestReleaseSeenByRenewal(t *testing.T) {
	w := newWorld(t)
	alice := w.actor("alice")
	alice.mustClaim(demo)
	other := alice.process("alice")
	other.wire.listed = func(shown map[string]refstore.OID) {
		alice.mustRelease(demo)
		name := refs{DefaultPrefix}.claim(demo)
		shown[name] = w.repo.Refs()[name]
	}
	_, err := other.Renew(t.Context(), RenewRequest{})
	want(t, err, ErrLost)
	if res := alice.mustRelease(demo); !res[0].Already {
		t.Errorf("%+v", res)
	}
}

// TestReservationOfTheFuture: a reservation whose stamps are absurd ends like any other.
func TestReservationOfTheFuture(t *testing.T) {
	r := sample()
	r.State = StateReleased
	for _, at := range []time.Time{epoch.AddDate(20, 0, 0), epoch.AddDate(6000, 0, 0)} {
		r.Release = &Release{At: at, ReservedFor: "carol", ReservedUntil: at.Add(time.Hour), Outcome: OutcomeDone}
		m := moment{wall: epoch, at: Instant{Boot: "b", Since: MaxTTL}}
		seen := Sighting{First: m.at}
		if v := judge(r, seen, stance{agent: "bob", moment: m}); v.takeable {
			t.Errorf("%s: free at once", at)
		}
		m.at = m.at.after(MaxTTL + MaxGrace)
		if v := judge(r, seen, stance{agent: "bob", moment: m}); !v.takeable {
			t.Errorf("%s: reserved for %s more after a day", at, v.takeableIn)
		}
	}
}

// TestListOfARolledBackServer: what was seen of a later record says nothing of an earlier one's age.
func TestListOfARolledBackServer(t *testing.T) {
	w := newWorld(t)
	observed := func(o *Options) { o.Terms.Expiry = ExpiryObserved }
	alice, bob := w.actor("alice", observed), w.actor("bob", observed)
	alice.mustClaim(demo)
	name := refs{DefaultPrefix}.claim(demo)
	old := w.repo.Refs()[name]
	if _, err := alice.Renew(t.Context(), RenewRequest{}); err != nil {
		t.Fatal(err)
	}
	bob.mustStatus(demo)
	w.advance(2 * time.Hour)
	w.repo.Set(name, old)
	views, err := bob.List(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if views[0].Takeable {
		t.Errorf("%+v", views[0])
	}
}

// TestHistoryOverAnUnreadableCommit: somebody pushed over a claim what is no record at all, and the claim was repaired on top of that.
func TestHistoryOverAnUnreadableCommit(t *testing.T) {
	w := newWorld(t)
	alice := w.actor("alice")
	alice.mustClaim(demo)
	name := refs{DefaultPrefix}.claim(demo)
	tree := refstore.SHA1.Hash("tree", []byte("x"))
	bad := w.repo.Add([]byte("tree " + string(tree) + "\nauthor a <a@b> 1 +0000\ncommitter a <a@b> 1 +0000\n\nhello\n"))
	w.repo.Set(name, bad)
	bob := w.actor("bob")
	bob.mustStatus(demo)
	meta, err := bob.local.Meta()
	if err != nil {
		t.Fatal(err)
	}
	r := foreignRecord(meta.Authority, bad)
	message, err := r.encode(testKey(9))
	if err != nil {
		t.Fatal(err)
	}
	w.put(name, message)
	entries, err := w.actor("carol").History(t.Context(), demo, 0)
	if err != nil || len(entries) != 2 || entries[0].Record == nil || entries[1].Event != EventUnread || entries[1].OID != bad {
		t.Errorf("%+v, %v", entries, err)
	}
}

// TestHistoryOfAnAbsurdDate: a commit's date is anybody's, and must not be one that can't be printed.
func TestHistoryOfAnAbsurdDate(t *testing.T) {
	w := newWorld(t)
	w.actor("alice").mustClaim("task:other")
	for _, seconds := range []string{"9223372036854775807", "253402300800", "-9223372036854775808"} {
		content := "tree " + string(refstore.SHA1.EmptyTree()) + "\nauthor a <a@b> 1 +0000\ncommitter a <a@b> " + seconds + " +0000\n\nhello\n"
		w.repo.Set(refs{DefaultPrefix}.claim(demo), w.repo.Add([]byte(content)))
		entries, err := w.actor("bob").History(t.Context(), demo, 0)
		if err != nil || len(entries) != 1 || entries[0].Event != EventUnread {
			t.Fatalf("%s: %+v, %v", seconds, entries, err)
		}
		if _, err := json.Marshal(entries[0].At); err != nil {
			t.Errorf("%s: %v", seconds, err)
		}
	}
}

// TestMembersWithinTheLimits: the other resources of a claim keep to the limits, too.
func TestMembersWithinTheLimits(t *testing.T) {
	for _, member := range []Resource{"", "task:\x1b[31m", " task:a", Resource(strings.Repeat("a", MaxResource+1))} {
		r := foreignRecord("aa", "")
		if _, err := r.encode(testKey(9)); err != nil {
			t.Fatal(err)
		}
		r.Members = append(r.Members, member)
		slices.Sort(r.Members)
		if err := r.check(); !errors.Is(err, errMembers) {
			t.Errorf("%q", member)
		}
	}
}

// TestSlowReply: the reply takes longer than the claim lasts. By then it proves nothing, and another may have taken over.
func TestSlowReply(t *testing.T) {
	for _, rival := range []bool{false, true} {
		w := newWorld(t)
		alice, bob := w.actor("alice"), w.actor("bob")
		slow := func(_ *refstore.Tx, send func() (*refstore.Report, error)) (*refstore.Report, error) {
			alice.wire.push = nil
			report, err := send()
			w.advance(2 * time.Hour)
			if rival {
				bob.mustClaim(demo)
			}
			return report, err
		}
		alice.wire.push = slow
		res, err := alice.Claim(t.Context(), req(demo))
		if rival {
			want(t, err, ErrHeld)
			continue
		}
		if err != nil || res.Hold.Left(alice.clock.Now(), alice.clock.Instant()) <= 0 || res.Records[0].Revision != 2 {
			t.Errorf("%+v, %v", res, err)
		}
		w.advance(2 * time.Hour)
		alice.wire.push = slow
		renewed, err := alice.Renew(t.Context(), RenewRequest{})
		if err != nil || renewed[0].Hold.Left(alice.clock.Now(), alice.clock.Instant()) <= 0 {
			t.Errorf("%+v, %v", renewed, err)
		}
	}
}
