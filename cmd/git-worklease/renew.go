package main

import (
	"context"
	"time"

	"github.com/spf13/cobra"

	"github.com/git-worklease/git-worklease/internal/term"
	"github.com/git-worklease/git-worklease/lease"
)

func newRenew(a *app) *cobra.Command {
	return &cobra.Command{
		Use:   "renew [KEY...]",
		Short: "renew the claims of this session",
		Long: `Starts the time of claims anew: of those that have a resource named, or of all that this
session holds. A claim that has expired is renewed as long as nobody took it; one that
was taken over, released or forced is lost (exit 4).`,
		ValidArgsFunction: a.ownKeys,
		RunE: a.run(func(ctx context.Context, args []string) (*outcome, error) {
			return a.runRenew(ctx, args)
		}),
	}
}

func (a *app) runRenew(ctx context.Context, keys []string) (*outcome, error) {
	a.writes = true
	w, resources, err := a.openKeys(ctx, keys)
	if err != nil {
		return nil, err
	}
	defer w.close()
	if resources, err = w.acting(resources); err != nil {
		return nil, err
	}
	results, err := w.lease.Renew(w.ctx, lease.RenewRequest{Resources: resources})
	if len(results) == 0 {
		return nil, nothingHeld(err)
	}
	js := make([]claimStateJSON, len(results))
	for i, r := range results {
		js[i] = newClaimState(r.Hold, r.Resources, r.Err, a)
		if r.Late > 0 {
			js[i].LateSeconds = int64(r.Late.Seconds())
		}
	}
	return &outcome{result: js, failure: err, text: func(p *printer) { printRenewed(p, results) }}, nil
}

func printRenewed(p *printer, results []lease.RenewResult) {
	for _, r := range results {
		if r.Err != nil {
			continue
		}
		for i, m := range r.Hold.Members {
			p.printf("%s %s · generation %d · until %s", p.palette.Paint(term.Good, "renewed"), term.Clean(string(m.Resource)), m.Generation,
				p.at(r.Hold.RenewedAt.Add(r.Hold.TTL)))
			if i == 0 && r.Late > 0 {
				p.printf(" · it had expired %s ago, and nobody took it", term.Span(r.Late))
			}
			p.printf("\n")
		}
	}
}

// nothingHeld is the error of a verb that found no claim to act on.
func nothingHeld(err error) error {
	if err != nil {
		return err
	}
	return nothingHeldError{}
}

// nothingHeldError is [lease.ErrNotHeld] of a session that holds nothing at all.
type nothingHeldError struct{}

func (nothingHeldError) Error() string        { return "this session holds nothing" }
func (nothingHeldError) Is(target error) bool { return target == lease.ErrNotHeld }

// claimStateJSON is what a verb did to one claim.
type claimStateJSON struct {
	Claim       lease.ClaimID    `json:"claim,omitempty"`
	Holder      *lease.Holder    `json:"holder,omitempty"`
	Resources   []memberJSON     `json:"resources,omitempty"`
	Asked       []lease.Resource `json:"asked,omitempty"`
	OK          bool             `json:"ok"`
	RenewedAt   *time.Time       `json:"renewed_at,omitempty"`
	ExpiresAt   *time.Time       `json:"expires_at,omitempty"`
	LateSeconds int64            `json:"late_seconds,omitempty"`
	Already     bool             `json:"already,omitempty"`
	Error       *failure         `json:"error,omitempty"`
}

func newClaimState(h lease.Hold, asked []lease.Resource, err error, a *app) claimStateJSON {
	j := claimStateJSON{Claim: h.Claim, Resources: members(h.Members), Asked: asked, OK: err == nil}
	if h.Claim != "" {
		until := seconds(h.RenewedAt.Add(h.TTL))
		j.Holder, j.RenewedAt, j.ExpiresAt = &h.Holder, &h.RenewedAt, &until
	}
	if err != nil {
		j.Error = a.explain(err)
	}
	return j
}
