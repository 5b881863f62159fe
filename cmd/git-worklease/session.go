package main

import (
	"context"
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/git-worklease/git-worklease/internal/config"
	"github.com/git-worklease/git-worklease/internal/fault"
	"github.com/git-worklease/git-worklease/internal/session"
	"github.com/git-worklease/git-worklease/internal/term"
	"github.com/git-worklease/git-worklease/lease"
)

func newSession(a *app) *cobra.Command {
	list := newSessionList(a)
	cmd := &cobra.Command{
		Use:   "session",
		Short: "name, list and move the sessions of this clone",
		Long: `A session is one run of a worker, and the name under which this clone keeps its claims and
their keys. It is named by --session, else WORKLEASE_SESSION, else the run ID of the agent
program that the command runs under, else the name that session use gave to this worktree,
else the worktree: @main, or wt- and its name.

Without a command it lists them.`,
		Args: noArguments, RunE: list.RunE,
	}
	cmd.Flags().AddFlagSet(list.Flags())
	cmd.AddCommand(newSessionUse(a), list, newSessionExport(a), newSessionImport(a), newSessionAdopt(a))
	return cmd
}

func newSessionUse(a *app) *cobra.Command {
	var unbind bool
	cmd := &cobra.Command{
		Use:   "use NAME | --clear",
		Short: "name the session of this worktree",
		Long: `Gives the session of this worktree a name, for all commands in it that nothing else names a
session for. A name such as orch/7 makes it a child of the session orch.`,
		Example:           "  git worklease session use agent-1\n  git worklease session use --clear",
		ValidArgsFunction: a.sessionNames,
		RunE: a.run(func(ctx context.Context, args []string) (*outcome, error) {
			if unbind == (len(args) > 0) || len(args) > 1 {
				return nil, &fault.UsageError{Message: "session use: give one name, or --clear"}
			}
			return a.runSessionUse(ctx, args)
		}),
	}
	cmd.Flags().BoolVar(&unbind, "clear", false, "let the worktree's own name hold again")
	return cmd
}

// sessionJSON is whom the commands here speak for.
type sessionJSON struct {
	Session string         `json:"session"`
	Origin  session.Origin `json:"origin"`
	Env     string         `json:"env,omitempty"`
	// Bound is the name that is bound to the worktree, whether it holds or not.
	Bound string `json:"bound,omitempty"`
}

func (a *app) runSessionUse(ctx context.Context, args []string) (*outcome, error) {
	name := ""
	if len(args) > 0 {
		name = args[0]
	}
	w, err := a.openState(ctx)
	if err != nil {
		return nil, err
	}
	if len(args) > 0 && !config.ValidName(name) {
		return nil, fmt.Errorf("%w: %q", session.ErrSessionName, name)
	}
	if err := w.place.Bind(name); err != nil {
		return nil, err
	}
	if err := w.identify(); err != nil {
		return nil, err
	}
	if name != "" && w.identity.Session != name {
		a.notice("%s names session %s, which counts for more", w.identity.Source(), term.Clean(w.identity.Session))
	}
	j := sessionJSON{Session: w.identity.Session, Origin: w.identity.Origin, Env: w.identity.Env, Bound: name}
	return &outcome{result: j, text: func(p *printer) {
		if name == "" {
			p.printf("this worktree's session has no name of its own now\n")
		} else {
			p.printf("this worktree's session is %s\n", p.palette.Paint(term.Good, term.Clean(name)))
		}
	}}, nil
}

// sessionNames completes the names of this clone's sessions.
func (a *app) sessionNames(cmd *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
	w, err := a.openState(cmd.Context())
	if err != nil || len(args) > 0 {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	sessions, err := w.state.Sessions()
	if err != nil {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	var names []string
	for _, s := range sessions {
		if s.Name != "" {
			names = append(names, s.Name)
		}
	}
	return names, cobra.ShellCompDirectiveNoFileComp
}

// become lets the command speak for another session of the clone.
func (w *work) become(name string) (err error) {
	w.identity.Session, w.identity.Origin, w.identity.Env = name, session.OriginFlag, ""
	w.state, err = w.openKind(w.kind())
	return err
}

// acting are the resources that a verb is about. With none given it is about all claims of the session, except that a session which nobody named acts
// only on claims that may be the worker's own. Of the others it tells, and they have to be named.
func (w *work) acting(resources []lease.Resource) ([]lease.Resource, error) {
	if w.identity.Origin != session.OriginWorktree {
		return resources, nil
	}
	if len(resources) > 0 {
		return resources, w.checkFormer(resources)
	}
	own, others, err := w.state.Own(session.SystemProcesses{})
	if err != nil || len(others) == 0 {
		return nil, err
	}
	for _, other := range others {
		f := fault.Explain(other, w.app.scene())
		w.app.notice("%s; name it to act on it", f.Message)
	}
	if len(own) == 0 {
		return nil, nothingHeldError{}
	}
	for _, h := range own {
		resources = append(resources, h.Members[0].Resource)
	}
	return resources, nil
}

// checkFormer refuses to renew or prove what an earlier worktree has claimed. To release it is how it ends.
func (w *work) checkFormer(resources []lease.Resource) error {
	held, err := w.lease.Held(resources)
	if err != nil {
		return err
	}
	for _, r := range held {
		err := w.state.CheckClaimant(session.SystemProcesses{}, []lease.Resource{r})
		if errors.Is(err, session.ErrFormer) && w.app.releases {
			continue
		}
		if err != nil && !errors.Is(err, session.ErrAmbiguous) {
			return err
		}
	}
	return nil
}
