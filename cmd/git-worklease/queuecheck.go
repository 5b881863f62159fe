package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"github.com/git-worklease/git-worklease/internal/fault"
	"github.com/git-worklease/git-worklease/internal/term"
	"github.com/git-worklease/git-worklease/providers"
	"github.com/git-worklease/git-worklease/providers/conform"
)

type checkProviderOptions struct{ announce, missing string }

// checkFindingJSON is what a check has found.
type checkFindingJSON struct {
	Check string   `json:"check"`
	Error *failure `json:"error"`
	// Note says that it is not the provider's fault.
	Note bool `json:"note"`
}

func newQueueCheck(a *app) *cobra.Command {
	var o checkProviderOptions
	cmd := &cobra.Command{
		Use:   "check-provider NAME",
		Short: "look whether a provider keeps to the rules",
		Long: `Asks a provider of the policy what any provider has to answer: keys, a listing, items that are
read alone, versions, what it does when it is interrupted. It only reads, unless --announce names an
item: then work on that is announced, and taken back.`,
		Example: "  git worklease queue check-provider todo\n  git worklease queue check-provider todo --announce todo:7", ValidArgsFunction: a.trackerNamesOfPolicy,
		RunE: a.run(func(ctx context.Context, args []string) (*outcome, error) {
			if len(args) != 1 {
				return nil, &fault.UsageError{Message: "queue check-provider: one name is needed", Hint: "name a provider of the policy, such as github"}
			}
			return a.runCheckProvider(ctx, args[0], &o)
		}),
	}
	cmd.Flags().StringVar(&o.announce, "announce", "", "announce work on the item with this `KEY`, and take that back; it must be open and nobody's")
	cmd.Flags().StringVar(&o.missing, "missing", "", "a `KEY` that the tracker has no item of")
	return cmd
}

// trackerNamesOfPolicy completes the names of the policy's providers.
func (a *app) trackerNamesOfPolicy(cmd *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
	w, err := a.openSettings(cmd.Context())
	if err != nil || len(args) > 0 {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	return w.policyTrackers(), cobra.ShellCompDirectiveNoFileComp
}

func (a *app) runCheckProvider(ctx context.Context, name string, o *checkProviderOptions) (*outcome, error) {
	a.judges = true
	w, err := a.openState(ctx)
	if err != nil {
		return nil, err
	}
	var p providers.Provider
	for _, t := range w.policy.Tables("providers") {
		if t.Name == name {
			if p, err = w.tracker(t); err != nil {
				return nil, err
			}
		}
	}
	if p == nil {
		return nil, &fault.UsageError{Message: "the policy has no provider " + term.Clean(name), Hint: "add a table [providers." + term.Clean(name) + "] to the policy"}
	}
	defer closeTracker(p)
	options := conform.Options{}
	for text, key := range map[string]*providers.Key{o.announce: &options.Announce, o.missing: &options.Missing} {
		if text == "" {
			continue
		}
		if *key, err = p.Parse(text); err != nil {
			return nil, err
		}
	}
	line := a.progress(ctx, w, 0)
	options.Begin = func(check string) { line.set(func(time.Time) string { return "checking " + check }) }
	findings := conform.Check(ctx, p, options)
	line.stop()
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	return a.findings(p, findings), nil
}

// findings is the outcome of a check: it fails where something is the provider's fault.
func (a *app) findings(p providers.Provider, findings []conform.Finding) *outcome {
	all := make([]checkFindingJSON, len(findings))
	out := &outcome{result: all}
	for i, f := range findings {
		all[i] = checkFindingJSON{f.Check, a.explain(f.Err), f.Note}
		if !f.Note {
			out.failure = fmt.Errorf("%w: it does not keep to the rules of providers", providers.ErrBroken)
		}
	}
	barred := func(f conform.Finding) bool {
		return !f.Note && (errors.Is(f.Err, providers.ErrUnauthorised) || errors.Is(f.Err, providers.ErrRateLimited))
	}
	if i := slices.IndexFunc(findings, barred); i >= 0 {
		out.failure = fmt.Errorf("%s could not be looked at: %w", term.Clean(p.Name()), findings[i].Err)
	}
	out.text = func(pr *printer) {
		for _, f := range findings {
			kind := "fault"
			if f.Note {
				kind = "note"
			}
			pr.printf("%s: %s: %s\n", kind, f.Check, term.Clean(f.Err.Error()))
		}
		if out.failure == nil {
			pr.printf("%s keeps to the rules\n", term.Clean(p.Name()))
		}
	}
	return out
}
