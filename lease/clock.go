package lease

import (
	"sync"
	"time"
)

// SystemClock is the machine's clock. Its zero value is ready.
type SystemClock struct {
	once sync.Once
	boot string
}

// Now is the wall clock.
func (c *SystemClock) Now() time.Time { return time.Now() }

// Instant is the time since the machine was started, suspended time included. Where the system doesn't tell which start that is,
// Boot is "", and the reading can't be compared with any other.
func (c *SystemClock) Instant() Instant {
	c.once.Do(func() { c.boot = bootID() })
	since, err := sinceBoot()
	if err != nil {
		return Instant{}
	}
	return Instant{Boot: c.boot, Since: since}
}

// Sleep waits for d or for the end of ctx, whose error it returns.
func (c *SystemClock) Sleep(ctx Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
