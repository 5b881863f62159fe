package main

import (
	"bytes"
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/git-worklease/git-worklease/hooks"
	"github.com/git-worklease/git-worklease/internal/fault"
	"github.com/git-worklease/git-worklease/internal/term"
	"github.com/git-worklease/git-worklease/lease"
	"github.com/git-worklease/git-worklease/queue"
)

// isItem says whether a resource is an item of a tracker of the policy.
func (w *work) isItem(r lease.Resource) bool { return w.hasTracker(r.Scheme()) }

// checkItems refuses to tell trackers of what is no item.
func (w *work) checkItems(flag string, resources []lease.Resource) error {
	if len(resources) == 0 || slices.ContainsFunc(resources, w.isItem) {
		return nil
	}
	return &fault.UsageError{
		Message: fmt.Sprintf("--%s: %s is no item of a tracker that the policy names", flag, term.Clean(string(resources[0]))),
		Hint:    "`git worklease queue init` finds the trackers; `git worklease key KEY` shows what a key is",
	}
}

// announce tells the trackers that this session works on the items of a claim. What they refuse is told and returned, and loses no claim.
func (a *app) announce(ctx context.Context, w *work, q *queue.Queue, r *lease.ClaimResult) ([]queue.SourceError, error) {
	ctx, cancel := w.attempt(ctx)
	defer cancel()
	items := slices.DeleteFunc(slices.Clone(r.Records), func(r *lease.Record) bool { return !w.isItem(r.Resource) })
	troubles, err := q.Announce(ctx, items, "claimed by "+w.holder().String()+" with git worklease")
	for _, t := range troubles {
		a.notice("%s was not told: %s; the claim stands", t.Source, term.Clean(t.Err.Error()))
	}
	if err != nil {
		return troubles, fmt.Errorf("%s was claimed; to note what its tracker is told: %w", items[0].Resource, err)
	}
	return troubles, nil
}

// finish tells the trackers what has come of the work on the items of claims that were released, by what the releases say that stand: an earlier one may have
// said how the work ended. What was told of work that is given up is taken back. It returns what could not be told, by the claim.
func (a *app) finish(ctx context.Context, w *work, results []lease.ReleaseResult) map[lease.ClaimID][]queue.SourceError {
	var items []lease.Resource
	for _, r := range results {
		for _, m := range r.Hold.Members {
			if r.Err == nil && w.isItem(m.Resource) && !slices.Contains(r.Passed, m.Resource) {
				items = append(items, m.Resource)
			}
		}
	}
	if len(items) == 0 {
		return nil
	}
	ctx, cancel := w.attempt(ctx)
	defer cancel()
	untold := map[lease.ClaimID][]queue.SourceError{}
	q, err := w.queue()
	var views []lease.View
	if err == nil {
		views, err = w.lease.Status(ctx, items...)
	}
	for _, r := range results {
		if r.Err != nil {
			continue
		}
		troubles := []queue.SourceError{{Source: "claims", Err: err}}
		if err == nil {
			own := slices.DeleteFunc(slices.Clone(views), func(v lease.View) bool { return v.Record == nil || v.Record.Claim != r.Hold.Claim })
			troubles = q.Finish(ctx, own, w.finished)
		}
		for _, t := range troubles {
			a.notice("%s was not told: %s; the claim is released, and the same command tells it again", t.Source, term.Clean(t.Err.Error()))
		}
		untold[r.Hold.Claim] = troubles
	}
	return untold
}

// finished is the line that trackers show to people.
func (w *work) finished(r *lease.Release) string {
	text := "finished by " + w.holder().String()
	if r.Outcome == lease.OutcomeReview {
		text = "handed in for review by " + w.holder().String()
	}
	if r.Reason != "" {
		text += ": " + r.Reason
	}
	return text
}

// reviewMeta is the meta of a release for review: the branch that is checked out, and the commit of it that the remote is known to have. Where the branch is
// gone later, and that commit was not merged, the work is wanted again. It is empty where none was pushed, and for the remote's default branch.
func (w *work) reviewMeta(ctx context.Context) map[string]string {
	meta := map[string]string{}
	if len(w.policy.Tables("providers")) == 0 || w.repo.GitDir == "" || w.remote.Local() {
		return meta
	}
	branch, err := hooks.Branch(ctx, w.git, w.repo.GitDir)
	if err != nil || branch == "" {
		return meta
	}
	of := "refs/remotes/" + w.codeRemote() + "/"
	out, err := w.git.Output(ctx, "for-each-ref", "--format=%(refname) %(objectname) %(symref)", of+branch, of+"HEAD")
	if err != nil {
		return meta
	}
	for line := range bytes.Lines(out) {
		switch f := strings.Fields(string(line)); {
		case len(f) == 3 && f[2] == of+branch:
			return map[string]string{}
		case len(f) == 2 && f[0] == of+branch:
			meta[queue.MetaBranch], meta[queue.MetaTip] = branch, f[1]
		}
	}
	return meta
}
