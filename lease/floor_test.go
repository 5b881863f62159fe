package lease

import (
	"encoding/base64"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/git-worklease/git-worklease/refstore"
)

func TestMetaMembers(t *testing.T) {
	typ := reflect.TypeFor[Meta]()
	var want []string
	for i := range typ.NumField() {
		if name, _, _ := strings.Cut(typ.Field(i).Tag.Get("json"), ","); name != "" {
			want = append(want, name)
		}
	}
	if got := metaMembers(); !slices.Equal(got, want) {
		t.Errorf("metaMembers is %v, the struct has %v", got, want)
	}
}

// TestProvenFloor: what may be relied on is a floor that has stood for long enough by the worse of the two clocks, whatever was raised since.
func TestProvenFloor(t *testing.T) {
	at := func(d time.Duration) time.Time { return epoch.Add(-d) }
	for name, c := range map[string]struct {
		raises    []Raise
		corrected bool
		want      Generation
		waits     bool
	}{
		"never raised":            {nil, true, 0, false},
		"two days":                {[]Raise{{5, at(2 * day), true}}, true, 5, false},
		"a second less":           {[]Raise{{5, at(2*day - time.Second), true}}, true, 0, true},
		"raised without a Date":   {[]Raise{{5, at(6*day - time.Second), false}}, true, 0, true},
		"read without a Date":     {[]Raise{{5, at(6*day - time.Second), true}}, false, 0, true},
		"six days":                {[]Raise{{5, at(6 * day), false}}, false, 5, false},
		"the second one waits":    {[]Raise{{5, at(3 * day), true}, {9, at(day), true}}, true, 5, true},
		"both":                    {[]Raise{{5, at(9 * day), true}, {9, at(3 * day), true}}, true, 9, false},
		"of the future":           {[]Raise{{5, at(-2 * time.Hour), true}}, true, 0, false},
		"of an hour ahead":        {[]Raise{{5, at(-time.Hour), true}}, true, 0, true},
		"higher than the floor":   {[]Raise{{11, at(9 * day), true}}, true, 0, false},
		"of no time that ever is": {[]Raise{{5, time.Time{}, true}}, true, 0, false},
	} {
		m := &Meta{Floor: 10, Raises: c.raises}
		if got := m.proven(epoch, c.corrected); got != c.want {
			t.Errorf("%s: %d is proven", name, got)
		}
		if _, waits := m.waiting(epoch, c.corrected); waits != c.waits {
			t.Errorf("%s: waiting is %t", name, waits)
		}
	}
}

// TestRaiseKeeps: a raise keeps what it does not know, and the raises before it, as far as they may matter.
func TestRaiseKeeps(t *testing.T) {
	w, alice := buried(t, 1)
	name := refs{DefaultPrefix}.meta()
	content := w.metaLine()
	key := testKey(3)
	line := strings.Replace(content, `"floor":0`, `"floor":0,"region":{"x": 1}`, 1)
	line = strings.Replace(line, `"key":"`+strings.Split(strings.Split(content, `"key":"`)[1], `"`)[0], `"key":"`+base64.StdEncoding.EncodeToString(public(key)), 1)
	w.repo.Set(name, w.repo.Add(refstore.EncodeCommit(refstore.SHA1, "", epoch, seal("authority", []byte(line), key))))
	for i := range 6 {
		r := resourceN(i)
		alice.mustClaim(r)
		alice.mustRelease(r)
		w.advance(long)
		if res := alice.apply(); !res.Raised {
			t.Fatalf("%+v", res)
		}
	}
	got := w.metaLine()
	if !strings.Contains(got, `"region":{"x": 1}`) || strings.Count(got, `"at":`) != keptRaises {
		t.Error(got)
	}
}

// metaLine is the JSON at the meta ref.
func (w *world) metaLine() string {
	w.t.Helper()
	listed, err := refstore.New(w.repo.Transport(), refstore.Options{}).List(w.t.Context(), refs{DefaultPrefix}.meta())
	if err != nil || len(listed) != 1 {
		w.t.Fatal(listed, err)
	}
	_, line, _, err := open(listed[0].Commit.Message)
	if err != nil {
		w.t.Fatal(err)
	}
	return string(line)
}

// TestRaiseOfTheFuture: somebody whose clock is a year ahead raised the floor. That neither counts early nor stops everybody else for a year.
func TestRaiseOfTheFuture(t *testing.T) {
	w, alice := buried(t, 1)
	w.dated = false
	bob := w.actor("bob")
	bob.clock.off = 365 * day
	w.advance(long)
	bob.apply()
	if res := alice.apply(); !res.Raised {
		t.Errorf("%+v", res)
	}
	w.advance(6*day - time.Second)
	if res := alice.apply(); res.Deleted != 0 || res.Raised {
		t.Errorf("too early: %+v", res)
	}
	w.advance(time.Second)
	if res := alice.apply(); res.Deleted != 1 {
		t.Errorf("%+v", res)
	}
}

// TestRaiseThatSlept: the machine sleeps between the stamp of a raise and its request. The floor counts from when it woke.
func TestRaiseThatSlept(t *testing.T) {
	w, alice := buried(t, 1)
	w.advance(long)
	alice.wire.push = func(_ *refstore.Tx, send func() (*refstore.Report, error)) (*refstore.Report, error) {
		alice.wire.push = nil
		w.advance(3 * day)
		return send()
	}
	alice.apply()
	if res := alice.apply(); res.Deleted != 0 || res.Raised || w.refCount() != 1 {
		t.Errorf("%+v", res)
	}
	w.advance(2 * day)
	if res := alice.apply(); res.Deleted != 1 {
		t.Errorf("%+v", res)
	}
}

// collected is a world in which bob knows an old floor, and the tombstone that a newer one covers is gone.
func collected(t *testing.T, meanwhile func(w *world, bob *actor)) (*world, *actor) {
	t.Helper()
	w, alice := buried(t, 1)
	for range 4 {
		alice.mustClaim(demo)
		alice.mustRelease(demo)
	}
	w.advance(long)
	bob := w.actor("bob")
	bob.mustStatus("task:else")
	meanwhile(w, bob)
	alice.apply()
	w.advance(2 * day)
	if res := alice.apply(); res.Deleted != 1 {
		t.Fatalf("%+v", res)
	}
	return w, bob
}

// TestClaimIsNotSentAgainBelowTheFloor: a claim of unknown outcome that would create a ref was decided before the floor rose. Whoever settles it
// later must not send it again, because the generation may have come since.
func TestClaimIsNotSentAgainBelowTheFloor(t *testing.T) {
	var late swallow
	w, bob := collected(t, func(_ *world, bob *actor) {
		bob.wire.push = late.push
		_, err := bob.Claim(t.Context(), ClaimRequest{Resources: []Resource{"task:other"}, TTL: MaxTTL})
		want(t, err, ErrPending)
		bob.wire.push = nil
	})
	next := bob.process("bob", func(o *Options) { o.Terms.Takeover = TakeoverDead })
	if res := next.mustClaim("task:other"); res.Outcome != Claimed || res.Hold.Members[0].Generation != 6 {
		t.Errorf("%+v", res.Hold) // the old intent has expired
	}
	_ = w

	// With a lease that would be alive for days it is still open, and stays so.
	w, bob = collected(t, func(_ *world, bob *actor) {
		patient := bob.process("bob", func(o *Options) { o.Terms.Takeover = TakeoverDead })
		patient.wire.push = late.push
		_, err := patient.Claim(t.Context(), ClaimRequest{Resources: []Resource{"task:other"}, TTL: MaxTTL})
		want(t, err, ErrPending)
	})
	_, err := bob.Claim(t.Context(), req("task:other"))
	want(t, err, ErrPending)
	if rec := w.tip("task:other"); rec != nil {
		t.Errorf("it was sent again: generation %d", rec.Generation)
	}
	w.advance(3 * day)
	bob.mustClaim("task:other")
}

// TestClaimThatSlept: the machine sleeps for days between the decision to create a ref and the request. What it gets then is no generation that
// there was before.
func TestClaimThatSlept(t *testing.T) {
	w, alice := buried(t, 1)
	for range 4 {
		alice.mustClaim(demo)
		alice.mustRelease(demo)
	}
	w.advance(long)
	bob := w.actor("bob")
	bob.mustStatus("task:else")
	bob.wire.push = func(_ *refstore.Tx, send func() (*refstore.Report, error)) (*refstore.Report, error) {
		bob.wire.push = nil
		alice.apply()
		w.advance(2 * day)
		alice.apply()
		return send()
	}
	res := bob.mustClaim(demo)
	if got := res.Hold.Members[0].Generation; got <= 5 || w.tip(demo).Claim != res.Hold.Claim {
		t.Errorf("generation %d again", got)
	}
	if holds, _ := bob.local.Holds(); len(holds) != 2 || holds[0].End == nil || holds[1].End != nil {
		t.Errorf("%+v", holds)
	}
}

// TestFloorIsOldByAnyClock: a floor that was read days ago is not used because the wall clock was set back, nor after a restart.
func TestFloorIsOldByAnyClock(t *testing.T) {
	for name, change := range map[string]func(w *world, a *actor){
		"set back":  func(w *world, a *actor) { w.advance(3 * day); a.clock.off = -3*day + time.Hour },
		"restarted": func(_ *world, a *actor) { a.clock.boot = "another" },
		"old":       func(w *world, _ *actor) { w.advance(floorLife + time.Second) },
	} {
		w, alice := buried(t, 1)
		reads := alice.wire.reads
		alice.mustClaim("task:x")
		if alice.wire.reads != reads {
			t.Fatal("it read, although it had just done so")
		}
		change(w, alice)
		alice.mustClaim("task:y")
		if alice.wire.reads == reads {
			t.Errorf("%s: it did not read the floor", name)
		}
	}
}

// TestFloorAge: a day is too short. A floor that was read just before it was raised is used until a day later, by a request that arrives later
// still.
func TestFloorAge(t *testing.T) {
	day := func(m *Meta, now time.Time, corrected bool) Generation {
		return m.proven(now.Add(floorAge-floorLife), corrected)
	}
	if got := lastMoment(t, day); got != 1 {
		t.Errorf("with a day: generation %d, although the request came just in time to do harm", got)
	}
	if got := lastMoment(t, (*Meta).proven); got != 6 {
		t.Errorf("generation %d", got)
	}
}

// lastMoment is the generation that stands in the end where a clone has used an old floor for as long as it may.
func lastMoment(t *testing.T, trust func(*Meta, time.Time, bool) Generation) Generation {
	t.Helper()
	w, alice := buried(t, 1)
	for range 4 {
		alice.mustClaim(demo)
		alice.mustRelease(demo)
	}
	w.advance(long)
	bob := w.actor("bob")
	bob.mustStatus("task:else")
	alice.apply()
	w.advance(floorLife)
	var late swallow
	bob.wire.push = late.push
	_, err := bob.Claim(t.Context(), req(demo))
	if err == nil {
		t.Fatal("there was an answer")
	}
	w.advance(time.Hour)
	if _, err := alice.collect(t.Context(), CollectRequest{Apply: true}, trust); err != nil {
		t.Fatal(err)
	}
	late.land(t)
	return w.tip(demo).Generation
}

// TestRaiseOfFullMeta: no meta record is written that could not be read again.
func TestRaiseOfFullMeta(t *testing.T) {
	w := newWorld(t)
	alice, ref := w.actor("alice"), refs{DefaultPrefix}.meta()
	meta := Meta{V: 1, Kind: KindMeta, Authority: alice.mustClaim(demo).Hold.Authority, Format: 1, CreatedAt: epoch, Prev: w.repo.Refs()[ref], Key: public(testKey(1))}
	line, err := marshal(meta)
	if err != nil {
		t.Fatal(err)
	}
	room := strings.Repeat("x", maxRecord-len(line)-len(`"later":"",`))
	w.put(ref, seal("x", []byte(`{"later":"`+room+`",`+string(line[1:])), testKey(1)))
	before := w.repo.Refs()[ref]
	_, _, err = alice.raise(t.Context(), 1)
	want(t, err, ErrBadRequest)
	if w.repo.Refs()[ref] != before {
		t.Error("it was written over")
	}
	alice.mustClaim("task:another")
}
