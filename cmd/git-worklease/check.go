package main

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/git-worklease/git-worklease/hooks"
	"github.com/git-worklease/git-worklease/hooks/check"
	"github.com/git-worklease/git-worklease/hooks/guard"
	"github.com/git-worklease/git-worklease/internal/config"
	"github.com/git-worklease/git-worklease/internal/fault"
	"github.com/git-worklease/git-worklease/lease"
)

type checkOptions struct {
	staged, fork bool
	// ranged says that --range was given, with whatever in it.
	ranged    bool
	revisions string
	branch    string
	format    string
}

// The formats of check.
const (
	formatPlain  = "plain"
	formatJSON   = "json"
	formatGitHub = "github"
)

func newCheck(a *app) *cobra.Command {
	var o checkOptions
	cmd := &cobra.Command{
		Use:   "check [--staged | --range A..B]",
		Short: "compare a change with the policy's rules",
		Long: `Says whether a change has the claims that the policy's rules ask for.

Of what is staged (the default), it compares what this clone remembers that this session holds, by
the policy here and that of the remote's default branch as it was fetched last. Others' path claims
count as well: where no claim of yours covers a path, the remote is asked for them, unless it
showed none within the last minute. Nothing is renewed. Of a range of commits, it looks at what they name in their trailers,
"Worklease-Claim: RESOURCE GENERATION", and asks the remote whether those generations were: this
needs no session, and is meant for CI. Trailers are evidence, not proof: anybody who can read the
remote can write one. The policy is that of A, not that of the change.

How strictly it judges is said in the policy: enforce.commit for what is staged, enforce.push for a
range, and with --fork enforce.forks. Exit 6 if a claim is missing, and 2 if nobody can tell.`,
		Example: "  git worklease check --staged\n  git worklease check --range origin/main..HEAD --branch \"$BRANCH\" --format github",
		Args:    noArguments, ValidArgsFunction: noFiles,
	}
	cmd.RunE = a.run(func(ctx context.Context, _ []string) (*outcome, error) {
		o.ranged = cmd.Flags().Changed("range")
		return a.runCheck(ctx, o)
	})
	flags := cmd.Flags()
	flags.BoolVar(&o.staged, "staged", false, "check what is staged")
	flags.StringVar(&o.revisions, "range", "", "check the commits of `A..B`: those of B that A does not have")
	flags.StringVar(&o.branch, "branch", "", "the branch that the change is for; else the one that is checked out, or that B is")
	flags.StringVar(&o.format, "format", formatPlain, "plain, json, or github for annotations")
	flags.BoolVar(&o.fork, "fork", false, "the commits come from a fork: enforce.forks holds")
	completeWords(cmd, "format", formatPlain, formatJSON, formatGitHub)
	completeWords(cmd, "range")
	completeWords(cmd, "branch")
	return cmd
}

func (a *app) runCheck(ctx context.Context, o checkOptions) (*outcome, error) {
	if !slices.Contains([]string{formatPlain, formatJSON, formatGitHub}, o.format) {
		return nil, &fault.UsageError{Message: fmt.Sprintf("--format %q: want plain, json or github", o.format)}
	}
	a.judges = true
	a.flags.json = a.flags.json || o.format == formatJSON
	o.branch = strings.TrimPrefix(o.branch, "refs/heads/")
	switch {
	case o.ranged && o.staged:
		return nil, &fault.UsageError{Message: "--staged does not go with --range"}
	case o.ranged: // also with nothing in it, as a variable of CI may have: what is staged there is nothing, and covered
		return a.checkRange(ctx, o)
	case o.fork:
		return nil, &fault.UsageError{Message: "--fork goes with --range"}
	default:
		return a.checkStaged(ctx, o)
	}
}

// checked is what was checked, and what was found.
type checked struct {
	mode     config.Mode
	setting  string // that the mode is from
	branch   string
	commits  []hooks.Commit
	findings []check.Finding
	// staged says that the one finding is of no commit. Of it rivals are what others have claimed.
	staged bool
	rivals *guard.Error
}

// checkRange compares commits with the claims that they name.
func (a *app) checkRange(ctx context.Context, o checkOptions) (*outcome, error) {
	base, tip, err := parseRange(o.revisions)
	if err != nil {
		return nil, err
	}
	a.policy = func(ctx context.Context, w *work) (*config.Policy, error) {
		for _, revision := range []string{base, tip} {
			if err := w.checkRevision(ctx, revision); err != nil {
				return nil, err
			}
		}
		return hooks.PolicyAt(ctx, w.git, base)
	}
	w, err := a.openSettings(ctx)
	if err != nil {
		return nil, err
	}
	enforce := w.policy.Enforce()
	c := &checked{mode: enforce.Push, setting: "enforce.push", branch: o.branch}
	if o.fork {
		c.mode, c.setting = enforce.Forks, "enforce.forks"
	}
	if c.mode == config.ModeOff || len(w.policy.Rules()) == 0 {
		return a.checkOutcome(o, c), nil
	}
	if c.branch == "" {
		if c.branch, err = w.branchOf(ctx, tip); err != nil {
			return nil, err
		}
	}
	if c.commits, err = hooks.Commits(ctx, w.git, base+".."+tip); err != nil {
		return nil, err
	}
	c.findings, err = check.Judge(check.Question{Policy: w.policy, Branch: c.branch, Commits: c.commits, Were: func(epochs []lease.Epoch) ([]lease.Past, error) {
		w, err := a.open(ctx)
		if err != nil {
			return nil, err
		}
		defer w.close()
		return w.lease.Were(w.ctx, epochs)
	}})
	if err != nil {
		return nil, err
	}
	return a.checkOutcome(o, c), nil
}

// parseRange reads A..B. A...B is read as the same: what A has besides is not checked. An A that is not there stands for HEAD to git, and is a variable of CI
// that is not set to us: nothing would be checked.
func parseRange(text string) (base, tip string, err error) {
	base, tip, ok := strings.Cut(text, "..")
	tip = strings.TrimPrefix(tip, ".")
	switch {
	case !ok || base == "" || strings.HasPrefix(base, "-") || strings.HasPrefix(tip, "-") || strings.HasPrefix(base, "^") || strings.Contains(tip, ".."):
		return "", "", &fault.UsageError{Message: fmt.Sprintf("--range %q: want A..B", text), Hint: "such as --range origin/main..HEAD"}
	case strings.Trim(base, "0") == "":
		return "", "", &fault.UsageError{
			Message: fmt.Sprintf("--range %q: a new branch has no commit before", text), Hint: "name the branch that it will be merged into, such as --range origin/main..HEAD",
		}
	}
	return base, cmp.Or(tip, "HEAD"), nil
}

// checkRevision refuses what is no commit here, and knows why it may be missing.
func (w *work) checkRevision(ctx context.Context, revision string) error {
	_, err := w.git.Output(ctx, "rev-parse", "-q", "--verify", "--end-of-options", revision+"^{commit}")
	switch {
	case err == nil:
		return nil
	case ctx.Err() != nil:
		return err
	case w.repo.Shallow:
		return fmt.Errorf("%s is not here: %w", revision, hooks.ErrShallow)
	default:
		return &fault.UsageError{Message: fmt.Sprintf("--range: %q is no commit here", revision), Hint: "fetch it first, or check its name"}
	}
}

// branchOf is the branch that a revision names, here or at a remote. Where rules go by branches, there must be one.
func (w *work) branchOf(ctx context.Context, revision string) (branch string, err error) {
	if revision == "HEAD" {
		branch, err = hooks.Branch(ctx, w.git, w.repo.GitDir)
	} else {
		var out []byte
		out, err = w.git.Output(ctx, "rev-parse", "-q", "--symbolic-full-name", revision) // which does not begin with a dash
		branch = w.branchOfRef(strings.TrimSpace(string(out)))
	}
	byBranch := slices.ContainsFunc(w.policy.Rules(), func(r config.Rule) bool { return r.Branch != "" })
	if err == nil && branch == "" && byBranch {
		return "", &fault.UsageError{
			Message: fmt.Sprintf("check: %s is no branch, and rules of the policy go by branches", revision), Hint: "name the branch with --branch NAME; CI has it in a variable",
		}
	}
	return branch, err
}

// branchOfRef is the branch that a ref stands for: itself, or a remote's.
func (w *work) branchOfRef(ref string) string {
	if branch, ok := strings.CutPrefix(ref, "refs/heads/"); ok {
		return branch
	}
	for _, remote := range w.repo.Remotes() {
		if branch, ok := strings.CutPrefix(ref, "refs/remotes/"+remote+"/"); ok && branch != "HEAD" {
			return branch
		}
	}
	return ""
}
