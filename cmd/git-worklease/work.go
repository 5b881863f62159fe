package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/git-worklease/git-worklease/internal/coalesce"
	"github.com/git-worklease/git-worklease/internal/config"
	"github.com/git-worklease/git-worklease/internal/gitenv"
	"github.com/git-worklease/git-worklease/internal/gitexec"
	"github.com/git-worklease/git-worklease/internal/session"
	"github.com/git-worklease/git-worklease/internal/term"
	"github.com/git-worklease/git-worklease/lease"
	"github.com/git-worklease/git-worklease/providers"
	"github.com/git-worklease/git-worklease/queue"
	"github.com/git-worklease/git-worklease/refstore"
	"github.com/git-worklease/git-worklease/refstore/remote"
)

// work is what a command works with: where it runs, what holds there, and the authority.
type work struct {
	app *app
	// ctx ends at the command's deadline.
	ctx    context.Context //nolint:containedctx // of one command, which makes and ends it
	cancel func()
	limits deadlines

	git    *gitexec.Git
	repo   *gitenv.Repo
	policy *config.Policy
	// flaw is what is wrong with what the policy judges by; nil: nothing is.
	flaw     error
	settings *config.Settings
	identity session.Identity
	place    session.Place
	state    *session.State
	// remote and url are where the claims are; empty in local mode.
	remote gitenv.Remote
	url    string
	known  refstore.Server
	store  refstore.Store
	lease  *lease.Authority
	// set are the trackers, once they were asked for.
	set providers.Set
}

// openSettings finds the repository and the settings, and reads no state. Settings of which some can't be used come with an error. Whoever does not
// judge needs no rules, and gets along with a policy that has a flaw.
func (a *app) openSettings(ctx context.Context) (*work, error) {
	w := &work{app: a, ctx: ctx, git: a.git()}
	w.git.Asking = w.asking
	repo, err := gitenv.Discover(ctx, w.git)
	if err != nil && !errors.Is(err, gitenv.ErrNotRepository) {
		return nil, err
	}
	w.repo = repo
	if w.policy, w.flaw = a.readPolicy(ctx, w); w.flaw != nil && (w.policy == nil || a.judges) {
		return nil, w.flaw
	}
	if err := w.policy.Check(a.version); err != nil {
		return nil, err
	}
	a.paint(repo.Config)
	w.settings, err = config.Load(config.Sources{Flags: a.flags.settings, Getenv: a.getenv, Git: repo.Config, Policy: w.policy})
	return w, err
}

// readPolicy reads the policy of the work tree, unless the command goes by another.
func (a *app) readPolicy(ctx context.Context, w *work) (*config.Policy, error) {
	if a.policy != nil {
		return a.policy(ctx, w)
	}
	return config.ReadPolicy(w.repo.WorkTree)
}

// paint applies git's settings for colours.
func (a *app) paint(c *gitexec.Config) {
	setting, ok := c.Get("color.worklease")
	if !ok {
		setting, _ = c.Get("color.ui")
	}
	a.palette.On = term.Colour(setting.Value, isTerminal(a.err), a.getenv)
	a.colour = setting.Value
}

// openState opens what this clone remembers, and asks no remote.
func (a *app) openState(ctx context.Context) (*work, error) {
	w, err := a.openSettings(ctx)
	if err != nil {
		return nil, err
	}
	if err := w.chooseRemote(ctx); err != nil {
		return nil, err
	}
	if err := w.identify(); err != nil {
		return nil, err
	}
	if w.flaw != nil {
		a.notice("%s; until that is corrected, what goes by it is refused", term.Clean(w.flaw.Error()))
	}
	w.warnInert(ctx)
	w.state, err = w.openKind(w.kind())
	return w, err
}

// chooseRemote finds where the claims are. A clone without a remote decides by itself, unless an authority is named that it should ask.
func (w *work) chooseRemote(ctx context.Context) (err error) {
	choose := w.repo.Choose
	if w.settings.Remote.Origin.Source == config.SourcePolicy {
		choose = w.repo.ChooseUntrusted
	}
	w.remote, err = choose(w.settings.Remote.V)
	switch authority := w.settings.Authority.V; {
	case err != nil:
		return err
	case w.wanders():
		return w.wandering()
	case !w.remote.Local():
		w.url, err = w.repo.PushURL(ctx, w.remote)
		return err
	case w.repo.GitDir == "":
		return gitenv.ErrNotRepository
	case authority != "":
		return fmt.Errorf("no remote is configured, and authority %s is wanted: %w", authority, lease.ErrNoAuthority)
	}
	return nil
}

// identify decides whom the command speaks for, and where its state is.
func (w *work) identify() error {
	a := w.app
	place, err := session.Locate(w.repo, w.settings.StateDir.V, w.url, a.getenv)
	if err != nil {
		return err
	}
	w.place = place
	bound, err := place.Bound()
	if err != nil {
		return err
	}
	host, _ := os.Hostname() // without a name the claim says "unknown"
	w.identity, err = session.Resolve(session.Surroundings{
		Settings: w.settings, Getenv: a.getenv, Bound: bound, Worktree: place.Worktree, Login: session.LoginName(a.getenv), HostName: host,
	})
	return err
}

func (w *work) kind() session.Kind {
	if w.url == "" {
		return session.Local
	}
	return session.Remote
}

// openKind opens the state of claims at a remote, or of those of the clone itself.
func (w *work) openKind(kind session.Kind) (*session.State, error) {
	host, _ := os.Hostname()
	return session.Open(session.Options{
		Place: w.place, Kind: kind, Where: w.url + " " + w.settings.Prefix.V, Session: w.identity.Session, HostName: host,
		Process: session.FindClaimant(session.SystemProcesses{}, cmp.Or(w.app.runner, os.Getppid())),
	})
}

// open opens the authority for a command. The command's deadline starts now.
func (a *app) open(ctx context.Context) (*work, error) {
	w, _, err := a.openKeys(ctx, nil)
	return w, err
}

// openKeys is open for a command about keys, which are read as they are meant where the command runs, before anything is sent.
func (a *app) openKeys(ctx context.Context, keys []string) (*work, []lease.Resource, error) {
	return a.openWithin(ctx, keys, (*work).attempt)
}

// openLong is openKeys for a command that goes on for as long as it takes: each of its exchanges has a deadline of its own, by attempt.
func (a *app) openLong(ctx context.Context, keys []string) (*work, []lease.Resource, error) {
	return a.openWithin(ctx, keys, func(_ *work, ctx context.Context) (context.Context, context.CancelFunc) {
		return context.WithCancel(ctx)
	})
}

func (a *app) openWithin(
	ctx context.Context, keys []string, within func(*work, context.Context) (context.Context, context.CancelFunc),
) (*work, []lease.Resource, error) {
	w, err := a.openState(ctx)
	if err != nil {
		return nil, nil, err
	}
	resources, err := w.resources(keys)
	if err != nil {
		w.closeTrackers()
		return nil, nil, err
	}
	w.ctx, w.cancel = within(w, ctx)
	return w, resources, w.openAuthority()
}

// attempt bounds one exchange by the deadline that is set. The time in which the user is asked for a password does not count.
func (w *work) attempt(ctx context.Context) (context.Context, context.CancelFunc) {
	return w.limits.begin(ctx, w.settings.Timeout.V)
}

// asking stops, while the user is asked something, the time of what is under way and the line that rewrites itself.
func (w *work) asking() (answered func()) {
	resume, show := w.limits.hold(), w.app.line.Hold()
	return func() {
		show()
		resume()
	}
}

// openAuthority opens the store and what stands on it. Where it fails, everything is closed again.
func (w *work) openAuthority() error {
	a := w.app
	if w.url == "" {
		a.notice("local mode, this clone only")
	} else if err := w.besideLocal(); err != nil {
		w.close()
		return err
	}
	return w.connect()
}

// connect opens the store, and the authority upon it. Where it fails, everything is closed again.
func (w *work) connect() error {
	a := w.app
	if err := w.openStore(); err != nil {
		w.close()
		return err
	}
	o := w.seams(w.leaseOptions(w.store, w.state))
	if w.url != "" {
		o.Store = coalesce.New(o.Store, w.state.Renewals(), a.clock)
	}
	authority, err := lease.New(o)
	if err != nil {
		w.close()
		return err
	}
	w.lease, a.authority, a.opened = authority, w.authorityID, w
	return nil
}

func (w *work) remoteOptions() remote.Options {
	return remote.Options{
		URL: w.url, Git: w.git, Config: w.repo.Config, Dir: w.state.Dir(), Now: w.app.clock.Now,
		ThroughGit: w.settings.Transport.V == config.TransportGit || w.remoteSetting("proxy") != "",
		UploadPack: w.remoteSetting("uploadpack"), ReceivePack: w.remoteSetting("receivepack"), SSHPersist: w.settings.SSHPersist.V,
		RuntimeDir: w.app.getenv("XDG_RUNTIME_DIR"),
		Store: refstore.Options{
			Check: lease.CheckCommit, Sleep: w.app.clock.Sleep, Pushed: func() { w.state.CountPush(w.app.clock.Now()) },
		},
	}
}

func (w *work) openStore() error {
	o := w.remoteOptions()
	if w.app.early {
		o.Early = w.settings.Prefix.V
	}
	if w.url == "" {
		w.store = remote.OpenLocal(w.localRepository(), o)
		return nil
	}
	known, err := w.state.FreshServer(w.url, w.app.clock.Now())
	if err != nil {
		return err
	}
	w.known, o.Known = known, known
	if known.Known.IsZero() { // it will be read first
		o.Early = ""
	}
	w.store = remote.Open(o)
	return nil
}

// remoteSetting is a setting of git's for the configured remote.
func (w *work) remoteSetting(name string) string {
	if w.remote.Name == "" {
		return ""
	}
	return w.repo.Config.Value("remote." + w.remote.Name + "." + name)
}

// localRepository is where a clone without a remote keeps its claims.
func (w *work) localRepository() string { return filepath.Join(w.place.Root, "local.git") }

func (w *work) leaseOptions(store refstore.Store, local lease.Local) lease.Options {
	s := w.settings
	o := lease.Options{
		Store: store, Local: local, Clock: w.app.clock, Prefix: s.Prefix.V, MayCreate: true, LocalMode: w.url == "",
		Holder: w.holder(),
		Terms:  lease.Terms{TTL: s.TTL.V, Takeover: lease.Takeover(s.Takeover.V), Expiry: lease.Expiry(s.Expiry.V)},
		Notify: w.app.tell, Attempt: w.attempt, Inherit: queue.Inherited, Pools: map[string]int{},
	}
	for _, p := range s.Pools {
		o.Pools[p.Name] = p.Slots
	}
	if w.app.defaultTTL != 0 && s.TTL.Origin.IsDefault() {
		o.Terms.TTL = w.app.defaultTTL
	}
	if !o.LocalMode {
		o.AuthorityID = s.Authority.V
	}
	if !s.Grace.Origin.IsDefault() {
		o.Terms.Grace = &s.Grace.V
	}
	return o
}

// checkClaimant refuses to take another worker's claim for our own, where only the worktree says that it is.
func (w *work) checkClaimant(resources []lease.Resource) error {
	if w.identity.Origin != session.OriginWorktree {
		return nil
	}
	held, err := w.lease.Held(resources)
	if err != nil {
		return err
	}
	return w.state.CheckClaimant(session.SystemProcesses{}, held)
}

// holder is whom the command speaks for, as claims name it.
func (w *work) holder() lease.Holder {
	return lease.Holder{Agent: w.identity.Agent, Session: w.identity.Session, Host: w.identity.Host, Operator: w.identity.Operator}
}

// seams lets a test stand between package lease and what it works with.
func (w *work) seams(o lease.Options) lease.Options {
	if wrap := w.app.local; wrap != nil {
		o.Local = wrap(o.Local)
	}
	if wrap := w.app.store; wrap != nil {
		o.Store = wrap(o.Store)
	}
	return o
}

// authorityID is the authority's ID as far as it is known.
func (w *work) authorityID() string {
	meta, err := w.state.Meta()
	if err != nil {
		return ""
	}
	return meta.Authority
}

// close frees the connections, and remembers what was learned of the server.
func (w *work) close() {
	defer w.cancel()
	defer w.closeTrackers()
	if w.store == nil {
		return
	}
	_ = w.store.Close() // all that was wanted of it is done
	if w.url == "" {
		return
	}
	if err := w.state.LearnServer(w.url, w.known, w.store.Server()); err != nil {
		w.app.notice("what the server can do could not be remembered: %s", term.Clean(err.Error()))
	}
}
