package lease

import (
	"context"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

// jumpingClock is the clock of a synctest bubble, a year later, because bubbles begin where stamps of records may. Its wall clock and its boot clock can be put forward, each by itself.
type jumpingClock struct {
	start time.Time
	boot  string

	mu              sync.Mutex
	wallBy, sinceBy time.Duration
}

func newJumpingClock() *jumpingClock {
	return &jumpingClock{start: time.Now().Add(-77 * time.Hour), boot: "boot", wallBy: 365 * 24 * time.Hour}
}

func (c *jumpingClock) jump(wall, since time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.wallBy, c.sinceBy = c.wallBy+wall, c.sinceBy+since
}

func (c *jumpingClock) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return time.Now().Add(c.wallBy)
}

func (c *jumpingClock) Instant() Instant {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.boot == "" {
		return Instant{}
	}
	return Instant{Boot: c.boot, Since: time.Since(c.start) + c.sinceBy}
}

func (c *jumpingClock) Sleep(ctx Context, d time.Duration) error {
	return (&SystemClock{}).Sleep(ctx, d)
}

// keeperActor is an actor in a bubble, and what its keeper told.
type keeperActor struct {
	*actor
	clock  *jumpingClock
	mu     sync.Mutex
	events []KeepEvent
	end    func() error
}

func (w *world) keeper(name string, options ...actorOption) *keeperActor {
	k := &keeperActor{clock: newJumpingClock()}
	k.actor = w.actor(name, append([]actorOption{func(o *Options) { o.Clock = k.clock }}, options...)...)
	return k
}

// keep starts a keeper. end stops it and returns what Keep returned.
func (k *keeperActor) keep(claims ...ClaimID) {
	ctx, cancel := context.WithCancel(k.w.t.Context())
	done := make(chan error, 1)
	go func() { done <- k.Keep(ctx, KeepRequest{Claims: claims, Tell: k.hear}) }()
	k.end = func() error {
		cancel()
		return <-done
	}
}

func (k *keeperActor) hear(e KeepEvent) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.events = append(k.events, e)
}

// heard are the kinds of events so far, equal ones in a row once.
func (k *keeperActor) heard() []KeepKind {
	k.mu.Lock()
	defer k.mu.Unlock()
	var kinds []KeepKind
	for _, e := range k.events {
		kinds = append(kinds, e.Kind)
	}
	return slices.Compact(kinds)
}

func (k *keeperActor) last() KeepEvent {
	k.mu.Lock()
	defer k.mu.Unlock()
	if len(k.events) == 0 {
		return KeepEvent{}
	}
	return k.events[len(k.events)-1]
}

// claimFor claims with a ttl.
func (k *keeperActor) claimFor(ttl time.Duration, resources ...Resource) Hold {
	k.w.t.Helper()
	res, err := k.Claim(k.w.t.Context(), ClaimRequest{Resources: resources, TTL: ttl})
	if err != nil {
		k.w.t.Fatal(err)
	}
	return res.Hold
}

// in runs a test in a bubble.
func in(t *testing.T, test func(t *testing.T, w *world)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) { test(t, newWorld(t)) })
}

// elapse lets time pass.
func elapse(d time.Duration) {
	<-time.After(d)
	synctest.Wait()
}
