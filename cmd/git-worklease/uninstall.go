package main

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/git-worklease/git-worklease/hooks/install"
	"github.com/git-worklease/git-worklease/internal/config"
	"github.com/git-worklease/git-worklease/internal/fault"
	"github.com/git-worklease/git-worklease/internal/session"
	"github.com/git-worklease/git-worklease/internal/term"
	"github.com/git-worklease/git-worklease/lease"
	"github.com/git-worklease/git-worklease/refstore"
)

type uninstallOptions struct{ remote, force bool }

func newUninstall(a *app) *cobra.Command {
	var o uninstallOptions
	cmd := &cobra.Command{
		Use:   "uninstall",
		Short: "remove hooks and state from this clone",
		Long: `Removes from this clone all that this program has put there: hooks, and the folder with claims
and keys. It refuses while the clone holds claims: release them first. The policy file and the
paragraph in AGENTS.md belong to everybody and stay.

With --remote it ends the claims of everybody: all refs of claims are deleted from the remote, and the
policy file and the paragraph are taken out of the work tree. It refuses while anybody holds
something there, and under an agent. Others who know the authority find it gone, and are told
of no claim that it is free. Where the server hook is installed, uninstall that there first:
it keeps the refs of claims from being deleted.

The program itself is removed as it was installed.`,
		Args: noArguments, ValidArgsFunction: noFiles,
		RunE: a.run(func(ctx context.Context, _ []string) (*outcome, error) { return a.runUninstall(ctx, o) }),
	}
	// Elsewhere the flag names a remote.
	cmd.Flags().BoolVar(&o.remote, "remote", false, "end the claims of everybody, at the remote")
	cmd.Flags().BoolVar(&o.force, "force", false, "also where claims are held, whose keys are lost, or with --remote whose refs are")
	return cmd
}

// uninstallJSON is what was removed.
type uninstallJSON struct {
	Hooks *install.Uninstalled `json:"hooks,omitempty"`
	State string               `json:"state,omitempty"`
	// Refs is how many refs were deleted at the remote.
	Refs int `json:"refs"`
	// Removed are files of the work tree that were removed or changed, Left those that stay.
	Removed []string `json:"removed,omitempty"`
	Left    []string `json:"left,omitempty"`
}

func (a *app) runUninstall(ctx context.Context, o uninstallOptions) (*outcome, error) {
	c, err := a.openHooks(ctx)
	if err != nil {
		return nil, err
	}
	w, err := a.openState(ctx)
	if !o.remote && ofPolicy(err) {
		a.notice("%s; what is removed does not depend on it", a.judge(err).Message)
		a.policy = func(context.Context, *work) (*config.Policy, error) { return &config.Policy{}, nil }
		w, err = a.openState(ctx)
	}
	if err == nil {
		err = w.keysLeft(o.remote)
	}
	if err != nil && (o.remote || !o.force) {
		return nil, err
	}
	j := &uninstallJSON{}
	if o.remote {
		there := exists(w.place.Root)
		if j.Refs, err = w.endAuthority(ctx, o.force); err != nil {
			return nil, errors.Join(err, w.leaveNothing(there))
		}
	}
	hooks, changed := c.Uninstall(ctx)
	if hooks == nil {
		return nil, changed
	}
	j.Hooks = hooks
	if err := a.removeState(w, c, j); err != nil {
		return nil, err
	}
	if err := committedFiles(c.Repo.WorkTree, o.remote, j); err != nil {
		return nil, err
	}
	return &outcome{result: j, failure: changed, text: func(p *printer) { printUninstall(p, c.Repo.WorkTree, j, o) }}, nil
}

// ofPolicy says that the policy file can't be used.
func ofPolicy(err error) bool {
	var bad *config.Error
	return errors.Is(err, config.ErrRequires) || errors.As(err, &bad) && bad.Origin.Source == config.SourcePolicy
}

// keysLeft refuses to remove the keys of claims that have not ended. At the remote others may hold some as well, which is judged there.
func (w *work) keysLeft(remote bool) error {
	if remote && w.identity.Runtime != "" && w.settings.Force.V != config.ForceAgents {
		return &fault.EndPersonError{Runtime: w.identity.Runtime}
	}
	var left []lease.Resource
	for _, kind := range []session.Kind{session.Local, session.Remote} {
		if remote && kind == session.Remote {
			continue
		}
		state, err := w.openKind(kind)
		if err != nil {
			return err
		}
		some, err := state.Left()
		if err != nil {
			return err
		}
		left = append(left, some...)
	}
	if len(left) > 0 {
		return &fault.KeysLeftError{Resources: left}
	}
	return nil
}

// endAuthority deletes all refs at the remote.
func (w *work) endAuthority(ctx context.Context, force bool) (int, error) {
	if w.url == "" {
		return 0, &fault.UsageError{Message: "uninstall --remote: this clone has no remote", Hint: "without --remote its own claims are removed"}
	}
	w.app.writes = true
	w.ctx, w.cancel = context.WithCancel(ctx)
	if err := w.openAuthority(); err != nil {
		return 0, err
	}
	defer w.close()
	n, err := w.lease.Abolish(ctx, force)
	if errors.Is(err, refstore.ErrRefused) {
		err = &fault.EndRefusedError{Err: err}
	}
	return n, err
}

// leaveNothing removes what was only learned of the remote, unless there was state before, or has come to be some since.
func (w *work) leaveNothing(there bool) error {
	if keys := w.keysLeft(false); there || keys != nil {
		return nil //nolint:nilerr // what is left is the point
	}
	return w.place.Remove()
}

// exists says whether there is anything at a path.
func exists(path string) bool {
	_, err := os.Lstat(path)
	return !errors.Is(err, fs.ErrNotExist)
}

// removeState removes the folder of the clone's claims. Where the settings can't be read it is the usual one.
func (a *app) removeState(w *work, c *install.Clone, j *uninstallJSON) error {
	place, err := session.Locate(c.Repo, "", "", a.getenv)
	if w != nil && w.place.Root != "" {
		place = w.place
	}
	if err != nil {
		return err
	}
	if !exists(place.Root) {
		return nil
	}
	j.State = place.Root
	return place.Remove()
}

// committedFiles looks after what init wrote into the work tree: it is taken out where the claims of everybody end, and otherwise named.
func committedFiles(top string, end bool, j *uninstallJSON) error {
	if top == "" {
		return nil
	}
	policy, agents := filepath.Join(top, config.PolicyFile), filepath.Join(top, agentsFile)
	if exists(policy) {
		if err := j.take(config.PolicyFile, end, func() error { return os.Remove(policy) }); err != nil {
			return err
		}
	}
	data, err := os.ReadFile(agents) //nolint:gosec // in the work tree
	if err != nil {
		return nil //nolint:nilerr // there is none, or it is none of ours
	}
	before, after, ok := cutParagraph(string(data))
	if !ok {
		return nil
	}
	return j.take(agentsFile, end, func() error {
		if rest := strings.TrimRight(before, "\n") + after; rest != "" {
			return writeCommitted(agents, strings.TrimRight(rest, "\n")+"\n")
		}
		return os.Remove(agents)
	})
}

// take takes something out of a file, or names the file among those that stay.
func (j *uninstallJSON) take(name string, end bool, out func() error) error {
	if !end {
		j.Left = append(j.Left, name)
		return nil
	}
	j.Removed = append(j.Removed, name)
	return out()
}

func printUninstall(p *printer, top string, j *uninstallJSON, o uninstallOptions) {
	printUninstalled(p, top, j.Hooks)
	if o.remote {
		p.printf("deleted %d refs at the remote\n", j.Refs)
	}
	if j.State != "" {
		p.printf("removed %s\n", term.Clean(short(top, j.State)))
	}
	if len(j.Removed) > 0 {
		p.printf("taken out of the work tree, for you to commit: %s\n", strings.Join(j.Removed, ", "))
	}
	if len(j.Left) > 0 {
		p.printf("belongs to everybody and stays: %s\n", strings.Join(j.Left, ", "))
	}
}
