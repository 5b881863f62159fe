package child

import (
	"context"
	"os"
	"os/signal"
	"slices"
	"sync"
	"time"
)

// Signals are those that ask this process to end, caught so that they can be passed on. One that this process was started to ignore stays ignored.
type Signals struct {
	caught chan os.Signal
	mu     sync.Mutex
	last   map[os.Signal]time.Time
}

// Catch catches them until Release.
func Catch() *Signals {
	s := &Signals{caught: make(chan os.Signal, 16), last: map[os.Signal]time.Time{}}
	if some := slices.DeleteFunc(asking(), signal.Ignored); len(some) > 0 {
		signal.Notify(s.caught, some...)
	}
	return s
}

// Release lets the signals do again what they did before.
func (s *Signals) Release() { signal.Stop(s.caught) }

// Context is a context that ends with parent, or when a signal comes, until stop is called. When stop has returned, later signals are left
// for whoever comes next.
func (s *Signals) Context(parent context.Context) (ctx context.Context, stop func()) {
	ctx, cancel := context.WithCancel(parent)
	quit, gone := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(gone)
		for {
			select {
			case sig := <-s.caught:
				if s.fresh(sig) {
					cancel()
				}
			case <-quit:
				return
			}
		}
	}()
	return ctx, sync.OnceFunc(func() {
		close(quit)
		<-gone
	})
}

// echo is how long the same signal may come again and be the same request: a terminal and a supervisor signal the whole group of git, which ran
// us, and git passes on what it gets.
const echo = time.Second

// fresh says whether a signal is a new request.
func (s *Signals) fresh(sig os.Signal) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	now := time.Now()
	last, before := s.last[sig]
	if before && now.Sub(last) < echo {
		return false
	}
	s.last[sig] = now
	return true
}

// seen says whether a signal has come before.
func (s *Signals) seen(sig os.Signal) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return !s.last[sig].IsZero()
}
