package main

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/git-worklease/git-worklease/lease"
)

type listOptions struct {
	mine, all, porcelain, nul bool
}

func newList(a *app) *cobra.Command {
	var o listOptions
	cmd := &cobra.Command{
		Use:   "list",
		Short: "show all claims",
		Long: `Shows every claim at the remote that was not released, whoever holds it.

` + porcelainHelp,
		Args: noArguments, ValidArgsFunction: noFiles,
		RunE: a.run(func(ctx context.Context, _ []string) (*outcome, error) {
			return a.runList(ctx, o)
		}),
	}
	cmd.Flags().BoolVar(&o.mine, "mine", false, "only those of this session")
	cmd.Flags().BoolVarP(&o.all, "all", "a", false, "released ones as well")
	porcelainFlags(cmd, &o.porcelain, &o.nul)
	return cmd
}

func (a *app) runList(ctx context.Context, o listOptions) (*outcome, error) {
	if err := nulNeedsPorcelain(o.porcelain, o.nul); err != nil {
		return nil, err
	}
	w, err := a.open(ctx)
	if err != nil {
		return nil, err
	}
	defer w.close()
	views, err := w.lease.List(w.ctx)
	if err != nil {
		return nil, err
	}
	kept := views[:0]
	for _, v := range views {
		over := v.State == lease.StandingReleased || v.State == lease.StandingFree
		if (o.all || !over) && (!o.mine || v.Mine) {
			kept = append(kept, v)
		}
	}
	out := a.showViews(kept, o.porcelain, o.nul, "no claims")
	out.paged = !o.porcelain
	return out, nil
}
