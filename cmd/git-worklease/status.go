package main

import (
	"context"
	"errors"

	"github.com/spf13/cobra"

	"github.com/git-worklease/git-worklease/internal/fault"
	"github.com/git-worklease/git-worklease/lease"
	"github.com/git-worklease/git-worklease/refstore"
)

type statusOptions struct {
	keys      []string
	porcelain bool
	nul       bool
	verbose   bool
}

func newStatus(a *app) *cobra.Command {
	var o statusOptions
	cmd := &cobra.Command{
		Use:   "status [KEY...]",
		Short: "show resources, or what this session holds",
		Long: `Shows what stands at resources: those named, or those that this session has claimed. Without
the remote it says unknown (exit 2), and what was known last. With --verbose it shows all that
the records say; --json always has all of it.

` + porcelainHelp,
		ValidArgsFunction: a.ownKeys,
		RunE: a.run(func(ctx context.Context, args []string) (*outcome, error) {
			o.keys = args
			return a.runStatus(ctx, o)
		}),
	}
	porcelainFlags(cmd, &o.porcelain, &o.nul)
	cmd.Flags().BoolVarP(&o.verbose, "verbose", "v", false, "show all that the records say: terms, members, meta, checkpoint, note, who was before")
	return cmd
}

func (a *app) runStatus(ctx context.Context, o statusOptions) (*outcome, error) {
	if err := nulNeedsPorcelain(o.porcelain, o.nul); err != nil {
		return nil, err
	}
	w, resources, err := a.openKeys(ctx, o.keys)
	if err != nil {
		return nil, err
	}
	defer w.close()
	if resources, err = w.lease.Slots(resources); err != nil {
		return nil, err
	}
	views, err := w.lease.Status(w.ctx, resources...)
	if err != nil {
		return a.lastKnown(w, resources, o.porcelain, err)
	}
	out := a.showViews(views, o.porcelain, o.nul, "this session holds nothing")
	out.failure = unknownPart(views)
	if o.verbose && !o.porcelain {
		table := out.text
		out.text = func(p *printer) {
			table(p)
			for i := range views {
				printDetails(p, &views[i])
			}
		}
	}
	return out, nil
}

// unknownPart is the error of a view about which nothing may be concluded.
func unknownPart(views []lease.View) error {
	for _, v := range views {
		if v.Problem != nil {
			return v.Problem
		}
	}
	return nil
}

// lastKnown tells what this session thinks it holds where the remote did not answer.
func (a *app) lastKnown(w *work, resources []lease.Resource, porcelain bool, err error) (*outcome, error) {
	if !errors.Is(err, refstore.ErrUnavailable) {
		return nil, err
	}
	holds, stateErr := w.state.Holds()
	if stateErr != nil {
		return nil, errors.Join(err, stateErr)
	}
	known := lastKnown(holds, resources, a)
	return &outcome{result: known, failure: err, text: func(p *printer) {
		for _, k := range known {
			if !porcelain && k.Known != nil {
				printLastKnown(p, k)
			}
		}
	}}, nil
}

// explain is an error as a part of a result.
func (a *app) explain(err error) *failure {
	return newFailure(fault.Explain(err, a.scene()))
}
