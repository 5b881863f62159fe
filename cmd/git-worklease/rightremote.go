package main

import (
	"context"
	"errors"
	"time"

	"github.com/git-worklease/git-worklease/internal/fault"
	"github.com/git-worklease/git-worklease/internal/gitenv"
	"github.com/git-worklease/git-worklease/lease"
	"github.com/git-worklease/git-worklease/refstore"
	"github.com/git-worklease/git-worklease/refstore/remote"
)

// askRemote is how long another remote is given to say which authority it carries.
const askRemote = 5 * time.Second

// nameRemote adds to an error about the wrong authority which of the clone's remotes carries the right one.
func (a *app) nameRemote(ctx context.Context, err error) error {
	var wrong *lease.WrongAuthorityError
	if a.opened == nil || !errors.As(err, &wrong) || wrong.Resource != "" {
		return err
	}
	w := a.opened
	e := &fault.WrongRemoteError{Remote: w.remote.Name, Want: wrong.Want, Got: wrong.Got, Err: err}
	for _, name := range w.repo.Remotes() {
		if name != w.remote.Name && w.authorityAt(ctx, name) == wrong.Want && wrong.Want != "" {
			e.Right = name
			break
		}
	}
	return e
}

// authorityAt is the authority that another remote is known to carry, "" for none.
func (w *work) authorityAt(ctx context.Context, name string) string {
	ctx, cancel := context.WithTimeout(ctx, askRemote)
	defer cancel()
	url, err := w.repo.PushURL(ctx, gitenv.Remote{Name: name})
	if err != nil {
		return ""
	}
	o := w.remoteOptions()
	o.URL, o.Known = url, refstore.Server{}
	store := remote.Open(o)
	defer store.Close() //nolint:errcheck // it was only read
	refs, err := store.List(ctx, w.settings.Prefix.V+"meta")
	if err != nil || len(refs) != 1 || refs[0].Err != nil {
		return ""
	}
	meta, err := lease.DecodeMeta(refs[0].Commit)
	if err != nil {
		return ""
	}
	return meta.Authority
}
