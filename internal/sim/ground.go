package sim

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"path/filepath"
	"time"

	"github.com/git-worklease/git-worklease/internal/fault"
	"github.com/git-worklease/git-worklease/lease"
	"github.com/git-worklease/git-worklease/refstore"
	"github.com/git-worklease/git-worklease/refstore/remote"
)

// ground is the refs of one simulation. Their names begin as those of probes do, so that whatever sweeps up after those sweeps up after this.
type ground struct {
	*Sim
	prefix string
	store  refstore.Store
	// dated says that the server tells its Date.
	dated bool
}

const (
	probes     = "probes/"
	probeStamp = "20060102t150405z"
	// afterglow is the pause between looks for refs that a request of unknown outcome may yet make, and looks how many of them must find nothing.
	afterglow = time.Second
	looks     = 3
	// mostTries is how often what gets nowhere is tried.
	mostTries = 3
)

// openGround opens a prefix of its own, and tries whether refs can be made there, are shown and can be deleted again.
func (s *Sim) openGround(ctx context.Context) (*ground, error) {
	id := make([]byte, 6)
	_, _ = rand.Read(id) // never fails
	o := s.o.Remote
	o.Dir, o.Now = filepath.Join(s.o.Dir, "ground"), s.o.Clock.Now
	o.Store = refstore.Options{Check: lease.CheckCommit, Sleep: s.o.Clock.Sleep}
	g := &ground{Sim: s, store: remote.Open(o)}
	g.prefix = fmt.Sprintf("%s%s%s-sim-%s/", s.o.Prefix, probes, s.o.Clock.Now().UTC().Format(probeStamp), hex.EncodeToString(id))
	if err := g.try(ctx); err != nil {
		g.close()
		return nil, err
	}
	_, g.dated = g.store.Skew()
	return g, nil
}

func (g *ground) close() { _ = g.store.Close() } // all that was wanted of it is done

// atomic says whether the server changes several refs at once.
func (g *ground) atomic() bool { return g.store.Server().Atomic }

// try makes one ref, looks for it and deletes it.
func (g *ground) try(ctx context.Context) error {
	change := refstore.Change{Ref: g.prefix + "trial", Message: []byte("trial of git-worklease sim\n"), When: g.o.Clock.Now()}
	tx, err := g.store.Build(change)
	if err != nil {
		return err
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	made, cancel := g.attempt(ctx)
	defer cancel()
	if err := g.store.Swap(made, tx, nil); err != nil {
		if errors.Is(err, refstore.ErrUndecided) {
			err = g.orLeft(ctx, err)
		}
		return err
	}
	listed, err := g.list(ctx)
	if err == nil && len(listed) == 0 {
		return g.takeBack(ctx, tx.Updates[0])
	}
	return g.orLeft(ctx, err)
}

// takeBack deletes a ref that the server took and does not show.
func (g *ground) takeBack(ctx context.Context, u refstore.Update) error {
	hidden := fmt.Errorf("%w: %s", lease.ErrHidden, g.o.Prefix)
	if err := g.remove(ctx, []refstore.Ref{{Name: u.Ref, Commit: refstore.Commit{OID: u.New}}}); err != nil {
		return &fault.LeftBehindError{Prefix: g.prefix, Refs: 1, Err: errors.Join(hidden, err)}
	}
	return hidden
}

// orLeft clears the ground after its trial, and returns err, or that this could not be done.
func (g *ground) orLeft(ctx context.Context, err error) error {
	left, cerr := g.clear(ctx, errors.Is(err, refstore.ErrUndecided))
	if left != 0 {
		return &fault.LeftBehindError{Prefix: g.prefix, Refs: left, Err: errors.Join(err, cerr)}
	}
	return err
}

func (g *ground) list(ctx context.Context) ([]refstore.Ref, error) {
	ctx, cancel := g.attempt(ctx)
	defer cancel()
	return g.store.List(ctx, g.prefix)
}

// clear deletes all refs, and looks again. In doubt something may be on its way yet, which it waits for. It returns how many are left, -1 where that is not
// known, and why.
func (g *ground) clear(ctx context.Context, doubt bool) (left int, err error) {
	wanted, empty := 1, 0
	if doubt {
		wanted = looks
	}
	for tries := 0; tries < mostTries; {
		listed, lerr := g.list(ctx)
		switch {
		case lerr != nil:
			left, err, tries = -1, lerr, tries+1
		case len(listed) == 0:
			left, err = 0, nil
			if empty++; empty == wanted {
				return 0, nil
			}
		default:
			if len(listed) == left { // the last deletion has got nowhere
				tries++
			}
			left, empty = len(listed), 0
			switch err = g.remove(ctx, listed); {
			case err == nil:
				continue
			case errors.Is(err, refstore.ErrRefused):
				if rest, lerr := g.list(ctx); lerr == nil { // a part of them may be gone
					left = len(rest)
				}
				return left, err
			}
		}
		_ = g.o.Clock.Sleep(context.WithoutCancel(ctx), afterglow) // it always does
	}
	return left, err
}

// remove deletes refs, and returns the first error but that others were faster.
func (g *ground) remove(ctx context.Context, refs []refstore.Ref) error {
	ctx, cancel := g.attempt(ctx)
	defer cancel()
	for _, err := range refstore.Remove(ctx, g.store, g.o.Clock.Now(), refs...) {
		if err != nil && !errors.Is(err, refstore.ErrConflict) {
			return err
		}
	}
	return nil
}
