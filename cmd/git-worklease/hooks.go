package main

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/git-worklease/git-worklease/hooks/install"
	"github.com/git-worklease/git-worklease/hooks/server"
	"github.com/git-worklease/git-worklease/internal/gitenv"
	"github.com/git-worklease/git-worklease/internal/term"
)

func newHooks(a *app) *cobra.Command {
	status := a.alsoOnServer(newHooksStatus(a), nil)
	cmd := &cobra.Command{
		Use:   "hooks",
		Short: "let git itself look at claims when it commits and pushes",
		Long: `Installs git hooks that compare what is committed and pushed with the claims of this session
and of others, as the policy file says. Without a command it shows how they stand.

Hooks are for those who want to be stopped: git commit --no-verify and git push --no-verify
pass them by.`,
		Args: noArguments, RunE: status.RunE,
	}
	cmd.AddCommand(
		a.alsoOnServer(newHooksInstall(a), (*server.Repository).Install), a.alsoOnServer(newHooksUninstall(a), (*server.Repository).Uninstall), status,
		newHooksRun(a),
	)
	return cmd
}

func newHooksInstall(a *app) *cobra.Command {
	return &cobra.Command{
		Use:   "install",
		Short: "install the hooks in this clone",
		Long: `Installs the hooks pre-commit, commit-msg, post-commit and pre-push for all worktrees of this
clone. With git 2.54 or later they are entries in the clone's configuration, and no file is
touched. With an older git they are files where git looks for hooks. A hook that is there already
is kept, and run first.

Hooks of pre-commit and git-lfs are gone along with. What husky or lefthook manage, what is
committed, and what is for all repositories of a user is not changed: for that it prints what
has to be added, and ends with status 6 until that was done.

It can be run again at any time: after an upgrade of git or of this program, or when something
else has displaced the hooks.`,
		Args: noArguments, ValidArgsFunction: noFiles,
		RunE: a.run(func(ctx context.Context, _ []string) (*outcome, error) { return a.runHooksInstall(ctx) }),
	}
}

func newHooksUninstall(a *app) *cobra.Command {
	return &cobra.Command{
		Use:   "uninstall",
		Short: "remove the hooks, and put back what was there before",
		Long: `Removes the hooks from this clone, and puts back the hooks that were there before, as they
were. What was added by hand to the hooks of others stays, and is named.`,
		Args: noArguments, ValidArgsFunction: noFiles,
		RunE: a.run(func(ctx context.Context, _ []string) (*outcome, error) { return a.runHooksUninstall(ctx) }),
	}
}

func newHooksStatus(a *app) *cobra.Command {
	return &cobra.Command{
		Use:   "status",
		Short: "show whether git runs the hooks in this worktree",
		Long: `Shows whether git runs the hooks in this worktree, by what, and what is in the way where it
does not. Exit status 6 if they were installed and one of them does not run.`,
		Args: noArguments, ValidArgsFunction: noFiles,
		RunE: a.run(func(ctx context.Context, _ []string) (*outcome, error) { return a.runHooksStatus(ctx) }),
	}
}

// openHooks finds the clone and its git. It reads no settings, so that hooks can be removed whatever those are.
func (a *app) openHooks(ctx context.Context) (*install.Clone, error) {
	git := a.git()
	repo, err := gitenv.Discover(ctx, git)
	if err != nil {
		return nil, err
	}
	a.paint(repo.Config)
	version, _, _, err := git.Version(ctx)
	if err != nil {
		return nil, err
	}
	program, err := a.program()
	return &install.Clone{Repo: repo, Git: git, Version: version, Program: program}, err
}

// program is where hooks find this program: by the name under which it is installed, which stays when a new version replaces it.
func (a *app) program() (string, error) {
	self, err := os.Executable()
	if err != nil {
		return "", err
	}
	if found, err := exec.LookPath("git-worklease"); err == nil {
		if found, err = filepath.Abs(found); err == nil && sameProgram(found, self) {
			self = found
		}
	}
	return filepath.ToSlash(self), nil
}

func sameProgram(a, b string) bool {
	x, err := os.Stat(a)
	if err != nil {
		return false
	}
	y, err := os.Stat(b)
	return err == nil && os.SameFile(x, y)
}

func (a *app) runHooksInstall(ctx context.Context) (*outcome, error) {
	c, err := a.openHooks(ctx)
	if err != nil {
		return nil, err
	}
	status, err := c.Install(ctx)
	if err != nil {
		return nil, err
	}
	a.noticeBare(c, "install")
	return hooksOutcome(c, status), nil
}

func (a *app) runHooksStatus(ctx context.Context) (*outcome, error) {
	c, err := a.openHooks(ctx)
	if err != nil {
		return nil, err
	}
	status, err := c.Look(ctx)
	if err != nil {
		return nil, err
	}
	a.noticeBare(c, "status")
	return hooksOutcome(c, status), nil
}

// noticeBare says in a bare repository that its hooks are not those that judge what is pushed to it.
func (a *app) noticeBare(c *install.Clone, command string) {
	if c.Repo.Bare {
		a.notice("this repository is bare, and these hooks guard its worktrees alone; what is pushed to it: `git worklease hooks %s --server`", command)
	}
}

func hooksOutcome(c *install.Clone, status *install.Status) *outcome {
	return &outcome{result: status, text: func(p *printer) { printHooks(p, c.Repo.WorkTree, status) }, failure: status.Err()}
}

// hookStyles are how states look.
var hookStyles = map[install.State]term.Style{install.Active: term.Good, install.Inert: term.Bad, install.Absent: term.Dim}

// printHooks shows one line a hook, and below what has to be added to which file.
func printHooks(p *printer, top string, status *install.Status) {
	t := &term.Table{}
	for _, s := range status.Hooks {
		t.Row(string(s.Hook), string(s.State), term.Clean(describeHook(top, s)))
		t.Style(1, hookStyles[s.State])
	}
	p.table(t)
	snippets := map[string]string{}
	var files []string
	for _, s := range status.Hooks {
		if s.State == install.Active || s.Snippet == "" {
			continue
		}
		if snippets[s.SnippetFile] == "" {
			files = append(files, s.SnippetFile)
		}
		snippets[s.SnippetFile] += s.Snippet + "\n"
	}
	for _, file := range files {
		p.printf("\nadd to %s:\n\n%s", term.Clean(short(top, file)), snippets[file])
	}
	if len(files) > 0 && filepath.Base(files[0]) == "lefthook-local.yml" {
		p.printf("\nand then: lefthook install\n")
	}
}

// describeHook says where a hook is, or why it is not.
func describeHook(top string, s install.Spot) string {
	switch {
	case s.State != install.Active:
		return s.Why
	case s.Way == install.ByConfig:
		return "git config hook.worklease-" + string(s.Hook)
	case s.Chained != "" && s.Manager != "":
		return short(top, s.Path) + ", after that of " + string(s.Manager)
	case s.Chained != "":
		return short(top, s.Path) + ", after " + filepath.Base(s.Chained)
	case s.Manager != "":
		return short(top, s.Path) + ", by " + string(s.Manager)
	}
	return short(top, s.Path)
}

// short is a path relative to the top of the work tree where it is below.
func short(top, path string) string {
	if rel, err := filepath.Rel(top, path); err == nil && top != "" && filepath.IsLocal(rel) {
		return rel
	}
	return path
}

func (a *app) runHooksUninstall(ctx context.Context) (*outcome, error) {
	c, err := a.openHooks(ctx)
	if err != nil {
		return nil, err
	}
	done, err := c.Uninstall(ctx)
	if done == nil {
		return nil, err
	}
	return &outcome{result: done, failure: err, text: func(p *printer) { printUninstalled(p, c.Repo.WorkTree, done) }}, nil
}

func printUninstalled(p *printer, top string, done *install.Uninstalled) {
	if done.Was {
		p.printf("%s\n", p.palette.Paint(term.Good, "the hooks are removed"))
	} else {
		p.printf("no hooks were installed\n")
	}
	for _, s := range done.Asked {
		p.printf("%s still calls git-worklease: %s\n", s.Hook, term.Clean(short(top, s.Path)))
	}
	for _, path := range done.Kept {
		p.printf("%s was there before, and another hook is in its place now; it is nobody's\n", term.Clean(short(top, path)))
	}
}

// warnInert says once that hooks which were installed don't run here. To find that out takes no process and no request.
func (w *work) warnInert(ctx context.Context) {
	if first, _, _ := strings.Cut(w.app.operation, "-"); first == "hooks" || first == "init" || first == "uninstall" || w.repo.CommonDir == "" {
		return
	}
	c := &install.Clone{Repo: w.repo, Git: w.git}
	spots, err := c.Inert(ctx)
	if err != nil || len(spots) == 0 {
		return
	}
	w.app.notice("hooks are installed and don't run here: %s: %s; `git worklease hooks status` says what to do", install.Names(spots), term.Clean(spots[0].Why))
}
