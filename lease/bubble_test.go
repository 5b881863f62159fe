package lease

import (
	"context"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/git-worklease/git-worklease/refstore"
)

// bubbleClock is the time of a synctest bubble, where waiting takes no real time. It may jump, as after a suspension.
type bubbleClock struct {
	SystemClock
	boot string
	off  atomic.Int64
}

func (c *bubbleClock) Now() time.Time { return time.Now().Add(time.Duration(c.off.Load())) }
func (c *bubbleClock) Instant() Instant {
	return Instant{Boot: c.boot, Since: c.Now().Sub(bubbleEpoch)}
}

// bubbleEpoch is when every bubble begins.
var bubbleEpoch = time.Date(2000, 1, 1, 0, 0, 0, 0, time.UTC)

// latency makes each exchange of a client take a while.
type latency struct {
	refstore.Transport
	d time.Duration
}

func (l latency) Refs(ctx context.Context, prefixes []string) (map[string]refstore.OID, error) {
	defer pass(l.d)
	return l.Transport.Refs(ctx, prefixes)
}

func (l latency) Push(ctx context.Context, tx *refstore.Tx) (*refstore.Report, error) {
	pass(l.d)
	defer pass(l.d)
	return l.Transport.Push(ctx, tx)
}

// pass lets some of the bubble's time go by.
func pass(d time.Duration) { <-time.After(d) }

// bubble runs a test in a world whose time is that of a synctest bubble.
func bubble(t *testing.T, test func(t *testing.T, w *world)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) { test(t, newWorld(t)) })
}

// waiter is an actor who lives in the bubble's time, on a machine of its own.
func (w *world) waiter(name string, options ...actorOption) *actor {
	w.t.Helper()
	clock := &bubbleClock{boot: "boot-" + name}
	return w.actor(name, append([]actorOption{func(o *Options) { o.Clock = clock }}, options...)...)
}

// later does something after a while, unless the test is over by then.
func (w *world) later(d time.Duration, do func()) {
	timer := time.AfterFunc(d, do)
	w.t.Cleanup(func() { timer.Stop() })
}

// asked is how often a client has read and written so far.
func (w *wire) asked() (reads, pushes int) {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.reads, w.pushes
}

func waitFor(d time.Duration, resources ...Resource) WaitRequest {
	return WaitRequest{Claim: req(resources...), For: d}
}
