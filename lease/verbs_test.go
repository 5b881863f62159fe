package lease

import (
	"errors"
	"testing"
	"time"
)

const demo Resource = "task:demo"

func TestClaimAndRefusal(t *testing.T) {
	w := newWorld(t)
	alice, bob := w.actor("alice"), w.actor("bob")
	got := alice.mustClaim(demo)
	if got.Outcome != Claimed || got.Records[0].Generation != 1 || got.Hold.Authority == "" {
		t.Fatalf("%+v", got)
	}
	_, err := bob.Claim(t.Context(), req(demo))
	want(t, err, ErrHeld)
	var held *HeldError
	if !errors.As(err, &held) || held.Record.Holder.Agent != "alice" || held.Liveness != Live {
		t.Fatalf("%+v", held)
	}
	if !held.Until.Equal(epoch.Add(time.Hour)) || !held.TakeableAt.Equal(epoch.Add(time.Hour+30*time.Second)) {
		t.Errorf("until %v, takeable at %v", held.Until, held.TakeableAt)
	}
	alice.mustRelease(demo)
	if got := bob.mustClaim(demo); got.Records[0].Generation != 2 || len(got.Predecessors) != 0 {
		t.Errorf("%+v", got.Records[0])
	}
	if a, b := alice.mustStatus(demo)[0], bob.mustStatus(demo)[0]; a.Mine || !b.Mine || a.State != StandingHeld {
		t.Errorf("%+v\n%+v", a, b)
	}
}

func TestClaimAgainIsARenewal(t *testing.T) {
	w := newWorld(t)
	alice := w.actor("alice")
	first := alice.mustClaim(demo, "port:1")
	w.advance(10 * time.Minute)
	res, err := alice.Claim(t.Context(), ClaimRequest{Resources: []Resource{demo}, TTL: 2 * time.Hour, Meta: map[string]string{"branch": "x"}})
	if err != nil {
		t.Fatal(err)
	}
	if res.Outcome != Renewed || res.Hold.Claim != first.Hold.Claim || !res.Since.Equal(epoch) || len(res.Records) != 2 {
		t.Errorf("%+v", res)
	}
	for _, r := range []Resource{demo, "port:1"} {
		rec := w.tip(r)
		if rec.Revision != 2 || rec.TTL() != 2*time.Hour || rec.Meta["branch"] != "x" || !rec.RenewedAt.Equal(w.time()) {
			t.Errorf("%+v", rec)
		}
	}
	if res.Hold.TTL != 2*time.Hour {
		t.Errorf("the file has a ttl of %s", res.Hold.TTL)
	}
}

func TestMixedBundle(t *testing.T) {
	w := newWorld(t)
	alice, bob := w.actor("alice"), w.actor("bob")
	alice.mustClaim(demo)
	alice.mustClaim("port:1")
	_, err := alice.Claim(t.Context(), req(demo, "port:2"))
	want(t, err, ErrMixedBundle)
	_, err = alice.Claim(t.Context(), req(demo, "port:1"))
	want(t, err, ErrMixedBundle)
	// A file that is behind the times is no reason to refuse.
	w.advance(2 * time.Hour)
	bob.mustClaim(demo)
	bob.mustRelease(demo)
	if got := alice.mustClaim(demo, "port:2"); got.Outcome != Claimed || w.tip(demo).Generation != 3 {
		t.Errorf("%+v", got)
	}
}

func TestRequestLimits(t *testing.T) {
	w := newWorld(t)
	alice := w.actor("alice")
	many := make([]Resource, 33)
	for i := range many {
		many[i] = resourceN(i)
	}
	tests := []struct {
		name string
		req  ClaimRequest
		want error
	}{
		{"none", ClaimRequest{}, ErrBadResource},
		{"33", ClaimRequest{Resources: many}, ErrBadRequest},
		{"twice", req(demo, demo), ErrBadRequest},
		{"bad", req("task:\n"), ErrBadResource},
		{"path", req("path:src/"), ErrBadResource},
		{"pool", req("pool:gpu"), ErrNoPool},
		{"slot", req("pool:gpu#1"), ErrNoPool},
		{"ttl", ClaimRequest{Resources: []Resource{demo}, TTL: 9999 * time.Hour}, ErrBadRequest},
		{"short ttl", ClaimRequest{Resources: []Resource{demo}, TTL: time.Second}, ErrBadRequest},
		{"purpose", ClaimRequest{Resources: []Resource{demo}, Purpose: "a\nb"}, ErrBadRequest},
		{"meta", ClaimRequest{Resources: []Resource{demo}, Meta: map[string]string{"": "x"}}, ErrBadRequest},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			_, err := alice.Claim(t.Context(), tt.req)
			want(t, err, tt.want)
		})
	}
	if n := len(w.repo.Refs()); n != 0 {
		t.Errorf("%d refs were made", n)
	}
	if got := alice.mustClaim(many[:32]...); len(got.Records) != 32 {
		t.Errorf("32 gave %d", len(got.Records))
	}
}

func TestOptions(t *testing.T) {
	w := newWorld(t)
	tooMuch := 2 * time.Hour
	for name, edit := range map[string]func(*Options){
		"ttl":      func(o *Options) { o.Terms.TTL = time.Second },
		"grace":    func(o *Options) { o.Terms.Grace = &tooMuch },
		"takeover": func(o *Options) { o.Terms.Takeover = "never" },
		"expiry":   func(o *Options) { o.Terms.Expiry = "x" },
		"agent":    func(o *Options) { o.Holder.Agent = "" },
		"session":  func(o *Options) { o.Holder.Session = "a\nb" },
		"prefix":   func(o *Options) { o.Prefix = "heads" },
		"store":    func(o *Options) { o.Store = nil },
	} {
		o := w.actor("alice").o
		edit(&o)
		if _, err := New(o); !errors.Is(err, ErrBadRequest) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestOneSwap: a claim of something new in a known authority, or of something seen released, costs one request.
func TestOneSwap(t *testing.T) {
	w := newWorld(t)
	alice := w.actor("alice")
	alice.mustClaim(demo)
	alice.mustRelease(demo)
	for _, r := range []Resource{"task:new", demo} {
		reads, pushes := alice.wire.reads, alice.wire.pushes
		alice.mustClaim(r)
		if alice.wire.reads != reads || alice.wire.pushes != pushes+1 {
			t.Errorf("%s: %d reads, %d pushes", r, alice.wire.reads-reads, alice.wire.pushes-pushes)
		}
	}
	if g := w.tip(demo).Generation; g != 2 {
		t.Errorf("generation %d", g)
	}
	w.advance(25 * time.Hour)
	reads := alice.wire.reads
	alice.mustClaim("task:later")
	if alice.wire.reads == reads {
		t.Error("a floor read a day ago was used")
	}
}

func TestRelease(t *testing.T) {
	w := newWorld(t)
	alice, bob := w.actor("alice"), w.actor("bob")
	_, err := alice.Release(t.Context(), ReleaseRequest{Resources: []Resource{demo}})
	want(t, err, ErrNotHeld)
	alice.mustClaim(demo, "port:1")
	res, err := alice.Release(t.Context(), ReleaseRequest{Resources: []Resource{demo}, Reason: "lunch", Outcome: OutcomeReview})
	if err != nil || len(res) != 1 || len(res[0].Hold.Members) != 2 || res[0].Already {
		t.Fatalf("%+v, %v", res, err)
	}
	for _, r := range []Resource{demo, "port:1"} {
		rec := w.tip(r)
		if !rec.Released() || rec.Release.Reason != "lunch" || rec.Release.Outcome != OutcomeReview || rec.Release.By.Agent != "alice" || rec.Revision != 2 {
			t.Errorf("%+v", rec)
		}
	}
	bob.mustClaim(demo)
	before := w.repo.Refs()
	if res := alice.mustRelease("port:1", demo); len(res) != 1 || !res[0].Already {
		t.Errorf("%+v", res)
	}
	for name, oid := range w.repo.Refs() {
		if before[name] != oid {
			t.Errorf("%s was touched", name)
		}
	}
	_, err = alice.Renew(t.Context(), RenewRequest{Resources: []Resource{demo}})
	want(t, err, ErrNotHeld)
	_, err = alice.Release(t.Context(), ReleaseRequest{Resources: []Resource{demo}, Outcome: "later"})
	want(t, err, ErrBadRequest)
}

func TestRenew(t *testing.T) {
	w := newWorld(t)
	alice, bob := w.actor("alice"), w.actor("bob")
	alice.mustClaim(demo)
	alice.mustClaim("port:1", "port:2")
	w.advance(72 * time.Minute)
	res, err := alice.Renew(t.Context(), RenewRequest{})
	if err != nil || len(res) != 2 {
		t.Fatalf("%+v, %v", res, err)
	}
	if res[0].Late != 12*time.Minute || !alice.noticed(NoticeLate) || w.tip(demo).Generation != 1 || w.tip(demo).Revision != 2 {
		t.Errorf("%+v", res[0])
	}
	w.advance(2 * time.Hour)
	bob.mustClaim("port:1")
	res, err = alice.Renew(t.Context(), RenewRequest{Resources: []Resource{"port:2"}})
	want(t, err, ErrLost)
	var lost *LostError
	if !errors.As(err, &lost) || lost.Resource != "port:1" || lost.By.Agent != "bob" || !lost.Since.Equal(w.time()) {
		t.Fatalf("%+v", lost)
	}
	if rec := w.tip("port:2"); !rec.Released() || rec.Claim != res[0].Hold.Claim {
		t.Errorf("the rest of the claim was left: %+v", rec)
	}
	_, err = alice.Renew(t.Context(), RenewRequest{Resources: []Resource{"port:1"}})
	want(t, err, ErrLost)
	if !errors.As(err, &lost) || lost.By.Agent != "bob" {
		t.Errorf("the file forgot who: %+v", lost)
	}
	_, err = alice.Release(t.Context(), ReleaseRequest{Resources: []Resource{"port:2"}})
	want(t, err, ErrLost)
}

func TestTakeOver(t *testing.T) {
	w := newWorld(t)
	alice, bob := w.actor("alice"), w.actor("bob")
	alice.mustClaim(demo)
	steps := []struct {
		after time.Duration
		live  Liveness
	}{{0, Live}, {time.Hour - 1, Live}, {time.Hour, Expired}, {time.Hour + 29*time.Second, Expired}}
	for _, s := range steps {
		w.advance(epoch.Add(s.after).Sub(w.time()))
		if v := bob.mustStatus(demo)[0]; v.Liveness != s.live || v.Takeable {
			t.Errorf("after %s: %s, takeable %t", s.after, v.Liveness, v.Takeable)
		}
		_, err := bob.Claim(t.Context(), req(demo))
		want(t, err, ErrHeld)
	}
	w.advance(time.Second)
	if v := bob.mustStatus(demo)[0]; v.Liveness != Stale || !v.Takeable {
		t.Errorf("%+v", v)
	}
	res := bob.mustClaim(demo)
	if len(res.Predecessors) != 1 || res.Predecessors[0].Holder.Agent != "alice" || res.Records[0].Predecessor.Why != "stale" {
		t.Errorf("%+v", res)
	}
	if rec := w.tip(demo); rec.Generation != 2 || rec.Revision != 1 {
		t.Errorf("%+v", rec)
	}
	_, err := alice.Verify(t.Context(), demo)
	want(t, err, ErrLost)
	_, err = alice.Claim(t.Context(), req(demo))
	want(t, err, ErrHeld)
}

func TestTakeOverOfAPart(t *testing.T) {
	w := newWorld(t)
	alice, bob := w.actor("alice"), w.actor("bob")
	alice.mustClaim("port:1", "port:2", "port:3")
	w.advance(2 * time.Hour)
	bob.mustClaim("port:2")
	res := alice.mustClaim("port:3")
	if res.Outcome != Claimed || w.tip("port:1").State != StateReleased || w.tip("port:3").Generation != 2 {
		t.Errorf("%+v; %+v", res, w.tip("port:1"))
	}
	if w.tip("port:2").Holder.Agent != "bob" {
		t.Error("bob's was touched")
	}
}

func TestVerify(t *testing.T) {
	w := newWorld(t)
	alice, bob := w.actor("alice"), w.actor("bob")
	alice.mustClaim(demo, "port:1")
	res, err := alice.Verify(t.Context())
	if err != nil || len(res) != 2 || res[0].Left != time.Hour {
		t.Fatalf("%+v, %v", res, err)
	}
	_, err = bob.Verify(t.Context(), demo)
	want(t, err, ErrNotHeld)
	w.advance(time.Hour)
	_, err = alice.Verify(t.Context(), demo)
	want(t, err, ErrExpired)
}

func TestKeyLost(t *testing.T) {
	w := newWorld(t)
	w.actor("alice").mustClaim(demo)
	again := w.actor("alice")
	_, err := again.Renew(t.Context(), RenewRequest{Resources: []Resource{demo}})
	want(t, err, ErrKeyLost)
	_, err = again.Verify(t.Context(), demo)
	want(t, err, ErrKeyLost)
	_, err = again.Claim(t.Context(), req(demo))
	want(t, err, ErrHeld)
	w.advance(2 * time.Hour)
	_, err = again.Release(t.Context(), ReleaseRequest{Resources: []Resource{demo}})
	want(t, err, ErrNotHeld)
	again.mustClaim(demo)
}

// TestSessionsOfOneClone: names and agents don't make a claim mine, the session's file does.
func TestSessionsOfOneClone(t *testing.T) {
	w := newWorld(t)
	alice := w.actor("alice")
	alice.mustClaim(demo)
	other := alice.process("other", func(o *Options) { o.Holder.Agent = "alice" })
	_, err := other.Claim(t.Context(), req(demo))
	want(t, err, ErrHeld)
	if same := alice.process("alice").mustClaim(demo); same.Outcome != Renewed {
		t.Errorf("%+v", same)
	}
}

func TestListAndHistory(t *testing.T) {
	w := newWorld(t)
	alice, bob := w.actor("alice"), w.actor("bob")
	alice.mustClaim("task:b")
	bob.mustClaim("task:a", Resource("task:"+string(make([]byte, 0))+"c"))
	for range 3 {
		w.advance(time.Minute)
		if _, err := alice.Renew(t.Context(), RenewRequest{}); err != nil {
			t.Fatal(err)
		}
	}
	alice.mustRelease("task:b")
	bob.mustClaim("task:b")
	views, err := alice.List(t.Context())
	if err != nil || len(views) != 3 || views[0].Resource != "task:a" || views[1].Record.Generation != 2 {
		t.Fatalf("%+v, %v", views, err)
	}
	entries, err := alice.History(t.Context(), "task:b", 0)
	if err != nil {
		t.Fatal(err)
	}
	var got []Event
	for _, e := range entries {
		got = append(got, e.Event)
	}
	if len(got) != 4 || got[0] != EventClaimed || got[1] != EventReleased || got[2] != EventRenewed || got[3] != EventClaimed {
		t.Fatalf("%v", got)
	}
	if r := entries[2]; r.Count != 3 || !r.First.Equal(epoch.Add(time.Minute)) || !r.At.Equal(epoch.Add(3*time.Minute)) {
		t.Errorf("%+v", r)
	}
	if entries, err := alice.History(t.Context(), "task:b", 2); err != nil || len(entries) != 2 {
		t.Errorf("%+v, %v", entries, err)
	}
	if entries, err := alice.History(t.Context(), "task:none", 2); err != nil || entries != nil {
		t.Errorf("%+v, %v", entries, err)
	}
}
