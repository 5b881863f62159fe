package main

import (
	"errors"
	"os"

	"github.com/git-worklease/git-worklease/internal/fault"
	"github.com/git-worklease/git-worklease/internal/gitenv"
	"github.com/git-worklease/git-worklease/internal/session"
	"github.com/git-worklease/git-worklease/lease"
	"github.com/git-worklease/git-worklease/refstore"
	"github.com/git-worklease/git-worklease/refstore/remote"
)

// besideLocal makes sure that a clone which has a remote by now does not claim there beside what it still holds in local mode. A release goes to
// the local claims as long as there are any: it is how they end.
func (w *work) besideLocal() error {
	err := w.refuseBesideLocal()
	if !w.app.releases || !errors.Is(err, fault.ErrLocalClaims) {
		return err
	}
	w.remote, w.url = gitenv.Remote{}, ""
	w.state, err = w.openKind(session.Local)
	w.app.notice("local mode: these claims are from before this clone had a remote")
	return err
}

// refuseBesideLocal refuses to use a remote while the clone's own authority, from the time before it had one, holds claims that have not expired.
func (w *work) refuseBesideLocal() error {
	if _, err := os.Stat(w.localRepository()); err != nil {
		return nil //nolint:nilerr // there never was one
	}
	state, err := w.openKind(session.Local)
	if err != nil {
		return err
	}
	store := remote.OpenLocal(w.localRepository(), remote.Options{Git: w.git, Now: w.app.clock.Now, Store: refstore.Options{Check: lease.CheckCommit}})
	defer store.Close() //nolint:errcheck // it was only read
	o := w.leaseOptions(store, state)
	o.LocalMode, o.AuthorityID = true, ""
	local, err := lease.New(o)
	if err != nil {
		return err
	}
	views, err := local.List(w.ctx)
	if err != nil {
		return err
	}
	for _, v := range views {
		if v.State == lease.StandingHeld && v.Left > 0 {
			return &fault.LocalClaimsError{Resource: v.Resource, Holder: v.Record.Holder, Until: w.app.clock.Now().Add(v.Left)}
		}
	}
	return nil
}
