package lease

import (
	"bytes"
	"errors"
	"strings"
	"sync"
	"testing"

	"github.com/git-worklease/git-worklease/refstore"
)

// commit is what stands at a ref.
func (w *world) commit(ref string) refstore.Commit {
	w.t.Helper()
	listed, err := refstore.New(w.repo.Transport(), refstore.Options{}).List(w.t.Context(), ref)
	if err != nil || len(listed) != 1 {
		w.t.Fatalf("%s: %v, %v", ref, listed, err)
	}
	return listed[0].Commit
}

// stack writes a message on top of what stands at a ref, as somebody who minds no rules.
func (w *world) stack(ref string, message []byte) refstore.OID {
	parent := w.repo.Refs()[ref]
	oid := w.repo.Add(refstore.EncodeCommit(refstore.SHA1, parent, w.time(), message))
	w.repo.Set(ref, oid)
	return oid
}

// spoil puts a record with a wrong signature on top of a resource's.
func (w *world) spoil(r Resource) (ref string, oid refstore.OID) {
	w.t.Helper()
	ref = refs{DefaultPrefix}.claim(r)
	c := w.commit(ref)
	return ref, w.stack(ref, bytes.Replace(c.Message, []byte(`"purpose"`), []byte(`"porpoise"`), 1))
}

func (a *actor) view(ref string) View {
	a.w.t.Helper()
	views, err := a.List(a.w.t.Context())
	if err != nil {
		a.w.t.Fatal(err)
	}
	for _, v := range views {
		if v.Ref == ref {
			return v
		}
	}
	a.w.t.Fatalf("no %s in %v", ref, views)
	return View{}
}

func (a *actor) mustRepair(v View) *Repaired {
	a.w.t.Helper()
	done, err := a.RepairRecord(a.w.t.Context(), v)
	if err != nil {
		a.w.t.Fatal(err)
	}
	return done
}

func (c *memoryClone) sightings() []Sighting {
	c.mu.Lock()
	defer c.mu.Unlock()
	var all []Sighting
	for _, s := range c.seen {
		all = append(all, s)
	}
	return all
}

func TestRepairRecord(t *testing.T) {
	w := newWorld(t)
	alice, bob := w.actor("alice"), w.actor("bob")
	alice.mustClaim("task:a")
	alice.mustRelease("task:a")
	alice.mustClaim("task:a") // generation 2
	ref, oid := w.spoil("task:a")
	_, err := bob.Claim(t.Context(), req("task:a"))
	want(t, err, ErrCorrupt)

	done := bob.mustRepair(bob.view(ref))
	if done.Resource != "task:a" || done.Replaced != oid || done.Generation != 4 || done.Already {
		t.Errorf("repaired: %+v", done)
	}
	rec := w.tip("task:a")
	if !rec.Released() || rec.Prev != oid || !rec.Release.Forced || rec.Release.Reason != "repaired" || rec.Release.By.Agent != "bob" {
		t.Errorf("tombstone: %+v", rec)
	}
	if rec.Predecessor == nil || rec.Predecessor.Holder.Agent != "alice" || rec.Predecessor.Generation != 2 {
		t.Errorf("predecessor: %+v", rec.Predecessor)
	}
	if err := CheckCommit(w.commit(ref)); err != nil {
		t.Error(err)
	}
	again := bob.mustRepair(View{Ref: ref, Tip: oid, State: StandingCorrupt})
	if !again.Already || w.repo.Refs()[ref] != done.Tip {
		t.Errorf("the second repair: %+v", again)
	}

	// The holder learns it, and the next generation is above.
	_, err = alice.Renew(t.Context(), RenewRequest{})
	var lost *LostError
	if !errors.As(err, &lost) || lost.By == nil || lost.By.Agent != "bob" || lost.Words != "repaired" {
		t.Errorf("alice is told %v", err)
	}
	if got := bob.mustClaim("task:a"); got.Hold.Members[0].Generation != 5 {
		t.Errorf("generation %d", got.Hold.Members[0].Generation)
	}
}

// TestRepairBelievesNoForgery: a generation without a valid signature is nobody's word.
func TestRepairBelievesNoForgery(t *testing.T) {
	w := newWorld(t)
	alice := w.actor("alice")
	alice.mustClaim("task:a")
	ref := refs{DefaultPrefix}.claim("task:a")
	w.stack(ref, bytes.Replace(w.commit(ref).Message, []byte(`"generation":1`), []byte(`"generation":9007199254740992`), 1))
	if done := alice.mustRepair(alice.view(ref)); done.Generation != 3 { // the forged one may have stood for a second
		t.Errorf("generation %d", done.Generation)
	}
	alice.mustClaim("task:b")
}

// TestRepairIsAboveWhatWasSeen: what a clone has seen counts, also where it is not below the tip any more.
func TestRepairIsAboveWhatWasSeen(t *testing.T) {
	w := newWorld(t)
	alice, bob := w.actor("alice"), w.actor("bob")
	for range 3 {
		alice.mustClaim("task:a")
		alice.mustRelease("task:a")
	}
	bob.state("task:a")
	ref := refs{DefaultPrefix}.claim("task:a")
	w.repo.Set(ref, w.repo.Add(refstore.EncodeCommit(refstore.SHA1, "", w.time(), []byte("rubbish\n"))))
	v := bob.view(ref)
	carol := w.actor("carol") // has seen nothing
	if done := bob.mustRepair(v); done.Generation != 4 {
		t.Errorf("generation %d", done.Generation)
	}
	w.repo.Set(ref, v.Tip)
	if done := carol.mustRepair(v); done.Generation <= floorLeap {
		t.Errorf("generation %d by a clone that can't know", done.Generation)
	}
}

// TestRepairLeavesOthersAlone: newer and foreign records, sound ones, and what was not named.
func TestRepairLeavesOthersAlone(t *testing.T) {
	w := newWorld(t)
	alice, bob := w.actor("alice"), w.actor("bob")
	alice.mustClaim("task:newer")
	alice.mustClaim("task:sound")
	alice.mustClaim("task:spoilt")
	newer := refs{DefaultPrefix}.claim("task:newer")
	w.stack(newer, bytes.Replace(w.commit(newer).Message, []byte(`{"v":1`), []byte(`{"v":2`), 1))

	other := newWorld(t)
	other.actor("carol").mustClaim("task:foreign")
	foreign := refs{DefaultPrefix}.claim("task:foreign")
	c := other.commit(foreign)
	w.repo.Set(foreign, w.repo.Add(refstore.EncodeCommit(refstore.SHA1, c.Parent, c.When, c.Message)))

	ref, named := w.spoil("task:spoilt")
	_, next := w.spoil("task:spoilt")
	before := w.repo.Refs()
	for _, test := range []struct {
		view View
		err  error
	}{
		{bob.view(newer), ErrNewer},
		{bob.view(foreign), ErrWrongAuthority},
		{View{Ref: ref, Tip: named}, refstore.ErrConflict}, // that one is not there any more
		{View{Ref: DefaultPrefix + "meta", Tip: before[DefaultPrefix+"meta"]}, ErrBadRequest},
		{View{Ref: "refs/heads/main", Tip: named}, ErrBadRequest},
		{View{Ref: ref}, ErrBadRequest},
		{View{Ref: refs{DefaultPrefix}.claim("task:none"), Tip: named}, refstore.ErrConflict},
	} {
		if _, err := bob.RepairRecord(t.Context(), test.view); !errors.Is(err, test.err) {
			t.Errorf("%s: %v, want %v", test.view.Ref, err, test.err)
		}
	}
	if done := bob.mustRepair(bob.view(refs{DefaultPrefix}.claim("task:sound"))); !done.Already {
		t.Errorf("a sound record: %+v", done)
	}
	for name, oid := range w.repo.Refs() {
		if before[name] != oid {
			t.Errorf("%s was changed", name)
		}
	}
	if done := bob.mustRepair(View{Ref: ref, Tip: next}); done.Replaced != next {
		t.Errorf("repaired: %+v", done)
	}
}

// TestRepairOfALongName: a name that is a hash is told by the records below it, or not at all.
func TestRepairOfALongName(t *testing.T) {
	w := newWorld(t)
	alice := w.actor("alice")
	long := Resource("task:" + strings.Repeat("x", 300))
	alice.mustClaim(long)
	ref, _ := w.spoil(long)
	v := alice.view(ref)
	if v.Resource != "" {
		t.Fatalf("the view names %s", v.Resource)
	}
	if done := alice.mustRepair(v); done.Resource != long || done.Generation != 3 {
		t.Errorf("repaired: %+v", done)
	}
	nameless := refs{DefaultPrefix}.claim("task:" + Resource(strings.Repeat("y", 300)))
	w.stack(nameless, []byte("rubbish\n"))
	_, err := alice.RepairRecord(t.Context(), alice.view(nameless))
	want(t, err, ErrUnrepairable)
}

// TestRepairsRace: of many repairs of one record and of one authority, one is made, and all say that it is repaired.
func TestRepairsRace(t *testing.T) {
	w := newWorld(t)
	w.actor("alice").mustClaim("task:a")
	ref, _ := w.spoil("task:a")
	var group sync.WaitGroup
	tips := make([]refstore.OID, 8)
	metas := make([]refstore.OID, 8)
	made := make([]int, 8)
	repairers := make([]*actor, 8)
	for i := range repairers {
		repairers[i] = w.actor("bob")
		repairers[i].view(ref)
	}
	for i, bob := range repairers {
		group.Go(func() {
			done, err := bob.RepairRecord(t.Context(), View{Ref: ref, Tip: w.repo.Refs()[ref]})
			if err != nil {
				t.Error(err)
				return
			}
			tips[i] = done.Tip
			if !done.Already {
				made[i]++
			}
		})
	}
	group.Wait()
	w.repo.Set(DefaultPrefix+"meta", "")
	for i, bob := range repairers {
		group.Go(func() {
			done, err := bob.RepairMeta(t.Context(), bob.local.clone.sightings())
			if err != nil {
				t.Error(err)
				return
			}
			metas[i] = done.Tip
		})
	}
	group.Wait()
	total := 0
	for i := range repairers {
		total += made[i]
		if tips[i] != tips[0] || metas[i] != metas[0] {
			t.Errorf("%d: %s and %s, others %s and %s", i, tips[i], metas[i], tips[0], metas[0])
		}
	}
	if total != 1 {
		t.Errorf("%d repairs", total)
	}
	w.actor("carol").mustClaim("task:a", "task:b")
}

// TestRepairWipedAuthority: after all refs are gone and the authority was made anew, everybody's claims work again, above all generations.
func TestRepairWipedAuthority(t *testing.T) {
	w := newWorld(t)
	alice, bob := w.actor("alice"), w.actor("bob")
	for range 5 {
		alice.mustClaim("task:a")
		alice.mustRelease("task:a")
	}
	alice.mustClaim("task:b")
	bob.state("task:a")
	id, _ := alice.local.Meta()
	for name := range w.repo.Refs() {
		w.repo.Set(name, "")
	}
	_, err := bob.List(t.Context())
	want(t, err, ErrAuthorityGone)

	stranger := w.actor("carol")
	_, err = stranger.RepairMeta(t.Context(), nil)
	want(t, err, ErrUnrepairable)

	done, err := bob.RepairMeta(t.Context(), bob.local.clone.sightings())
	if err != nil || done.Generation != 5+floorLeap || !done.Replaced.IsZero() {
		t.Fatalf("%+v, %v", done, err)
	}
	if again, err := alice.RepairMeta(t.Context(), alice.local.clone.sightings()); err != nil || !again.Already || again.Tip != done.Tip {
		t.Errorf("%+v, %v", again, err)
	}
	for _, a := range []*actor{bob, stranger} {
		r := Resource("task:b")
		got := a.mustClaim(r)
		if got.Hold.Authority != id.Authority || got.Hold.Members[0].Generation <= done.Generation {
			t.Errorf("%s: %+v", a.o.Holder, got.Hold.Members)
		}
		a.mustRelease(r)
	}
	_, err = alice.Renew(t.Context(), RenewRequest{Resources: []Resource{"task:b"}})
	want(t, err, ErrLost)
	alice.mustClaim("task:a")
}

func TestRepairRolledBackMeta(t *testing.T) {
	w := newWorld(t)
	alice := w.actor("alice")
	alice.mustClaim("task:a")
	meta := DefaultPrefix + "meta"
	first := w.repo.Refs()[meta]
	w.repo.Set(meta, "")
	if _, err := alice.RepairMeta(t.Context(), alice.local.clone.sightings()); err != nil {
		t.Fatal(err)
	}
	high := alice.local.clone.meta.Floor
	w.repo.Set(meta, first) // from a back-up
	_, err := alice.List(t.Context())
	want(t, err, ErrAuthorityGone)
	done, err := alice.RepairMeta(t.Context(), alice.local.clone.sightings())
	if err != nil || done.Replaced != first || done.Generation <= high {
		t.Fatalf("%+v, %v", done, err)
	}
	alice.mustClaim("task:b")

	w.stack(meta, []byte("rubbish\n"))
	_, err = alice.List(t.Context())
	want(t, err, ErrCorrupt)
	if _, err := alice.RepairMeta(t.Context(), alice.local.clone.sightings()); err != nil {
		t.Fatal(err)
	}
	alice.mustClaim("task:c")
}

// TestRepairMetaRefuses: another authority, its claims, a later version, and numbers without room above them.
func TestRepairMetaRefuses(t *testing.T) {
	other := newWorld(t)
	other.actor("carol").mustClaim("task:a")
	meta, claim := DefaultPrefix+"meta", refs{DefaultPrefix}.claim("task:a")
	for name, test := range map[string]struct {
		spoil func(w *world, a *actor)
		err   error
	}{
		"another authority": {func(w *world, _ *actor) { w.repo.Set(meta, w.repo.Add(other.content(meta))) }, ErrWrongAuthority},
		"its claims": {func(w *world, _ *actor) {
			w.repo.Set(meta, "")
			w.repo.Set(claim, w.repo.Add(other.content(claim)))
		}, ErrWrongAuthority},
		"a later version": {func(w *world, _ *actor) {
			w.stack(meta, bytes.Replace(w.commit(meta).Message, []byte(`{"v":1`), []byte(`{"v":2`), 1))
		}, ErrNewer},
		"no room": {func(w *world, a *actor) {
			w.repo.Set(meta, "")
			_ = a.local.See(Sighting{Resource: "task:b", Generation: maxNumber})
		}, ErrUnrepairable},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			alice := w.actor("alice")
			alice.mustClaim("task:z")
			test.spoil(w, alice)
			before := w.repo.Refs()
			_, err := alice.RepairMeta(t.Context(), alice.local.clone.sightings())
			want(t, err, test.err)
			if after := w.repo.Refs(); len(after) != len(before) || after[meta] != before[meta] {
				t.Errorf("refs %v, before %v", after, before)
			}
		})
	}
}

func (w *world) content(ref string) []byte {
	w.t.Helper()
	c := w.commit(ref)
	return refstore.EncodeCommit(refstore.SHA1, c.Parent, c.When, c.Message)
}

// TestRepairLosesReply: a repair whose reply is lost is known to have landed.
func TestRepairLosesReply(t *testing.T) {
	w := newWorld(t)
	alice := w.actor("alice")
	alice.mustClaim("task:a")
	ref, _ := w.spoil("task:a")
	v := alice.view(ref)
	alice.wire.push = alice.wire.loseReply
	if done := alice.mustRepair(v); w.repo.Refs()[ref] != done.Tip {
		t.Errorf("repaired: %+v", done)
	}
	alice.wire.push = (&swallow{}).push
	w.repo.Set(DefaultPrefix+"meta", "")
	_, err := alice.RepairMeta(t.Context(), alice.local.clone.sightings())
	want(t, err, refstore.ErrUndecided)
}
