package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"github.com/git-worklease/git-worklease/internal/term"
	"github.com/git-worklease/git-worklease/lease"
	"github.com/git-worklease/git-worklease/refstore"
)

func newHeartbeat(a *app) *cobra.Command {
	watch := false
	cmd := &cobra.Command{
		Use:   "heartbeat [KEY...]",
		Short: "renew the claims of this session, once or for as long as it runs",
		Long: `Renews claims as ` + "`git worklease renew`" + ` does: those that have a resource named, or all that
this session holds.

With --watch it goes on until it is stopped, and prints one line for whatever happens. It
keeps what the session holds and what it claims later, and waits where that is nothing.
Keepers of one clone write together, so that many of them cost few pushes. Nobody is ever
asked for a password. What has expired meanwhile, say because the machine slept, is not
revived: ` + "`git worklease renew`" + ` does that. With keys it ends once all of them are over (exit 4);
SIGTERM ends it with exit 0, an interrupt with 130. With --json each line is a document.`,
		Example:           "  git worklease heartbeat task:login\n  git worklease heartbeat --watch --session nightly",
		ValidArgsFunction: a.ownKeys,
		RunE: a.run(func(ctx context.Context, args []string) (*outcome, error) {
			if watch {
				return nil, a.runWatchfulHeartbeat(ctx, args)
			}
			return a.runRenew(ctx, args)
		}),
	}
	cmd.Flags().BoolVar(&watch, "watch", false, "keep the claims until this is stopped")
	return cmd
}

// runWatchfulHeartbeat keeps claims until it is stopped, or until those that were named are over.
func (a *app) runWatchfulHeartbeat(ctx context.Context, keys []string) error {
	a.writes = true
	ctx, terminated := untilTerm(ctx)
	err := a.watchOver(ctx, keys)
	if terminated() && errors.Is(err, context.Canceled) {
		return nil
	}
	return err
}

// untilTerm is ctx, ended by SIGTERM as well. terminated ends it and says whether that was the reason.
func untilTerm(ctx context.Context) (ended context.Context, terminated func() bool) {
	ctx, cancel := context.WithCancel(ctx)
	signals, seen := make(chan os.Signal, 1), make(chan bool, 1)
	signal.Notify(signals, syscall.SIGTERM)
	go func() {
		select {
		case <-signals:
			seen <- true
		case <-ctx.Done():
			seen <- false
		}
		cancel()
	}()
	return ctx, func() bool {
		cancel()
		was := <-seen
		signal.Stop(signals) // what came before is in the channel
		return was || len(signals) > 0
	}
}

// watchOver renews once, which also revives what had expired before, and keeps from then on.
func (a *app) watchOver(ctx context.Context, keys []string) error {
	w, resources, err := a.openLong(ctx, keys)
	if err != nil {
		return err
	}
	defer w.close()
	w.git.Interactive = false
	if resources, err = w.acting(resources); err != nil {
		return err
	}
	v := &vigil{app: a}
	req, err := v.start(w, resources)
	if err != nil {
		return err
	}
	req.Tell = v.tell
	if err := w.lease.Keep(w.ctx, req); err != nil {
		return err
	}
	return v.last
}

// vigil tells what happens while claims are kept.
type vigil struct {
	app *app
	// last is how the last claim ended that did.
	last error
}

// start renews the claims once, and says which are to be kept. It fails where claims were named and none is there to be kept.
func (v *vigil) start(w *work, resources []lease.Resource) (lease.KeepRequest, error) {
	ctx, cancel := w.attempt(w.ctx)
	defer cancel()
	results, err := w.lease.Renew(ctx, lease.RenewRequest{Resources: resources})
	if len(results) == 0 && err != nil && !errors.Is(err, refstore.ErrUnavailable) {
		return lease.KeepRequest{}, err
	}
	var req lease.KeepRequest
	for i := range results {
		e := firstEvent(&results[i])
		v.tell(e)
		if e.Kind != lease.KeepOver && len(resources) > 0 {
			req.Claims = append(req.Claims, e.Hold.Claim)
		}
	}
	switch {
	case len(resources) > 0 && len(req.Claims) == 0:
		return req, nothingHeld(err)
	case len(results) == 0:
		v.say(&beat{Event: "waiting"}, "waiting for claims of session %s", term.Clean(w.identity.Session))
	}
	return req, nil
}

// firstEvent is the event that the first renewal of a claim amounts to.
func firstEvent(r *lease.RenewResult) lease.KeepEvent {
	e := lease.KeepEvent{Kind: lease.KeepRenewed, Hold: r.Hold, Err: r.Err, Left: r.Hold.TTL}
	switch {
	case r.Err == nil:
	case r.Hold.Claim == "", errors.Is(r.Err, lease.ErrLost), errors.Is(r.Err, lease.ErrNotHeld):
		e.Kind, e.Left = lease.KeepOver, 0
		if len(e.Hold.Members) == 0 {
			for _, resource := range r.Resources {
				e.Hold.Members = append(e.Hold.Members, lease.Member{Resource: resource})
			}
		}
	default:
		e.Kind, e.Left = lease.KeepFailed, 0
	}
	return e
}

// beat is an event for programs.
type beat struct {
	Event     string           `json:"event"`
	Claim     lease.ClaimID    `json:"claim,omitempty"`
	Resources []lease.Resource `json:"resources,omitempty"`
	ExpiresAt *time.Time       `json:"expires_at,omitempty"`
	LeftSecs  *int64           `json:"time_left_seconds,omitempty"`
}

// tell prints one event.
func (v *vigil) tell(e lease.KeepEvent) {
	b := &beat{Event: string(e.Kind), Claim: e.Hold.Claim}
	for _, m := range e.Hold.Members {
		b.Resources = append(b.Resources, m.Resource)
	}
	what := names(b.Resources)
	if e.Kind == lease.KeepOver {
		v.last = e.Err
		v.say(b, "over %s", what, e.Err)
		return
	}
	until, left := seconds(e.Hold.RenewedAt.Add(e.Hold.TTL)), int64(e.Left.Seconds())
	b.ExpiresAt, b.LeftSecs = &until, &left
	switch e.Kind {
	case lease.KeepRenewed:
		v.say(b, "renewed %s · until %s", what, v.app.printer().at(until))
	case lease.KeepEnding:
		v.say(b, "ending %s · %s left", what, term.Span(e.Left))
	default:
		v.say(b, "failed %s · until %s", what, v.app.printer().at(until), e.Err)
	}
}

// say prints one line. An error at the end of args is explained.
func (v *vigil) say(b *beat, format string, args ...any) {
	var why *failure
	if len(args) > 0 {
		if err, ok := args[len(args)-1].(error); ok {
			why, args = v.app.explain(err), args[:len(args)-1]
		}
	}
	a := v.app
	if a.flags.json {
		e := &envelope{Operation: a.operation, OK: why == nil, Authority: a.authority(), Result: b, Error: why}
		_ = e.write(a.out) // nobody reads it any more, and the claims are kept
		return
	}
	text := fmt.Sprintf(format, args...)
	if why != nil {
		text += ": " + why.Message
	}
	fmt.Fprintln(a.out, text)
}
