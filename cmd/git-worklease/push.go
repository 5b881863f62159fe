package main

import (
	"context"
	"slices"

	"github.com/spf13/cobra"

	"github.com/git-worklease/git-worklease/internal/fault"
)

// pushOptions are the command line of push: its own flag, and what goes to git.
type pushOptions struct {
	unfenced bool

	force, forceIfIncludes, remove, tags, followTags, all, prune bool
	upstream, dryRun, noVerify                                   bool
	quiet, verbose, progress, noProgress                         bool
	leases                                                       leaseFlag
	pushOptions                                                  []string
	submodules                                                   string

	remote   string
	refspecs []string
}

func newPush(a *app) *cobra.Command {
	var o pushOptions
	cmd := &cobra.Command{
		Use:   "push [REMOTE [REFSPEC...]]",
		Short: "push branches together with the claims they need",
		Long: `Pushes what ` + "`git push`" + ` would, in one request with a renewal of this session's claims that the
server does as a whole or not at all. If a claim was lost meanwhile, the server refuses the
code too, and nothing moves (exit 4): "guarantee: fenced".

First git finds out, in a dry run, what there is to push, and the repository's pre-push
hooks have their say, once. The remote, push.default, refspecs and the flags below mean
what they mean to git push; what git, hooks and the server print is passed on.

Code and claims can only move together where they are in one repository. Where the push
goes elsewhere than to the remote of the claims, it is refused (exit 6, not-fenceable)
unless --unfenced is given: then the claims are renewed just before, and the code is pushed
by itself, "guarantee: checked". What submodules push by --recurse-submodules is theirs,
and not fenced.

If the push is interrupted or its reply is lost, it may have landed: exit 2. Repeat it, and
it is settled.`,
		Example: "  git worklease push\n  git worklease push --force-with-lease origin fix-login",
		RunE: a.run(func(ctx context.Context, args []string) (*outcome, error) {
			if len(args) > 0 {
				o.remote, o.refspecs = args[0], args[1:]
			}
			return a.runPush(ctx, &o)
		}),
		ValidArgsFunction: func(cmd *cobra.Command, args []string, begun string) ([]string, cobra.ShellCompDirective) {
			if len(args) > 0 {
				return nil, cobra.ShellCompDirectiveNoFileComp
			}
			return a.remotes(cmd, args, begun)
		},
	}
	o.flags(cmd)
	return cmd
}

func (o *pushOptions) flags(cmd *cobra.Command) {
	flags := cmd.Flags()
	flags.BoolVar(&o.unfenced, "unfenced", false, "push the code by itself, after its claims were renewed")
	flags.BoolVarP(&o.force, "force", "f", false, "as for git push: replace what is no ancestor")
	flags.Var(&o.leases, "force-with-lease", "as for git push: replace only what was last fetched, or what `REF:OBJECT` says")
	flags.Lookup("force-with-lease").NoOptDefVal = everyRef
	flags.BoolVar(&o.forceIfIncludes, "force-if-includes", false, "as for git push: with --force-with-lease, only what was also merged")
	flags.BoolVarP(&o.remove, "delete", "d", false, "as for git push: delete the refs that are named")
	flags.BoolVar(&o.tags, "tags", false, "as for git push: all tags too")
	flags.BoolVar(&o.followTags, "follow-tags", false, "as for git push: annotated tags of what is pushed too")
	flags.BoolVar(&o.all, "all", false, "as for git push: all branches")
	flags.BoolVar(&o.prune, "prune", false, "as for git push: delete branches that are not here")
	flags.BoolVarP(&o.upstream, "set-upstream", "u", false, "as for git push: let the branches track what they are pushed to")
	flags.BoolVarP(&o.dryRun, "dry-run", "n", false, "push nothing; say what would be pushed, and prove the claims")
	flags.BoolVar(&o.noVerify, "no-verify", false, "as for git push: run no pre-push hook")
	flags.BoolVarP(&o.quiet, "quiet", "q", false, "as for git push: print errors alone")
	flags.BoolVarP(&o.verbose, "verbose", "v", false, "as for git push: print more")
	flags.BoolVar(&o.progress, "progress", false, "as for git push: show progress, even if not on a terminal")
	flags.BoolVar(&o.noProgress, "no-progress", false, "as for git push: show no progress")
	flags.StringArrayVarP(&o.pushOptions, "push-option", "o", nil, "as for git push: `TEXT` for the server's hooks; may be repeated")
	flags.StringVar(&o.submodules, "recurse-submodules", "", "as for git push: `HOW`, check, on-demand or no")
	_ = cmd.RegisterFlagCompletionFunc("push-option", noFiles) // the flag is there
	_ = cmd.RegisterFlagCompletionFunc("recurse-submodules", cobra.FixedCompletions([]string{"check", "on-demand", "no"}, cobra.ShellCompDirectiveNoFileComp))
	_ = cmd.RegisterFlagCompletionFunc("force-with-lease", noFiles)
}

// everyRef is --force-with-lease without a value.
const everyRef = "(all)"

// leaseFlag are the uses of --force-with-lease.
type leaseFlag []string

func (l *leaseFlag) String() string { return "" }
func (l *leaseFlag) Type() string   { return "REF:OBJECT" }
func (l *leaseFlag) Set(s string) error {
	*l = append(*l, s)
	return nil
}

// check finds what contradicts.
func (o *pushOptions) check() error {
	if o.submodules != "" && !slices.Contains([]string{"check", "on-demand", "no"}, o.submodules) {
		return &fault.UsageError{Message: "--recurse-submodules: want check, on-demand or no"}
	}
	return nil
}

// git are the options that say what is pushed and how that is judged.
func (o *pushOptions) git() []string {
	var args []string
	for _, f := range []struct {
		name string
		on   bool
	}{
		{"--force", o.force}, {"--force-if-includes", o.forceIfIncludes}, {"--delete", o.remove}, {"--tags", o.tags}, {"--follow-tags", o.followTags},
		{"--all", o.all}, {"--prune", o.prune}, {"--no-verify", o.noVerify},
	} {
		if f.on {
			args = append(args, f.name)
		}
	}
	for _, l := range o.leases {
		if l == everyRef {
			args = append(args, "--force-with-lease")
			continue
		}
		args = append(args, "--force-with-lease="+l)
	}
	return args
}

// manner are the options that hold for each request. Git shows progress on a terminal alone, and what it sees is a pipe of ours. Its --quiet would keep the
// report back as well, which is ours to print.
func (o *pushOptions) manner(terminal bool) []string {
	var args []string
	switch {
	case o.quiet, o.noProgress:
		args = append(args, "--no-progress")
	case o.progress, terminal:
		args = append(args, "--progress")
	}
	if o.verbose {
		args = append(args, "--verbose")
	}
	for _, text := range o.pushOptions {
		args = append(args, "--push-option="+text)
	}
	return args
}
