package main

import (
	"context"
	"time"

	"github.com/spf13/cobra"

	"github.com/git-worklease/git-worklease/internal/term"
	"github.com/git-worklease/git-worklease/lease"
)

func newVerify(a *app) *cobra.Command {
	return &cobra.Command{
		Use:   "verify [KEY...]",
		Short: "prove that this session holds its claims",
		Long: `Reads the remote and says whether this session holds the resources at this moment: those
named, or all of its claims. It changes nothing. Exit 0 only if it holds them all.`,
		ValidArgsFunction: a.ownKeys,
		RunE: a.run(func(ctx context.Context, args []string) (*outcome, error) {
			return a.runVerify(ctx, args)
		}),
	}
}

func (a *app) runVerify(ctx context.Context, keys []string) (*outcome, error) {
	w, resources, err := a.openKeys(ctx, keys)
	if err != nil {
		return nil, err
	}
	defer w.close()
	if resources, err = w.acting(resources); err != nil {
		return nil, err
	}
	results, err := w.lease.Verify(w.ctx, resources...)
	if len(results) == 0 {
		return nil, nothingHeld(err)
	}
	js := make([]verifyJSON, len(results))
	for i, r := range results {
		js[i] = newVerifyJSON(r, a)
	}
	return &outcome{result: js, failure: err, text: func(p *printer) { printVerified(p, results) }}, nil
}

// verifyJSON is the proof for one resource, or its absence.
type verifyJSON struct {
	Resource   lease.Resource   `json:"resource"`
	Held       bool             `json:"held"`
	Claim      lease.ClaimID    `json:"claim,omitempty"`
	Generation lease.Generation `json:"generation,omitempty"`
	ExpiresAt  *time.Time       `json:"expires_at,omitempty"`
	LeftSecs   int64            `json:"time_left_seconds,omitempty"`
	Error      *failure         `json:"error,omitempty"`
}

func newVerifyJSON(r lease.VerifyResult, a *app) verifyJSON {
	j := verifyJSON{Resource: r.Resource, Held: r.Err == nil, Claim: r.Hold.Claim}
	if r.Err != nil {
		j.Error = a.explain(r.Err)
		return j
	}
	until := seconds(a.clock.Now().Add(r.Left))
	j.Generation, j.ExpiresAt, j.LeftSecs = r.Record.Generation, &until, int64(r.Left.Seconds())
	return j
}

func printVerified(p *printer, results []lease.VerifyResult) {
	for _, r := range results {
		if r.Err != nil {
			continue
		}
		p.printf("%s %s · generation %d · %s left\n", p.palette.Paint(term.Good, "held"), term.Clean(string(r.Resource)), r.Record.Generation, term.Span(r.Left))
	}
}
