package main

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/git-worklease/git-worklease/internal/fault"
	"github.com/git-worklease/git-worklease/internal/session"
	"github.com/git-worklease/git-worklease/internal/term"
	"github.com/git-worklease/git-worklease/lease"
)

func newSessionExport(a *app) *cobra.Command {
	return &cobra.Command{
		Use:   "export FILE",
		Short: "move this session's claims into a file, for another clone",
		Long: `Writes the claims of this session and their private keys into a new file that only you can
read, and ends them here: from then on they are those of whoever imports the file, which can
be done once. They keep their generation, and go on expiring on the way. The remote need not
be there. FILE may be -, for a pipe.

Should it be stopped between the two steps, the claims are in both places: use the file, and
this clone finds that they have moved; or throw it away, and nothing has happened.`,
		Example: "  git worklease session export ~/claims.json\n" +
			"  git worklease session export - | ssh laptop git -C app worklease session import -",
		Args: oneFile,
		RunE: a.run(func(ctx context.Context, args []string) (*outcome, error) { return a.runSessionExport(ctx, args[0]) }),
	}
}

// oneFile insists on one argument.
func oneFile(cmd *cobra.Command, args []string) error {
	if len(args) == 1 && args[0] != "" {
		return nil
	}
	return &fault.UsageError{Message: commandWords(cmd) + ": give one file, or - for a pipe"}
}

// exportJSON is what was written to a file.
type exportJSON struct {
	Session string           `json:"session"`
	File    string           `json:"file"`
	Claims  []claimStateJSON `json:"claims"`
}

func (a *app) runSessionExport(ctx context.Context, file string) (*outcome, error) {
	a.writes = true
	if file == "-" && (isTerminal(a.out) || a.flags.json) {
		return nil, &fault.UsageError{Message: "session export -: it writes private keys, and standard output is no pipe for them alone", Hint: "name a file"}
	}
	w, err := a.openState(ctx)
	if err != nil {
		return nil, err
	}
	if w.url == "" {
		return nil, &fault.UsageError{Message: "claims in local mode can't leave this clone", Hint: "release them, and claim through a remote"}
	}
	a.opened = w
	if err := w.checkAllOwn(); err != nil {
		return nil, err
	}
	if err := w.settleFirst(ctx); err != nil {
		return nil, err
	}
	end := lease.End{How: lease.EndMoved, At: a.clock.Now().UTC(), Reason: destination(file)}
	holds, err := w.state.Export(session.Export{Prefix: w.settings.Prefix.V}, end, func(data []byte) error { return a.save(file, data) })
	if errors.Is(err, lease.ErrNotHeld) {
		return nil, nothingHeldError{}
	}
	if err != nil {
		return nil, err
	}
	a.notice("the keys of these claims are in %s now, and not here any more; it can be imported once: keep it to yourself", destination(file))
	return exported(a, w.identity.Session, file, holds), nil
}

func exported(a *app, name, file string, holds []lease.Hold) *outcome {
	j := exportJSON{Session: name, File: file}
	for _, h := range holds {
		j.Claims = append(j.Claims, newClaimState(h, resourcesOf(h), nil, a))
	}
	return &outcome{result: j, text: func(p *printer) {
		for _, h := range holds {
			for _, m := range h.Members {
				if file != "-" {
					p.printf("%s %s · generation %d · until %s\n", p.palette.Paint(term.Good, "exported"), term.Clean(string(m.Resource)), m.Generation, p.at(h.RenewedAt.Add(h.TTL)))
				}
			}
		}
	}}
}

// destination names where an export goes, without the folders that are nobody's business.
func destination(file string) string {
	if file == "-" {
		return "a file"
	}
	return term.Clean(filepath.Base(file))
}

// save writes an export where the user wants it.
func (a *app) save(file string, data []byte) error {
	if file == "-" {
		if _, err := a.out.Write(data); err != nil {
			return &session.FileError{Path: "standard output", Err: err}
		}
		return nil
	}
	return session.WriteExport(a.path(file), data)
}

// path is a file that the user names, from where the run happens.
func (a *app) path(file string) string {
	if a.dir == "" || filepath.IsAbs(file) {
		return file
	}
	return filepath.Join(a.dir, file)
}

// checkAllOwn refuses to move claims that another worker of this worktree has made.
func (w *work) checkAllOwn() error {
	holds, err := w.state.Holds()
	if err != nil {
		return err
	}
	var resources []lease.Resource
	for _, h := range holds {
		resources = append(resources, resourcesOf(h)...)
	}
	return w.checkClaimant(resources)
}

// settleFirst asks the remote how earlier writes ended, where any are open. What it can't find out the export itself refuses.
func (w *work) settleFirst(ctx context.Context) error {
	open, err := w.state.Open()
	if err != nil || !open {
		return err
	}
	w.ctx, w.cancel = w.attempt(ctx)
	if err := w.openAuthority(); err != nil {
		return err
	}
	defer w.close()
	if _, err := w.lease.Status(w.ctx); err != nil {
		return fmt.Errorf("settle earlier writes: %w", err)
	}
	return nil
}
