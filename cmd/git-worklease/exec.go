package main

import (
	"context"
	"time"

	"github.com/spf13/cobra"

	"github.com/git-worklease/git-worklease/internal/config"
	"github.com/git-worklease/git-worklease/internal/fault"
	"github.com/git-worklease/git-worklease/internal/term"
	"github.com/git-worklease/git-worklease/lease"
)

// execOperation is the command's name. What it prints of its own, and how it ends, differ from the others': standard output and the exit status
// are the command's that it runs.
const execOperation = "exec"

// execTTL is the time to live of what exec claims, since it renews by itself.
const execTTL = 30 * time.Minute

type execOptions struct {
	keys        []string
	purpose     string
	meta        []string
	wait        time.Duration
	maxDuration time.Duration
	report      string
	command     []string
}

func newExec(a *app) *cobra.Command {
	var o execOptions
	cmd := &cobra.Command{
		Use:   "exec [--claim KEY]... -- COMMAND [ARG]...",
		Short: "run a command while claims are held",
		Long: `Runs a command and keeps claims for as long as it runs: those on the resources that
--claim names, all or none, which are released at the end unless this session held them
before; or, without --claim, all that this session holds. With --wait it waits for what
others hold.

Claims are renewed when a third of their time has passed. Where that fails, the command
and all that it started in its process group get SIGTERM shortly before the time is up
(a sixth of it, at most 10 seconds), and SIGKILL when it is. Where a claim is lost, or
released by another process, they get SIGTERM at once. An expired claim is not revived.
The command has the terminal, as if it had been started without exec; SIGINT, SIGTERM,
SIGHUP and SIGQUIT are passed on to it, and SIGINT or SIGTERM that comes again kills it.
If exec itself is killed by SIGKILL, or stopped alone, the command goes on.

The command finds WORKLEASE_CLAIM, WORKLEASE_RESOURCE and WORKLEASE_GENERATION in its
environment, the latter two where it is one resource, WORKLEASE_CLAIMS as JSON, and
WORKLEASE_SESSION.

The exit status is the command's, or 128 and the signal that ended it. It is 124 when
--max-duration ended it, 130 when exec was interrupted before it was started, and 125
for everything else that is not the command's: a claim that is refused or lost, or a
command that can't be started. Standard output is the command's alone, so that with
--json the document is printed on standard error.`,
		Example: "  git worklease exec --claim deploy:staging --max-duration 1h -- make deploy\n" +
			"  git worklease exec -- npm test",
		RunE: func(cmd *cobra.Command, args []string) error {
			return a.run(func(ctx context.Context, args []string) (*outcome, error) {
				if err := o.take(cmd, args); err != nil {
					return nil, err
				}
				return a.runExec(ctx, o)
			})(cmd, args)
		},
	}
	flags := cmd.Flags()
	flags.StringArrayVar(&o.keys, "claim", nil, "`KEY` to claim; may be repeated")
	for _, name := range []config.Name{config.TTL, config.Grace, config.Takeover, config.Expiry} {
		a.settingFlag(flags, name)
	}
	flags.Lookup("ttl").Usage = "how long a claim holds unless it is renewed: whole seconds from 10s to 24h, with a unit (default 30m)"
	flags.VarP(durationFlag{&o.wait}, "wait", "w", "how long to wait for what others hold, such as 10m")
	flags.Var(durationFlag{&o.maxDuration}, "max-duration", "end the command after this time, such as 1h")
	flags.StringVar(&o.purpose, "purpose", "", "what the claim is for, for others to read")
	flags.StringArrayVar(&o.meta, "meta", nil, "`NAME=VALUE` to keep with the claim, such as branch=login; may be repeated")
	flags.StringVar(&o.report, "report", "", "`FILE` for a JSON document that says how it went")
	_ = cmd.RegisterFlagCompletionFunc("claim", a.ownKeys) // the flag is there
	_ = cmd.RegisterFlagCompletionFunc("purpose", noFiles) // likewise
	completeWords(cmd, "wait")
	_ = cmd.RegisterFlagCompletionFunc("max-duration", noFiles) // likewise
	return cmd
}

// take reads the rest of the command line.
func (o *execOptions) take(cmd *cobra.Command, args []string) error {
	const hint = "such as: git worklease exec --claim task:login -- make test"
	switch dash := cmd.ArgsLenAtDash(); {
	case len(args) == 0:
		return &fault.UsageError{Message: "exec: no command given", Hint: hint}
	case dash != 0:
		return &fault.UsageError{Message: "exec: the command goes after --, and what is to be claimed after --claim", Hint: hint}
	case o.maxDuration < 0, o.maxDuration == 0 && cmd.Flags().Changed("max-duration"):
		return &fault.UsageError{Message: "--max-duration: want more than 0s", Hint: "such as --max-duration 1h"}
	case len(o.keys) == 0 && (o.purpose != "" || len(o.meta) > 0 || o.wait > 0):
		return &fault.UsageError{Message: "--purpose, --meta and --wait go with --claim", Hint: hint}
	}
	o.command = args
	return nil
}

// ownStatus gives a fault of exec's own the status that tells it from the command's.
func ownStatus(f *fault.Fault) {
	if f.Exit != fault.OutOfTime && f.Exit != fault.Interrupted {
		f.Exit = fault.OwnFailure
	}
}

func (a *app) runExec(ctx context.Context, o execOptions) (*outcome, error) {
	a.writes, a.early, a.defaultTTL = true, len(o.keys) > 0 && o.wait == 0, execTTL
	if a.early {
		lease.Warm()
	}
	x := newExecution(a, o)
	err := a.nameRemote(ctx, x.run(ctx))
	a.exit = fault.Exit(x.status.Exit())
	out := &outcome{result: x.result(err), failure: err, text: func(*printer) {}}
	if o.report != "" {
		if err := a.writeReport(o.report, out); err != nil {
			a.notice("the report could not be written: %s", term.Clean(err.Error()))
		}
	}
	return out, nil
}
