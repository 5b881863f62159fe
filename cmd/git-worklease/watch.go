package main

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/git-worklease/git-worklease/internal/fault"
	"github.com/git-worklease/git-worklease/internal/term"
	"github.com/git-worklease/git-worklease/lease"
)

type watchOptions struct {
	keys    []string
	until   string
	timeout time.Duration
}

func newWatch(a *app) *cobra.Command {
	var o watchOptions
	cmd := &cobra.Command{
		Use:   "watch KEY...",
		Short: "wait until resources are free, or change",
		Long: `Looks at resources again and again, writes nothing, and ends with what is there then:

  --until free    when this session could claim all of them (the default)
  --until change  when anything was written to any of them, be it a renewal

A path is not free while another has one that overlaps with it.

What can't be told is neither free nor a change, and a remote that does not answer is
waited for. When the time of --timeout is up, that is exit 5, or exit 2 where it can't be
told what is there. Without --timeout it goes on until it is interrupted.

A pool is free as soon as one of its slots is.

To see that a resource is free is not to have it: claim --wait waits and claims.`,
		Example: "  git worklease watch deploy:staging\n  git worklease watch task:login --until change --timeout 5m",
		Args:    someKeys, ValidArgsFunction: noFiles,
		RunE: a.run(func(ctx context.Context, args []string) (*outcome, error) {
			o.keys = args
			return a.runWatch(ctx, o)
		}),
	}
	flags := cmd.Flags()
	flags.StringVar(&o.until, "until", string(lease.AwaitFree), "what to wait for: free or change")
	flags.Var(durationFlag{&o.timeout}, "timeout", "how long to watch, such as 5m")
	completeWords(cmd, "until", string(lease.AwaitFree), string(lease.AwaitChange))
	return cmd
}

func (a *app) runWatch(ctx context.Context, o watchOptions) (*outcome, error) {
	until := lease.Awaited(o.until)
	if until != lease.AwaitFree && until != lease.AwaitChange {
		return nil, &fault.UsageError{Message: fmt.Sprintf("--until %q: want free or change", o.until)}
	}
	w, resources, err := a.openLong(ctx, o.keys)
	if err != nil {
		return nil, err
	}
	defer w.close()
	views, err := w.watch(lease.WatchRequest{Resources: resources, Until: until, For: o.timeout})
	if err != nil && !errors.Is(err, lease.ErrTimeUp) {
		return nil, err
	}
	out := a.showViews(views, false, false, "")
	if err != nil {
		out.failure = err
		if unknown := unknownPart(views); unknown != nil {
			out.failure = unknown
		}
	}
	return out, nil
}

// watch looks until what is waited for has happened, and shows meanwhile what there is.
func (w *work) watch(req lease.WatchRequest) ([]lease.View, error) {
	p := w.app.progress(w.ctx, w, req.For)
	defer p.stop()
	req.Tell = func(views []lease.View, err error) {
		if err != nil {
			p.tell(p.obstacle("watching ", req.Resources, err))
			return
		}
		p.tell(whoHas(views), func(now time.Time) string { return "watching " + watchedWords(views, now) })
	}
	return w.lease.Watch(w.ctx, req)
}

// whoHas names a state of things: it is another as soon as any of the resources has another holder.
func whoHas(views []lease.View) string {
	var b strings.Builder
	for i := range views {
		b.WriteString(string(views[i].State) + " ")
		if r := views[i].Record; r != nil {
			b.WriteString(string(r.Claim) + " ")
		}
		if e := views[i].Rival; e != nil {
			b.WriteString(string(e.Record.Claim) + " ")
		}
	}
	return b.String()
}

// watchedWords are about the first resource that is not free, or else the first, and say how many others there are.
func watchedWords(views []lease.View, now time.Time) string {
	v, free := &views[0], 0
	for i := range views {
		switch {
		case views[i].Takeable:
			free++
		case v.Takeable:
			v = &views[i]
		}
	}
	words := viewWords(v, now)
	if len(views) > 1 {
		words += fmt.Sprintf(" · %d of %d free", free, len(views))
	}
	return words
}

// viewWords is one resource in a few words.
func viewWords(v *lease.View, now time.Time) string {
	name := term.Clean(string(v.Resource)) + " · "
	switch {
	case v.State == lease.StandingOverlapped:
		return name + "overlaps with " + term.Clean(string(v.Rival.Resource)) + " · " + heldWords(v.Rival, now)
	case v.State != lease.StandingHeld && v.State != lease.StandingReserved:
		return name + string(v.State)
	case v.Mine:
		return name + "yours, " + term.Span(max(0, v.Deadline.Sub(now))) + " left"
	}
	return name + heldWords(&lease.HeldError{
		Record: v.Record, Liveness: v.Liveness, Reserved: v.State == lease.StandingReserved, Until: v.Deadline, TakeableAt: v.TakeableAt,
	}, now)
}
