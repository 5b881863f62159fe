// Command bench measures git-worklease against stock git: whole processes from exec to exit, on servers of this machine, with
// the contenders interleaved in one run. It prints medians, ratios, and whether each bar is met.
//
//	go run ./internal/bench [--quick] [--rounds N] [--only REGEX] [--baselines] [--json] [--strict] [--binary PATH]
//
// It is for developers; the released binary does not contain it.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"regexp"
	"syscall"
)

// errMissed is returned with --strict where a bar is missed.
var errMissed = errors.New("a bar is missed")

// measure does the whole work. It returns the exit status.
func measure() int {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := run(ctx, os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		return 1
	}
	return 0
}

type options struct {
	rounds    int
	only      *regexp.Regexp
	quick     bool
	baselines bool
	json      bool
	strict    bool
	binary    string
}

// The numbers of samples of each contender.
const (
	fullRounds  = 15
	quickRounds = 3
)

func parseOptions(args []string) (*options, error) {
	o := &options{}
	flags := flag.NewFlagSet("bench", flag.ContinueOnError)
	flags.IntVar(&o.rounds, "rounds", 0, "samples of each contender (15; with --quick 3)")
	only := flags.String("only", "", "measure just the groups whose names match `regex`")
	flags.BoolVar(&o.quick, "quick", false, "few samples: a first look")
	flags.BoolVar(&o.baselines, "baselines", false, "measure stock git alone")
	flags.BoolVar(&o.json, "json", false, "print JSON")
	flags.BoolVar(&o.strict, "strict", false, "fail where a bar is missed")
	flags.StringVar(&o.binary, "binary", "", "git-worklease's `path`; else it is built")
	if err := flags.Parse(args); err != nil {
		return nil, err
	}
	var err error
	if o.only, err = regexp.Compile(*only); err != nil {
		return nil, err
	}
	switch {
	case o.rounds > 0:
	case o.quick:
		o.rounds = quickRounds
	default:
		o.rounds = fullRounds
	}
	return o, nil
}

func run(ctx context.Context, args []string) error {
	o, err := parseOptions(args)
	if errors.Is(err, flag.ErrHelp) {
		return nil
	}
	if err != nil {
		return err
	}
	dir, err := os.MkdirTemp("", "worklease-bench-")
	if err != nil {
		return err
	}
	defer func() { _ = os.RemoveAll(dir) }()
	if err := o.findBinary(ctx, dir); err != nil {
		return err
	}
	b, err := newBench(ctx, o, dir)
	if err != nil {
		return err
	}
	defer b.close()
	report, err := b.measure(ctx)
	if err != nil {
		return err
	}
	if err := report.print(os.Stdout, o.json); err != nil {
		return err
	}
	if o.strict && report.missed() {
		return errMissed
	}
	return nil
}

// findBinary builds git-worklease as it is released, unless it was named or is not wanted.
func (o *options) findBinary(ctx context.Context, dir string) error {
	if o.baselines {
		return nil
	}
	if o.binary != "" {
		var err error
		o.binary, err = filepath.Abs(o.binary)
		return err
	}
	o.binary = filepath.Join(dir, "git-worklease")
	build := exec.CommandContext(ctx, "go", "build", "-trimpath", "-buildvcs=false", "-ldflags=-s -w", "-o", o.binary, "./cmd/git-worklease")
	build.Env = append(os.Environ(), "CGO_ENABLED=0")
	build.Stderr = os.Stderr
	if err := build.Run(); err != nil {
		return fmt.Errorf("build: %w", err)
	}
	return nil
}
