package main

import (
	"context"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/git-worklease/git-worklease/internal/config"
	"github.com/git-worklease/git-worklease/internal/fault"
	"github.com/git-worklease/git-worklease/providers/backlogmd"
	"github.com/git-worklease/git-worklease/providers/beads"
	"github.com/git-worklease/git-worklease/providers/github"
	"github.com/git-worklease/git-worklease/providers/linear"
	"github.com/git-worklease/git-worklease/queue"
)

// queueInitJSON is what was found, and what was written, or would be.
type queueInitJSON struct {
	DryRun bool `json:"dry_run"`
	// Found are the trackers that the work tree or its remotes show, Added those of them that the policy did not have.
	Found []string `json:"found"`
	Added []string `json:"added"`
	// Text is what is added to the policy file.
	Text string `json:"text,omitempty"`
}

func newQueueInit(a *app) *cobra.Command {
	var dry bool
	cmd := &cobra.Command{
		Use:   "init",
		Short: "find the trackers of this repository, and write them into the policy",
		Long: `Looks for the trackers that this repository uses: GitHub by its remotes, Beads by .beads,
Backlog.md by its folder, Linear by links. It adds a table for each to the policy file, and a view
of what is ready. What is there already stays; what is written is for you to look at and commit.`,
		Example: "  git worklease queue init --dry-run\n  git worklease queue init", Args: noArguments, ValidArgsFunction: noFiles,
		RunE: a.run(func(ctx context.Context, _ []string) (*outcome, error) { return a.runQueueInit(ctx, dry) }),
	}
	cmd.Flags().BoolVarP(&dry, "dry-run", "n", false, "write nothing, and say what would be written")
	return cmd
}

func (a *app) runQueueInit(ctx context.Context, dry bool) (*outcome, error) {
	w, err := a.openState(ctx)
	if err != nil {
		return nil, err
	}
	if w.repo.WorkTree == "" {
		return nil, &fault.UsageError{Message: "queue init: there is no work tree here to put the policy file in", Hint: "run it in a clone"}
	}
	j := &queueInitJSON{DryRun: dry, Found: []string{}, Added: []string{}}
	var text strings.Builder
	for _, found := range w.detect() {
		j.Found = append(j.Found, found.name)
		if !w.hasTracker(found.name) {
			j.Added = append(j.Added, found.name)
			text.WriteString("\n" + found.table)
		}
	}
	if len(j.Found) == 0 && len(w.policy.Tables("providers")) == 0 {
		return nil, &fault.UsageError{
			Message: "nothing shows which tracker this repository uses", Hint: "write its table into " + config.PolicyFile + ", such as [providers.github] with repo = \"acme/app\"",
		}
	}
	if len(j.Added) > 0 && len(w.policy.Tables("views")) == 0 {
		fmt.Fprintf(&text, "\n[views.%s]\nready = true\n", queue.ReadyView)
	}
	j.Text = text.String()
	if j.Text != "" && !dry {
		if err := w.addToPolicy(j.Text); err != nil {
			return nil, err
		}
	}
	return &outcome{result: j, text: func(p *printer) { printQueueInit(p, j) }}, nil
}

// addToPolicy adds tables at the policy file's end, where they belong to no other table.
func (w *work) addToPolicy(text string) error {
	whole := string(w.policy.Data)
	if !w.policy.Found {
		whole = "version = 1\n"
	}
	if whole != "" && !strings.HasSuffix(whole, "\n") {
		whole += "\n"
	}
	whole += text
	if _, err := config.ParsePolicy([]byte(whole)); err != nil {
		return fmt.Errorf("the policy file that would be written: %w", err)
	}
	return writeCommitted(filepath.Join(w.repo.WorkTree, config.PolicyFile), whole)
}

type detected struct{ name, table string }

// detect finds the trackers that this place shows, without asking anybody.
func (w *work) detect() []detected {
	var all []detected
	add := func(name string, lines ...string) {
		all = append(all, detected{name, "[providers." + name + "]\n" + strings.Join(lines, "")})
	}
	if backlogmd.Detect(w.repo.WorkTree) {
		add("backlogmd")
	}
	if settings, ok := beads.Detect(w.repo.WorkTree); ok {
		add("beads", listLine("prefixes", settings.Prefixes))
	}
	tokens := github.Tokens{Getenv: w.app.getenv}
	if repo, ok := github.Detect(w.remoteURLs(), tokens.Hosts()...); ok {
		add("github", fmt.Sprintf("repo = %q\n", repo))
	}
	if o, ok := linear.Detect(w.repo.WorkTree); ok {
		lines := []string{listLine("teams", o.Teams)}
		if o.Workspace != "" {
			lines = append(lines, fmt.Sprintf("workspace = %q\n", o.Workspace))
		}
		add("linear", lines...)
	}
	return all
}

// listLine is a key with a list; nothing where that is empty.
func listLine(name string, list []string) string {
	if len(list) == 0 {
		return ""
	}
	quoted := make([]string, len(list))
	for i, text := range list {
		quoted[i] = fmt.Sprintf("%q", text)
	}
	return name + " = [" + strings.Join(quoted, ", ") + "]\n"
}

func printQueueInit(p *printer, j *queueInitJSON) {
	switch {
	case len(j.Added) == 0:
		p.printf("the policy has %s already\n", strings.Join(j.Found, ", "))
		return
	case j.DryRun:
		p.printf("would add to %s:\n", config.PolicyFile)
	default:
		p.printf("added to %s, for you to look at and commit:\n", config.PolicyFile)
	}
	p.printf("%s", j.Text)
}
