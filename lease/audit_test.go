package lease

import (
	"testing"
	"time"

	"github.com/git-worklease/git-worklease/refstore"
)

func TestSurvey(t *testing.T) {
	w := newWorld(t)
	alice, bob := w.actor("alice"), w.actor("bob")
	s, err := alice.Survey(t.Context(), nil)
	if err != nil || s.Authority != "" || len(s.Views) != 0 {
		t.Fatalf("%+v, %v", s, err)
	}
	for _, r := range []Resource{"task:back", "task:gone", "task:fine"} {
		alice.mustClaim(r)
	}
	old := w.repo.Refs()[refs{DefaultPrefix}.claim("task:back")]
	if _, err := alice.Renew(t.Context(), RenewRequest{}); err != nil {
		t.Fatal(err)
	}
	bob.mustStatus("task:back", "task:gone", "task:fine", "task:never")
	w.repo.Set(refs{DefaultPrefix}.claim("task:back"), old)
	w.repo.Set(refs{DefaultPrefix}.claim("task:gone"), "")
	s, err = bob.Survey(t.Context(), bob.local.clone.sightings())
	if err != nil {
		t.Fatal(err)
	}
	if len(s.Views) != 2 || s.Views[0].State != StandingRolledBack || s.Views[1].State != StandingHeld {
		t.Errorf("views: %+v", s.Views)
	}
	if len(s.Gone) != 1 || s.Gone[0].Resource != "task:gone" {
		t.Errorf("gone: %+v", s.Gone)
	}
	views, err := bob.List(t.Context())
	if err != nil || views[0].State != StandingHeld {
		t.Errorf("a plain listing compares what is not its own: %+v, %v", views, err)
	}
}

func TestAudit(t *testing.T) {
	w := newWorld(t)
	alice, bob := w.actor("alice"), w.actor("bob")
	alice.mustClaim("task:a")
	w.advance(10 * time.Minute)
	if _, err := alice.Renew(t.Context(), RenewRequest{}); err != nil {
		t.Fatal(err)
	}
	w.advance(2 * time.Hour)
	bob.mustClaim("task:a") // in order: it was stale
	bob.mustRelease("task:a")
	alice.mustClaim("task:a")
	ref := refs{DefaultPrefix}.claim("task:a")
	flaws, n, err := alice.Audit(t.Context(), alice.view(ref))
	if err != nil || n != 5 || len(flaws) != 0 {
		t.Fatalf("%d records, %+v, %v", n, flaws, err)
	}
	if flaws, n, err := alice.Audit(t.Context(), View{Ref: ref}); err != nil || n != 0 || flaws != nil {
		t.Errorf("no tip: %d, %+v, %v", n, flaws, err)
	}
	w.spoil("task:a")
	alice.mustRepair(alice.view(ref))
	bob.mustClaim("task:a")
	flaws, n, err = bob.Audit(t.Context(), bob.view(ref))
	if err != nil || n != 8 || len(flaws) != 2 || flaws[0].Kind != FlawUnreadable || flaws[1].Kind != FlawForced {
		t.Fatalf("%d records, %+v, %v", n, flaws, err)
	}
	if flaws[0].Before == nil || flaws[0].Before.Holder.Agent != "alice" {
		t.Errorf("below the unreadable one: %+v", flaws[0].Before)
	}
	if got := bob.audit([]refstore.Commit{w.commit(ref)}, ref, ""); len(got) == 0 || got[0].Kind != FlawCut {
		t.Errorf("a chain that is cut off: %+v", got)
	}
}

func TestJudgeStep(t *testing.T) {
	base := func(change func(r *Record)) *Record {
		r := &Record{
			Claim: "c1", Holder: Holder{Agent: "alice", Session: "s"}, Generation: 3, Revision: 2, TTLSeconds: 3600, GraceSeconds: 30,
			Takeover: TakeoverStale, Expiry: ExpiryClock, ClaimedAt: epoch, RenewedAt: epoch, State: StateActive,
		}
		change(r)
		return r
	}
	release := func(at time.Duration, forced bool) func(*Record) {
		return func(r *Record) {
			r.State, r.Release, r.Claim, r.Holder.Agent = StateReleased, &Release{At: epoch.Add(at), Forced: forced}, "c2", "bob"
			r.Revision = 3
		}
	}
	taken := func(agent string, g Generation, at time.Duration) func(*Record) {
		return func(r *Record) {
			r.Claim, r.Holder.Agent, r.Generation, r.Revision, r.ClaimedAt, r.RenewedAt = "c2", agent, g, 1, epoch.Add(at), epoch.Add(at)
		}
	}
	plain := func(*Record) {}
	for name, test := range map[string]struct {
		was, now func(*Record)
		want     FlawKind
	}{
		"renewed":                    {plain, func(r *Record) { r.Revision = 3 }, ""},
		"the same revision":          {plain, plain, FlawBackwards},
		"another generation":         {plain, func(r *Record) { r.Generation, r.Revision = 4, 3 }, FlawBackwards},
		"an earlier generation":      {plain, taken("bob", 2, 9*time.Hour), FlawBackwards},
		"an equal generation":        {plain, taken("bob", 3, 9*time.Hour), FlawBackwards},
		"taken over":                 {plain, taken("bob", 4, 61*time.Minute), ""},
		"taken over by a slow clock": {plain, taken("bob", 4, time.Hour+10*time.Second), ""},
		"taken too early":            {plain, taken("bob", 4, 59*time.Minute), FlawEarly},
		"not dead yet":               {func(r *Record) { r.Takeover = TakeoverDead }, taken("bob", 4, 2*time.Hour), FlawEarly},
		"superseded":                 {func(r *Record) { r.Takeover = TakeoverDead }, taken("alice", 4, 2*time.Hour), ""},
		"written after its release":  {func(r *Record) { r.State, r.Release = StateReleased, &Release{At: epoch} }, func(r *Record) { r.Revision = 3 }, FlawRevived},
		"forced":                     {plain, release(time.Minute, true), FlawForced},
		"ended by another, late":     {plain, release(2*time.Hour, false), ""},
		"ended by another, early":    {plain, release(time.Minute, false), FlawEarly},
	} {
		if got := judgeStep(base(test.was), base(test.now)); got != test.want {
			t.Errorf("%s: %q, want %q", name, got, test.want)
		}
	}
}
