package main

import (
	"sync/atomic"
	"time"

	"github.com/git-worklease/git-worklease/lease"
)

// logicalClock is a clock that was put forward. Only what runs in this process can do that: the program has no setting for it.
type logicalClock struct {
	lease.Clock
	offset atomic.Int64 // in nanoseconds
}

func (c *logicalClock) advance(d time.Duration) { c.offset.Add(int64(d)) }

func (c *logicalClock) Now() time.Time { return c.Clock.Now().Add(time.Duration(c.offset.Load())) }

func (c *logicalClock) Instant() lease.Instant {
	i := c.Clock.Instant()
	i.Since += time.Duration(c.offset.Load())
	return i
}
