package main

import (
	"context"
	"fmt"
	"io"
	"os/user"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/git-worklease/git-worklease/hooks/server"
	"github.com/git-worklease/git-worklease/internal/fault"
	"github.com/git-worklease/git-worklease/internal/term"
)

// serverHooks is what --server means to the commands of hooks.
const serverHooks = `

With --server, in a bare repository: the server itself then refuses forged renewals, early
take-overs, steps back, deletions of claims, releases by force of users who are not listed,
and pushes of branches that the default branch's policy covers and that don't renew the
claim in the same push (` + "`git worklease push`" + ` does). It needs git 2.31 or newer there. A hook
that is there stays, and runs first. The file worklease-server.toml in the git directory
names who may release by force, and what each user may claim:

  force = ["alice"]
  [resources]
  ci = ["task:ci-", "port:"]`

// alsoOnServer lets a command of hooks have the flag --server, with which it changes the hooks of a bare repository, or shows them where change is nil.
func (a *app) alsoOnServer(cmd *cobra.Command, change func(*server.Repository) error) *cobra.Command {
	onServer := false
	here := cmd.RunE
	there := a.run(func(ctx context.Context, _ []string) (*outcome, error) { return a.runServerHooks(ctx, change) })
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		if onServer {
			return there(cmd, args)
		}
		return here(cmd, args)
	}
	cmd.Long += serverHooks
	cmd.Flags().BoolVar(&onServer, "server", false, "the hooks of a bare repository, for all who push to it")
	return cmd
}

// serverHooksJSON are the hooks of a server for programs.
type serverHooksJSON struct {
	Repository string              `json:"repository"`
	Hooks      []server.HookStatus `json:"hooks"`
}

// serverRepository is the bare repository of the current directory.
func (a *app) serverRepository(ctx context.Context) (*server.Repository, error) {
	program, err := a.program()
	if err != nil {
		return nil, fmt.Errorf("find this program: %w", err)
	}
	return server.Open(ctx, a.git(), program)
}

func (a *app) runServerHooks(ctx context.Context, change func(*server.Repository) error) (*outcome, error) {
	r, err := a.serverRepository(ctx)
	if err != nil {
		return nil, err
	}
	if change != nil {
		if err := change(r); err != nil {
			return nil, err
		}
	}
	if _, err := server.ReadSettings(r.Dir); err != nil {
		return nil, err
	}
	status, err := r.Status()
	if err != nil {
		return nil, err
	}
	return &outcome{result: serverHooksJSON{r.Dir, status}, text: func(p *printer) { printServerHooks(p, status) }}, nil
}

func printServerHooks(p *printer, status []server.HookStatus) {
	for _, s := range status {
		word, more := p.palette.Paint(term.Good, "installed"), ""
		switch {
		case s.Changed:
			word, more = p.palette.Paint(term.Bad, "changed by hand"), ": "+s.Path
		case !s.Installed:
			word = "not installed"
		case s.Missing:
			word, more = p.palette.Paint(term.Bad, "inert"), ": "+s.Program+" is missing, and every push is refused"
		case s.Chained != "":
			more = ", after the one that was there before"
		}
		p.printf("%s %s%s\n", s.Hook, word, term.Clean(more))
	}
}

// serverRun is what the hook of that name does when a server's git runs it.
func serverRun(hook string) hookRun {
	return func(ctx context.Context, a *app, args []string) error { return a.runServerHook(ctx, hook, args) }
}

// runServerHook is what a server's git runs: it ends with exit 6 where the push is refused, and with 2 where that can't be told.
func (a *app) runServerHook(ctx context.Context, hook string, args []string) error {
	if hook == server.ReferenceTransaction && (len(args) != 1 || args[0] != "prepared") {
		return nil
	}
	lines, err := io.ReadAll(a.in)
	if err != nil {
		return fmt.Errorf("%s: %w", hook, err)
	}
	verdict, err := a.judgePush(ctx, hook == server.ReferenceTransaction, lines)
	if err != nil {
		return fmt.Errorf("%s: %w", hook, err)
	}
	if hook == server.ReferenceTransaction {
		verdict.Fenced, verdict.Warnings = nil, nil // pre-receive has said so
	}
	verdict.Tell(a.err)
	if len(verdict.Refusals) > 0 {
		a.exit = fault.Forbidden
	}
	return nil
}

func (a *app) judgePush(ctx context.Context, locked bool, lines []byte) (*server.Verdict, error) {
	dir := a.getenv("GIT_DIR")
	if !filepath.IsAbs(dir) {
		dir = filepath.Join(a.dir, dir, ".")
	}
	settings, err := server.ReadSettings(dir)
	if err != nil {
		return nil, err
	}
	git := a.git()
	git.Interactive = false
	git.Env = append(git.Environ(), "GIT_NO_REPLACE_OBJECTS=1")
	p := &server.Push{Git: git, Dir: dir, Locked: locked, Settings: settings, User: server.User(a.getenv, account), Now: a.clock.Now(), Version: a.version}
	return p.Judge(ctx, lines)
}

// account is the name of the user under which this process runs; "" where the system has none.
func account() string {
	me, err := user.Current()
	if err != nil {
		return ""
	}
	return me.Username
}
