package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/git-worklease/git-worklease/hooks/install"
	"github.com/git-worklease/git-worklease/internal/config"
	"github.com/git-worklease/git-worklease/internal/doctor"
	"github.com/git-worklease/git-worklease/internal/fault"
	"github.com/git-worklease/git-worklease/internal/term"
)

type initOptions struct{ dryRun, noHooks, noAgents bool }

func newInit(a *app) *cobra.Command {
	var o initOptions
	cmd := &cobra.Command{
		Use:   "init",
		Short: "set a repository up: authority, policy file, hooks, a paragraph for agents",
		Long: `Sets a repository up for a team: makes the authority at the remote where there is none, writes
the policy file .worklease.toml with its ID, installs the hooks in this clone, and adds a
paragraph to AGENTS.md. What is there already stays; what is written is for you to look at
and commit. With --dry-run it writes nothing, and says what it would do.`,
		Example: `  git worklease init --dry-run
  git worklease init`,
		Args: noArguments, ValidArgsFunction: noFiles,
		RunE: a.run(func(ctx context.Context, _ []string) (*outcome, error) { return a.runInit(ctx, o) }),
	}
	cmd.Flags().BoolVarP(&o.dryRun, "dry-run", "n", false, "write nothing, and say what would be done")
	cmd.Flags().BoolVar(&o.noHooks, "no-hooks", false, "install no hooks")
	cmd.Flags().BoolVar(&o.noAgents, "no-agents", false, "leave AGENTS.md alone")
	return cmd
}

// The things that init does to what it finds.
const (
	didKeep    = "kept"
	didCreate  = "created"
	didChange  = "changed"
	didInstall = "installed"
)

// initStep is one thing that was done, or would be.
type initStep struct {
	// What is authority, policy, hooks or agents.
	What string `json:"what"`
	Did  string `json:"did"`
	// Where is a path, an ID, or the remote.
	Where string `json:"where"`
	// Text is what was written, or would be.
	Text string `json:"text,omitempty"`
}

type initJSON struct {
	DryRun bool       `json:"dry_run"`
	Steps  []initStep `json:"steps"`
	Hooks  any        `json:"hooks,omitempty"`
}

func (a *app) runInit(ctx context.Context, o initOptions) (*outcome, error) {
	a.writes, a.judges = !o.dryRun, true
	w, err := a.open(ctx)
	if err != nil {
		return nil, err
	}
	defer w.close()
	if w.repo.WorkTree == "" {
		return nil, &fault.UsageError{Message: "init: there is no work tree here to put the policy file in", Hint: "run it in a clone"}
	}
	j := &initJSON{DryRun: o.dryRun}
	id, err := w.initAuthority(j)
	if err != nil {
		return nil, err
	}
	if err := w.initPolicy(j, id); err != nil {
		return nil, err
	}
	var status *install.Status
	if !o.noHooks {
		if status, err = w.initHooks(ctx, j); err != nil {
			return nil, err
		}
	}
	if !o.noAgents {
		if err := w.initAgents(j); err != nil {
			return nil, err
		}
	}
	w.tellPublic()
	return w.initOutcome(j, status), nil
}

func (w *work) initOutcome(j *initJSON, status *install.Status) *outcome {
	out := &outcome{result: j, text: func(p *printer) { printInit(p, w.repo.WorkTree, j, status) }}
	if status != nil {
		j.Hooks = status
		if !j.DryRun {
			out.failure = status.Err()
		}
	}
	return out
}

// initAuthority makes the authority where there is none. One of a clone without a remote is its own, and goes into no policy.
func (w *work) initAuthority(j *initJSON) (string, error) {
	id, made, err := w.lease.Found(w.ctx, !j.DryRun)
	if err != nil {
		return "", err
	}
	step := initStep{What: "authority", Did: didKeep, Where: id}
	if made || id == "" {
		step.Did = didCreate
	}
	if id == "" {
		step.Where = w.remote.Name
	}
	j.Steps = append(j.Steps, step)
	if w.url == "" {
		return "", nil
	}
	return id, nil
}

// initPolicy writes the policy file, or the authority's ID into the one that is there.
func (w *work) initPolicy(j *initJSON, id string) error {
	path := filepath.Join(w.repo.WorkTree, config.PolicyFile)
	policy, err := config.ReadPolicy(w.repo.WorkTree)
	if err != nil {
		return err
	}
	step := initStep{What: "policy", Did: didKeep, Where: config.PolicyFile}
	switch text := string(policy.Data); {
	case !policy.Found:
		step.Did, step.Text = didCreate, w.newPolicy(id)
	case id != "" && !namesAuthority(policy):
		step.Did, step.Text = didChange, withAuthority(text, id)
	}
	j.Steps = append(j.Steps, step)
	if step.Text == "" {
		return nil
	}
	if _, err := config.ParsePolicy([]byte(step.Text)); err != nil {
		return fmt.Errorf("the policy file that would be written: %w", err)
	}
	if j.DryRun {
		return nil
	}
	return writeCommitted(path, step.Text)
}

// namesAuthority says whether the policy has an ID, whatever else counts for more.
func namesAuthority(policy *config.Policy) bool {
	s, err := config.Load(config.Sources{Policy: policy})
	return err != nil || s.Authority.V != ""
}

// withAuthority puts the ID below the version, or at the top: what is below a table's head belongs to the table.
func withAuthority(text, id string) string {
	line := fmt.Sprintf("authority = %q\n", id)
	lines := strings.SplitAfter(text, "\n")
	for i, l := range lines {
		name, _, _ := strings.Cut(l, "=")
		if strings.HasPrefix(strings.TrimSpace(l), "[") {
			break
		}
		if strings.TrimSpace(name) == "version" && strings.HasSuffix(l, "\n") {
			return strings.Join(lines[:i+1], "") + line + strings.Join(lines[i+1:], "")
		}
	}
	return line + text
}

// writeCommitted writes a file of the work tree. A link is not followed: it may lead anywhere.
func writeCommitted(path, text string) error {
	if info, err := os.Lstat(path); err == nil && !info.Mode().IsRegular() {
		return &fault.UsageError{Message: filepath.Base(path) + " is not a regular file", Hint: "put one in its place, or write it by hand"}
	}
	return os.WriteFile(path, []byte(text), 0o644) //nolint:gosec // it is to be committed
}

// initHooks installs the hooks, or says how they stand.
func (w *work) initHooks(ctx context.Context, j *initJSON) (*install.Status, error) {
	c, err := w.app.openHooks(ctx)
	if err != nil {
		return nil, err
	}
	status, err := c.Look(ctx)
	if err != nil {
		return nil, err
	}
	step := initStep{What: "hooks", Did: didInstall}
	if status.Runs() {
		step.Did = didKeep
	}
	if !j.DryRun { // also what is there: by the path that the program has now
		if status, err = c.Install(ctx); err != nil {
			return nil, err
		}
	}
	step.Where = short(w.repo.WorkTree, status.Folder.Path)
	if !c.ByFiles() {
		step.Where = "git config hook.worklease-*"
	}
	j.Steps = append(j.Steps, step)
	return status, nil
}

// tellPublic says what everybody can read.
func (w *work) tellPublic() {
	if w.url == "" {
		return
	}
	ctx, cancel := w.attempt(w.ctx)
	defer cancel()
	r := doctor.Report{Scene: w.app.scene()}
	doctor.Public(ctx, &r, w.url, false)
	for _, f := range r.Findings {
		if f.Level == doctor.Warning || f.Level == doctor.Note {
			w.app.notice("%s; %s", f.What, f.Next)
		}
	}
}

func printInit(p *printer, top string, j *initJSON, status *install.Status) {
	t := &term.Table{}
	for _, s := range j.Steps {
		did := s.Did
		if j.DryRun && did != didKeep {
			did = map[string]string{didCreate: "would create", didChange: "would change", didInstall: "would install"}[did]
		}
		t.Row(did, s.What, term.Clean(s.Where))
		style := term.Good
		if s.Did == didKeep || j.DryRun {
			style = term.Dim
		}
		t.Style(0, style)
	}
	p.table(t)
	if j.DryRun {
		for _, s := range j.Steps {
			if s.Text != "" && s.What == "policy" {
				p.printf("\n%s:\n\n%s", s.Where, s.Text)
			}
		}
		return
	}
	if status != nil && len(status.Inert()) > 0 {
		p.printf("\n")
		printHooks(p, top, status)
	}
	if files := j.written(); len(files) > 0 {
		p.printf("\nlook at it, and commit it for everybody:\n\n  git add %s\n  git commit -m 'Claim work before it is done'\n", strings.Join(files, " "))
	}
}

// written are the files that are to be committed.
func (j *initJSON) written() []string {
	var files []string
	for _, s := range j.Steps {
		if s.Text != "" {
			files = append(files, s.Where)
		}
	}
	return files
}

// gitHub is where issues have numbers, "" elsewhere.
func gitHub(url string) string {
	web, _ := doctor.WebURL(url)
	for _, prefix := range []string{"https://github.com/", "https://www.github.com/"} {
		if rest, ok := strings.CutPrefix(strings.ToLower(web), prefix); ok {
			return strings.TrimSuffix(strings.TrimSuffix(rest, "/"), ".git")
		}
	}
	return ""
}
