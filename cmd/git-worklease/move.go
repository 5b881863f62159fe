package main

import (
	"slices"

	"github.com/spf13/cobra"

	"github.com/git-worklease/git-worklease/internal/term"
	"github.com/git-worklease/git-worklease/lease"
)

// movedJSON is what came of handing on one claim. Its holder is whoever has it now.
type movedJSON struct {
	claimStateJSON

	MovedTo string `json:"moved_to,omitempty"`
}

// moveClaims hands claims to another session of the clone.
func (a *app) moveClaims(w *work, resources []lease.Resource, to string) (*outcome, error) {
	results, err := w.lease.Move(w.ctx, lease.MoveRequest{Resources: resources, To: to})
	if len(results) == 0 {
		return nil, nothingHeld(err)
	}
	js := make([]movedJSON, len(results))
	for i, r := range results {
		js[i].claimStateJSON = newClaimState(r.Hold, r.Resources, r.Err, a)
		js[i].LateSeconds = int64(r.Late.Seconds())
		if r.Err == nil {
			js[i].MovedTo = to
		}
	}
	return &outcome{result: js, failure: err, text: func(p *printer) { printMoved(p, results) }}, nil
}

func printMoved(p *printer, results []lease.MoveResult) {
	for _, r := range results {
		if r.Err != nil {
			continue
		}
		for _, m := range r.Hold.Members {
			p.printf("%s %s · generation %d · to session %s · until %s\n", p.palette.Paint(term.Good, "moved"), term.Clean(string(m.Resource)), m.Generation,
				term.Clean(r.Hold.Holder.Session), p.at(r.Hold.RenewedAt.Add(r.Hold.TTL)))
		}
	}
}

// sessions completes the names of the other sessions of this clone.
func (a *app) sessions(cmd *cobra.Command, _ []string, _ string) ([]string, cobra.ShellCompDirective) {
	w, err := a.openState(cmd.Context())
	if err != nil {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	names := slices.DeleteFunc(w.state.SessionNames(), func(name string) bool { return name == w.identity.Session })
	return names, cobra.ShellCompDirectiveNoFileComp
}
