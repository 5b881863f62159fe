package proof

import (
	"context"
	"fmt"
	"math/rand/v2"
	"time"

	"github.com/git-worklease/git-worklease/lease"
)

// start is the true time at which a run begins.
var start = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

// turns lets one task run at a time, until it waits for something, and then chooses by its random numbers who is next. Time is what the tasks
// wait for, and passes only when all of them do. So the same numbers give the same run.
type turns struct {
	random *rand.Rand
	passed time.Duration
	tasks  []*task
	// yielded is told by a task that it waits, or is done.
	yielded chan struct{}
	failed  any
}

// task is what takes turns.
type task struct {
	turns  *turns
	wake   time.Duration
	resume chan struct{}
	done   bool
}

func newTurns(seed uint64) *turns {
	return &turns{random: rand.New(rand.NewPCG(seed, 1)), yielded: make(chan struct{})}
}

func (t *turns) now() time.Time { return start.Add(t.passed) }

// begin adds a task.
func (t *turns) begin(wait time.Duration, do func(*task)) {
	k := &task{turns: t, wake: t.passed + wait, resume: make(chan struct{})}
	t.tasks = append(t.tasks, k)
	go func() {
		<-k.resume
		defer func() {
			if r := recover(); r != nil {
				t.failed = r
			}
			k.done = true
			t.yielded <- struct{}{}
		}()
		do(k)
	}()
}

// wait lets others run for at least d.
func (k *task) wait(d time.Duration) {
	k.wake = k.turns.passed + d
	k.turns.yielded <- struct{}{}
	<-k.resume
}

// run lets the tasks run until all are done. It panics with what a task has panicked with.
func (t *turns) run() {
	watchdog := time.NewTimer(time.Minute)
	defer watchdog.Stop()
	for {
		k := t.next()
		if k == nil {
			return
		}
		watchdog.Reset(time.Minute)
		k.resume <- struct{}{}
		select {
		case <-t.yielded:
		case <-watchdog.C:
			panic("a task waits for another outside of its turns")
		}
		if t.failed != nil {
			panic(fmt.Sprint(t.failed))
		}
	}
}

// next is a task whose time has come; nil: all are done.
func (t *turns) next() *task {
	var waiting, ready []*task
	soonest := time.Duration(1<<63 - 1)
	for _, k := range t.tasks {
		if !k.done {
			waiting = append(waiting, k)
			soonest = min(soonest, k.wake)
		}
	}
	t.tasks = waiting
	if len(waiting) == 0 {
		return nil
	}
	t.passed = max(t.passed, soonest)
	for _, k := range waiting {
		if k.wake <= t.passed {
			ready = append(ready, k)
		}
	}
	return ready[t.random.IntN(len(ready))]
}

// turnClock is the clock of a machine, which may be wrong, for what one task does. Waiting is the task's.
type turnClock struct {
	turns *turns
	task  *task
	boot  string
	off   time.Duration
}

func (c *turnClock) Now() time.Time { return c.turns.now().Add(c.off) }

func (c *turnClock) Instant() lease.Instant {
	return lease.Instant{Boot: c.boot, Since: c.turns.passed}
}

func (c *turnClock) Sleep(ctx lease.Context, d time.Duration) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	c.task.wait(d)
	return ctx.Err()
}

// within is [context.WithTimeout] by the time of a run, so that it does not depend on how busy the machine is.
func (t *turns) within(ctx lease.Context, limit time.Duration) (lease.Context, context.CancelFunc) {
	return &turnContext{ctx, t, t.passed + limit}, func() {}
}

// turnContext is a context that ends at a time of a run. Who asks for its error is told; nobody is woken by it.
type turnContext struct {
	context.Context //nolint:containedctx // it is one
	turns           *turns
	until           time.Duration
}

func (c *turnContext) Err() error {
	if err := c.Context.Err(); err != nil || c.turns.passed < c.until {
		return err
	}
	return context.DeadlineExceeded
}
