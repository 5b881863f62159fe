package main

import (
	"context"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"github.com/git-worklease/git-worklease/internal/config"
	"github.com/git-worklease/git-worklease/internal/fault"
	"github.com/git-worklease/git-worklease/lease"
	"github.com/git-worklease/git-worklease/queue"
)

type nextOptions struct {
	queueView
	claim, start bool
	count        int
	purpose      string
	meta         []string
}

func newQueueNext(a *app) *cobra.Command {
	var o nextOptions
	cmd := &cobra.Command{
		Use:   "next",
		Short: "show the next item that is ready, or claim it",
		Long: `Shows the first item that is ready, of the policy's view Ready if it has one. With --claim it claims it, by one compare-and-swap: agents
that come at once get different items, and whoever is too late for one goes on to the next. The
item is read again once it is claimed, and given back if it was closed meanwhile.

With --start the tracker is told as well: status, assignee or label, as it has them. What a tracker
refuses to note loses no claim. Where nothing is ready it ends with 5.`,
		Example: "  git worklease queue next\n  git worklease queue next --claim --start -s agent-1\n  git worklease queue next --claim -n 3 --label bug",
		Args:    noArguments, ValidArgsFunction: noFiles,
		RunE: a.run(func(ctx context.Context, _ []string) (*outcome, error) { return a.runQueueNext(ctx, &o) }),
	}
	o.flags(a, cmd)
	flags := cmd.Flags()
	for _, name := range []config.Name{config.TTL, config.Grace, config.Takeover, config.Expiry} {
		a.settingFlag(flags, name)
	}
	flags.BoolVar(&o.claim, "claim", false, "claim it")
	flags.BoolVar(&o.start, "start", false, "with --claim: tell the tracker that work has begun")
	flags.IntVarP(&o.count, "count", "n", 1, "how many, 1 to 32, by one claim")
	flags.StringVar(&o.purpose, "purpose", "", "what it is for, for others to read (default the item's title)")
	flags.StringArrayVar(&o.meta, "meta", nil, "`NAME=VALUE` to keep with the claim; may be repeated")
	return cmd
}

func (o *nextOptions) check() error {
	switch {
	case o.count < 1 || o.count > lease.MaxMembers:
		return &fault.UsageError{Message: fmt.Sprintf("-n %d: want 1 to %d", o.count, lease.MaxMembers)}
	case o.start && !o.claim:
		return &fault.UsageError{Message: "--start goes with --claim"}
	case !o.claim && (o.purpose != "" || len(o.meta) > 0):
		return &fault.UsageError{Message: "--purpose and --meta go with --claim"}
	}
	return nil
}

func (a *app) runQueueNext(ctx context.Context, o *nextOptions) (*outcome, error) {
	if err := o.check(); err != nil {
		return nil, err
	}
	a.writes = o.claim
	meta, err := parseMeta(o.meta)
	if err != nil {
		return nil, err
	}
	w, q, err := a.openQueue(ctx)
	if err != nil {
		return nil, err
	}
	defer w.close()
	view, err := w.view(&o.queueView, queue.ReadyView)
	if err != nil {
		return nil, err
	}
	if !o.claim {
		return a.peek(w, q, &view, o.count)
	}
	req := queue.NextRequest{View: view, Count: o.count, Purpose: o.purpose, Meta: meta}
	if !w.settings.TTL.Origin.IsDefault() {
		req.TTL = w.settings.TTL.V
	}
	taken, err := a.takeNext(w, q, req)
	if err != nil {
		return nil, err
	}
	var untold []queue.SourceError
	if o.start {
		untold, err = a.announce(ctx, w, q, taken.Result)
	}
	a.incomplete(taken.Troubles)
	return &outcome{result: newQueueTakenJSON(taken, untold, a), failure: err, text: func(p *printer) { printQueueTaken(p, taken) }}, nil
}

// takeNext claims, and shows meanwhile how many items have been read.
func (a *app) takeNext(w *work, q *queue.Queue, req queue.NextRequest) (*queue.Taken, error) {
	p := a.progress(w.ctx, w, 0)
	defer p.stop()
	req.Report = func(read int) {
		p.set(func(time.Time) string { return fmt.Sprintf("%d items read", read) })
	}
	return q.Next(w.ctx, req)
}

// peek shows what would be claimed.
func (a *app) peek(w *work, q *queue.Queue, view *queue.View, count int) (*outcome, error) {
	view.Ready = true
	b, err := w.readBoard(q, view)
	if err != nil {
		return nil, err
	}
	a.incomplete(b.Troubles)
	if len(b.Entries) == 0 {
		return nil, b.Empty(view)
	}
	b.Entries = b.Entries[:min(count, len(b.Entries))]
	return &outcome{result: newQueueBoardJSON(b, a), text: func(p *printer) { printQueueBoard(p, b) }}, nil
}

// queueTakenJSON is what was claimed, for programs.
type queueTakenJSON struct {
	Items      []queueItemJSON    `json:"items"`
	Claim      any                `json:"claim"`
	Lost       int                `json:"lost_races"`
	Incomplete bool               `json:"incomplete"`
	Troubles   []queueTroubleJSON `json:"troubles,omitempty"`
	Untold     []queueTroubleJSON `json:"untold,omitempty"`
}

func newQueueTakenJSON(t *queue.Taken, untold []queue.SourceError, a *app) queueTakenJSON {
	j := queueTakenJSON{
		Claim: newClaimJSON(t.Result), Lost: t.Lost, Incomplete: len(t.Troubles) > 0, Troubles: newQueueTroublesJSON(t.Troubles, a),
		Untold: newQueueTroublesJSON(untold, a),
	}
	for i := range t.Entries {
		j.Items = append(j.Items, newQueueItemJSON(&t.Entries[i], a))
	}
	return j
}

func printQueueTaken(p *printer, t *queue.Taken) {
	for i := range t.Entries {
		p.printf("%s\n", itemText(&t.Entries[i]))
	}
	printClaim(p, t.Result)
}
