package lease

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"sync"
	"testing"
	"time"

	"github.com/git-worklease/git-worklease/refstore"
)

// crowd are waiters for one resource, each on a machine of its own, with a wire on which each way takes a while.
type crowd struct {
	w       *world
	waiters []*actor
	mu      sync.Mutex
	// reads and pushes are the seconds of the bubble in which they began.
	reads, pushes []time.Duration
	wins          []int
	// idle is for how long the resource was free between two holders; free is since when it is.
	idle []time.Duration
	free time.Time
}

func (w *world) crowd(n int, oneWay time.Duration) *crowd {
	c := &crowd{w: w, waiters: make([]*actor, n), wins: make([]int, n)}
	for i := range c.waiters {
		a := w.waiter(fmt.Sprintf("waiter-%02d", i), func(o *Options) { o.Rand = rand.NewChaCha8([32]byte{byte(i)}) })
		a.wire.Transport = counted{latency{a.wire.Transport, oneWay}, c}
		c.waiters[i] = a
	}
	return c
}

// counted notes when each exchange begins.
type counted struct {
	latency
	c *crowd
}

func (t counted) Refs(ctx context.Context, prefixes []string) (map[string]refstore.OID, error) {
	t.c.note(&t.c.reads)
	return t.latency.Refs(ctx, prefixes)
}

func (t counted) Push(ctx context.Context, tx *refstore.Tx) (*refstore.Report, error) {
	t.c.note(&t.c.pushes)
	return t.latency.Push(ctx, tx)
}

func (c *crowd) note(list *[]time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	*list = append(*list, time.Since(bubbleEpoch))
}

// compete lets each wait for the resource, hold it for a while, do something else for as long, and wait for it again, until there were that
// many rounds.
func (c *crowd) compete(t *testing.T, r Resource, rounds int, hold time.Duration) {
	ctx, done := context.WithCancel(t.Context())
	defer done()
	var all sync.WaitGroup
	for i, a := range c.waiters {
		all.Go(func() {
			for {
				if _, err := a.Wait(ctx, waitFor(1000*time.Hour, r)); err != nil {
					if !errors.Is(err, context.Canceled) {
						t.Errorf("%d: %v", i, err)
					}
					return
				}
				if c.won(i) == rounds {
					done()
				}
				pass(hold)
				if _, err := a.Release(t.Context(), ReleaseRequest{Resources: []Resource{r}}); err != nil {
					t.Errorf("%d: %v", i, err)
				}
				c.released()
				pass(hold)
			}
		})
	}
	all.Wait()
}

func (c *crowd) won(i int) (rounds int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.wins[i]++
	if !c.free.IsZero() {
		c.idle = append(c.idle, time.Since(c.free))
	}
	for _, n := range c.wins {
		rounds += n
	}
	return rounds
}

func (c *crowd) released() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.free = time.Now()
}

// jain is Jain's index of fairness: 1 where all won equally often, 1/n where one won always.
func jain(wins []int) float64 {
	sum, squares := 0.0, 0.0
	for _, n := range wins {
		sum += float64(n)
		squares += float64(n) * float64(n)
	}
	return sum * sum / (float64(len(wins)) * squares)
}

func extremes(wins []int) (least, most int) {
	least = math.MaxInt
	for _, n := range wins {
		least, most = min(least, n), max(most, n)
	}
	return least, most
}

func mean(ds []time.Duration) time.Duration {
	var sum time.Duration
	for _, d := range ds {
		sum += d
	}
	return sum / time.Duration(max(1, len(ds)))
}

// TestWaitersAreFair: waiters look at random moments, so that each wins now and then, whether claims are held for seconds or for minutes.
func TestWaitersAreFair(t *testing.T) {
	for _, hold := range []time.Duration{5 * time.Second, time.Minute} {
		t.Run("held for "+hold.String(), func(t *testing.T) {
			const n, rounds = 12, 12 * 15
			bubble(t, func(t *testing.T, w *world) {
				c := w.crowd(n, 100*time.Millisecond)
				c.compete(t, demo, rounds, hold)
				least, most := extremes(c.wins)
				t.Logf("%d waiters, %d rounds: each won %d to %d times, Jain's index %.3f; free for %s between two holders, %.2f pushes a round",
					n, rounds, least, most, jain(c.wins), mean(c.idle).Round(time.Millisecond), float64(len(c.pushes))/rounds)
				if least == 0 || jain(c.wins) < 0.7 {
					t.Errorf("wins %v", c.wins)
				}
			})
		})
	}
}

// busiest is the most that there was within any second.
func busiest(at []time.Duration) int {
	most := 0
	for i, first := range at {
		n := 0
		for _, d := range at[i:] {
			if d-first < time.Second {
				n++
			}
		}
		most = max(most, n)
	}
	return most
}

// TestWaitersArePolite: thirty who begin at once and wait for a holder who died. Hosts want few pushes, and 15 reads a second.
func TestWaitersArePolite(t *testing.T) {
	bubble(t, func(t *testing.T, w *world) {
		const n, ttl, due = 30, 10 * time.Minute, 10*time.Minute + 30*time.Second
		if _, err := w.waiter("alice").Claim(t.Context(), ClaimRequest{Resources: []Resource{demo}, TTL: ttl}); err != nil {
			t.Fatal(err)
		}
		c := w.crowd(n, 100*time.Millisecond)
		ctx, done := context.WithCancel(t.Context())
		defer done()
		var all sync.WaitGroup
		for _, a := range c.waiters {
			a.mustStatus(demo)
			all.Go(func() {
				_, err := a.Wait(ctx, waitFor(3*time.Hour, demo))
				if err == nil {
					w.later(2*time.Second, done)
				}
			})
		}
		began := time.Since(bubbleEpoch)
		all.Wait()
		rest := c.reads
		for len(rest) > 0 && rest[0] < began+2*time.Second {
			rest = rest[1:]
		}
		rate := float64(len(rest)) / due.Seconds()
		t.Logf("%d waiters: %.2f reads a second, %d in the busiest; %d pushes for the one that won", n, rate, busiest(rest), len(c.pushes))
		if rate > 4 || busiest(rest) > 25 {
			t.Errorf("%.2f reads a second, %d in the busiest", rate, busiest(rest))
		}
		if len(c.pushes) > 12 {
			t.Errorf("%d pushes", len(c.pushes))
		}
	})
}
