package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/git-worklease/git-worklease/hooks"
	"github.com/git-worklease/git-worklease/internal/fault"
	"github.com/git-worklease/git-worklease/internal/gitenv"
	"github.com/git-worklease/git-worklease/internal/gitexec"
	"github.com/git-worklease/git-worklease/internal/term"
	"github.com/git-worklease/git-worklease/lease"
	"github.com/git-worklease/git-worklease/refstore"
	"github.com/git-worklease/git-worklease/refstore/remote"
)

// pushing is one run of push.
type pushing struct {
	*app
	o    *pushOptions
	work *work
	code *remote.Code
	plan *remote.CodePlan
	// branch is the one that is checked out, without refs/heads/; empty for none.
	branch string
	// claims are resources of all that the session holds, one of each claim; none: all.
	claims []lease.Resource
	// refs are what was to be pushed, with what came of it.
	refs []remote.CodeRef
}

func (a *app) runPush(ctx context.Context, o *pushOptions) (*outcome, error) {
	a.writes, a.judges = true, true
	if err := o.check(); err != nil {
		return nil, err
	}
	w, _, err := a.openLong(ctx, nil)
	if err != nil {
		return nil, err
	}
	defer w.close()
	if w.repo.GitDir == "" {
		return nil, gitenv.ErrNotRepository
	}
	dir, err := os.MkdirTemp("", "git-worklease-push-")
	if err != nil {
		return nil, fmt.Errorf("push: %w", err)
	}
	defer os.RemoveAll(dir) //nolint:errcheck // a temporary folder
	p := &pushing{app: a, o: o, work: w}
	if p.branch, err = hooks.Branch(w.ctx, w.git, w.repo.GitDir); err != nil {
		return nil, err
	}
	p.code = &remote.Code{
		Git: w.git, Config: w.repo.Config, CommonDir: w.repo.CommonDir, Head: branchPrefix + p.branch, Options: o.git(), Manner: o.manner(isTerminal(a.err)), Refspecs: o.refspecs,
		HookEnv: p.hookEnv(), Dir: dir, Stderr: a.err,
	}
	return p.run(w.ctx)
}

// hookEnv is what hooks find in their environment: that it is a dry run of ours, and for whom, where that is not said there already.
func (p *pushing) hookEnv() []string {
	env := []string{inPush + "=1"}
	for flag, variable := range map[string]string{"session": "WORKLEASE_SESSION", "agent": "WORKLEASE_AGENT"} {
		if value := p.flags.settings[flag]; value != "" {
			env = append(env, variable+"="+value)
		}
	}
	return env
}

func (p *pushing) run(ctx context.Context) (*outcome, error) {
	if err := p.holdsAny(); err != nil {
		return nil, err
	}
	if err := p.aim(ctx); err != nil {
		return nil, err
	}
	preview := p.work.lease.Preview(ctx)
	if err := p.look(ctx); err != nil {
		return nil, err
	}
	if len(p.plan.Changes()) == 0 {
		return p.done(ctx, "", nil)
	}
	resources, err := p.used(ctx, p.plan.Changes())
	if err != nil {
		return nil, err
	}
	if p.o.dryRun {
		return p.prove(ctx, resources)
	}
	if p.o.unfenced {
		return p.unfenced(ctx, resources)
	}
	return p.fenced(ctx, resources, preview)
}

// holdsAny refuses early, before anything is asked, where the session has no claim at all.
func (p *pushing) holdsAny() error {
	holds, err := p.work.state.Holds()
	if err != nil {
		return err
	}
	if !slices.ContainsFunc(holds, func(h lease.Hold) bool { return h.End == nil }) {
		return fault.UnclaimedError{}
	}
	p.claims, err = p.work.acting(nil)
	return err
}

// used are resources of the claims that a push of these changes needs, one of each; none: all that the session holds. Without rules it is always all.
func (p *pushing) used(_ context.Context, _ []remote.CodeRef) ([]lease.Resource, error) {
	return p.claims, nil
}

// aim finds out where git would push, and whether the claims are there.
func (p *pushing) aim(ctx context.Context) error {
	w := p.work
	p.code.Remote = p.o.remote
	if p.code.Remote == "" {
		p.code.Remote = p.defaultRemote()
	}
	if p.code.Remote == "" { // git has words for that
		return nil
	}
	to := gitenv.Remote{URL: p.code.Remote}
	if slices.Contains(w.repo.Remotes(), p.code.Remote) {
		to = gitenv.Remote{Name: p.code.Remote}
	}
	url, err := w.repo.PushURL(ctx, to)
	if err != nil {
		return err
	}
	if to.Name == "" && gitexec.KindOf(url) == gitexec.KindPath && !exists(url) && !exists(url+".git") { // as git looks for it
		return noRemote(p.code.Remote, w.repo.Remotes())
	}
	if p.code.URL = url; !p.o.unfenced && (w.url == "" || url != w.url) {
		return &fault.NotFenceableError{To: gitexec.Redact(url), Claims: gitexec.Redact(w.url)}
	}
	return nil
}

// noRemote is the error for a name that stands for nothing to push to.
func noRemote(name string, remotes []string) error {
	hint := "`git remote add` makes one"
	if len(remotes) > 0 {
		names := make([]string, len(remotes))
		for i, remote := range remotes {
			names[i] = term.Clean(remote)
		}
		hint = "there is " + strings.Join(names, ", ")
	}
	return &fault.UsageError{Message: fmt.Sprintf("push: there is no remote %s, nor a repository at that path", term.Clean(name)), Hint: hint}
}

// defaultRemote is the remote that git pushes to where none is named, by the rules of git-push(1).
func (p *pushing) defaultRemote() string {
	config, remotes := p.work.repo.Config, p.work.repo.Remotes()
	for _, key := range []string{"branch." + p.branch + ".pushremote", "remote.pushdefault", "branch." + p.branch + ".remote"} {
		if name := config.Value(key); name != "" {
			return name
		}
	}
	switch {
	case slices.Contains(remotes, "origin"):
		return "origin"
	case len(remotes) == 1:
		return remotes[0]
	}
	return ""
}

// look makes the plan: hooks have their say in it. What git refuses is shown as git shows it.
func (p *pushing) look(ctx context.Context) error {
	mode := p.submodules()
	options := p.code.Options
	switch mode {
	case "on-demand", "only": // pushed by themselves below, so that their hooks run once
		p.code.Options = append(slices.Clip(options), "--recurse-submodules=no")
	case "":
	default:
		p.code.Options = append(slices.Clip(options), "--recurse-submodules="+mode)
	}
	plan, err := p.ask(ctx)
	p.code.Options = options
	if err != nil {
		p.show(p.refusals(err))
		return p.orLost(ctx, err)
	}
	prefix := p.work.settings.Prefix.V
	for _, r := range plan.Refs {
		if strings.HasPrefix(r.To, prefix) && !r.Same() {
			return &fault.UsageError{Message: fmt.Sprintf("push: it would change %s, which is a claim's", r.To), Hint: "name the branches to push; don't mirror " + prefix}
		}
	}
	if p.plan = plan; !plan.Atomic && !p.o.unfenced && len(plan.Changes()) > 0 {
		return &refstore.UnsupportedError{URL: gitexec.Redact(p.code.URL), Feature: refstore.FeatureAtomic}
	}
	p.plan.Pin(len(p.o.leases) > 0)
	if p.o.dryRun || mode != "on-demand" && mode != "only" {
		return nil
	}
	if mode == "only" {
		p.plan.Refs = nil
	}
	return p.code.Submodules(ctx)
}

// ask asks git for the plan. A dry run sends little, so that it goes over the connection of our own calls where that is open: to open another takes longer
// than all the rest of it.
func (p *pushing) ask(ctx context.Context) (*remote.CodePlan, error) {
	if p.code.URL != p.work.url {
		return p.code.Plan(ctx)
	}
	env, done := remote.Ride(ctx, p.work.remoteOptions())
	defer done()
	riding := *p.code
	riding.HookEnv = append(slices.Clip(riding.HookEnv), env...)
	return riding.Plan(ctx)
}

// orLost is a refusal of the code, or that a claim was lost, which a hook of ours may have refused it for: git keeps no exit status of a hook's.
func (p *pushing) orLost(ctx context.Context, refused error) error {
	if !errors.Is(refused, remote.ErrCodeRefused) {
		return refused
	}
	attempt, cancel := p.work.attempt(ctx)
	defer cancel()
	if _, err := p.work.lease.Verify(attempt, p.claims...); errors.Is(err, lease.ErrLost) {
		return err
	}
	return refused
}

// submodules is what git does about submodules: the flag's or the settings' word.
func (p *pushing) submodules() string {
	config := p.work.repo.Config
	switch how := config.Value("push.recursesubmodules"); {
	case p.o.submodules != "":
		return p.o.submodules
	case how != "":
		return how
	case config.Value("submodule.recurse") == "true":
		return "on-demand"
	}
	return ""
}

// fenced pushes code and claims in one request.
func (p *pushing) fenced(ctx context.Context, resources []lease.Resource, preview *lease.Preview) (*outcome, error) {
	results, err := p.work.lease.Fence(ctx, lease.FenceRequest{
		Resources: resources, Preview: preview,
		Send: func(ctx lease.Context, tx *refstore.Tx, olds []refstore.Object) (err error) {
			p.work.state.CountPush(p.clock.Now())
			p.refs, err = p.code.Send(ctx, p.plan, tx, olds)
			return err
		},
	})
	if err != nil {
		p.show(p.refusals(err))
		return nil, err
	}
	return p.done(ctx, guaranteeFenced, results)
}

// unfenced renews the claims, and pushes the code by itself.
func (p *pushing) unfenced(ctx context.Context, resources []lease.Resource) (*outcome, error) {
	attempt, cancel := p.work.attempt(ctx)
	defer cancel()
	results, err := p.work.lease.Renew(attempt, lease.RenewRequest{Resources: resources})
	if err != nil {
		return nil, err
	}
	if p.refs, err = p.code.Send(ctx, p.plan, nil, nil); err != nil {
		p.show(p.refs)
		return nil, err
	}
	return p.done(ctx, guaranteeChecked, results)
}

// prove says what would be pushed, and by which claims.
func (p *pushing) prove(ctx context.Context, resources []lease.Resource) (*outcome, error) {
	attempt, cancel := p.work.attempt(ctx)
	defer cancel()
	results, err := p.work.lease.Verify(attempt, resources...)
	if err != nil {
		return nil, err
	}
	p.refs = p.plan.Changes()
	var held []lease.RenewResult
	for _, r := range results {
		if !slices.ContainsFunc(held, func(o lease.RenewResult) bool { return o.Hold.Claim == r.Hold.Claim }) {
			held = append(held, lease.RenewResult{Hold: r.Hold, Resources: []lease.Resource{r.Resource}})
		}
	}
	guarantee := guaranteeFenced
	if p.o.unfenced {
		guarantee = guaranteeChecked
	}
	return p.done(ctx, guarantee, held)
}
