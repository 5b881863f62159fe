package main

import (
	"context"
	"errors"

	"github.com/git-worklease/git-worklease/hooks"
	"github.com/git-worklease/git-worklease/hooks/check"
	"github.com/git-worklease/git-worklease/hooks/guard"
	"github.com/git-worklease/git-worklease/internal/config"
	"github.com/git-worklease/git-worklease/internal/session"
	"github.com/git-worklease/git-worklease/lease"
)

// checkStaged compares what is staged with what the session holds, and with what others have claimed.
func (a *app) checkStaged(ctx context.Context, o checkOptions) (*outcome, error) {
	w, err := a.openState(ctx)
	if err != nil {
		return nil, err
	}
	w.ctx, w.cancel = w.limit(ctx)
	defer w.close()
	g, err := w.guardStaged(ctx)
	if err != nil {
		return nil, err
	}
	c := &checked{mode: g.Law.Commit, setting: "enforce.commit", staged: true}
	change, err := hooks.Staged(ctx, w.git, w.repo.GitDir)
	if err != nil {
		return nil, err
	}
	if o.branch != "" {
		change.Branch = o.branch
	}
	c.branch = change.Branch
	ref := guard.RefOf(change.Branch)
	if c.mode == config.ModeOff || g.Law.Exempt(ref, g.Names...) {
		return a.checkOutcome(o, c), nil
	}
	needs, err := g.Law.Needs(change, ref, g.Names...)
	if err != nil {
		return nil, err
	}
	trespass := g.Trespass(w.ctx, change)
	if trespass.Warns != nil {
		a.warn(a.judge(trespass.Warns))
	}
	if trespass.Unsure != nil {
		return nil, trespass.Unsure
	}
	c.rivals = trespass.Rivals
	return w.weigh(o, c, needs)
}

// guardStaged is a guard by the law of the policy here and of that at the remote's default branch.
func (w *work) guardStaged(ctx context.Context) (*guard.Guard, error) {
	base, err := w.basePolicy(ctx, w.policy)
	if err != nil {
		return nil, err
	}
	g := &guard.Guard{Git: w.git, GitDir: w.repo.GitDir, Clock: w.app.clock, Notice: w.app.notice, Law: guard.Together(w.policy, base)}
	w.speakFor(g)
	return g, nil
}

// weigh compares needs with what the session holds.
func (w *work) weigh(o checkOptions, c *checked, needs []hooks.Need) (*outcome, error) {
	if len(needs) == 0 && c.rivals == nil {
		return w.app.checkOutcome(o, c), nil
	}
	held, doubts, err := w.accepted()
	if err != nil {
		return nil, err
	}
	open := hooks.Open(needs, held)
	if c.rivals != nil {
		open = guard.WithoutRivals(open, c.rivals.Findings)
	}
	f := check.Finding{Commit: &hooks.Commit{}, Needs: needs, Open: open, Verdict: check.Covered}
	if len(f.Open) > 0 {
		if doubts != nil { // what can't be read may be the claim that is missed
			return nil, doubts
		}
		f.Verdict = check.Refused
	}
	if c.rivals != nil {
		told := w.app.judge(c.rivals)
		f.Verdict, f.Faults = check.Refused, append([]string{told.Message}, told.Lines...)
	}
	c.findings = []check.Finding{f}
	return w.app.checkOutcome(o, c), nil
}

// accepted are the resources of claims that count for commits made here, as far as this clone remembers. doubts is what could not be read.
func (w *work) accepted() (held []lease.Resource, doubts, err error) {
	holds, unread, err := w.state.Accepted(w.identity.Origin != session.OriginWorktree)
	now, at := w.app.clock.Now(), w.app.clock.Instant()
	for i := range holds {
		if holds[i].Left(now, at) > 0 {
			held = append(held, resourcesOf(holds[i])...)
		}
	}
	return held, errors.Join(unread...), err
}
