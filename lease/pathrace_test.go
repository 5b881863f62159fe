package lease

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/git-worklease/git-worklease/refstore"
)

// stage lets the exchanges of several players with the server happen one at a time, in the order of a schedule.
type stage struct {
	waiting chan int
	turns   []chan struct{}
	done    []bool
}

// gated is a transport whose exchanges wait for their turn.
type gated struct {
	refstore.Transport
	wait func()
}

func (g gated) Refs(ctx context.Context, prefixes []string) (map[string]refstore.OID, error) {
	g.wait()
	return g.Transport.Refs(ctx, prefixes)
}

func (g gated) Push(ctx context.Context, tx *refstore.Tx) (*refstore.Report, error) {
	g.wait()
	return g.Transport.Push(ctx, tx)
}

// play runs the parts of the players until all have ended. schedule[i] says who has the i-th turn; one that has ended leaves it to the next, and
// after the last the first goes on to its end, and then the next.
func play(schedule []int, players []*actor, part func(i int)) {
	s := &stage{waiting: make(chan int), turns: make([]chan struct{}, len(players)), done: make([]bool, len(players))}
	for i, p := range players {
		s.turns[i] = make(chan struct{})
		p.wire.Transport = gated{p.wire.Transport, func() {
			s.waiting <- i
			<-s.turns[i]
		}}
		go func() {
			part(i)
			s.done[i] = true
			s.waiting <- i
		}()
	}
	for range players {
		<-s.waiting
	}
	for n := 0; ; n++ {
		next := 0
		if n < len(schedule) {
			next = schedule[n]
		}
		for skipped := 0; s.done[next]; skipped++ {
			if skipped == len(players) {
				return
			}
			next = (next + 1) % len(players)
		}
		s.turns[next] <- struct{}{}
		<-s.waiting
	}
}

// schedules are all ways to give n turns to k players.
func schedules(k, n int) [][]int {
	all := [][]int{nil}
	for range n {
		var longer [][]int
		for _, s := range all {
			for i := range k {
				longer = append(longer, append(s[:len(s):len(s)], i))
			}
		}
		all = longer
	}
	return all
}

// TestOverlappingClaimsInEveryOrder: two, and three, claims of paths that overlap, with their exchanges in every order: no two are held, and of
// whatever is not held nothing is left.
func TestOverlappingClaimsInEveryOrder(t *testing.T) {
	for _, tt := range []struct {
		paths []Resource
		turns int
		// before happened when the clones last looked.
		before func(w *world)
	}{
		{[]Resource{"path:src", "path:src/a"}, 9, func(*world) {}},
		{[]Resource{"path:src/*/x", "path:src/a"}, 8, func(w *world) {
			w.actor("zoe").mustClaim("path:src/b/x")
			w.advance(2 * time.Hour)
		}},
		{[]Resource{"path:src", "path:src/a", "path:src/*"}, 6, func(*world) {}},
	} {
		t.Run(fmt.Sprint(tt.paths), func(t *testing.T) {
			held, refused, withdrawn := 0, 0, 0
			for _, schedule := range schedules(len(tt.paths), tt.turns) {
				w := newWorld(t)
				w.actor("first").mustClaim("task:first")
				tt.before(w)
				h, r, d := w.contend(t, schedule, tt.paths)
				held, refused, withdrawn = held+h, refused+r, withdrawn+d
			}
			t.Logf("%d held, %d refused, %d withdrawn", held, refused, withdrawn)
			if held == 0 || refused == 0 || withdrawn == 0 {
				t.Error("something never happened, so it was not put to the test")
			}
		})
	}
}

// contend lets one player claim each path in the order of schedule, and says how many claims were held, refused and withdrawn.
func (w *world) contend(t *testing.T, schedule []int, paths []Resource) (held, refused, withdrawn int) {
	t.Helper()
	players := make([]*actor, len(paths))
	for i := range paths {
		players[i] = w.actor(fmt.Sprintf("player%d", i))
	}
	errs := make([]error, len(paths))
	play(schedule, players, func(i int) { _, errs[i] = players[i].Claim(t.Context(), req(paths[i])) })
	for i, err := range errs {
		rec := w.tip(paths[i])
		stands := rec != nil && !rec.Released() && rec.Holder.Session == players[i].o.Holder.Session
		switch {
		case err == nil && stands:
			held++
		case errors.Is(err, ErrHeld) && !stands:
			refused++
		default:
			t.Fatalf("%v: %s: %v, stands: %t", schedule, paths[i], err, stands)
		}
		holds, err := players[i].local.Holds()
		if err != nil {
			t.Fatal(err)
		}
		for _, h := range holds {
			if h.withdrawn() {
				withdrawn++
			}
		}
	}
	if held > 1 {
		t.Fatalf("%v: %d of %v are held", schedule, held, paths)
	}
	return held, refused, withdrawn
}
