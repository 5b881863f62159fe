package main

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"time"

	"github.com/git-worklease/git-worklease/internal/config"
	"github.com/git-worklease/git-worklease/internal/doctor"
	"github.com/git-worklease/git-worklease/internal/gitexec"
	"github.com/git-worklease/git-worklease/lease"
	"github.com/git-worklease/git-worklease/refstore"
	"github.com/git-worklease/git-worklease/refstore/remote"
)

// examination is one run of doctor: which checks are made, in which order, with what.
type examination struct {
	*app
	o doctorOptions
	r doctor.Report
	w *work
	// store is what the authority works with, and authority the one that doctor has: it never makes one.
	store     refstore.Store
	authority *lease.Authority
	// why is why the system's git carries everything, "" where it does not.
	why string
}

// run makes the checks, as far as those before allow it.
func (x *examination) run(ctx context.Context) {
	switch {
	case !x.settings(ctx):
		doctor.NotChecked(&x.r, "the remote, the state and the records")
		return
	case !x.place(ctx):
		doctor.NotChecked(&x.r, "the state and the records")
		return
	}
	x.r.Checking("the state of this clone")
	doctor.State(&x.r, x.w.state, x.clock.Now())
	doctor.Disk(&x.r, x.w.state.Dir())
	if err := x.open(ctx); err != nil {
		x.r.Fault(doctor.IDLocalMode, err)
		return
	}
	defer x.w.close()
	if x.w.url != "" && !x.wire(ctx) {
		doctor.NotChecked(&x.r, "what the server does, and the records")
		return
	}
	doctor.BootClock(&x.r, x.clock.Instant())
	x.records(ctx)
}

// settings examines git and what is set.
func (x *examination) settings(ctx context.Context) bool {
	x.r.Checking("git and the settings")
	w, err := x.openSettings(ctx)
	var git *gitexec.Config
	if w != nil {
		git = w.repo.Config
	}
	doctor.Git(ctx, &x.r, x.git(), git)
	switch {
	case w == nil && errors.Is(err, config.ErrRequires):
		x.r.Fault(doctor.IDVersion, err)
		return false
	case w == nil && errors.Is(err, config.ErrConfig):
		x.r.Fault(doctor.IDSettings, err)
		return false
	case w == nil:
		x.r.Fault(doctor.IDRepository, err)
		return false
	}
	x.w = w
	policy, _ := config.ReadPolicy(w.repo.WorkTree) // it could be read a moment ago
	doctor.Version(&x.r, x.version, policy)
	doctor.Settings(&x.r, w.settings, w.flaw)
	x.hooks(ctx)
	return err == nil
}

// hooks examines whether git runs them.
func (x *examination) hooks(ctx context.Context) {
	if x.w.repo.CommonDir == "" {
		return
	}
	c, err := x.openHooks(ctx)
	if err != nil {
		doctor.Hooks(&x.r, nil, err)
		return
	}
	status, err := c.Look(ctx)
	doctor.Hooks(&x.r, status, err)
}

// place finds the remote, and the state of this clone.
func (x *examination) place(ctx context.Context) bool {
	x.r.Checking("where the claims are")
	w := x.w
	if err := w.chooseRemote(ctx); err != nil {
		x.r.Fault(doctor.IDRemote, err)
		return false
	}
	if w.url == "" {
		x.r.Note(doctor.IDLocalMode, "`git remote add origin URL` shares claims", "no remote: this clone decides by itself, for all of its worktrees and for nobody else")
	} else {
		x.r.Good(doctor.IDRemote, "%s", w.describeRemote())
	}
	err := w.identify()
	if err == nil {
		w.state, err = w.openKind(w.kind())
	}
	if err != nil {
		x.r.Fault(doctor.IDStateFiles, err)
	}
	return err == nil
}

// describeRemote names the remote and says why it is that one.
func (w *work) describeRemote() string {
	name, url := w.remote.Name, gitexec.Redact(w.url)
	origin := w.settings.Remote.Origin
	switch {
	case name == "":
		return fmt.Sprintf("%s, named by %s", url, origin)
	case !origin.IsDefault():
		return fmt.Sprintf("%s, %s, named by %s", name, url, origin)
	case w.repo.Config.Value("remote."+name+".gh-resolved") == "base":
		return fmt.Sprintf("%s, %s, marked as the base by gh", name, url)
	case len(w.repo.Remotes()) == 1:
		return fmt.Sprintf("%s, %s, the only remote", name, url)
	default:
		return fmt.Sprintf("%s, %s, because of its name", name, url)
	}
}

// open opens the store and the authority as commands do, but with nothing known of the server.
func (x *examination) open(ctx context.Context) error {
	w := x.w
	w.ctx, w.cancel = context.WithCancel(ctx)
	if w.url != "" {
		if err := w.refuseBesideLocal(); err != nil {
			x.r.Fault(doctor.IDLocalMode, err)
		}
	}
	o := w.remoteOptions()
	o.Through = func(why string) { x.why = why }
	if w.url == "" {
		w.store = remote.OpenLocal(w.localRepository(), o)
	} else {
		w.store = remote.Open(o)
	}
	options := w.seams(w.leaseOptions(w.store, w.state))
	options.Notify, options.MayCreate = nil, false
	authority, err := lease.New(options)
	if err != nil {
		w.close()
		return err
	}
	x.store, x.authority = options.Store, authority
	x.app.authority, x.opened = w.authorityID, w
	return nil
}

// within makes a check with a deadline of its own.
func (x *examination) within(ctx context.Context, what string, check func(ctx context.Context)) {
	x.r.Checking(what)
	ctx, cancel := x.w.attempt(ctx)
	defer cancel()
	check(ctx)
}

// wire examines the way to the remote, and says whether it answers.
func (x *examination) wire(ctx context.Context) (answers bool) {
	w, r := x.w, &x.r
	meta := w.settings.Prefix.V + "meta"
	x.within(ctx, "the remote", func(ctx context.Context) { answers = doctor.Read(ctx, r, x.store, meta, x.clock.Now) })
	doctor.Limits(r, w.url, x.pushes())
	if !answers {
		return false
	}
	x.within(ctx, "how the remote is spoken to", func(ctx context.Context) { doctor.Wire(ctx, r, w.git, w.url, x.why, x.store.Server()) })
	x.within(ctx, "credentials", x.signIn)
	if gitexec.KindOf(w.url) == gitexec.KindSSH && x.why == "" {
		x.within(ctx, "the shared connection", func(ctx context.Context) {
			sharing, err := remote.DescribeSharing(ctx, w.remoteOptions())
			doctor.SSHSharing(r, sharing, err)
		})
	}
	skew, known := x.store.Skew()
	doctor.Clock(r, skew, known, x.undatedGrace())
	x.within(ctx, "who can read the claims", func(ctx context.Context) { doctor.Public(ctx, r, w.url, x.o.deep) })
	x.within(ctx, "other remotes", x.otherRemotes)
	return true
}

func (x *examination) undatedGrace() time.Duration {
	if grace := x.w.settings.Grace; !grace.Origin.IsDefault() {
		return grace.V
	}
	return lease.UndatedGrace
}

// signIn opens the remote once more, as something would that may ask nobody.
func (x *examination) signIn(ctx context.Context) {
	o := x.w.remoteOptions()
	silent := *x.w.git
	silent.Interactive = false
	o.Git, o.SSHPersist = &silent, 0
	quiet := remote.Open(o)
	defer quiet.Close() //nolint:errcheck // it was only read
	doctor.SignIn(ctx, &x.r, &silent, x.w.url, quiet, x.w.settings.Prefix.V+"meta")
}

// otherRemotes names those that carry an authority as well.
func (x *examination) otherRemotes(ctx context.Context) {
	w := x.w
	for _, name := range w.repo.Remotes() {
		if name == w.remote.Name {
			continue
		}
		switch id := w.authorityAt(ctx, name); id {
		case "":
		case w.authorityID():
			x.r.Note(doctor.IDOtherRemote, "", "remote %s has a copy of this authority; claims are made at one place alone", name)
		default:
			x.r.Note(doctor.IDOtherRemote, "`git config worklease.remote "+name+"` uses that one", "remote %s carries another authority, %s", name, id)
		}
	}
}

// records examines what stands at the refs, after the server was tried and, where that is asked for, what is damaged was repaired.
func (x *examination) records(ctx context.Context) {
	seen, _ := x.w.state.SeenAll() // State has said what is wrong with it
	var survey *lease.Survey
	var err error
	x.within(ctx, "the records", func(ctx context.Context) { survey, err = x.authority.Survey(ctx, seen) })
	if x.o.repair {
		survey, err = x.repair(ctx, survey, err, seen)
	}
	x.nameAuthority(ctx, survey, err)
	if !errors.Is(err, lease.ErrWrongAuthority) {
		x.within(ctx, "what the server does", x.probe)
	}
	if err != nil {
		doctor.NotChecked(&x.r, "the records")
		return
	}
	doctor.Records(&x.r, survey, x.now(), x.w.settings.Retention.V)
	if x.o.deep {
		doctor.History(ctx, &x.r, survey.Views, x.audit)
	}
}

// now is the corrected wall clock.
func (x *examination) now() time.Time {
	skew, known := x.store.Skew()
	if !known {
		skew = 0
	}
	return x.clock.Now().Add(skew)
}

func (x *examination) audit(ctx context.Context, v lease.View) ([]lease.Flaw, int, error) {
	ctx, cancel := x.w.attempt(ctx)
	defer cancel()
	return x.authority.Audit(ctx, v)
}

// nameAuthority says which authority there is, or what is wrong with it.
func (x *examination) nameAuthority(ctx context.Context, s *lease.Survey, err error) {
	switch {
	case err != nil:
		x.r.Fault(doctor.IDAuthority, x.nameRemote(ctx, err))
	case s.Authority == "":
		x.r.Note(doctor.IDAuthority, "", "none yet: the first claim creates it")
	default:
		x.r.Good(doctor.IDAuthority, "%s, generations above %d", s.Authority, s.Floor)
	}
}

// probe tries what the server does.
func (x *examination) probe(ctx context.Context) {
	switch {
	case x.w.url == "":
		return
	case x.o.noWrite:
		x.r.Note(doctor.IDWrite, "", "not tried: --no-write")
	default:
		x.r.Scene.Writes = true
		p := doctor.Probe{Store: x.store, Prefix: x.w.settings.Prefix.V, Now: x.now, Rand: rand.Reader}
		if !p.Run(ctx, &x.r) {
			doctor.NotChecked(&x.r, "what else the server does with refs; reading goes on")
		}
		x.r.Scene.Writes = false
	}
	doctor.Server(&x.r, x.store.Server())
}

// repair repairs what can be, and reads again.
func (x *examination) repair(ctx context.Context, s *lease.Survey, err error, seen []lease.Sighting) (*lease.Survey, error) {
	x.r.Checking("what is to be repaired")
	again := func() (*lease.Survey, error) {
		ctx, cancel := x.w.attempt(ctx)
		defer cancel()
		return x.authority.Survey(ctx, seen)
	}
	if errors.Is(err, lease.ErrAuthorityGone) || errors.Is(err, lease.ErrCorrupt) {
		if !x.repaired(ctx, "", func(ctx context.Context) (*lease.Repaired, error) { return x.authority.RepairMeta(ctx, seen) }) {
			return s, err
		}
		s, err = again()
	}
	if err != nil {
		return s, err
	}
	damaged := false
	for _, v := range s.Views {
		if v.State == lease.StandingCorrupt {
			damaged = x.repaired(ctx, v.Tip, func(ctx context.Context) (*lease.Repaired, error) { return x.authority.RepairRecord(ctx, v) }) || damaged
		}
	}
	if !damaged {
		return s, nil
	}
	return again()
}

// repaired makes one repair and says what came of it. tip is the corrupt record, "" where it is the authority's that is repaired.
func (x *examination) repaired(ctx context.Context, tip refstore.OID, repair func(ctx context.Context) (*lease.Repaired, error)) bool {
	ctx, cancel := x.w.attempt(ctx)
	defer cancel()
	done, err := repair(ctx)
	switch {
	case err != nil:
		x.r.Fault(doctor.IDRepaired, err)
		return false
	case done.Already:
		x.r.Note(doctor.IDRepaired, "", "%s: was repaired by another meanwhile", done.Ref)
	case tip.IsZero():
		x.r.Note(doctor.IDRepaired, "", "the authority's record was made anew; new generations lie above %d", done.Generation)
	default:
		x.r.Note(doctor.IDRepaired, "", "%s: a tombstone of generation %d stands on top of the corrupt record %s", done.Resource, done.Generation, tip.Short())
	}
	return true
}

// pushes is how often this clone has pushed in the last minute; nil where that is not known.
func (x *examination) pushes() *int {
	n, err := x.w.state.Pushes(x.clock.Now(), time.Minute)
	if err != nil {
		return nil
	}
	return &n
}
