package main

import (
	"time"

	"github.com/git-worklease/git-worklease/lease"
)

// logicalClock is a clock that was put forward. Only what runs in this process can do that: the program has no setting for it.
type logicalClock struct {
	lease.Clock
	offset time.Duration
}

func (c *logicalClock) Now() time.Time { return c.Clock.Now().Add(c.offset) }

func (c *logicalClock) Instant() lease.Instant {
	i := c.Clock.Instant()
	i.Since += c.offset
	return i
}
