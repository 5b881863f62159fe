package main

import (
	"context"
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/git-worklease/git-worklease/internal/config"
	"github.com/git-worklease/git-worklease/internal/fault"
	"github.com/git-worklease/git-worklease/internal/session"
	"github.com/git-worklease/git-worklease/internal/term"
	"github.com/git-worklease/git-worklease/lease"
	"github.com/git-worklease/git-worklease/refstore"
)

func newSessionImport(a *app) *cobra.Command {
	return &cobra.Command{
		Use:   "import FILE",
		Short: "take over claims that session export wrote",
		Long: `Takes the claims in a file into this clone, under the session's name that it has or the one
that --session gives, and renews them: everybody sees where they are now. Whoever else
imported the file, or still has its keys, finds them lost; of several the first has them.
Without the remote they are kept, and the next renew tells whether they are yours (exit 2).

The file is left as it is. It holds keys: throw it away. FILE may be -, for a pipe.`,
		Example: "  git worklease session import ~/claims.json\n  git worklease session import ~/claims.json --session laptop",
		Args:    oneFile,
		RunE:    a.run(func(ctx context.Context, args []string) (*outcome, error) { return a.runSessionImport(ctx, args[0]) }),
	}
}

// broughtJSON is what became of claims that were brought here, in one session.
type broughtJSON struct {
	Session string           `json:"session"`
	Claims  []claimStateJSON `json:"claims"`
}

func (a *app) runSessionImport(ctx context.Context, file string) (*outcome, error) {
	a.writes = true
	x, err := a.readExport(file)
	if err != nil {
		return nil, err
	}
	w, err := a.openState(ctx)
	if err != nil {
		return nil, err
	}
	here := w.identity.Session
	if w.identity.Origin != session.OriginFlag && x.Session != here {
		if err := w.become(x.Session); err != nil {
			return nil, err
		}
	}
	w.ctx, w.cancel = w.attempt(ctx)
	if err := w.openAuthority(); err != nil {
		return nil, err
	}
	defer w.close()
	results, offline, err := w.bring(x)
	if err != nil {
		return nil, err
	}
	if file != "-" {
		a.notice("%s still holds the keys of these claims: throw it away", destination(file))
	}
	if name := w.identity.Session; name != here {
		a.notice("commands here speak for session %s; say --session %s, or `git worklease session use %[2]s`", term.Clean(here), fault.Quote(name))
	}
	return imported(a, w.identity.Session, results, offline), nil
}

func (a *app) readExport(file string) (*session.Export, error) {
	if file == "-" {
		return session.ReadExport("standard input", a.in)
	}
	f, err := session.OpenExport(a.path(file))
	if err != nil {
		return nil, err
	}
	defer f.Close() //nolint:errcheck // it was only read
	return session.ReadExport(file, f)
}

// bring takes the claims of a file over: looks whether they still stand, stores them and renews them. offline is why the remote did not answer, where it
// did not, and then they are stored and no more.
func (w *work) bring(x *session.Export) (results []lease.RenewResult, offline, err error) {
	if err := w.checkExport(x); err != nil {
		return nil, nil, err
	}
	if err := w.state.CheckHere(x.Claims); err != nil {
		return nil, nil, err
	}
	var stand []lease.Hold
	for _, h := range x.Claims {
		err := w.lease.Prove(w.ctx, h)
		switch {
		case errors.Is(err, lease.ErrLost):
			results = append(results, lease.RenewResult{Hold: h, Resources: resourcesOf(h), Err: err})
			continue
		case errors.Is(err, refstore.ErrUnavailable) && w.authorityID() == x.Authority:
			offline = err
		case err != nil:
			return nil, nil, err
		}
		stand = append(stand, h)
	}
	if len(stand) == 0 {
		return results, nil, nil
	}
	here, err := w.state.Receive(stand, w.identity.Host)
	if err != nil {
		return nil, nil, err
	}
	if offline != nil {
		for _, h := range here {
			results = append(results, lease.RenewResult{Hold: h, Resources: resourcesOf(h), Err: offline})
		}
		return results, offline, nil
	}
	renewed, err := w.renewEach(here)
	return append(results, renewed...), nil, err
}

// checkExport refuses a file whose claims are somewhere else than this clone's.
func (w *work) checkExport(x *session.Export) error {
	switch known := w.authorityID(); {
	case x.Prefix != w.settings.Prefix.V:
		return &fault.UsageError{
			Message: fmt.Sprintf("the file's claims are below %s, and this clone's below %s", term.Clean(x.Prefix), term.Clean(w.settings.Prefix.V)),
			Hint:    "`git worklease config show --show-origin` shows who sets " + string(config.Prefix),
		}
	case known != "" && known != x.Authority:
		return &lease.WrongAuthorityError{Want: x.Authority, Got: known}
	}
	return nil
}

// renewEach renews claims, each by itself. The error is that of something else than a claim.
func (w *work) renewEach(holds []lease.Hold) ([]lease.RenewResult, error) {
	var results []lease.RenewResult
	for _, h := range holds {
		one, err := w.lease.Renew(w.ctx, lease.RenewRequest{Resources: resourcesOf(h)})
		if len(one) == 0 {
			return nil, err
		}
		results = append(results, one...)
	}
	return results, nil
}

func imported(a *app, name string, results []lease.RenewResult, offline error) *outcome {
	j := broughtJSON{Session: name, Claims: []claimStateJSON{}}
	failure := offline
	for _, r := range results {
		j.Claims = append(j.Claims, newClaimState(r.Hold, r.Resources, r.Err, a))
		if failure == nil {
			failure = r.Err
		}
	}
	return &outcome{result: j, failure: failure, text: func(p *printer) {
		for _, r := range results {
			printImported(p, &r, offline)
		}
	}}
}

func printImported(p *printer, r *lease.RenewResult, offline error) {
	for _, m := range r.Hold.Members {
		switch {
		case r.Err == nil:
			p.printf("%s %s · generation %d · until %s\n", p.palette.Paint(term.Good, "imported"), term.Clean(string(m.Resource)), m.Generation, p.at(r.Hold.RenewedAt.Add(r.Hold.TTL)))
		case errors.Is(r.Err, offline):
			p.printf("%s %s · generation %d · `git worklease renew` proves it\n", p.palette.Paint(term.Warn, "kept"), term.Clean(string(m.Resource)), m.Generation)
		}
	}
}
