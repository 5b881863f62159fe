package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/git-worklease/git-worklease/internal/fault"
	"github.com/git-worklease/git-worklease/internal/term"
	"github.com/git-worklease/git-worklease/lease"
)

// keeping is what keeps the claims of a command that runs, and ends the command where they can't be kept.
type keeping struct {
	*execution
	// notices are what a person is told, by a goroutine of its own: a terminal that is held must not hold up a renewal.
	notices chan string

	mu sync.Mutex
	// over is why the command was ended; lapsed is the claim that is over, if that is why.
	over   error
	lapsed lease.Hold
	// failing are the claims whose last renewal failed.
	failing map[lease.ClaimID]bool
}

func newKeeping(x *execution) *keeping {
	return &keeping{execution: x, notices: make(chan string, 64), failing: map[lease.ClaimID]bool{}}
}

// follow keeps the claims until the command has ended, and returns why it had to; nil: it ended by itself.
func (k *keeping) follow(ctx context.Context) error {
	ctx, cancel := context.WithCancel(ctx)
	var under, talk sync.WaitGroup
	under.Go(func() { k.keep(ctx) })
	if k.o.maxDuration > 0 {
		under.Go(func() { k.limit(ctx) })
	}
	talk.Go(func() {
		for text := range k.notices {
			k.notice("%s", text)
		}
	})
	<-k.job.Done()
	cancel()
	under.Wait()
	close(k.notices)
	talk.Wait()
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.over
}

// keep keeps the claims. Where it can't even begin, the command must not go on, since nobody would end it in time.
func (k *keeping) keep(ctx context.Context) {
	err := k.work.lease.Keep(ctx, lease.KeepRequest{Claims: k.claims(), Tell: k.tell})
	if err != nil && ctx.Err() == nil {
		k.end(lease.Hold{}, err)
		k.job.Terminate()
		k.killAfter(k.shortest())
	}
}

func (k *keeping) claims() []lease.ClaimID {
	ids := make([]lease.ClaimID, len(k.holds))
	for i, h := range k.holds {
		ids[i] = h.Claim
	}
	return ids
}

// tell acts on what the keeper finds.
func (k *keeping) tell(e lease.KeepEvent) {
	if len(e.Hold.Members) == 0 { // the file does not have it any more
		e.Hold, _ = k.under(e.Hold.Claim)
	}
	name := term.Clean(string(e.Hold.Members[0].Resource))
	switch e.Kind {
	case lease.KeepRenewed:
		k.fails(e, false)
	case lease.KeepFailed:
		if k.fails(e, true) {
			f := fault.Explain(e.Err, k.scene())
			k.say("%s could not be renewed yet, %s left: %s", name, term.Span(e.Left), f.Message)
		}
	case lease.KeepEnding:
		k.say("%s could not be renewed, %s left: the command is told to end", name, term.Span(e.Left))
		k.end(lease.Hold{}, &endingError{e.Hold.Members[0].Resource})
		k.job.Terminate()
	case lease.KeepOver:
		k.end(e.Hold, ending(e))
		if errors.Is(e.Err, lease.ErrExpired) {
			k.job.Kill()
			return
		}
		k.job.Terminate()
		go k.killAfter(lease.LastNotice(e.Hold.TTL))
	}
}

// fails notes whether the last renewal of a claim failed, and says whether that is new.
func (k *keeping) fails(e lease.KeepEvent, failed bool) bool {
	k.mu.Lock()
	defer k.mu.Unlock()
	was := k.failing[e.Hold.Claim]
	k.failing[e.Hold.Claim] = failed
	return failed && !was
}

// end notes why the command ends. That a claim is over outweighs everything else.
func (k *keeping) end(h lease.Hold, why error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.over == nil || k.lapsed.Claim == "" && h.Claim != "" {
		k.over, k.lapsed = why, h
	}
}

// say tells a person something as soon as that can be done.
func (k *keeping) say(format string, args ...any) {
	select {
	case k.notices <- fmt.Sprintf(format, args...):
	default: // nobody reads
	}
}

// killAfter kills a command that has not ended by then.
func (k *keeping) killAfter(d time.Duration) {
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	go func() {
		<-k.job.Done()
		cancel()
	}()
	if k.clock.Sleep(ctx, d) == nil {
		k.job.Kill()
	}
}

// limit ends the command when its time is up.
func (k *keeping) limit(ctx context.Context) {
	elapsed := stopwatch(k.clock)
	for left := k.o.maxDuration; left > 0; left = k.o.maxDuration - elapsed() {
		if k.clock.Sleep(ctx, min(left, time.Second)) != nil {
			return
		}
	}
	k.end(lease.Hold{}, fmt.Errorf("%s: %w of %s", term.Clean(k.o.command[0]), fault.ErrMaxDuration, term.Length(k.o.maxDuration)))
	k.job.Terminate()
	k.killAfter(k.shortest())
}

// stopwatch measures from now on the clock that runs through suspend, or where there is none, on the wall clock.
func stopwatch(clock lease.Clock) func() time.Duration {
	wall, began := clock.Now().Round(0), clock.Instant()
	return func() time.Duration {
		if now := clock.Instant(); now.Boot != "" && now.Boot == began.Boot {
			return now.Since - began.Since
		}
		return clock.Now().Sub(wall)
	}
}

// shortest is the patience with a command whose claims have not all the same time to live.
func (k *keeping) shortest() time.Duration {
	d := lease.LastNotice(k.holds[0].TTL)
	for _, h := range k.holds[1:] {
		d = min(d, lease.LastNotice(h.TTL))
	}
	return d
}

// stands says whether a command that was stopped may go on: by both clocks, all of its claims stand.
func (k *keeping) stands() bool {
	holds, err := k.work.state.Holds()
	if err != nil {
		return true // the keeper decides
	}
	skew, dated := k.work.store.Skew()
	if !dated {
		skew = 0
	}
	for _, h := range holds {
		if _, ours := k.under(h.Claim); ours && h.End == nil && h.Left(k.clock.Now().Add(skew), k.clock.Instant()) <= 0 {
			k.end(h, fmt.Errorf("%s: %w", h.Members[0].Resource, lease.ErrExpired))
			return false
		}
	}
	return true
}

// under is a claim that the command runs under.
func (k *keeping) under(id lease.ClaimID) (h lease.Hold, ok bool) {
	i := slices.IndexFunc(k.holds, func(h lease.Hold) bool { return h.Claim == id })
	if i < 0 {
		return lease.Hold{}, false
	}
	return k.holds[i], true
}

// endingError is that a command was ended because a claim could not be kept. It counts as [lease.ErrExpired], which the claim would have done.
type endingError struct{ resource lease.Resource }

func (e *endingError) Error() string {
	return fmt.Sprintf("%s: could not be renewed, and the command was ended before the claim's time was up", e.resource)
}

// Is links the type to [lease.ErrExpired].
func (e *endingError) Is(target error) bool { return target == lease.ErrExpired }

// endedError is that the session itself gave a claim away while the command ran.
type endedError struct {
	resource lease.Resource
	how      string
}

func (e *endedError) Error() string {
	return fmt.Sprintf("%s was %s while the command ran", e.resource, e.how)
}

// Is links the type to [lease.ErrNotHeld].
func (e *endedError) Is(target error) bool { return target == lease.ErrNotHeld }

// ending is how a claim ended, in words for the end of a command.
func ending(e lease.KeepEvent) error {
	if !errors.Is(e.Err, lease.ErrNotHeld) {
		return e.Err
	}
	how := "released"
	if e.Hold.End != nil && e.Hold.End.How == lease.EndMoved {
		how = "handed to another session"
	}
	return &endedError{e.Hold.Members[0].Resource, how}
}
