package lease

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/git-worklease/git-worklease/refstore"
)

// racer gives an actor the real clock, so that pauses are pauses.
func racer(o *Options) { o.Clock = &SystemClock{} }

// TestOneWinner: of many clones that claim at once exactly one gets it, whether the resource is new, released or stale.
func TestOneWinner(t *testing.T) {
	for name, before := range map[string]func(w *world){
		"new":      func(*world) {},
		"released": func(w *world) { a := w.actor("zoe"); a.mustClaim(demo); a.mustRelease(demo) },
		"stale":    func(w *world) { w.actor("zoe").mustClaim(demo); w.advance(2 * time.Hour) },
	} {
		t.Run(name, func(t *testing.T) {
			for range 4 {
				w := newWorld(t)
				before(w)
				var won atomic.Int32
				var group sync.WaitGroup
				for i := range 20 {
					a := w.actor(fmt.Sprintf("racer%d", i))
					group.Go(func() {
						_, err := a.Claim(t.Context(), req(demo))
						switch {
						case err == nil:
							won.Add(1)
						case !errors.Is(err, ErrHeld):
							t.Error(err)
						}
					})
				}
				group.Wait()
				if won.Load() != 1 {
					t.Fatalf("%d won", won.Load())
				}
			}
		})
	}
}

// TestCriticalSections: bundles that overlap, taken and given back by many sessions of several clones over a wire that loses replies. No two
// hold one resource at once, and generations grow by one each time.
func TestCriticalSections(t *testing.T) {
	w := newWorld(t)
	w.actor("first").mustClaim("task:setup")
	resources := []Resource{"port:0", "port:1", "port:2", "port:3"}
	inside := map[Resource]*atomic.Int32{}
	last := map[Resource]*atomic.Uint64{}
	for _, r := range resources {
		inside[r], last[r] = &atomic.Int32{}, &atomic.Uint64{}
	}
	var group sync.WaitGroup
	for c := range 3 {
		clone := w.actor(fmt.Sprintf("clone%d", c))
		for s := range 3 {
			a := clone.process(fmt.Sprintf("s%d.%d", c, s), racer)
			a.wire.push = lossy(a.wire)
			group.Go(func() {
				random := rand.New(rand.NewPCG(uint64(c), uint64(s)))
				for range 15 {
					n := 1 + random.IntN(2)
					i := random.IntN(len(resources) - n + 1)
					a.section(t, resources[i:i+n], inside, last)
				}
			})
		}
	}
	group.Wait()
	for _, r := range resources {
		if last[r].Load() == 0 {
			t.Errorf("nobody ever had %s", r)
		}
	}
}

// lossy loses every third reply.
func lossy(w *wire) func(*refstore.Tx, func() (*refstore.Report, error)) (*refstore.Report, error) {
	n := 0
	return func(tx *refstore.Tx, send func() (*refstore.Report, error)) (*refstore.Report, error) {
		if n++; n%3 == 0 {
			return w.loseReply(tx, send)
		}
		return send()
	}
}

func (a *actor) section(t *testing.T, rs []Resource, inside map[Resource]*atomic.Int32, last map[Resource]*atomic.Uint64) {
	res, err := a.Claim(t.Context(), req(rs...))
	if errors.Is(err, ErrHeld) {
		return
	}
	if err != nil {
		t.Error(err)
		return
	}
	for i, r := range rs {
		if inside[r].Add(1) != 1 {
			t.Errorf("two hold %s", r)
		}
		if g := uint64(res.Records[i].Generation); last[r].Swap(g) >= g {
			t.Errorf("%s: generation %d again", r, g)
		}
	}
	if _, err := a.Renew(t.Context(), RenewRequest{}); err != nil {
		t.Error(err)
	}
	for _, r := range rs {
		inside[r].Add(-1)
	}
	if _, err := a.Release(t.Context(), ReleaseRequest{Resources: rs[:1]}); err != nil {
		t.Error(err)
	}
}

// TestOneSessionManyProcesses: processes of one session claim, renew and read at once; they help and never hurt each other.
func TestOneSessionManyProcesses(t *testing.T) {
	w := newWorld(t)
	alice := w.actor("alice")
	alice.mustClaim("task:setup")
	var claimed atomic.Int32
	var group sync.WaitGroup
	for range 8 {
		p := alice.process("alice", racer)
		group.Go(func() {
			for range 5 {
				res, err := p.Claim(t.Context(), req(demo, "port:1"))
				if err != nil {
					t.Error(err)
					return
				}
				if res.Outcome == Claimed {
					claimed.Add(1)
				}
				if _, err := p.Renew(t.Context(), RenewRequest{Resources: []Resource{demo}}); err != nil {
					t.Error(err)
				}
				if v, err := p.Status(t.Context(), demo); err != nil || !v[0].Mine {
					t.Errorf("%+v, %v", v, err)
				}
			}
		})
	}
	group.Wait()
	if claimed.Load() != 1 || w.tip(demo).Generation != 1 {
		t.Errorf("claimed %d times, generation %d", claimed.Load(), w.tip(demo).Generation)
	}
}
