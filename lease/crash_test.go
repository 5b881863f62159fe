package lease

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/git-worklease/git-worklease/refstore"
)

// death is what a process that is killed panics with.
type death struct{}

// fate kills a process at its n-th step, or does something else to it.
type fate struct {
	n, at int
	// instead is done instead of killing it.
	instead func()
	// single: the server is known not to take several refs at once.
	single bool
}

func (f *fate) step() {
	if f.n++; f.n != f.at {
		return
	}
	if f.instead == nil {
		panic(death{})
	}
	f.instead()
}

// mortal is local state of a process that may be killed before and after each of its calls.
type mortal struct {
	Local
	fate *fate
}

func (m mortal) SaveHold(h Hold) error {
	m.fate.step()
	defer m.fate.step()
	return m.Local.SaveHold(h)
}

func (m mortal) Begin(i *Intent) error {
	m.fate.step()
	defer m.fate.step()
	return m.Local.Begin(i)
}

func (m mortal) End(i *Intent) error {
	m.fate.step()
	defer m.fate.step()
	return m.Local.End(i)
}

func (m mortal) See(s ...Sighting) error {
	m.fate.step()
	defer m.fate.step()
	return m.Local.See(s...)
}

func (m mortal) SeeMeta(s MetaSighting) error {
	m.fate.step()
	defer m.fate.step()
	return m.Local.SeeMeta(s)
}

func (f *fate) push(tx *refstore.Tx, send func() (*refstore.Report, error)) (*refstore.Report, error) {
	if f.single && len(tx.Updates) > 1 {
		return nil, &refstore.UnsupportedError{Feature: refstore.FeatureAtomic}
	}
	f.step()
	defer f.step()
	return send()
}

// killed runs verb in a process that dies at its n-th step, and says whether it got that far.
func (a *actor) killed(n int, verb func(*actor)) (died bool) {
	f := &fate{at: n, single: a.single}
	return a.killedBy(f, f.push, verb)
}

// killedSending runs verb in a process that dies before or after its first push that the server grants.
func (a *actor) killedSending(after bool, verb func(*actor)) (died bool) {
	return a.killedBy(&fate{}, func(_ *refstore.Tx, send func() (*refstore.Report, error)) (*refstore.Report, error) {
		if !after {
			panic(death{})
		}
		report, err := send()
		if err == nil && report.OK() {
			panic(death{})
		}
		return report, err
	}, verb)
}

func (a *actor) killedBy(f *fate, push func(*refstore.Tx, func() (*refstore.Report, error)) (*refstore.Report, error), verb func(*actor)) (died bool) {
	p := &actor{w: a.w, clock: a.clock, local: a.local.Process(a.local.session)}
	p.connect(mortal{p.local, f}, a.local.session)
	p.wire.push = push
	defer func() {
		if r := recover(); r != nil {
			if _, ok := r.(death); !ok {
				panic(r)
			}
			died = true
			p.local.Die()
		}
	}()
	verb(p)
	return false
}

// crashes are the verbs that are killed at every step.
func crashes() map[string]struct {
	before func(w *world, alice, bob *actor)
	verb   func(*actor)
} {
	bundle := []Resource{"port:1", "port:2"}
	return map[string]struct {
		before func(w *world, alice, bob *actor)
		verb   func(*actor)
	}{
		"first claim": {func(*world, *actor, *actor) {}, claimAll(bundle)},
		"claim":       {func(_ *world, alice, _ *actor) { alice.mustClaim("task:before") }, claimAll(bundle)},
		"claim what was released": {func(_ *world, alice, _ *actor) {
			alice.mustClaim(bundle...)
			alice.mustRelease(bundle...)
		}, claimAll(bundle)},
		"take-over": {func(w *world, _, bob *actor) {
			bob.mustClaim("port:1")
			w.advance(2 * time.Hour)
		}, claimAll(bundle)},
		"renew": {func(w *world, alice, _ *actor) {
			alice.mustClaim(bundle...)
			w.advance(time.Minute)
		}, func(a *actor) { _, _ = a.Renew(a.w.t.Context(), RenewRequest{}) }},
		"release": {func(_ *world, alice, _ *actor) { alice.mustClaim(bundle...) },
			func(a *actor) { _, _ = a.Release(a.w.t.Context(), ReleaseRequest{Resources: bundle}) }},
		"release for another": {func(_ *world, alice, _ *actor) { alice.mustClaim(bundle...) },
			func(a *actor) { _, _ = a.Release(a.w.t.Context(), ReleaseRequest{For: "bob", Note: "yours"}) }},
		"add to a release": {func(_ *world, alice, _ *actor) {
			alice.mustClaim(bundle...)
			alice.mustRelease(bundle...)
		}, func(a *actor) {
			_, _ = a.Release(a.w.t.Context(), ReleaseRequest{Resources: bundle, Meta: map[string]string{"a": "b"}})
		}},
		"checkpoint": {func(_ *world, alice, _ *actor) { alice.mustClaim(bundle...) },
			func(a *actor) { _, _ = a.Checkpoint(a.w.t.Context(), CheckpointRequest{Data: []byte("{}")}) }},
		"loss": {func(w *world, alice, bob *actor) {
			alice.mustClaim(bundle...)
			w.advance(2 * time.Hour)
			bob.mustClaim("port:2")
		}, claimAll(bundle)},
		"half applied": {func(w *world, alice, bob *actor) {
			bob.mustClaim("port:2")
			alice.mustClaim("task:before")
			w.repo.NotAtomic = true
		}, claimAll(bundle)},
		"release one by one": {func(_ *world, alice, _ *actor) {
			alice.mustClaim(bundle...)
			alice.single = true
		}, func(a *actor) { _, _ = a.Release(a.w.t.Context(), ReleaseRequest{Resources: bundle}) }},
	}
}

func claimAll(bundle []Resource) func(*actor) {
	return func(a *actor) { _, _ = a.Claim(a.w.t.Context(), req(bundle...)) }
}

// TestKilledAtEveryStep: wherever a process is killed, nothing is held by a key that is lost, and the session's next claim is granted or
// refused. It is run with and without a rival that acts before the session does.
func TestKilledAtEveryStep(t *testing.T) {
	for name, c := range crashes() {
		for _, rival := range []string{"none", "at once", "after expiry"} {
			t.Run(name+", rival "+rival, func(t *testing.T) {
				steps := 0
				for n := 1; ; n++ {
					w := newWorld(t)
					alice, bob := w.actor("alice"), w.actor("bob")
					c.before(w, alice, bob)
					if !alice.killed(n, c.verb) {
						break
					}
					steps++
					w.afterCrash(fmt.Sprintf("step %d", n), alice, bob, rival)
				}
				if steps < 8 {
					t.Errorf("only %d steps", steps)
				}
			})
		}
	}
}

func (w *world) afterCrash(at string, alice, bob *actor, rival string) {
	w.t.Helper()
	w.owned(at+", crashed", alice, bob)
	w.repo.NotAtomic = false
	if rival == "after expiry" {
		w.advance(3 * time.Hour)
	}
	if rival != "none" {
		if _, err := bob.Claim(w.t.Context(), req("port:2")); err != nil && !errors.Is(err, ErrHeld) {
			w.t.Fatalf("%s: the rival got %v", at, err)
		}
	}
	next := alice.process("alice")
	for _, v := range next.mustStatus("port:1", "port:2") {
		if v.Problem != nil && !errors.Is(v.Problem, ErrPending) {
			w.t.Fatalf("%s: status %s, %v", at, v.State, v.Problem)
		}
	}
	res, err := next.Claim(w.t.Context(), req("port:1", "port:2"))
	if err != nil && !errors.Is(err, ErrHeld) {
		w.t.Fatalf("%s: the next claim got %v", at, err)
	}
	w.owned(at+", claimed again", alice, bob)
	if left, busy, _ := next.local.Pending(); len(left)+len(busy) > 0 {
		w.t.Fatalf("%s: %d intents are left, %d busy", at, len(left), len(busy))
	}
	if err != nil {
		return
	}
	if _, err := next.Verify(w.t.Context(), "port:1", "port:2"); err != nil {
		w.t.Fatalf("%s: %s, and then %v", at, res.Outcome, err)
	}
	next.mustRelease("port:1")
	bob.mustClaim("port:1", "port:2")
}

// owned checks that the key of every active claim is in some file or intent.
func (w *world) owned(at string, actors ...*actor) {
	w.t.Helper()
	w.ownedOf(at, []Resource{"port:1", "port:2"}, actors...)
}

func (w *world) ownedOf(at string, resources []Resource, actors ...*actor) {
	w.t.Helper()
	keys := map[ClaimID]bool{}
	for _, a := range actors {
		for _, holds := range a.local.clone.holds {
			for _, h := range holds {
				keys[h.Claim] = keys[h.Claim] || h.End == nil
			}
		}
		for _, i := range a.local.clone.intents {
			keys[i.Hold.Claim] = true
		}
	}
	for _, r := range resources {
		if rec := w.tip(r); rec != nil && !rec.Released() && !keys[rec.Claim] {
			w.t.Fatalf("%s: nobody has the key of %s, generation %d of %s", at, r, rec.Generation, rec.Holder)
		}
	}
}
