package main

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"time"

	"github.com/spf13/cobra"

	"github.com/git-worklease/git-worklease/internal/doctor"
	"github.com/git-worklease/git-worklease/internal/fault"
	"github.com/git-worklease/git-worklease/internal/gitexec"
	"github.com/git-worklease/git-worklease/internal/sim"
	"github.com/git-worklease/git-worklease/internal/term"
)

type simOptions struct {
	workers, resources int
	minutes            float64
	seed               uint64
}

func newSim(a *app) *cobra.Command {
	var o simOptions
	cmd := &cobra.Command{
		Use:   "sim",
		Short: "let many workers loose on a remote, and see whether claims hold there",
		Long: `Simulates workers who claim, renew and release against a real remote, in this process, and
watches by one clock that no two of them ever hold the same. They are of six kinds in turn:
polite ones; some that die, at any point, and come back or never do; slow ones, who work past
the end of their time and then have to find out; some whose clocks are wrong, by up to half of the
grace, or by minutes where the server tells the time; some who verify before each write, as a hook
does; and some who hand their claims over. Claims last for 10 to 14 seconds.

Each piece of work reads counters, and writes them increased while the worker believes to hold
them. An update that is lost, two who hold the same at once, a claim that is lost before its time,
or a generation that comes twice is exit 2.

Nothing that is there is touched: all refs are below refs/worklease/probes/, where no claim is
ever looked for, and are deleted at the end, also after an interrupt. Where that fails it says so.
The workers' clones are in a temporary folder. What it pushes is far more than public hosts like:
use a server of your own.`,
		Example: `  git worklease sim --remote http://git.example.com/scratch.git
  git worklease sim --workers 64 --resources 200 --minutes 2 --remote ssh://git@git.example.com/scratch.git --json`,
		Args: noArguments, ValidArgsFunction: noFiles,
	}
	cmd.RunE = a.run(func(ctx context.Context, _ []string) (*outcome, error) {
		if !cmd.Flags().Changed("seed") {
			o.seed = uint64(rand.Uint32()) //nolint:gosec // not for secrets
		}
		return a.runSim(ctx, o)
	})
	flags := cmd.Flags()
	flags.IntVar(&o.workers, "workers", 12, fmt.Sprintf("how many workers, 1 to %d", sim.MostWorkers))
	flags.IntVar(&o.resources, "resources", 40, fmt.Sprintf("how many resources they want, 1 to %d", sim.MostResources))
	flags.Float64Var(&o.minutes, "minutes", 1, "for how long they work, in minutes, such as 0.5; at most a day")
	flags.Uint64Var(&o.seed, "seed", 0, "`NUMBER` that the workers' scripts follow from (default: drawn, and printed)")
	for _, name := range []string{"workers", "resources", "minutes", "seed"} {
		_ = cmd.RegisterFlagCompletionFunc(name, cobra.NoFileCompletions) // the flag is there
	}
	return cmd
}

func (o *simOptions) span() time.Duration { return time.Duration(o.minutes * float64(time.Minute)) }

func (o *simOptions) check() error {
	switch {
	case o.workers < 1 || o.workers > sim.MostWorkers:
		return &fault.UsageError{Message: fmt.Sprintf("--workers %d: want 1 to %d", o.workers, sim.MostWorkers)}
	case o.resources < 1 || o.resources > sim.MostResources:
		return &fault.UsageError{Message: fmt.Sprintf("--resources %d: want 1 to %d", o.resources, sim.MostResources)}
	case !(o.minutes > 0 && o.minutes <= sim.LongestSpan.Minutes()) || o.span() <= 0: // which holds for no number as well
		return &fault.UsageError{Message: fmt.Sprintf("--minutes %v: want more than 0, and at most %v", o.minutes, sim.LongestSpan.Minutes())}
	}
	return nil
}

func (a *app) runSim(ctx context.Context, o simOptions) (*outcome, error) {
	if err := o.check(); err != nil {
		return nil, err
	}
	a.writes = true
	w, err := a.openState(ctx)
	if err != nil {
		return nil, err
	}
	if w.url == "" {
		return nil, &fault.UsageError{Message: "sim: there is no remote to try", Hint: "name one with --remote URL"}
	}
	dir, err := os.MkdirTemp("", "git-worklease-sim-")
	if err != nil {
		return nil, fmt.Errorf("sim: %w", err)
	}
	defer os.RemoveAll(dir) //nolint:errcheck // a temporary folder
	s, err := sim.New(sim.Options{
		Workers: o.workers, Resources: o.resources, Span: o.span(), Seed: o.seed,
		Remote: w.remoteOptions(), Prefix: w.settings.Prefix.V, Dir: dir, Clock: a.clock, Attempt: w.attempt,
	})
	if err != nil {
		return nil, err
	}
	a.warnOfPushes(w.url, o)
	report, err := a.watchSim(ctx, w, s)
	if report == nil {
		return nil, err
	}
	return a.simOutcome(report, err), nil
}

// pushesPerWorker is about how many pushes a minute a worker makes whose remote is quick.
const pushesPerWorker = 20

// warnOfPushes says what a run means to the host.
func (a *app) warnOfPushes(url string, o simOptions) {
	rate := pushesPerWorker * o.workers
	host, _ := doctor.HostOf(url)
	limit := "public hosts recommend few for a repository, such as 6"
	if host.Pushes > 0 {
		limit = fmt.Sprintf("%s recommends at most %d for a repository", host.Name, host.Pushes)
	}
	a.notice("up to about %d pushes a minute go to %s, %d in all; %s", rate, term.Clean(gitexec.Redact(url)), int(float64(rate)*o.minutes)+1, limit)
}

// watchSim runs a simulation, and shows how it goes.
func (a *app) watchSim(ctx context.Context, w *work, s *sim.Sim) (*sim.Report, error) {
	p := a.progress(ctx, w, 0)
	defer p.stop()
	p.set(func(time.Time) string {
		now := s.Progress()
		return fmt.Sprintf("%s left · %s", term.Span(now.Left), now)
	})
	return s.Run(ctx)
}

// simOutcome is what a run has come to. That claims failed is worse than that it was cut short, and whatever else happened is told as well.
func (a *app) simOutcome(r *sim.Report, err error) *outcome {
	o := &outcome{result: r, text: func(p *printer) { printSim(p, r) }}
	switch found := r.Err(); {
	case err == nil:
		o.failure = found
	case errors.Is(found, fault.ErrNotExclusive):
		a.notice("the run was cut short: %s", a.judge(err).Message)
		o.failure = found
	default:
		if found != nil {
			a.notice("%s", term.Clean(found.Error()))
		}
		o.failure = err
	}
	return o
}
