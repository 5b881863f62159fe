package main

import (
	"context"
	"sync"
	"time"
)

// deadline is a context that ends some time from now, except that the time in which the user is asked something does not count.
type deadline struct {
	context.Context //nolint:containedctx // it is one

	done chan struct{}

	mu    sync.Mutex
	err   error
	left  time.Duration
	since time.Time
	timer *time.Timer
	held  int
}

// newDeadline makes a context that ends after d, or with its parent.
func newDeadline(parent context.Context, d time.Duration) (ctx *deadline, cancel func()) {
	t := &deadline{Context: parent, done: make(chan struct{}), left: d, since: time.Now()}
	t.mu.Lock() // the timer may run at once
	t.timer = time.AfterFunc(d, func() { t.end(context.DeadlineExceeded) })
	t.mu.Unlock()
	unwatch := context.AfterFunc(parent, func() { t.end(parent.Err()) })
	return t, func() {
		unwatch()
		t.end(context.Canceled)
	}
}

func (t *deadline) end(err error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.err != nil {
		return
	}
	t.err = err
	t.timer.Stop()
	close(t.done)
}

// Deadline says that there is none that could be relied on: it moves.
func (t *deadline) Deadline() (time.Time, bool) { return t.Context.Deadline() }

func (t *deadline) Done() <-chan struct{} { return t.done }

func (t *deadline) Err() error {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.err
}

// hold stops the time until resume is called. Several may hold it at once.
func (t *deadline) hold() (resume func()) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.held++; t.held == 1 && t.timer.Stop() {
		t.left -= time.Since(t.since)
	}
	return sync.OnceFunc(t.resume)
}

func (t *deadline) resume() {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.held--; t.held == 0 && t.err == nil {
		t.since = time.Now()
		t.timer.Reset(max(t.left, 0))
	}
}

// deadlines are those of the exchanges of one command that are under way.
type deadlines struct {
	mu     sync.Mutex
	active map[*deadline]bool
}

// begin makes a deadline for one exchange, d from now.
func (ds *deadlines) begin(parent context.Context, d time.Duration) (ctx context.Context, cancel context.CancelFunc) {
	limit, end := newDeadline(parent, d)
	ds.mu.Lock()
	defer ds.mu.Unlock()
	if ds.active == nil {
		ds.active = map[*deadline]bool{}
	}
	ds.active[limit] = true
	return limit, func() {
		ds.mu.Lock()
		delete(ds.active, limit)
		ds.mu.Unlock()
		end()
	}
}

// hold stops the time of all of them until resume is called.
func (ds *deadlines) hold() (resume func()) {
	ds.mu.Lock()
	defer ds.mu.Unlock()
	var all []func()
	for limit := range ds.active {
		all = append(all, limit.hold())
	}
	return func() {
		for _, resume := range all {
			resume()
		}
	}
}
