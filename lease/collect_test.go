package lease

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/git-worklease/git-worklease/refstore"
)

const (
	day  = 24 * time.Hour
	long = DefaultRetention + day
)

func (a *actor) mustCollect(req CollectRequest) *Collection {
	a.w.t.Helper()
	res, err := a.Collect(a.w.t.Context(), req)
	if err != nil {
		a.w.t.Fatal(err)
	}
	return res
}

func (a *actor) apply() *Collection {
	a.w.t.Helper()
	return a.mustCollect(CollectRequest{Apply: true})
}

// refCount is how many claims' refs the server has.
func (w *world) refCount() int {
	n := 0
	for name := range w.repo.Refs() {
		if strings.HasPrefix(name, (refs{DefaultPrefix}).claims()) {
			n++
		}
	}
	return n
}

// buried is a world with n tombstones of alice's.
func buried(t testing.TB, n int) (*world, *actor) {
	t.Helper()
	w := newWorld(t)
	w.dated = true
	alice := w.actor("alice")
	alice.mustClaim(demo)
	alice.mustRelease(demo)
	for i := 1; i < n; i += MaxMembers {
		var rs []Resource
		for j := i; j < min(n, i+MaxMembers); j++ {
			rs = append(rs, resourceN(j))
		}
		alice.mustClaim(rs...)
		alice.mustRelease(rs[0])
	}
	return w, alice
}

// TestCollectInTwoSteps: a tombstone beyond its retention goes once a floor that covers it has stood for two days, six without a Date, and the
// generation goes on above it.
func TestCollectInTwoSteps(t *testing.T) {
	for name, c := range map[string]struct {
		dated, local bool
		wait         time.Duration
	}{"dated": {true, false, 2 * day}, "undated": {false, false, 6 * day}, "one clock": {false, true, 2 * day}} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			w.dated = c.dated
			mode := func(o *Options) { o.LocalMode = c.local }
			alice, bob := w.actor("alice", mode), w.actor("bob", mode)
			alice.mustClaim(demo)
			alice.mustRelease(demo)
			if res := bob.apply(); res.Counts[FateRecent] != 1 || res.RaiseTo != 0 || res.Raised || res.Floor != 0 {
				t.Errorf("too young: %+v", res)
			}
			w.advance(long)
			pushes := bob.wire.pushes
			if res := bob.mustCollect(CollectRequest{}); res.Counts[FateWaiting] != 1 || res.RaiseTo != 1 || bob.wire.pushes != pushes {
				t.Errorf("dry run: %+v", res)
			}
			if res := bob.apply(); !res.Raised || res.Floor != 1 || res.Deleted != 0 || res.Ready.Sub(w.time()) != c.wait {
				t.Errorf("raise: %+v, ready in %s", res, res.Ready.Sub(w.time()))
			}
			w.advance(c.wait - time.Second)
			if res := bob.apply(); res.Raised || res.Deleted != 0 || res.Counts[FateWaiting] != 1 || w.refCount() != 1 {
				t.Errorf("too early: %+v", res)
			}
			w.advance(time.Second)
			if res := bob.mustCollect(CollectRequest{}); len(res.Due) != 1 || res.Due[0].Resource != demo || w.refCount() != 1 {
				t.Errorf("dry run: %+v", res)
			}
			if res := bob.apply(); res.Deleted != 1 || w.refCount() != 0 {
				t.Errorf("delete: %+v", res)
			}
			if res := bob.apply(); res.Deleted != 0 || len(res.Counts) != 0 {
				t.Errorf("again: %+v", res)
			}
			if res := alice.mustClaim(demo); res.Hold.Members[0].Generation != 2 {
				t.Errorf("%+v", res.Hold)
			}
		})
	}
}

// TestCollectTouchesTombstonesAlone: whatever is no release of long ago stays as it is.
func TestCollectTouchesTombstonesAlone(t *testing.T) {
	w, alice := buried(t, 2)
	bob := w.actor("bob")
	bob.mustClaim("task:dead")
	alice.mustClaim("task:corrupt")
	name := refs{DefaultPrefix}.claim("task:corrupt")
	w.repo.Set(name, w.repo.Add([]byte("tree "+string(refstore.SHA1.EmptyTree())+"\nauthor a <a@b> 1 +0000\ncommitter a <a@b> 1 +0000\n\nhello\n")))
	w.plantTombstone(alice, "task:reserved", 1, Release{At: w.time().Add(long), ReservedFor: "alice", ReservedUntil: w.time().Add(long + 2*time.Hour)})
	w.plantTombstone(alice, "task:absurd", maxNumber, Release{At: w.time()})
	w.advance(long)
	alice.mustClaim("task:recent")
	alice.mustRelease("task:recent")
	alice.apply()
	w.advance(2 * day)
	counts := alice.mustCollect(CollectRequest{}).Counts
	if counts[FateDue] != 2 || counts[FateClaimed] != 1 || counts[FateUnread] != 2 || counts[FateRecent] != 2 {
		t.Errorf("%v", counts)
	}
	if res := alice.apply(); res.Deleted != 2 || w.refCount() != 5 || res.Floor > 10 {
		t.Errorf("%+v, and %d refs", res, w.refCount())
	}
	// The floor lies where claims go on.
	alice.mustClaim("task:new")
	bob.mustClaim(demo)
}

// TestCollectHonoursReservations: a reservation holds for the collector as well, whoever it is for.
func TestCollectHonoursReservations(t *testing.T) {
	w, alice := buried(t, 1)
	w.advance(long)
	alice.apply()
	w.plantTombstone(alice, "task:kept", 1, Release{At: w.time(), ReservedFor: "alice", ReservedUntil: w.time().Add(day)})
	w.advance(day)
	if counts := alice.mustCollect(CollectRequest{Retention: day}).Counts; counts[FateReserved] != 1 {
		t.Errorf("%v", counts)
	}
}

// plantTombstone puts a release of somebody's at a ref.
func (w *world) plantTombstone(a *actor, r Resource, generation Generation, rel Release) {
	w.t.Helper()
	meta, err := a.local.Meta()
	if err != nil {
		w.t.Fatal(err)
	}
	rec := foreignRecord(meta.Authority, "")
	rel.Outcome = OutcomeDone
	rec.Resource, rec.Members, rec.Generation, rec.State, rec.Release = r, []Resource{r}, generation, StateReleased, &rel
	message, err := rec.encode(testKey(9))
	if err != nil {
		w.t.Fatal(err)
	}
	w.repo.Set(refs{DefaultPrefix}.claim(r), w.repo.Add(refstore.EncodeCommit(refstore.SHA1, "", rel.At, message)))
}

// TestCollectLeavesWhatChanges: a claim comes between the look and the delete.
func TestCollectLeavesWhatChanges(t *testing.T) {
	w, alice := buried(t, 5)
	w.advance(long)
	alice.apply()
	w.advance(2 * day)
	bob := w.actor("bob")
	alice.wire.push = func(_ *refstore.Tx, send func() (*refstore.Report, error)) (*refstore.Report, error) {
		alice.wire.push = nil
		bob.mustClaim(demo)
		return send()
	}
	if res := alice.apply(); res.Deleted != 4 || len(res.Due) != 5 || w.refCount() != 1 || w.tip(demo).Holder.Agent != "bob" {
		t.Errorf("%+v", res)
	}
	if _, err := bob.Verify(t.Context(), demo); err != nil {
		t.Error(err)
	}
}

// TestCollectBesideACollector: of two calls at once neither fails, and what one was about to delete when the other did it is gone all the same.
func TestCollectBesideACollector(t *testing.T) {
	w, alice := buried(t, 250)
	w.advance(long)
	alice.apply()
	w.advance(2 * day)
	bob := w.actor("bob")
	other := 0
	alice.wire.push = func(_ *refstore.Tx, send func() (*refstore.Report, error)) (*refstore.Report, error) {
		alice.wire.push = nil
		other = bob.mustCollect(CollectRequest{Apply: true, Limit: 130}).Deleted
		return send()
	}
	if res := alice.apply(); other != 130 || res.Deleted != 220 || w.refCount() != 0 {
		t.Errorf("one deleted %d, the other %d, and %d are left", other, res.Deleted, w.refCount())
	}
}

// TestCollectWithoutAtomic: one by one where the server can't do more, whether it says so or not.
func TestCollectWithoutAtomic(t *testing.T) {
	for _, known := range []bool{true, false} {
		w, alice := buried(t, 40)
		w.advance(long)
		alice.apply()
		w.advance(2 * day)
		w.repo.NotAtomic = known
		pushes := 0
		alice.wire.push = func(tx *refstore.Tx, send func() (*refstore.Report, error)) (*refstore.Report, error) {
			if len(tx.Updates) > 1 {
				return nil, &refstore.UnsupportedError{Feature: refstore.FeatureAtomic}
			}
			pushes++
			return send()
		}
		if res := alice.apply(); res.Deleted != 40 || pushes != 40 {
			t.Errorf("%d deleted by %d pushes", res.Deleted, pushes)
		}
	}
}

// TestCollectIsBounded: not more than the limit in one call, a hundred in one push, and it says how far it is.
func TestCollectIsBounded(t *testing.T) {
	w, alice := buried(t, 250)
	w.advance(long)
	alice.apply()
	w.advance(2 * day)
	var told []string
	progress := func(deleted, of int) { told = append(told, fmt.Sprint(deleted, "/", of)) }
	pushes := alice.wire.pushes
	res := alice.mustCollect(CollectRequest{Apply: true, Limit: 220, Progress: progress})
	if res.Deleted != 220 || res.Counts[FateDue] != 250 || alice.wire.pushes-pushes != 3 || !slices.Equal(told, []string{"100/220", "200/220", "220/220"}) {
		t.Errorf("%d deleted by %d pushes, %v", res.Deleted, alice.wire.pushes-pushes, told)
	}
}

// TestCollectKilled: wherever it is killed, the next call goes on.
func TestCollectKilled(t *testing.T) {
	for n := 1; ; n++ {
		w, alice := buried(t, 110)
		w.advance(long)
		apply := func(a *actor) { _, _ = a.Collect(t.Context(), CollectRequest{Apply: true}) }
		died := alice.killed(n, apply)
		alice.apply()
		w.advance(2 * day)
		died = alice.killed(n, apply) || died
		alice.apply()
		if w.refCount() != 0 {
			t.Fatalf("step %d: %d refs are left", n, w.refCount())
		}
		if !died {
			return
		}
	}
}

// TestCollectLosesReplies: a raise and a delete whose replies are lost are done.
func TestCollectLosesReplies(t *testing.T) {
	w, alice := buried(t, 3)
	w.advance(long)
	alice.wire.push = alice.wire.loseReply
	if res := alice.apply(); !res.Raised {
		t.Errorf("%+v", res)
	}
	w.advance(2 * day)
	if res := alice.apply(); res.Deleted != 3 || w.refCount() != 0 {
		t.Errorf("%+v", res)
	}
}

// TestCollectRefused: the server's refusal ends the call, which says how far it came.
func TestCollectRefused(t *testing.T) {
	w, alice := buried(t, 3)
	w.advance(long)
	alice.apply()
	w.advance(2 * day)
	alice.wire.push = func(tx *refstore.Tx, _ func() (*refstore.Report, error)) (*refstore.Report, error) {
		report := &refstore.Report{Unpack: "ok", Refused: map[string]string{}}
		for _, u := range tx.Updates {
			report.Refused[u.Ref] = "deletion prohibited"
		}
		return report, nil
	}
	res, err := alice.Collect(t.Context(), CollectRequest{Apply: true})
	want(t, err, refstore.ErrRefused)
	if res.Deleted != 0 || len(res.Due) != 3 || w.refCount() != 3 {
		t.Errorf("%+v", res)
	}
}

func TestCollectChecksItsRequest(t *testing.T) {
	w, alice := buried(t, 1)
	for _, req := range []CollectRequest{{Retention: MinRetention - 1}, {Retention: -1}, {Limit: -1}} {
		if _, err := alice.Collect(t.Context(), req); !errors.Is(err, ErrBadRequest) {
			t.Errorf("%+v: %v", req, err)
		}
	}
	if res, err := newWorld(t).actor("bob").Collect(t.Context(), CollectRequest{Apply: true}); err != nil || len(res.Counts) != 0 {
		t.Errorf("no authority: %+v, %v", res, err)
	}
	w.repo.Set(refs{DefaultPrefix}.meta(), "")
	_, err := alice.Collect(t.Context(), CollectRequest{Apply: true})
	want(t, err, ErrAuthorityGone)
}
