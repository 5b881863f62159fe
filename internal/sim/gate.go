package sim

import (
	"math/rand/v2"
	"sync"
	"time"
)

const (
	// slowCall is how long a call may take before fewer are made at once.
	slowCall = 1500 * time.Millisecond
	// firstPlaces is for how many calls at once there is room at first, and fewestPlaces the least.
	firstPlaces, fewestPlaces = 8, 2
	// queue is the longest pause between two looks for a place.
	queue = 100 * time.Millisecond
)

// gate bounds how many calls are made at once, so that a busy server is not asked for more than it can do: then it would answer nobody in time. There is
// more room as long as calls are quick, and less where they are slow or fail.
type gate struct {
	mu     sync.Mutex
	places float64
	most   float64
	taken  int
}

func newGate(workers int) *gate {
	return &gate{places: min(firstPlaces, float64(workers)), most: float64(workers)}
}

// enter takes a place, if there is one.
func (g *gate) enter() bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.taken >= max(int(g.places), 1) {
		return false
	}
	g.taken++
	return true
}

// leave gives a place back after a call.
func (g *gate) leave(took time.Duration, failed bool) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.taken--
	switch {
	case failed:
		g.places = max(g.places/2, fewestPlaces)
	case took > slowCall:
		g.places = max(g.places*0.9, fewestPlaces)
	default:
		g.places = min(g.places+1/g.places, g.most)
	}
}

// pause is how long to wait for the next look.
func (g *gate) pause(random *rand.Rand) time.Duration {
	return queue/5 + time.Duration(random.Int64N(int64(queue)))
}
