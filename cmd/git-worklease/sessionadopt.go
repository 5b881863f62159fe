package main

import (
	"context"
	"os"

	"github.com/spf13/cobra"

	"github.com/git-worklease/git-worklease/internal/session"
	"github.com/git-worklease/git-worklease/internal/term"
	"github.com/git-worklease/git-worklease/lease"
)

func newSessionAdopt(a *app) *cobra.Command {
	var all bool
	cmd := &cobra.Command{
		Use:   "adopt",
		Short: "use the claims of a copied clone, or of an earlier worktree, here",
		Long: `A clone that was copied has the claims and keys of the other, and may not use them: two would
hold them. This makes them those of this clone, and renews them, which everybody sees. The
other copy must not be used any more; it finds its claims lost.

In a linked worktree whose name an earlier one had, this takes over what that one claimed.`,
		Args: noArguments, ValidArgsFunction: noFiles,
		RunE: a.run(func(ctx context.Context, _ []string) (*outcome, error) { return a.runSessionAdopt(ctx, all) }),
	}
	cmd.Flags().BoolVar(&all, "all", false, "the claims of all sessions of the clone")
	return cmd
}

func (a *app) runSessionAdopt(ctx context.Context, all bool) (*outcome, error) {
	a.writes = true
	w, err := a.openState(ctx)
	if err != nil {
		return nil, err
	}
	if err := w.adoptLocal(all); err != nil {
		return nil, err
	}
	adopted, err := w.state.Adopt(w.identity.Host, all)
	if err != nil {
		return nil, err
	}
	for _, ad := range adopted {
		if ad.From != (session.Home{}) {
			a.notice("%s has the same keys, and must not be used any more", term.Clean(ad.From.Where()))
		}
	}
	js, failure, err := w.announceAll(ctx, adopted)
	if err != nil {
		return nil, err
	}
	return &outcome{result: js, failure: failure, text: func(p *printer) {
		if len(adopted) == 0 {
			p.printf("there is nothing to adopt\n")
		}
		for _, j := range js {
			printAdopted(p, &j)
		}
	}}, nil
}

// adoptLocal adopts, in a clone that has a remote by now, what is left of the time when it had none.
func (w *work) adoptLocal(all bool) error {
	if _, err := os.Stat(w.localRepository()); err != nil || w.kind() == session.Local {
		return nil //nolint:nilerr // there never was anything
	}
	state, err := w.openKind(session.Local)
	if err == nil {
		_, err = state.Adopt(w.identity.Host, all)
	}
	return err
}

// announceAll renews what was adopted, so that everybody sees where it is, each session's claims in its name.
func (w *work) announceAll(ctx context.Context, adopted []session.Adopted) (js []broughtJSON, failure, err error) {
	js = []broughtJSON{}
	for _, ad := range adopted {
		if err := w.become(ad.Session); err != nil {
			return nil, nil, err
		}
		w.ctx, w.cancel = w.attempt(ctx)
		if err := w.openAuthority(); err != nil {
			return nil, nil, err
		}
		results, err := w.announce(&ad)
		w.close()
		if err != nil {
			return nil, nil, err
		}
		j := broughtJSON{Session: ad.Session, Claims: []claimStateJSON{}}
		for _, r := range results {
			j.Claims = append(j.Claims, newClaimState(r.Hold, r.Resources, r.Err, w.app))
			if failure == nil {
				failure = r.Err
			}
		}
		js = append(js, j)
	}
	return js, failure, nil
}

// announce renews the claims of one session. With writes of unknown outcome it settles them, and renews whatever that gives.
func (w *work) announce(ad *session.Adopted) ([]lease.RenewResult, error) {
	if ad.Intents == 0 {
		return w.renewEach(ad.Claims)
	}
	results, err := w.lease.Renew(w.ctx, lease.RenewRequest{})
	if len(results) > 0 {
		err = nil
	}
	return results, err
}

func printAdopted(p *printer, j *broughtJSON) {
	for _, c := range j.Claims {
		for _, m := range c.Resources {
			if c.OK {
				p.printf("%s %s · generation %d · until %s · session %s\n", p.palette.Paint(term.Good, "adopted"), term.Clean(string(m.Resource)),
					m.Generation, p.at(*c.ExpiresAt), term.Clean(j.Session))
			}
		}
	}
	if len(j.Claims) == 0 {
		p.printf("%s session %s, which holds nothing\n", p.palette.Paint(term.Good, "adopted"), term.Clean(j.Session))
	}
}
