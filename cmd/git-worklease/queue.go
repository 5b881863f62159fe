package main

import (
	"cmp"
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"

	"github.com/spf13/cobra"

	"github.com/git-worklease/git-worklease/internal/fault"
	"github.com/git-worklease/git-worklease/internal/term"
	"github.com/git-worklease/git-worklease/lease"
	"github.com/git-worklease/git-worklease/queue"
)

// queueView is what the commands of the queue have in common: which items they are about.
type queueView struct {
	name   string
	labels []string
	again  bool
}

func newQueue(a *app) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "queue",
		Short: "find work at the trackers, and claim the next item that is ready",
		Long: `Joins the items of the trackers that the policy names with the claims on them.

An item is ready when it is open, everything that it needs is closed, nobody has claimed it or
is assigned to it, and its work was not done already: by a claim that was released as done or for
review, an open pull request, or a branch at the remote that is not merged.`,
		Args: noArguments, ValidArgsFunction: noFiles,
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.AddCommand(newQueueInit(a), newQueueList(a), newQueueNext(a), newQueueShow(a), newQueueReconcile(a), newQueueCheck(a))
	return cmd
}

func (v *queueView) flags(a *app, cmd *cobra.Command) {
	flags := cmd.Flags()
	flags.StringVar(&v.name, "view", "", "a `VIEW` of the policy")
	flags.StringArrayVarP(&v.labels, "label", "l", nil, "only items with this `LABEL`; may be repeated")
	flags.BoolVar(&v.again, "again", false, "also items whose work was answered: done, in review, or with a pull request or a branch")
	_ = cmd.RegisterFlagCompletionFunc("view", a.views) // the flag is there
}

// views completes the names of the policy's views.
func (a *app) views(cmd *cobra.Command, _ []string, _ string) ([]string, cobra.ShellCompDirective) {
	w, err := a.openSettings(cmd.Context())
	if err != nil {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	var names []string
	for _, t := range w.policy.Tables("views") {
		names = append(names, t.Name)
	}
	return names, cobra.ShellCompDirectiveNoFileComp
}

// view is the one that is asked for, else the one that is meant, if the policy has it.
func (w *work) view(v *queueView, meant string) (queue.View, error) {
	var view queue.View
	found := v.name == ""
	for _, t := range w.policy.Tables("views") {
		if t.Name != cmp.Or(v.name, meant) {
			continue
		}
		parsed, unknown, err := queue.ParseView(t, w.policyTrackers())
		if err != nil {
			return queue.View{}, err
		}
		for _, u := range unknown {
			w.app.notice("%s: %s is unknown to this version", u.Origin, term.Clean(u.Key))
		}
		view, found = parsed, true
	}
	if !found {
		return queue.View{}, &fault.UsageError{Message: "the policy has no view " + term.Clean(v.name), Hint: "`git worklease config show` lists the policy's settings; a view is a table [views." + term.Clean(v.name) + "]"}
	}
	view.Labels = slices.Concat(view.Labels, v.labels)
	view.Again = v.again
	return view, nil
}

// openQueue opens the authority and the trackers.
func (a *app) openQueue(ctx context.Context) (*work, *queue.Queue, error) {
	a.judges = true // a tracker, view or rule that is missing would have others handed out
	w, err := a.open(ctx)
	if err != nil {
		return nil, nil, err
	}
	q, err := w.queue()
	if err != nil {
		w.close()
		return nil, nil, err
	}
	return w, q, nil
}

// queue is the trackers and the claims of this place. The trackers end with the work.
func (w *work) queue() (*queue.Queue, error) {
	set, err := w.trackers()
	if err != nil {
		return nil, err
	}
	q := &queue.Queue{
		Providers: set, Claims: w.lease, Agent: w.identity.Agent, Session: w.identity.Session, Names: w.trackerNames(), Own: w.own(), Pick: rand.IntN,
		Limit: func(ctx context.Context) (context.Context, context.CancelFunc) {
			return w.limits.begin(ctx, w.settings.Timeout.V*2/3)
		},
	}
	if len(w.policy.Rules()) > 0 && w.url != "" && w.repo.GitDir != "" {
		q.Branches = w.ruleBranches
	}
	return q, nil
}

// own says which claims this session has made. It reads what the clone remembers once.
func (w *work) own() func(lease.ClaimID) bool {
	holds := sync.OnceValue(func() []lease.Hold {
		holds, err := w.state.Holds()
		if err != nil {
			return nil // whoever claims is told what is wrong with it
		}
		return holds
	})
	return func(claim lease.ClaimID) bool {
		return slices.ContainsFunc(holds(), func(h lease.Hold) bool { return h.Claim == claim })
	}
}

// trackerNames are the names by which trackers may know this agent, beside its own.
func (w *work) trackerNames() []string {
	var names []string
	for _, key := range []string{"github.user", "user.name", "user.email"} {
		if name := w.repo.Config.Value(key); name != "" {
			names = append(names, name)
		}
	}
	return names
}

// incomplete tells what could not be read.
func (a *app) incomplete(troubles []queue.SourceError) {
	for _, t := range troubles {
		a.notice("%s: could not be read whole: %s", t.Source, term.Clean(t.Err.Error()))
	}
}

// itemText names an item for people.
func itemText(e *queue.Entry) string {
	return fmt.Sprintf("%s %s", term.Clean(e.Item.ID), term.Clean(e.Item.Title))
}
