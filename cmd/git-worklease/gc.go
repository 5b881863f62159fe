package main

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/git-worklease/git-worklease/internal/config"
	"github.com/git-worklease/git-worklease/internal/fault"
	"github.com/git-worklease/git-worklease/internal/term"
	"github.com/git-worklease/git-worklease/lease"
)

type gcOptions struct {
	apply bool
	limit int
}

func newGC(a *app) *cobra.Command {
	var o gcOptions
	cmd := &cobra.Command{
		Use:   "gc",
		Short: "delete what is left of claims that were released long ago",
		Long: `A released claim leaves its ref behind, a tombstone, so that the generations of its resource
go on from there. This deletes those that are older than the retention, in two steps, so
that no generation ever comes twice: one run raises the floor from which new claims count,
and a run at least 48 hours later deletes what that floor covers (6 days later where the
server does not tell the time, as over ssh). Every run does what is due of both, so that a
weekly job is all it takes.

Without --apply nothing is written, and it shows what would be done. Claims that were not
released are never touched, whatever their age, nor is anything that can't be read. It is
safe beside all other commands, and may be interrupted.`,
		Example: "  git worklease gc\n  git worklease gc --apply --retention 30d",
		Args:    noArguments, ValidArgsFunction: noFiles,
		RunE: a.run(func(ctx context.Context, _ []string) (*outcome, error) {
			return a.runGC(ctx, o)
		}),
	}
	flags := cmd.Flags()
	flags.BoolVar(&o.apply, "apply", false, "raise the floor and delete, instead of showing it")
	flags.IntVar(&o.limit, "limit", lease.DefaultCollect, "how many to delete at most")
	_ = cmd.RegisterFlagCompletionFunc("limit", cobra.NoFileCompletions) // the flag is there
	a.settingFlag(flags, config.Retention)
	return cmd
}

func (a *app) runGC(ctx context.Context, o gcOptions) (*outcome, error) {
	if o.limit < 1 {
		return nil, &fault.UsageError{Message: fmt.Sprintf("--limit %d: want at least 1", o.limit)}
	}
	a.writes = o.apply
	w, _, err := a.openLong(ctx, nil)
	if err != nil {
		return nil, err
	}
	defer w.close()
	req := lease.CollectRequest{Retention: w.settings.Retention.V, Limit: o.limit, Apply: o.apply}
	if isTerminal(a.err) && !a.flags.json {
		req.Progress = a.gcProgress
	}
	res, err := w.lease.Collect(w.ctx, req)
	if req.Progress != nil {
		fmt.Fprint(a.err, clearLine)
	}
	if res == nil {
		return nil, err
	}
	return &outcome{result: newGCJSON(res, req), failure: err, text: func(p *printer) { printGC(p, res, req) }}, nil
}

// clearLine empties the line of a terminal.
const clearLine = "\r\x1b[K"

// gcProgress shows how far it is, on one line of a terminal.
func (a *app) gcProgress(deleted, of int) {
	fmt.Fprintf(a.err, "%sdeleted %d of %d", clearLine, deleted, of)
}

// gcJSON is a collection for programs.
type gcJSON struct {
	Applied       bool               `json:"applied"`
	RetentionSecs int64              `json:"retention_seconds"`
	Counts        map[lease.Fate]int `json:"counts"`
	Due           []tombstoneJSON    `json:"due"`
	Deleted       int                `json:"deleted"`
	Floor         lease.Generation   `json:"floor"`
	Raised        bool               `json:"raised"`
	RaiseTo       lease.Generation   `json:"raise_to,omitempty"`
	ReadyAt       *time.Time         `json:"ready_at,omitempty"`
}

type tombstoneJSON struct {
	Resource   lease.Resource   `json:"resource"`
	Generation lease.Generation `json:"generation"`
	ReleasedAt time.Time        `json:"released_at"`
}

// fates are all fates, in the order in which they are shown.
func fates() []lease.Fate {
	return []lease.Fate{lease.FateDue, lease.FateWaiting, lease.FateRecent, lease.FateReserved, lease.FateClaimed, lease.FateUnread}
}

func newGCJSON(res *lease.Collection, req lease.CollectRequest) gcJSON {
	j := gcJSON{
		Applied: req.Apply, RetentionSecs: int64(req.Retention.Seconds()), Counts: map[lease.Fate]int{}, Due: []tombstoneJSON{},
		Deleted: res.Deleted, Floor: res.Floor, Raised: res.Raised, RaiseTo: res.RaiseTo,
	}
	for _, fate := range fates() {
		j.Counts[fate] = res.Counts[fate]
	}
	for _, t := range res.Due {
		j.Due = append(j.Due, tombstoneJSON{t.Resource, t.Generation, t.ReleasedAt})
	}
	if !res.Ready.IsZero() {
		ready := seconds(res.Ready)
		j.ReadyAt = &ready
	}
	return j
}

// printGC shows what was done, or would be, and then what stays and why.
func printGC(p *printer, res *lease.Collection, req lease.CollectRequest) {
	switch due := res.Counts[lease.FateDue]; {
	case due > 0 && req.Apply:
		p.printf("%s %s\n", p.palette.Paint(term.Good, "deleted"), counted(res.Deleted, due, "tombstone"))
	case due > 0:
		p.printf("would delete %s: %s\n", counted(len(res.Due), due, "tombstone"), someOf(res.Due))
	}
	switch {
	case res.Raised:
		p.printf("%s the floor to generation %d\n", p.palette.Paint(term.Good, "raised"), res.Floor)
	case res.RaiseTo > 0:
		p.printf("would raise the floor to generation %d\n", res.RaiseTo)
	}
	if res.Counts[lease.FateDue] == 0 && res.Counts[lease.FateWaiting] == 0 {
		p.printf("nothing to collect\n")
	}
	printKept(p, res, req)
	if !req.Apply && (len(res.Due) > 0 || res.RaiseTo > 0) {
		p.printf("nothing was changed: `git worklease gc --apply` does it\n")
	}
}

// printKept says what is not deleted by this run, and why.
func printKept(p *printer, res *lease.Collection, req lease.CollectRequest) {
	for _, fate := range fates()[1:] {
		n := res.Counts[fate]
		if n == 0 {
			continue
		}
		why := map[lease.Fate]string{
			lease.FateRecent:   "released less than " + term.Span(req.Retention) + " ago",
			lease.FateReserved: "reserved for an agent",
			lease.FateClaimed:  "not released",
			lease.FateUnread:   "not readable, see `git worklease list`",
			lease.FateWaiting:  "waiting for the floor to be raised and to stand",
		}[fate]
		if fate == lease.FateWaiting && !res.Ready.IsZero() {
			why = "waiting for the floor, which stands long enough from " + p.date(res.Ready) + " on"
		}
		p.printf("%s %d · %s\n", p.palette.Paint(term.Dim, "kept"), n, why)
	}
}

// counted is a number of things, and of how many where that differs.
func counted(n, of int, what string) string {
	if n != of {
		return fmt.Sprintf("%d of %d %ss", n, of, what)
	}
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}

// someOf names the first few of a list.
func someOf(due []lease.Tombstone) string {
	const few = 5
	var names []string
	for _, t := range due[:min(few, len(due))] {
		names = append(names, term.Clean(string(t.Resource)))
	}
	if more := len(due) - few; more > 0 {
		names = append(names, fmt.Sprintf("and %d more", more))
	}
	return strings.Join(names, ", ")
}
