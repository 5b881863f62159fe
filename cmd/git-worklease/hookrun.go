package main

import (
	"context"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/git-worklease/git-worklease/hooks/guard"
	"github.com/git-worklease/git-worklease/hooks/server"
	"github.com/git-worklease/git-worklease/internal/fault"
	"github.com/git-worklease/git-worklease/internal/session"
	"github.com/git-worklease/git-worklease/internal/term"
)

// hookRun is what a hook does when it runs. args are those that git gives to it.
type hookRun func(ctx context.Context, a *app, args []string) error

// hookRuns are the hooks, by git's names.
func hookRuns() map[string]hookRun {
	return map[string]hookRun{
		"commit-msg":  runCommitMsg,
		"post-commit": runPostCommit,
		"pre-commit":  runPreCommit,
		"pre-push":    runPrePush,

		server.PreReceive:           serverRun(server.PreReceive),
		server.ReferenceTransaction: serverRun(server.ReferenceTransaction),
	}
}

func newHooksRun(a *app) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "run NAME [ARGS...]",
		Short: "what an installed hook calls",
		Long: `Does what the git hook of that name is for, with the arguments and the standard input that git
gives to it. Installed hooks call it; another hook manager may, too.

  pre-commit   refuses a commit that the policy or another's path claim forbids
  commit-msg   notes the claims that the policy asks for in the message, as trailers
  post-commit  renews the session's claims that are due
  pre-push     refuses such a push, having asked the remote

In a bare repository reference-transaction refuses what breaks the rules of claims, and what no
claim covers; pre-receive does so first, in words that reach whoever pushes.

Exit 6 is a refusal, and 2 says that it can't be told. WORKLEASE_OVERRIDE=REASON lets a person
pass, on record.`,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) > 0 && hookRuns()[args[0]] != nil {
				return nil
			}
			names := strings.Join(slices.Sorted(maps.Keys(hookRuns())), ", ")
			return &fault.UsageError{Message: "hooks run: want the name of a hook", Hint: "one of " + names}
		},
		ValidArgsFunction: cobra.FixedCompletions(slices.Sorted(maps.Keys(hookRuns())), cobra.ShellCompDirectiveDefault),
		RunE: a.run(func(ctx context.Context, args []string) (*outcome, error) {
			return nil, hookRuns()[args[0]](ctx, a, args[1:])
		}),
	}
	cmd.Flags().SetInterspersed(false) // what follows the name is git's
	return cmd
}

// runPreCommit judges what is about to be committed.
func runPreCommit(ctx context.Context, a *app, _ []string) error {
	w, g, err := a.openGuard(ctx, true)
	if err != nil {
		return err
	}
	defer w.close()
	w.nameUnknown()
	return w.pronounce("pre-commit", g.Commit(w.ctx))
}

// runCommitMsg completes the message of a commit. What goes wrong with that is no reason to refuse the commit.
func runCommitMsg(ctx context.Context, a *app, args []string) error {
	if len(args) < 1 {
		return &fault.UsageError{Message: "hooks run commit-msg: want the file of the message"}
	}
	w, g, err := a.openGuard(ctx, false)
	if err != nil {
		return err
	}
	defer w.close()
	m := guard.MessageFile{Path: a.there(args[0]), Typed: a.getenv("GIT_EDITOR") != ":"}
	if template := w.repo.Config.Value("commit.template"); template != "" {
		m.Template = w.expand(template)
	}
	if err := g.Message(w.ctx, m); err != nil {
		a.warn(a.judge(fmt.Errorf("the claims could not be noted in the message: %w", err)))
	}
	return nil
}

// runPostCommit renews what is due. The commit is made, so that nothing that goes wrong matters to git.
func runPostCommit(ctx context.Context, a *app, _ []string) error {
	w, g, err := a.openGuard(ctx, false)
	if err != nil {
		return err
	}
	defer w.close()
	for _, err := range g.Renew(w.ctx) {
		a.warn(a.judge(err))
	}
	return nil
}

// there is a file as seen from where the run happens.
func (a *app) there(path string) string {
	if filepath.IsAbs(path) {
		return path
	}
	return filepath.Join(a.dir, path)
}

// expand is a file that git's configuration names: from the user's home, or from the top of the work tree.
func (w *work) expand(path string) string {
	if rest, ok := strings.CutPrefix(path, "~/"); ok {
		return filepath.Join(w.app.getenv("HOME"), rest)
	}
	if filepath.IsAbs(path) {
		return path
	}
	return filepath.Join(w.repo.WorkTree, path)
}

// runPrePush judges what is about to be pushed.
func runPrePush(ctx context.Context, a *app, args []string) error {
	if len(args) < 2 {
		return &fault.UsageError{Message: "hooks run pre-push: want the remote's name and URL"}
	}
	updates, err := guard.ReadUpdates(a.in)
	if err != nil {
		return err
	}
	w, g, err := a.openGuard(ctx, false)
	if err != nil {
		return err
	}
	defer w.close()
	w.nameUnknown()
	return w.pronounce("pre-push", g.Push(w.ctx, w.target(ctx, args[0], args[1]), updates))
}

// pronounce says what came of a judgement: the error refuses the operation.
func (w *work) pronounce(hook string, v *guard.Verdict) error {
	if v.Override != "" {
		return w.overridden(hook, v)
	}
	if v.Warns != nil {
		w.app.warn(w.app.judge(v.Warns))
	}
	if v.Blocks != nil {
		return v.Blocks
	}
	return nil
}

// warn prints a fault that refuses nothing.
func (a *app) warn(f fault.Fault) {
	fmt.Fprintf(a.err, "%s %s\n", a.palette.Paint(term.Warn, "git-worklease: warning:"), f.Message)
	for _, line := range f.Lines {
		fmt.Fprintf(a.err, "  %s\n", line)
	}
	if f.Hint != "" {
		fmt.Fprintf(a.err, "%s %s\n", a.palette.Paint(term.Warn, "hint:"), f.Hint)
	}
}

// overridden lets a person pass, and puts that on record. Without a record nobody passes.
func (w *work) overridden(hook string, v *guard.Verdict) error {
	o := session.Override{At: w.app.clock.Now().UTC(), By: w.holder(), Hook: hook, Reason: v.Override}
	for _, e := range []*guard.Error{v.Blocks, v.Warns} {
		if e == nil {
			continue
		}
		f := w.app.judge(e)
		o.Passed = append(append(o.Passed, f.Message), f.Lines...)
	}
	if err := w.state.RecordOverride(&o); err != nil {
		return err
	}
	w.app.notice("passed by WORKLEASE_OVERRIDE, on record: %s", o.Passed[0])
	return nil
}
