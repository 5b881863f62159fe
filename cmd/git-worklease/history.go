package main

import (
	"context"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"github.com/git-worklease/git-worklease/internal/fault"
	"github.com/git-worklease/git-worklease/internal/term"
	"github.com/git-worklease/git-worklease/lease"
	"github.com/git-worklease/git-worklease/refstore"
)

func newHistory(a *app) *cobra.Command {
	var limit int
	cmd := &cobra.Command{
		Use:   "history KEY",
		Short: "show who held a resource, when and how it ended",
		Long: `Shows the past of a resource, newest first: claims, take-overs, releases, with renewals that
follow each other on one line. It is read from the commits of the resource's ref; their times
are by their writers' clocks.`,
		Args: oneKey, ValidArgsFunction: a.ownKeys,
		RunE: a.run(func(ctx context.Context, args []string) (*outcome, error) {
			return a.runHistory(ctx, args[0], limit)
		}),
	}
	cmd.Flags().IntVarP(&limit, "max-count", "n", 0, "show at most `N` lines; 0 for all")
	return cmd
}

func oneKey(cmd *cobra.Command, args []string) error {
	if err := someKeys(cmd, args); err != nil || len(args) == 1 {
		return err
	}
	return &fault.UsageError{Message: fmt.Sprintf("%s: %q: it takes one key", commandWords(cmd), args[1])}
}

func (a *app) runHistory(ctx context.Context, key string, limit int) (*outcome, error) {
	if limit < 0 {
		return nil, &fault.UsageError{Message: fmt.Sprintf("--max-count %d: want a number from 0, which is all", limit)}
	}
	w, resources, err := a.openKeys(ctx, []string{key})
	if err != nil {
		return nil, err
	}
	defer w.close()
	entries, err := w.lease.History(w.ctx, resources[0], limit)
	if err != nil {
		return nil, err
	}
	if len(entries) == 0 {
		return nil, fmt.Errorf("history of %s: %w", key, fault.ErrNothing)
	}
	js := make([]entryJSON, len(entries))
	for i := range entries {
		js[i] = newEntryJSON(&entries[i], a)
	}
	return &outcome{result: js, text: func(p *printer) { printHistory(p, entries) }, paged: true}, nil
}

// entryJSON is one event for programs.
type entryJSON struct {
	Event  lease.Event  `json:"event"`
	At     time.Time    `json:"at"`
	First  *time.Time   `json:"first,omitempty"`
	Count  int          `json:"count"`
	Commit refstore.OID `json:"commit"`
	Record *recordJSON  `json:"record,omitempty"`
	Error  *failure     `json:"error,omitempty"`
}

func newEntryJSON(e *lease.Entry, a *app) entryJSON {
	j := entryJSON{Event: e.Event, At: e.At, Count: e.Count, Commit: e.OID}
	if e.Count > 1 {
		j.First = &e.First
	}
	if e.Record != nil {
		r := newRecordJSON(e.Record)
		j.Record = &r
	}
	if e.Err != nil {
		j.Error = a.explain(e.Err)
	}
	return j
}

func printHistory(p *printer, entries []lease.Entry) {
	t := &term.Table{}
	for i := range entries {
		e := &entries[i]
		if e.Record == nil {
			t.Row(p.date(e.At), string(e.Event), "", e.OID.Short(), term.Clean(e.Err.Error()))
			t.Style(1, term.Bad)
			continue
		}
		t.Row(p.date(e.At), string(e.Event), fmt.Sprintf("generation %d", e.Record.Generation), fault.Holder(e.Record.Holder), entryNote(p, e))
		t.Style(0, term.Dim)
	}
	p.table(t)
}

// entryNote is what else there is to say of an event.
func entryNote(p *printer, e *lease.Entry) string {
	r := e.Record
	switch {
	case e.Count > 1:
		return fmt.Sprintf("%d times since %s", e.Count, p.date(e.First))
	case r.Release != nil:
		note := string(r.Release.Outcome)
		if by := r.Release.By; by != nil && *by != r.Holder {
			note = "by " + fault.Holder(*by)
		}
		if r.Release.ReservedFor != "" {
			note += ", for " + term.Clean(r.Release.ReservedFor)
		}
		if r.Release.Reason != "" {
			note += ": " + term.Clean(r.Release.Reason)
		}
		return note
	case e.Event == lease.EventTakenOver && r.Predecessor != nil:
		return fmt.Sprintf("from %s, who was %s", fault.Holder(r.Predecessor.Holder), term.Clean(r.Predecessor.Why))
	case e.Event == lease.EventRenewed:
		return ""
	default:
		return term.Clean(r.Purpose)
	}
}
