package lease

import (
	"testing"
	"time"

	"pgregory.net/rapid"
)

func TestLivenessAt(t *testing.T) {
	const ttl, grace = time.Hour, time.Minute
	tests := []struct {
		age  time.Duration
		want Liveness
	}{
		{-time.Hour, Live}, {0, Live}, {ttl - 1, Live}, {ttl, Expired}, {ttl + grace - 1, Expired}, {ttl + grace, Stale},
		{4*ttl + grace - 1, Stale}, {4*ttl + grace, Dead},
	}
	for _, tt := range tests {
		if got := LivenessAt(tt.age, ttl, grace); got != tt.want {
			t.Errorf("%s: %s, want %s", tt.age, got, tt.want)
		}
	}
}

func TestJudge(t *testing.T) {
	at := func(d time.Duration) moment { return moment{wall: epoch.Add(d), at: Instant{Boot: "b", Since: d}} }
	lax := func(d time.Duration) stance {
		return stance{agent: "bob", grace: 30 * time.Second, takeover: TakeoverStale, expiry: ExpiryClock, moment: at(d)}
	}
	strict := func(d time.Duration, edit func(*stance)) stance { s := lax(d); edit(&s); return s }
	seenAt := func(d time.Duration) Sighting { return Sighting{First: Instant{Boot: "b", Since: d}} }
	none := func(*Record) {}
	const ttl, grace = time.Hour, 30 * time.Second
	tests := []struct {
		name     string
		edit     func(*Record)
		seen     Sighting
		stance   stance
		takeable bool
	}{
		{"live", none, Sighting{}, lax(ttl - 1), false},
		{"expired", none, Sighting{}, lax(ttl + grace - 1), false},
		{"stale", none, Sighting{}, lax(ttl + grace), true},
		{"the record's longer grace", func(r *Record) { r.GraceSeconds = 60 }, Sighting{}, lax(ttl + grace), false},
		{"the contender's longer grace", none, Sighting{}, strict(ttl+grace, func(s *stance) { s.grace = time.Minute }), false},
		{"the record wants dead", func(r *Record) { r.Takeover = TakeoverDead }, Sighting{}, lax(4*ttl + grace - 1), false},
		{"and is dead", func(r *Record) { r.Takeover = TakeoverDead }, Sighting{}, lax(4*ttl + grace), true},
		{"the contender wants dead", none, Sighting{}, strict(ttl+grace, func(s *stance) { s.takeover = TakeoverDead }), false},
		{"unknown terms are strict", func(r *Record) { r.Takeover = "council" }, Sighting{}, lax(4*ttl + grace - 1), false},
		{"unknown expiry is observed", func(r *Record) { r.Expiry = "sundial" }, Sighting{}, lax(100 * ttl), false},
		{"observed, never seen", func(r *Record) { r.Expiry = ExpiryObserved }, Sighting{}, lax(100 * ttl), false},
		{"observed for long enough", func(r *Record) { r.Expiry = ExpiryObserved }, seenAt(ttl), lax(2*ttl + grace), true},
		{"observed for too short", func(r *Record) { r.Expiry = ExpiryObserved }, seenAt(ttl + 1), lax(2*ttl + grace), false},
		{"the contender wants observed", none, Sighting{}, strict(100*ttl, func(s *stance) { s.expiry = ExpiryObserved }), false},
		{"observed in another boot", func(r *Record) { r.Expiry = ExpiryObserved }, Sighting{First: Instant{Boot: "a"}}, lax(100 * ttl), false},
		{"observed between two Dates", func(r *Record) { r.Expiry = ExpiryObserved }, Sighting{First: Instant{Boot: "a"}, FirstDate: epoch},
			strict(ttl+grace, func(s *stance) { s.moment.dated = true }), true},
		{"and too short", func(r *Record) { r.Expiry = ExpiryObserved }, Sighting{First: Instant{Boot: "a"}, FirstDate: epoch.Add(1)},
			strict(ttl+grace, func(s *stance) { s.moment.dated = true }), false},
		{"stamp in the future", func(r *Record) { r.RenewedAt = epoch.Add(100 * ttl) }, Sighting{}, lax(50 * ttl), false},
		{"stamp in the future, observed", func(r *Record) { r.RenewedAt = epoch.Add(100 * ttl) }, seenAt(0), lax(ttl + grace), true},
		{"stamp a little ahead", func(r *Record) { r.RenewedAt = epoch.Add(20 * time.Second) }, Sighting{}, lax(ttl + grace), false},
		{"unknown state", func(r *Record) { r.State = "paused" }, Sighting{}, lax(ttl), false},
		{"released", release(Release{}), Sighting{}, lax(0), true},
		{"reserved for me", release(Release{ReservedFor: "bob", ReservedUntil: epoch.Add(ttl)}), Sighting{}, lax(0), true},
		{"reserved for another", release(Release{ReservedFor: "carol", ReservedUntil: epoch.Add(ttl)}), Sighting{}, lax(ttl + grace - 1), false},
		{"once reserved", release(Release{ReservedFor: "carol", ReservedUntil: epoch.Add(ttl)}), Sighting{}, lax(ttl + grace), true},
		{"reserved for ever", release(Release{ReservedFor: "carol", ReservedUntil: epoch.Add(1000 * ttl)}), Sighting{}, lax(25 * ttl), true},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			r := sample()
			tt.edit(r)
			if v := judge(r, tt.seen, tt.stance); v.takeable != tt.takeable || v.takeable != (v.takeableIn <= 0) {
				t.Errorf("%+v", v)
			}
		})
	}
}

func release(rel Release) func(*Record) {
	return func(r *Record) {
		rel.At = epoch
		r.State, r.Release = StateReleased, &rel
	}
}

// TestJudgeMonotone: what may be taken stays so, and a stricter party never takes what a laxer one may not.
func TestJudgeMonotone(t *testing.T) {
	secs := func(lo, hi int) *rapid.Generator[time.Duration] {
		return rapid.Map(rapid.IntRange(lo, hi), func(n int) time.Duration { return time.Duration(n) * time.Second })
	}
	rapid.Check(t, func(t *rapid.T) {
		r := sample()
		r.TTLSeconds = int64(secs(10, 86400).Draw(t, "ttl") / time.Second)
		r.GraceSeconds = int64(secs(0, 3600).Draw(t, "grace") / time.Second)
		r.Takeover = rapid.SampledFrom([]Takeover{TakeoverStale, TakeoverDead, "x"}).Draw(t, "takeover")
		r.Expiry = rapid.SampledFrom([]Expiry{ExpiryClock, ExpiryObserved, "x"}).Draw(t, "expiry")
		r.RenewedAt = epoch.Add(secs(-400000, 400000).Draw(t, "renewed"))
		if rapid.Bool().Draw(t, "released") {
			release(Release{ReservedFor: "carol", ReservedUntil: epoch.Add(secs(-100000, 400000).Draw(t, "until"))})(r)
		}
		seen := Sighting{First: Instant{Boot: rapid.SampledFrom([]string{"", "b"}).Draw(t, "boot")}}
		at := func(d time.Duration) moment { return moment{wall: epoch.Add(d), at: Instant{Boot: "b", Since: d}} }
		s := stance{
			grace: secs(0, 3600).Draw(t, "my grace"), takeover: TakeoverStale, expiry: ExpiryClock,
			moment: at(secs(0, 500000).Draw(t, "now")),
		}
		now := judge(r, seen, s)
		later := s
		later.moment = at(s.moment.at.Since + secs(0, 500000).Draw(t, "later"))
		if now.takeable && !judge(r, seen, later).takeable {
			t.Fatalf("takeable, and later not: %+v, %+v", now, judge(r, seen, later))
		}
		strict := s
		strict.grace += secs(0, 3600).Draw(t, "more grace")
		strict.takeover = rapid.SampledFrom([]Takeover{TakeoverStale, TakeoverDead}).Draw(t, "my takeover")
		strict.expiry = rapid.SampledFrom([]Expiry{ExpiryClock, ExpiryObserved}).Draw(t, "my expiry")
		if v := judge(r, seen, strict); v.takeable && !now.takeable && !now.future {
			t.Fatalf("the stricter may, the laxer may not: %+v, %+v", v, now)
		}
	})
}

func TestSightingMerge(t *testing.T) {
	at := func(boot string, d time.Duration) Instant { return Instant{Boot: boot, Since: d} }
	old := Sighting{Resource: demo, Generation: 2, Revision: 3, Tip: "aa", First: at("b", 1), FirstDate: epoch}
	next := func(edit func(*Sighting)) Sighting {
		s := Sighting{Resource: demo, Generation: 2, Revision: 3, Tip: "aa", First: at("b", 9), FirstDate: epoch.Add(time.Hour)}
		edit(&s)
		return s
	}
	tests := []struct {
		name string
		next Sighting
		want Sighting
	}{
		{"the same again", next(func(*Sighting) {}), old},
		{"an older revision", next(func(s *Sighting) { s.Revision, s.Tip = 2, "bb" }), old},
		{"an older generation", next(func(s *Sighting) { s.Generation, s.Revision, s.Tip = 1, 9, "bb" }), old},
		{"a newer revision", next(func(s *Sighting) { s.Revision, s.Tip = 4, "bb" }), next(func(s *Sighting) { s.Revision, s.Tip = 4, "bb" })},
		{"a newer generation", next(func(s *Sighting) { s.Generation, s.Revision, s.Tip = 3, 1, "bb" }),
			next(func(s *Sighting) { s.Generation, s.Revision, s.Tip = 3, 1, "bb" })},
		{"after a restart", next(func(s *Sighting) { s.First = at("c", 2) }), next(func(s *Sighting) { s.First, s.FirstDate = at("c", 2), epoch })},
	}
	for _, tt := range tests {
		if got := old.Merge(tt.next); got != tt.want {
			t.Errorf("%s: %+v, want %+v", tt.name, got, tt.want)
		}
	}
	if got := (Sighting{}).Merge(old); got != old {
		t.Errorf("never seen: %+v", got)
	}
}

func TestHoldLeft(t *testing.T) {
	h := Hold{RenewedAt: epoch, TTL: time.Hour, Deadline: Instant{Boot: "b", Since: time.Hour}}
	tests := []struct {
		name string
		now  time.Time
		at   Instant
		want time.Duration
	}{
		{"both clocks agree", epoch.Add(time.Minute), Instant{Boot: "b", Since: time.Minute}, 59 * time.Minute},
		{"the wall clock was set back", epoch.Add(-time.Hour), Instant{Boot: "b", Since: time.Minute}, 59 * time.Minute},
		{"the wall clock is ahead", epoch.Add(50 * time.Minute), Instant{Boot: "b", Since: time.Minute}, 10 * time.Minute},
		{"suspended for two hours", epoch.Add(2 * time.Hour), Instant{Boot: "b", Since: 2 * time.Hour}, -time.Hour},
		{"after a restart", epoch.Add(time.Minute), Instant{Boot: "c", Since: 5 * time.Hour}, 59 * time.Minute},
	}
	for _, tt := range tests {
		if got := h.Left(tt.now, tt.at); got != tt.want {
			t.Errorf("%s: %s, want %s", tt.name, got, tt.want)
		}
	}
}

func TestSystemClock(t *testing.T) {
	var c SystemClock
	a := c.Instant()
	b := c.Instant()
	if a.Boot == "" || a.Boot != b.Boot || b.Since < a.Since || a.Since <= 0 {
		t.Errorf("%+v, %+v", a, b)
	}
	if err := c.Sleep(t.Context(), time.Microsecond); err != nil {
		t.Error(err)
	}
}
