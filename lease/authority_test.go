package lease

import (
	"errors"
	"sync"
	"testing"
	"time"

	"github.com/git-worklease/git-worklease/refstore"
)

func TestAuthorityIsCreatedOnce(t *testing.T) {
	for _, unknown := range []bool{false, true} {
		w := newWorld(t)
		actors := make([]*actor, 12)
		for i := range actors {
			actors[i] = w.actor("a" + string(rune('a'+i)))
			actors[i].wire.unknown = unknown
		}
		ids := make([]string, len(actors))
		var group sync.WaitGroup
		for i, a := range actors {
			group.Go(func() {
				res, err := a.Claim(t.Context(), req(resourceN(i)))
				if err != nil {
					t.Error(err)
					return
				}
				ids[i] = res.Hold.Authority
			})
		}
		group.Wait()
		for _, id := range ids {
			if id == "" || id != ids[0] {
				t.Fatalf("several authorities: %v", ids)
			}
		}
	}
}

// TestAuthorityRaceLost: another creates the authority while our creation is under way, with the claim or on its own.
func TestAuthorityRaceLost(t *testing.T) {
	for _, unknown := range []bool{false, true} {
		w := newWorld(t)
		alice, bob := w.actor("alice"), w.actor("bob")
		alice.wire.unknown = unknown
		var theirs string
		alice.wire.push = func(_ *refstore.Tx, send func() (*refstore.Report, error)) (*refstore.Report, error) {
			alice.wire.push = nil
			theirs = bob.mustClaim("task:other").Hold.Authority
			return send()
		}
		if res := alice.mustClaim(demo); res.Hold.Authority != theirs || w.tip(demo).Authority != theirs {
			t.Errorf("unknown %t: %s beside %s", unknown, res.Hold.Authority, theirs)
		}
	}
}

func TestAuthorityIsNotCreated(t *testing.T) {
	w := newWorld(t)
	_, err := w.actor("alice", func(o *Options) { o.MayCreate = false }).Claim(t.Context(), req(demo))
	want(t, err, ErrNoAuthority)
	named := func(o *Options) { o.AuthorityID = "abc" }
	_, err = w.actor("alice", named).Claim(t.Context(), req(demo))
	want(t, err, ErrWrongAuthority)
	if len(w.repo.Refs()) != 0 {
		t.Errorf("%v", w.repo.Refs())
	}
	bob := w.actor("bob")
	if views, err := bob.List(t.Context()); err != nil || len(views) != 0 {
		t.Errorf("%v, %v", views, err)
	}
	if bob.state(demo) != StandingFree {
		t.Error("not free")
	}
	bob.mustClaim(demo)
	_, err = w.actor("alice", named).Status(t.Context(), demo)
	var wrong *WrongAuthorityError
	if !errors.As(err, &wrong) || wrong.Want != "abc" || wrong.Got == "" {
		t.Errorf("%v", err)
	}
}

func TestBoundToAnother(t *testing.T) {
	w := newWorld(t)
	alice := w.actor("alice")
	alice.mustClaim(demo)
	other := alice.process("alice", func(o *Options) { o.AuthorityID = "abc" })
	_, err := other.Renew(t.Context(), RenewRequest{})
	want(t, err, ErrWrongAuthority)
	// The same clone against a repository that was set up anew.
	w.repo.Set(DefaultPrefix+"meta", "")
	for name := range w.repo.Refs() {
		w.repo.Set(name, "")
	}
	w.actor("bob").mustClaim("task:other")
	_, err = alice.Status(t.Context(), demo)
	want(t, err, ErrWrongAuthority)
}

// TestMirrored: another clone's `push --mirror` deletes refs.
func TestMirrored(t *testing.T) {
	w := newWorld(t)
	alice, bob := w.actor("alice"), w.actor("bob")
	alice.mustClaim(demo)
	alice.mustClaim("port:1")
	bob.mustStatus(demo)
	w.repo.Set(refs{DefaultPrefix}.claim(demo), "")
	_, err := bob.Claim(t.Context(), req(demo))
	want(t, err, ErrRolledBack)
	if s := bob.state(demo); s != StandingRolledBack {
		t.Errorf("state %s", s)
	}
	_, err = alice.Renew(t.Context(), RenewRequest{Resources: []Resource{demo}})
	want(t, err, ErrLost)
	if res := alice.mustClaim(demo); res.Records[0].Generation != 2 {
		t.Errorf("generation %d", res.Records[0].Generation)
	}
	w.repo.Set(DefaultPrefix+"meta", "")
	w.repo.Set(refs{DefaultPrefix}.claim("port:1"), "")
	for name, call := range map[string]func() error{
		"renew": func() error {
			_, err := alice.Renew(t.Context(), RenewRequest{Resources: []Resource{"port:1"}})
			return err
		},
		"status": func() error { _, err := alice.Status(t.Context(), "port:1"); return err },
		"list":   func() error { _, err := alice.List(t.Context()); return err },
		"verify": func() error { _, err := alice.Verify(t.Context()); return err },
		"a newcomer": func() error {
			_, err := w.actor("carol").Claim(t.Context(), req(demo))
			return err
		},
	} {
		if err := call(); !errors.Is(err, ErrAuthorityGone) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// setFloor raises or lowers the generation floor.
func (w *world) setFloor(authority string, floor Generation) {
	w.t.Helper()
	key := testKey(3)
	ref := DefaultPrefix + "meta"
	m := Meta{V: 1, Kind: KindMeta, Authority: authority, Format: 1, Floor: floor, CreatedAt: epoch, Key: public(key), Prev: w.repo.Refs()[ref]}
	line, err := marshal(m)
	if err != nil {
		w.t.Fatal(err)
	}
	w.put(ref, seal("authority", line, key))
}

func TestFloor(t *testing.T) {
	w := newWorld(t)
	alice, bob := w.actor("alice"), w.actor("bob")
	authority := alice.mustClaim(demo).Hold.Authority
	alice.mustRelease(demo)
	w.setFloor(authority, 100)
	bob.mustStatus(demo)
	// Collected: the ref is gone, and the floor explains it.
	w.repo.Set(refs{DefaultPrefix}.claim(demo), "")
	if res := bob.mustClaim(demo); res.Records[0].Generation != 101 {
		t.Errorf("generation %d", res.Records[0].Generation)
	}
	if res := bob.mustClaim("task:new"); res.Records[0].Generation != 101 {
		t.Errorf("generation %d", res.Records[0].Generation)
	}
	w.setFloor(authority, 99)
	_, err := bob.Status(t.Context(), demo)
	want(t, err, ErrAuthorityGone)
}

func TestCollectedBehindOurBack(t *testing.T) {
	w := newWorld(t)
	alice := w.actor("alice")
	alice.mustClaim(demo)
	alice.mustRelease(demo)
	w.repo.Set(refs{DefaultPrefix}.claim(demo), "")
	if res := alice.mustClaim(demo); res.Records[0].Generation != 2 {
		t.Errorf("generation %d", res.Records[0].Generation)
	}
}

// TestSkew: two machines whose clocks are far apart, and a server that tells its Date.
func TestSkew(t *testing.T) {
	for _, off := range []time.Duration{-10 * time.Minute, 10 * time.Minute, -40 * time.Hour, 40 * time.Hour} {
		w := newWorld(t)
		w.dated = true
		free := func(o *Options) { o.Terms.Grace = nil }
		alice, bob := w.actor("alice", free), w.actor("bob", free)
		alice.clock.off = off
		alice.mustClaim("task:first")
		fresh := alice.process("alice", free)
		res := fresh.mustClaim(demo) // blind: the first request of this process is the swap
		if !fresh.noticed(NoticeClock) {
			t.Errorf("%s: the clock was not named", off)
		}
		if rec := w.tip(demo); !rec.RenewedAt.Equal(w.time()) || rec.Grace() != DatedGrace || rec.Revision != 2 || res.Hold.Revision != 2 {
			t.Errorf("%s: %+v", off, rec)
		}
		w.advance(time.Hour)
		_, err := bob.Claim(t.Context(), req(demo))
		want(t, err, ErrHeld)
		if res, err := fresh.Verify(t.Context(), demo); !errors.Is(err, ErrExpired) {
			t.Errorf("%s: %+v, %v", off, res, err)
		}
		w.advance(30 * time.Second)
		bob.mustClaim(demo)
	}
}

// TestStampWithinGrace: a clock that is off by less than the default tolerance, and by more than the grace allows. Its stamp must not let anybody take the
// claim while its holder still counts on it.
func TestStampWithinGrace(t *testing.T) {
	short := func(o *Options) { *o.Terms.Grace = 6 * time.Second }
	for off, revision := range map[time.Duration]uint64{-12 * time.Second: 2, 12 * time.Second: 2, -4 * time.Second: 2, -3 * time.Second: 1} {
		w := newWorld(t)
		w.dated = true
		alice, bob := w.actor("alice", short), w.actor("bob", short)
		alice.clock.off = off
		alice.mustClaim("task:first")
		res := alice.process("alice", short).mustClaim(demo)
		if rec := w.tip(demo); rec.Revision != revision || res.Hold.Revision != revision {
			t.Errorf("%s: revision %d, and %d in the file", off, rec.Revision, res.Hold.Revision)
		}
		w.advance(time.Hour - time.Second)
		_, err := bob.Claim(t.Context(), req(demo))
		want(t, err, ErrHeld)
	}
	if got := tolerated(0); got != dateTolerance {
		t.Errorf("without a grace %s, less than a Date can tell", got)
	}
}

// TestDateVanishes: a proxy begins to hide the Date, so the short grace was promised in vain.
func TestDateVanishes(t *testing.T) {
	w := newWorld(t)
	w.dated = true
	free := func(o *Options) { o.Terms.Grace = nil }
	alice := w.actor("alice", free)
	alice.mustClaim("task:first")
	w.dated = false
	alice.process("alice", free).mustClaim(demo)
	if rec := w.tip(demo); rec.Grace() != UndatedGrace {
		t.Errorf("grace %s", rec.Grace())
	}
}

func TestGraceDefaults(t *testing.T) {
	w := newWorld(t)
	free := func(o *Options) { o.Terms.Grace = nil }
	w.actor("alice", free).mustClaim(demo)
	if g := w.tip(demo).Grace(); g != UndatedGrace {
		t.Errorf("without a Date: %s", g)
	}
	w.actor("bob", free, func(o *Options) { o.LocalMode = true }).mustClaim("task:local")
	if g := w.tip("task:local").Grace(); g != DatedGrace {
		t.Errorf("local: %s", g)
	}
}

func TestObservedExpiry(t *testing.T) {
	w := newWorld(t)
	observed := func(o *Options) { o.Terms.Expiry = ExpiryObserved }
	alice, bob := w.actor("alice", observed), w.actor("bob")
	alice.mustClaim(demo)
	w.advance(100 * time.Hour)
	_, err := bob.Claim(t.Context(), req(demo)) // first seen now
	want(t, err, ErrHeld)
	w.advance(time.Hour + 29*time.Second)
	_, err = bob.Claim(t.Context(), req(demo))
	want(t, err, ErrHeld)
	if v, err := bob.List(t.Context()); err != nil || !v[0].Observed || v[0].Takeable {
		t.Errorf("%+v, %v", v, err)
	}
	bob.clock.boot = "another" // restarted: the count begins anew
	w.advance(time.Second)
	_, err = bob.Claim(t.Context(), req(demo))
	want(t, err, ErrHeld)
	w.advance(time.Hour + 30*time.Second)
	bob.mustClaim(demo)
}

func TestNotAtomicServer(t *testing.T) {
	w := newWorld(t)
	w.repo.NotAtomic = true
	alice, bob := w.actor("alice"), w.actor("bob")
	bob.mustClaim("port:2")
	alice.mustClaim("port:9")
	_, err := alice.Claim(t.Context(), req("port:1", "port:2", "port:3"))
	want(t, err, ErrNotAtomic)
	for _, r := range []Resource{"port:1", "port:3"} {
		if rec := w.tip(r); rec != nil && !rec.Released() {
			t.Errorf("%s was kept: %+v", r, rec)
		}
	}
	if w.tip("port:2").Holder.Agent != "bob" {
		t.Error("bob's was touched")
	}
	if left, busy, _ := alice.local.Pending(); len(left) != 0 || len(busy) != 0 {
		t.Errorf("%d intents are left, %d busy", len(left), len(busy))
	}
}

var _ refstore.Transport = (*wire)(nil)
