package main

import (
	"context"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/git-worklease/git-worklease/internal/fault"
	"github.com/git-worklease/git-worklease/internal/term"
	"github.com/git-worklease/git-worklease/lease"
)

type checkpointOptions struct {
	args  []string
	clear bool
}

func newCheckpoint(a *app) *cobra.Command {
	var o checkpointOptions
	cmd := &cobra.Command{
		Use:   "checkpoint JSON|- [KEY...]",
		Short: "keep data to resume from with a claim",
		Long: `Puts JSON into the claim that has a resource named, or into the one that this session holds, and
renews it. - reads it from standard input. Whoever has the resource next is shown it, however
the claim ends. It is for others to read, and at most 8 KiB.`,
		Example: "  git worklease checkpoint '{\"phase\":\"tests\"}'\n  ./progress | git worklease checkpoint - task:login\n  git worklease checkpoint --clear",
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) > 0 || o.clear {
				return nil
			}
			return &fault.UsageError{Message: "checkpoint: no data given", Hint: "write JSON, - to read it from standard input, or --clear"}
		},
		ValidArgsFunction: a.ownKeys,
		RunE: a.run(func(ctx context.Context, args []string) (*outcome, error) {
			o.args = args
			return a.runCheckpoint(ctx, o)
		}),
	}
	cmd.Flags().BoolVar(&o.clear, "clear", false, "take away what is there; all arguments are keys")
	return cmd
}

func (a *app) runCheckpoint(ctx context.Context, o checkpointOptions) (*outcome, error) {
	a.writes = true
	var data []byte
	keys := o.args
	if !o.clear {
		keys = o.args[1:]
		var err error
		if data, err = a.checkpointData(o.args[0]); err != nil {
			return nil, err
		}
	}
	w, resources, err := a.openKeys(ctx, keys)
	if err != nil {
		return nil, err
	}
	defer w.close()
	if resources, err = w.acting(resources); err != nil {
		return nil, err
	}
	results, err := w.lease.Checkpoint(w.ctx, lease.CheckpointRequest{Resources: resources, Data: data})
	if len(results) == 0 {
		return nil, nothingHeld(err)
	}
	js := make([]claimStateJSON, len(results))
	for i, r := range results {
		js[i] = newClaimState(r.Hold, r.Resources, r.Err, a)
		js[i].LateSeconds = int64(r.Late.Seconds())
	}
	return &outcome{result: js, failure: err, text: func(p *printer) { printCheckpoint(p, results) }}, nil
}

// maxInput bounds what is read as a checkpoint, blanks included.
const maxInput = 1 << 20

// checkpointData is the argument, or what standard input has.
func (a *app) checkpointData(arg string) ([]byte, error) {
	if arg != "-" {
		return []byte(arg), notEmpty(arg)
	}
	data, err := io.ReadAll(io.LimitReader(a.in, maxInput+1))
	switch {
	case err != nil:
		return nil, fmt.Errorf("standard input: %w", err)
	case len(data) > maxInput:
		return nil, &fault.UsageError{Message: fmt.Sprintf("checkpoint: standard input has more than %d bytes", maxInput)}
	}
	return data, notEmpty(string(data))
}

// notEmpty refuses data of which there is none.
func notEmpty(text string) error {
	if text != "" {
		return nil
	}
	return &fault.UsageError{Message: "checkpoint: the data is empty", Hint: "`git worklease checkpoint --clear` takes away what is there"}
}

func printCheckpoint(p *printer, results []lease.RenewResult) {
	for _, r := range results {
		if r.Err != nil {
			continue
		}
		for i, m := range r.Hold.Members {
			size := "no checkpoint"
			if n := len(r.Records[i].Checkpoint); n > 0 {
				size = fmt.Sprintf("checkpoint of %d bytes", n)
			}
			p.printf("%s %s · generation %d · %s · until %s\n", p.palette.Paint(term.Good, "renewed"), term.Clean(string(m.Resource)), m.Generation, size,
				p.at(r.Hold.RenewedAt.Add(r.Hold.TTL)))
		}
	}
}
