package main

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"github.com/git-worklease/git-worklease/internal/config"
	"github.com/git-worklease/git-worklease/internal/fault"
	"github.com/git-worklease/git-worklease/internal/term"
	"github.com/git-worklease/git-worklease/lease"
	"github.com/git-worklease/git-worklease/queue"
)

type releaseOptions struct {
	keys                  []string
	reason, outcome, note string
	meta                  []string
	to, toSession         string
	force, finish         bool
	// given are the flags that were given.
	given func(name string) bool
}

func newRelease(a *app) *cobra.Command {
	var o releaseOptions
	cmd := &cobra.Command{
		Use:   "release [KEY...]",
		Short: "release the claims of this session",
		Long: `Ends claims: those that have a resource named, or all that this session holds. What was
released already stays so, whoever has it now (exit 0); with --meta, --note, --reason or
--outcome it is added to the release, as long as nobody has claimed the resource since; without
a key, to the one that was released last. What this session never held is exit 4.

With --finish the trackers of items are told what has come of the work: it is done, or to be
reviewed, and the reason with it; what was told of work that is given up is taken back. A tracker
that can't be told keeps nothing from being released, and the same command tells it again.

With --to the resource is kept for an agent: nobody else can claim it for one ttl from now. The
new holder is shown the note, the checkpoint and what else the claim has. With --to-session the
claim goes on in another session of this clone.

With --force it ends the claims of others. Each resource named is a case of its own, the reason
is required, and the holder's next command says who did it and why. Agents may not, unless the
setting force allows it.`,
		Example: "  git worklease release -m \"merged in #17\"\n  git worklease release task:login --outcome review --meta pr_url=https://example.com/17\n" +
			"  git worklease release --to bob --note \"tests are red in auth\"\n  git worklease release --force task:login -m \"left the company\"",
		ValidArgsFunction: a.ownKeys,
	}
	cmd.RunE = a.run(func(ctx context.Context, args []string) (*outcome, error) {
		o.keys, o.given = args, cmd.Flags().Changed
		return a.runRelease(ctx, o)
	})
	releaseFlags(a, cmd, &o)
	cmd.Flags().BoolVar(&o.finish, "finish", false, "tell the trackers of items what has come of the work")
	cmd.Flags().BoolVar(&o.force, "force", false, "end claims of others; needs a reason")
	return cmd
}

func newTransfer(a *app) *cobra.Command {
	var o releaseOptions
	cmd := &cobra.Command{
		Use:   "transfer [KEY...] --to AGENT",
		Short: "release claims for another agent, or hand them to another session",
		Long: `The same as release with --to or --to-session: the resources are kept for an agent for one ttl,
or the claims go on in another session of this clone.`,
		Example:           "  git worklease transfer task:login --to bob --note \"tests are red in auth\"\n  git worklease transfer --to-session agent-2",
		ValidArgsFunction: a.ownKeys,
	}
	cmd.RunE = a.run(func(ctx context.Context, args []string) (*outcome, error) {
		o.keys, o.given = args, cmd.Flags().Changed
		if !o.given("to") && !o.given("to-session") {
			return nil, &fault.UsageError{Message: "transfer: to whom?", Hint: "name an agent with --to, or a session of this clone with --to-session"}
		}
		return a.runRelease(ctx, o)
	})
	releaseFlags(a, cmd, &o)
	return cmd
}

func releaseFlags(a *app, cmd *cobra.Command, o *releaseOptions) {
	flags := cmd.Flags()
	flags.StringVarP(&o.reason, "reason", "m", "", "why, for others to read")
	flags.StringVar(&o.outcome, "outcome", "", "how the work ended: done, review or abandoned (default done; with --to abandoned)")
	flags.StringVar(&o.note, "note", "", "a `TEXT` for the next holder")
	flags.StringArrayVar(&o.meta, "meta", nil, "`NAME=VALUE` to keep with the release, such as pr_url=https://...; may be repeated")
	flags.StringVar(&o.to, "to", "", "keep the resources for `AGENT`, for one ttl")
	flags.StringVar(&o.toSession, "to-session", "", "hand the claims to `SESSION`, another one of this clone")
	completeWords(cmd, "outcome", string(lease.OutcomeDone), string(lease.OutcomeReview), string(lease.OutcomeAbandoned))
	_ = cmd.RegisterFlagCompletionFunc("to-session", a.sessions) // the flag is there
}

// check refuses what does not go together.
func (o *releaseOptions) check() error {
	if out := lease.Outcome(o.outcome); o.given("outcome") && out != lease.OutcomeDone && out != lease.OutcomeReview && out != lease.OutcomeAbandoned {
		return &fault.UsageError{Message: fmt.Sprintf("--outcome %q: want done, review or abandoned", o.outcome)}
	}
	for _, to := range []struct{ flag, name string }{{"to", o.to}, {"to-session", o.toSession}} {
		if o.given(to.flag) && !config.ValidName(to.name) {
			return &fault.UsageError{Message: fmt.Sprintf("--%s %q: want 1 to 128 bytes of UTF-8 without control characters", to.flag, to.name)}
		}
	}
	alone := func(flag string, others ...string) error {
		if at := slices.IndexFunc(others, o.given); o.given(flag) && at >= 0 {
			return &fault.UsageError{Message: fmt.Sprintf("--%s does not go with --%s", flag, others[at])}
		}
		return nil
	}
	if err := alone("force", "to", "to-session", "note", "meta", "outcome", "finish"); err != nil {
		return err
	}
	if err := alone("to", "finish"); err != nil {
		return err
	}
	if err := alone("to-session", "to", "note", "meta", "outcome", "reason", "finish"); err != nil || !o.force {
		return err
	}
	return o.checkForce()
}

func (a *app) runRelease(ctx context.Context, o releaseOptions) (*outcome, error) {
	a.writes, a.releases = true, true
	if err := o.check(); err != nil {
		return nil, err
	}
	meta, err := parseMeta(o.meta)
	if err != nil {
		return nil, err
	}
	w, resources, err := a.openKeys(ctx, o.keys)
	if err != nil {
		return nil, err
	}
	defer w.close()
	if o.force {
		return a.forceRelease(w, resources, o.reason)
	}
	if resources, err = w.acting(resources); err != nil {
		return nil, err
	}
	if o.toSession != "" {
		return a.moveClaims(w, resources, o.toSession)
	}
	if o.finish {
		if err := w.checkItems("finish", resources); err != nil {
			return nil, err
		}
	}
	if lease.Outcome(o.outcome) == lease.OutcomeReview && meta[queue.MetaBranch] == "" && meta[queue.MetaTip] == "" {
		review := w.reviewMeta(w.ctx)
		maps.Copy(review, meta)
		meta = review
	}
	return a.releaseClaims(ctx, w, lease.ReleaseRequest{
		Resources: resources, Reason: o.reason, Outcome: lease.Outcome(o.outcome), For: o.to, Note: o.note, Meta: meta,
	}, o.finish)
}

// releasedJSON is what a release did to one claim.
type releasedJSON struct {
	claimStateJSON

	ReservedFor   string           `json:"reserved_for,omitempty"`
	ReservedUntil *time.Time       `json:"reserved_until,omitempty"`
	Added         []lease.Resource `json:"added,omitempty"`
	Passed        []lease.Resource `json:"passed,omitempty"`
	// Untold are the trackers that could not be told.
	Untold []queueTroubleJSON `json:"untold,omitempty"`
}

func (a *app) releaseClaims(ctx context.Context, w *work, req lease.ReleaseRequest, finish bool) (*outcome, error) {
	results, err := w.lease.Release(w.ctx, req)
	if len(results) == 0 {
		return nil, nothingHeld(err)
	}
	var untold map[lease.ClaimID][]queue.SourceError
	if finish {
		untold = a.finish(ctx, w, results)
	}
	js := make([]releasedJSON, len(results))
	for i, r := range results {
		js[i] = releasedJSON{claimStateJSON: newClaimState(r.Hold, r.Resources, r.Err, a), Added: r.Added, Passed: r.Passed}
		js[i].ExpiresAt, js[i].Already = nil, r.Already
		js[i].Untold = newQueueTroublesJSON(untold[r.Hold.Claim], a)
		if !r.ReservedUntil.IsZero() {
			until := seconds(r.ReservedUntil)
			js[i].ReservedFor, js[i].ReservedUntil = req.For, &until
		}
	}
	return &outcome{result: js, failure: err, text: func(p *printer) { printReleased(p, results, req.For) }}, nil
}

func printReleased(p *printer, results []lease.ReleaseResult, reservedFor string) {
	for _, r := range results {
		if r.Err != nil {
			continue
		}
		for _, m := range r.Hold.Members {
			p.printf("%s %s · generation %d", p.palette.Paint(term.Good, "released"), term.Clean(string(m.Resource)), m.Generation)
			passed := slices.Contains(r.Passed, m.Resource)
			if r.Already {
				p.printf(" · already, %s", p.ago(r.Hold.End.At))
			}
			switch {
			case passed:
				p.printf(" · it does not stand any more, nothing was added")
			case slices.Contains(r.Added, m.Resource):
				p.printf(" · added")
			}
			if !r.ReservedUntil.IsZero() && !passed {
				p.printf(" · reserved for %s until %s", term.Clean(reservedFor), p.at(r.ReservedUntil))
			}
			p.printf("\n")
		}
	}
}
