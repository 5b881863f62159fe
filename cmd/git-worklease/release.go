package main

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/git-worklease/git-worklease/internal/fault"
	"github.com/git-worklease/git-worklease/internal/term"
	"github.com/git-worklease/git-worklease/lease"
)

type releaseOptions struct {
	keys            []string
	reason, outcome string
}

func newRelease(a *app) *cobra.Command {
	var o releaseOptions
	cmd := &cobra.Command{
		Use:   "release [KEY...]",
		Short: "release the claims of this session",
		Long: `Ends claims: those that have a resource named, or all that this session holds. What was
released already stays so, whoever has it now (exit 0). What this session never held is
exit 4.`,
		Example:           "  git worklease release -m \"merged in #17\"\n  git worklease release task:login --outcome review",
		ValidArgsFunction: a.ownKeys,
		RunE: a.run(func(ctx context.Context, args []string) (*outcome, error) {
			o.keys = args
			return a.runRelease(ctx, o)
		}),
	}
	flags := cmd.Flags()
	flags.StringVarP(&o.reason, "reason", "m", "", "why, for others to read")
	flags.StringVar(&o.outcome, "outcome", string(lease.OutcomeDone), "how the work ended: done, review or abandoned")
	completeWords(cmd, "outcome", string(lease.OutcomeDone), string(lease.OutcomeReview), string(lease.OutcomeAbandoned))
	return cmd
}

func (a *app) runRelease(ctx context.Context, o releaseOptions) (*outcome, error) {
	a.writes, a.releases = true, true
	switch lease.Outcome(o.outcome) {
	case lease.OutcomeDone, lease.OutcomeReview, lease.OutcomeAbandoned:
	default:
		return nil, &fault.UsageError{Message: fmt.Sprintf("--outcome %q: want done, review or abandoned", o.outcome)}
	}
	resources, err := parseKeys(o.keys)
	if err != nil {
		return nil, err
	}
	w, err := a.open(ctx)
	if err != nil {
		return nil, err
	}
	defer w.close()
	results, err := w.lease.Release(w.ctx, lease.ReleaseRequest{Resources: resources, Reason: o.reason, Outcome: lease.Outcome(o.outcome)})
	if len(results) == 0 {
		return nil, nothingHeld(err)
	}
	js := make([]claimStateJSON, len(results))
	for i, r := range results {
		js[i] = newClaimState(r.Hold, r.Resources, r.Err, a)
		js[i].ExpiresAt, js[i].Already = nil, r.Already
	}
	return &outcome{result: js, failure: err, text: func(p *printer) { printReleased(p, results) }}, nil
}

func printReleased(p *printer, results []lease.ReleaseResult) {
	for _, r := range results {
		if r.Err != nil {
			continue
		}
		for _, m := range r.Hold.Members {
			p.printf("%s %s · generation %d", p.palette.Paint(term.Good, "released"), term.Clean(string(m.Resource)), m.Generation)
			if r.Already {
				p.printf(" · already, %s", p.ago(r.Hold.End.At))
			}
			p.printf("\n")
		}
	}
}
