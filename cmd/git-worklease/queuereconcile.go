package main

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/git-worklease/git-worklease/internal/term"
	"github.com/git-worklease/git-worklease/providers"
	"github.com/git-worklease/git-worklease/queue"
)

// reconciledJSON is an announcement that was taken back, or would be.
type reconciledJSON struct {
	Key    providers.Key  `json:"key"`
	Mark   providers.Mark `json:"mark"`
	Holder string         `json:"holder"`
	Done   bool           `json:"done"`
	Error  *failure       `json:"error,omitempty"`
}

func newQueueReconcile(a *app) *cobra.Command {
	var dry bool
	cmd := &cobra.Command{
		Use:   "reconcile",
		Short: "take back what dead claims have announced at the trackers",
		Long: `Finds claims that were given up, or whose holders are dead, and takes back what they told the
trackers: the status, the assignee, the label. What anybody has changed since then stays as it is.`,
		Example: "  git worklease queue reconcile --dry-run", Args: noArguments, ValidArgsFunction: noFiles,
		RunE: a.run(func(ctx context.Context, _ []string) (*outcome, error) { return a.runReconcile(ctx, dry) }),
	}
	cmd.Flags().BoolVarP(&dry, "dry-run", "n", false, "only show what would be taken back")
	return cmd
}

func (a *app) runReconcile(ctx context.Context, dry bool) (*outcome, error) {
	w, q, err := a.openQueue(ctx)
	if err != nil {
		return nil, err
	}
	defer w.close()
	claims, err := w.lease.List(w.ctx)
	if err != nil {
		return nil, err
	}
	found := []reconciledJSON{}
	var failure error
	for _, s := range queue.Stales(claims) {
		stands, err := q.Stands(w.ctx, s)
		if err == nil && stands && !dry {
			err = q.Reconcile(w.ctx, s)
		}
		if err == nil && !stands {
			continue
		}
		r := reconciledJSON{Key: s.Key, Mark: s.Mark, Holder: s.View.Record.Holder.String(), Done: err == nil && !dry}
		if err != nil {
			r.Error = a.explain(err)
			failure = fmt.Errorf("%s: %w", s.Key, err)
		}
		found = append(found, r)
	}
	return &outcome{result: found, failure: failure, text: func(p *printer) { printReconciled(p, found) }}, nil
}

func printReconciled(p *printer, found []reconciledJSON) {
	if len(found) == 0 {
		p.printf("nothing to take back\n")
		return
	}
	for _, r := range found {
		word := "would be taken back"
		switch {
		case r.Done:
			word = "taken back"
		case r.Error != nil:
			word = "not taken back"
		}
		p.printf("%s: %s: what %s announced\n", term.Clean(string(r.Key)), word, term.Clean(r.Holder))
	}
}
