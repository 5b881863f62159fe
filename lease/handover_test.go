package lease

import (
	"errors"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/git-worklease/git-worklease/refstore"
)

func (a *actor) mustHandOver(req ReleaseRequest) ReleaseResult {
	a.w.t.Helper()
	res, err := a.Release(a.w.t.Context(), req)
	if err != nil {
		a.w.t.Fatal(err)
	}
	return res[0]
}

// TestReservedRelease: only the agent that it is for may claim, gets what was left for it, and after one ttl and the grace everybody may.
func TestReservedRelease(t *testing.T) {
	w := newWorld(t)
	alice, bob, carol := w.actor("alice"), w.actor("bob"), w.actor("carol")
	alice.mustClaim(demo)
	if _, err := alice.Checkpoint(t.Context(), CheckpointRequest{Data: []byte(`{"phase": "tests"}`)}); err != nil {
		t.Fatal(err)
	}
	w.advance(10 * time.Minute)
	res := alice.mustHandOver(ReleaseRequest{For: "bob", Note: "red in auth", Meta: map[string]string{"branch": "login"}})
	if !res.ReservedUntil.Equal(epoch.Add(70 * time.Minute)) {
		t.Errorf("until %s", res.ReservedUntil)
	}
	w.advance(60*time.Minute + 29*time.Second)
	_, err := carol.Claim(t.Context(), req(demo))
	var held *HeldError
	if !errors.As(err, &held) || !held.Reserved {
		t.Fatal(err)
	}
	if v := carol.mustStatus(demo)[0]; v.State != StandingReserved || v.Takeable {
		t.Errorf("%+v", v)
	}
	if v := bob.mustStatus(demo)[0]; !v.Takeable {
		t.Errorf("%+v", v)
	}
	claimed := bob.mustClaim(demo)
	if len(claimed.Predecessors) != 1 {
		t.Fatalf("%+v", claimed)
	}
	before := claimed.Predecessors[0]
	if before.Release.Note != "red in auth" || string(before.Checkpoint) != `{"phase":"tests"}` || before.Meta["branch"] != "login" || before.Release.Outcome != OutcomeAbandoned {
		t.Errorf("%+v, %+v", before, before.Release)
	}
	if rec := claimed.Records[0]; rec.Generation != 2 || rec.Predecessor == nil || rec.Predecessor.Why != "released" || rec.Checkpoint != nil {
		t.Errorf("%+v", rec)
	}
}

// TestReservationLapses by itself, one ttl and the grace after the release.
func TestReservationLapses(t *testing.T) {
	w := newWorld(t)
	alice, carol := w.actor("alice"), w.actor("carol")
	alice.mustClaim(demo, "port:1")
	alice.mustHandOver(ReleaseRequest{Resources: []Resource{demo}, For: "bob"})
	for range 60 {
		_, err := carol.Claim(t.Context(), req("port:1", demo))
		want(t, err, ErrHeld)
		w.advance(time.Minute)
	}
	_, err := carol.Claim(t.Context(), req("port:1", demo))
	want(t, err, ErrHeld)
	w.advance(30 * time.Second)
	if res := carol.mustClaim("port:1", demo); res.Records[0].Generation != 2 || len(res.Predecessors) != 2 {
		t.Errorf("%+v", res)
	}
}

// TestNoteForWhoeverComesNext reserves nothing.
func TestNoteForWhoeverComesNext(t *testing.T) {
	w := newWorld(t)
	alice, carol := w.actor("alice"), w.actor("carol")
	alice.mustClaim(demo)
	alice.mustHandOver(ReleaseRequest{Note: "mind the gap", Outcome: OutcomeReview})
	res := carol.mustClaim(demo)
	if rel := res.Predecessors[0].Release; rel.Note != "mind the gap" || rel.Outcome != OutcomeReview || rel.ReservedFor != "" {
		t.Errorf("%+v", rel)
	}
}

func TestHandoverLimits(t *testing.T) {
	w := newWorld(t)
	alice := w.actor("alice")
	alice.mustClaim(demo)
	for _, req := range []ReleaseRequest{
		{Note: strings.Repeat("n", MaxText+1)}, {Note: "two\nlines"}, {Note: "\x1b[31m"}, {For: strings.Repeat("a", MaxName+1)}, {For: " bob"},
		{For: "b\x00b"}, {Reason: "\xff"}, {Outcome: "finished"}, {Meta: map[string]string{"": "x"}}, {Meta: map[string]string{"a": "\n"}},
	} {
		_, err := alice.Release(t.Context(), req)
		want(t, err, ErrBadRequest)
	}
	if rec := w.tip(demo); rec.Released() {
		t.Errorf("%+v", rec)
	}
}

// TestRestamp: what is said later is added to a release that still stands, and to nothing else.
func TestRestamp(t *testing.T) {
	w := newWorld(t)
	alice, bob := w.actor("alice"), w.actor("bob")
	alice.mustClaim(demo, "port:1")
	alice.mustHandOver(ReleaseRequest{Outcome: OutcomeReview, Reason: "see the pull request", Meta: map[string]string{"branch": "login"}})
	was := w.tip(demo)
	pushes := alice.wire.pushes
	if res := alice.mustRelease(demo); !res[0].Already || res[0].Added != nil || alice.wire.pushes != pushes {
		t.Errorf("%+v", res)
	}
	w.advance(time.Hour)
	res := alice.mustHandOver(ReleaseRequest{Resources: []Resource{demo}, Meta: map[string]string{"pr_url": "https://x/1"}})
	if !res.Already || len(res.Added) != 2 || len(res.Passed) != 0 {
		t.Errorf("%+v", res)
	}
	now := w.tip(demo)
	if now.Meta["pr_url"] != "https://x/1" || now.Meta["branch"] != "login" || now.Revision != was.Revision+1 || now.Claim != was.Claim {
		t.Errorf("%+v", now)
	}
	if !reflect.DeepEqual(now.Release, was.Release) {
		t.Errorf("%+v, and before %+v", now.Release, was.Release)
	}
	bob.mustClaim("port:1")
	if res = alice.mustHandOver(ReleaseRequest{Resources: []Resource{demo}, Note: "merged"}); len(res.Added) != 1 || len(res.Passed) != 1 {
		t.Errorf("%+v", res)
	}
	if rec := w.tip("port:1"); rec.Released() || rec.Holder.Agent != "bob" {
		t.Errorf("%+v", rec)
	}
	if rec := w.tip(demo); rec.Release.Note != "merged" || rec.Release.Outcome != OutcomeReview {
		t.Errorf("%+v", rec.Release)
	}
}

// TestRestampOfTheLast: without a resource it is the claim that was released last, unless the session holds something.
func TestRestampOfTheLast(t *testing.T) {
	w := newWorld(t)
	alice := w.actor("alice")
	for _, r := range []Resource{"port:1", demo} {
		alice.mustClaim(r)
	}
	for _, r := range []Resource{demo, "port:1"} {
		w.advance(time.Minute)
		alice.mustRelease(r)
	}
	if res := alice.mustHandOver(ReleaseRequest{Meta: map[string]string{"pr_url": "x"}}); len(res.Added) != 1 || res.Added[0] != "port:1" {
		t.Errorf("%+v", res)
	}
	for _, none := range []ReleaseRequest{{}, {For: "bob"}} {
		if res, err := alice.Release(t.Context(), none); res != nil || err != nil {
			t.Errorf("%+v, %v", res, err)
		}
	}
	alice.mustClaim("task:other")
	alice.mustHandOver(ReleaseRequest{Note: "n"})
	if rec := w.tip("port:1"); rec.Release.Note != "" || w.tip("task:other").Release.Note != "n" {
		t.Errorf("%+v", rec)
	}
}

// TestRestampRaces: another claims between the look and the write.
func TestRestampRaces(t *testing.T) {
	w := newWorld(t)
	alice, bob := w.actor("alice"), w.actor("bob")
	alice.mustClaim(demo)
	alice.mustRelease(demo)
	alice.wire.push = alice.after(func() { bob.mustClaim(demo) })
	res := alice.mustHandOver(ReleaseRequest{Resources: []Resource{demo}, Note: "late"})
	if len(res.Added) != 0 || len(res.Passed) != 1 || w.tip(demo).Holder.Agent != "bob" {
		t.Errorf("%+v", res)
	}
}

// TestReservesWhatWasJustReleased: another process of the session releases first, and the reservation is made nevertheless.
func TestReservesWhatWasJustReleased(t *testing.T) {
	w := newWorld(t)
	alice := w.actor("alice")
	alice.mustClaim(demo)
	other := alice.process("alice")
	other.wire.listed = func(map[string]refstore.OID) { alice.mustRelease(demo) }
	_, err := other.Release(t.Context(), ReleaseRequest{Resources: []Resource{demo}, For: "bob"})
	if err != nil {
		t.Fatal(err)
	}
	if rel := w.tip(demo).Release; rel.ReservedFor != "bob" {
		t.Errorf("%+v", rel)
	}
}

// TestReserveLosesAgainstTakeOver: the claim was taken over while its holder handed it on.
func TestReserveLosesAgainstTakeOver(t *testing.T) {
	w := newWorld(t)
	alice, carol := w.actor("alice"), w.actor("carol")
	alice.mustClaim(demo)
	w.advance(2 * time.Hour)
	alice.wire.push = alice.after(func() { carol.mustClaim(demo) })
	_, err := alice.Release(t.Context(), ReleaseRequest{For: "bob"})
	want(t, err, ErrLost)
	if rec := w.tip(demo); rec.Released() || rec.Holder.Agent != "carol" {
		t.Errorf("%+v", rec)
	}
}

// TestForgedReservation: a reservation that nobody's ttl explains ends after a day at the latest, also where it was stamped in the future, and
// listings agree with claims about it.
func TestForgedReservation(t *testing.T) {
	for _, at := range []time.Time{epoch, epoch.AddDate(1, 0, 0)} {
		w := newWorld(t)
		bob := w.actor("bob")
		bob.mustClaim("task:other")
		meta, err := bob.local.Meta()
		if err != nil {
			t.Fatal(err)
		}
		r := foreignRecord(meta.Authority, "")
		r.Resource, r.Members = demo, []Resource{demo}
		r.State, r.Release = StateReleased, &Release{At: at, ReservedFor: "mallory", ReservedUntil: at.AddDate(5, 0, 0), Outcome: OutcomeDone}
		message, err := r.encode(testKey(9))
		if err != nil {
			t.Fatal(err)
		}
		w.put(refs{DefaultPrefix}.claim(demo), message)
		takeable := func() bool {
			views, err := bob.List(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			listed := views[0]
			if listed.Resource != demo {
				listed = views[1]
			}
			if asked := bob.mustStatus(demo)[0]; asked.Takeable != listed.Takeable {
				t.Errorf("status %+v, list %+v", asked, listed)
			}
			return listed.Takeable
		}
		if takeable() {
			t.Errorf("%s: free at once", at)
		}
		w.advance(MaxTTL + time.Minute)
		if !takeable() {
			t.Errorf("%s: kept for more than a day", at)
		}
		bob.mustClaim(demo)
	}
}

// TestSupersede: an agent takes over from its own other session as soon as that is stale, never before, and nobody else gains by asking for it.
func TestSupersede(t *testing.T) {
	w := newWorld(t)
	dead := func(o *Options) { o.Terms.Takeover = TakeoverDead }
	as := func(agent string) actorOption { return func(o *Options) { o.Holder.Agent = agent } }
	first, second, bob := w.actor("s1", dead, as("alice")), w.actor("s2", dead, as("alice")), w.actor("bob", dead)
	first.mustClaim(demo)
	supersede := ClaimRequest{Resources: []Resource{demo}, Supersede: true}
	w.advance(time.Hour + 29*time.Second)
	_, err := second.Claim(t.Context(), supersede)
	want(t, err, ErrHeld)
	w.advance(time.Second)
	_, err = bob.Claim(t.Context(), supersede)
	want(t, err, ErrHeld)
	_, err = second.Claim(t.Context(), req(demo))
	want(t, err, ErrHeld)
	res, err := second.Claim(t.Context(), supersede)
	if err != nil {
		t.Fatal(err)
	}
	if pre := res.Records[0].Predecessor; pre == nil || pre.Holder.Session != "s1" || pre.Why != string(Stale) || res.Records[0].Generation != 2 {
		t.Errorf("%+v", pre)
	}
	_, err = first.Renew(t.Context(), RenewRequest{})
	want(t, err, ErrLost)
}

func TestCheckpoint(t *testing.T) {
	w := newWorld(t)
	alice := w.actor("alice")
	_, err := alice.Checkpoint(t.Context(), CheckpointRequest{Resources: []Resource{demo}, Data: []byte("1")})
	want(t, err, ErrNotHeld)
	alice.mustClaim(demo, "port:1")
	put := func(req CheckpointRequest) {
		t.Helper()
		if _, err := alice.Checkpoint(t.Context(), req); err != nil {
			t.Fatal(err)
		}
	}
	put(CheckpointRequest{Data: []byte(" { \"a\" : [ 1, \"<&>\" ] } ")})
	for _, r := range []Resource{demo, "port:1"} {
		if got := string(w.tip(r).Checkpoint); got != `{"a":[1,"<&>"]}` || w.tip(r).Revision != 2 {
			t.Errorf("%s: %s", r, got)
		}
	}
	alice.mustClaim(demo)
	if _, err := alice.Renew(t.Context(), RenewRequest{}); err != nil {
		t.Fatal(err)
	}
	if len(w.tip(demo).Checkpoint) == 0 {
		t.Error("a renewal took it away")
	}
	put(CheckpointRequest{Data: []byte(`"` + strings.Repeat("x", MaxCheckpoint-2) + `"`)})
	for _, bad := range []string{"{", "1 2", "\"\xff\"", "nil", `"` + strings.Repeat("x", MaxCheckpoint-1) + `"`} {
		_, err := alice.Checkpoint(t.Context(), CheckpointRequest{Data: []byte(bad)})
		want(t, err, ErrBadRequest)
	}
	for _, none := range []string{"", "null"} {
		put(CheckpointRequest{Data: []byte("[]")})
		put(CheckpointRequest{Data: []byte(none)})
		if got := w.tip(demo).Checkpoint; got != nil {
			t.Errorf("%q left %s", none, got)
		}
	}
	alice.mustClaim("task:other")
	_, err = alice.Checkpoint(t.Context(), CheckpointRequest{Data: []byte("1")})
	var which *WhichClaimError
	if want(t, err, ErrWhichClaim); !errors.As(err, &which) || len(which.Resources) != 2 {
		t.Errorf("%v", err)
	}
	put(CheckpointRequest{Resources: []Resource{"task:other", demo}, Data: []byte("1")})
	if string(w.tip("task:other").Checkpoint) != "1" || string(w.tip("port:1").Checkpoint) != "1" {
		t.Error("not in all records")
	}
}
