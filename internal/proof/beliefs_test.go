package proof

import (
	"fmt"
	"sync"
	"time"

	"github.com/git-worklease/git-worklease/lease"
)

// belief is a span of true time in which a process may think that it holds a claim.
type belief struct {
	claim     lease.ClaimID
	session   string
	process   int
	resources []lease.Resource
	from, to  time.Time
}

// beliefs are those of all processes. It is safe for use by several goroutines.
type beliefs struct {
	mu  sync.Mutex
	all []*belief
	// ending are the claims that their session is releasing or has released, and until is when it was last at it. What other processes of it are told
	// of what they did meanwhile is its own affair.
	ending map[lease.ClaimID]int
	until  map[lease.ClaimID]time.Time
}

// add notes that a process was told at a time, by a verb that began at since, that it holds a claim for some time.
func (b *beliefs) add(process int, h *lease.Hold, since, at time.Time, left time.Duration) {
	if left <= 0 {
		return
	}
	next := &belief{claim: h.Claim, session: h.Holder.Session, process: process, from: at, to: at.Add(left)}
	for _, m := range h.Members {
		next.resources = append(next.resources, m.Resource)
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.ending[h.Claim] == 0 && b.until[h.Claim].Before(since) {
		b.all = append(b.all, next)
	}
}

// end cuts what is thought of a claim: its session begins to release it, or was told that it is over.
func (b *beliefs) end(claim lease.ClaimID, at time.Time) {
	b.cut(at, func(x *belief) bool { return x.claim == claim })
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.ending == nil {
		b.ending, b.until = map[lease.ClaimID]int{}, map[lease.ClaimID]time.Time{}
	}
	b.ending[claim]++
	b.until[claim] = at
}

// stays takes back that a claim is being released: that did not work. Another process may still be at it.
func (b *beliefs) stays(claim lease.ClaimID, at time.Time) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.ending[claim]--
	b.until[claim] = at
}

// die cuts what a process thinks.
func (b *beliefs) die(process int, at time.Time) {
	b.cut(at, func(x *belief) bool { return x.process == process })
}

func (b *beliefs) cut(at time.Time, which func(*belief) bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, x := range b.all {
		if which(x) && x.to.After(at) {
			x.to = at
		}
	}
}

// twoAtOnce are the pairs that believed at the same time to hold what excludes each other. A session may have several claims of paths that overlap.
func (b *beliefs) twoAtOnce() []string {
	b.mu.Lock()
	defer b.mu.Unlock()
	var found []string
	for i, x := range b.all {
		for _, y := range b.all[i+1:] {
			if x.session == y.session || !x.from.Before(y.to) || !y.from.Before(x.to) {
				continue
			}
			if r, s, ok := shared(x.resources, y.resources); ok {
				found = append(found, fmt.Sprintf("%d holds %s by %.6s from %s to %s, and %d %s by %.6s from %s to %s",
					x.process, r, x.claim, x.from.Format(clockForm), x.to.Format(clockForm), y.process, s, y.claim, y.from.Format(clockForm), y.to.Format(clockForm)))
			}
		}
	}
	return found
}

const clockForm = "02 15:04:05.000"

// shared are two resources that exclude each other.
func shared(a, b []lease.Resource) (r, s lease.Resource, ok bool) {
	for _, r := range a {
		for _, s := range b {
			if lease.Overlap(r, s) {
				return r, s, true
			}
		}
	}
	return "", "", false
}
