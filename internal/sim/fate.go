package sim

import (
	"context"
	"errors"
	"sync"

	"github.com/git-worklease/git-worklease/refstore"
)

// errDied is what a process finds that was killed. It does nothing after it, so that all it leaves is what a killed one does: the refs, an intent, and no
// lock.
var errDied = errors.New("the process was killed")

// death is when a process dies at a swap.
type death int

const (
	never death = iota
	beforeSending
	afterSending
)

// fate is a store whose process may die. It counts what is read.
type fate struct {
	refstore.Store
	meter *meter

	mu   sync.Mutex
	next death
	dead bool
}

// arm lets the process die at its next swap.
func (f *fate) arm(d death) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.next = d
}

// die is a process's end from now on.
func (f *fate) die() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.dead = true
}

func (f *fate) alive() error {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.dead {
		return &refstore.UndecidedError{Err: errDied}
	}
	return nil
}

// atSwap is how the swap that is about to be sent ends the process.
func (f *fate) atSwap() death {
	f.mu.Lock()
	defer f.mu.Unlock()
	d := f.next
	f.next, f.dead = never, f.dead || d != never
	return d
}

// Swap may be the last thing that the process does.
func (f *fate) Swap(ctx context.Context, tx *refstore.Tx, ours func(refstore.Ref) bool) error {
	if err := f.alive(); err != nil {
		return err
	}
	switch f.atSwap() {
	case beforeSending:
		return f.alive()
	case afterSending:
		_ = f.Store.Swap(ctx, tx, ours) // nobody is there to hear of it
		return f.alive()
	default:
		return f.Store.Swap(ctx, tx, ours)
	}
}

// List reads refs.
func (f *fate) List(ctx context.Context, patterns ...string) ([]refstore.Ref, error) {
	if err := f.alive(); err != nil {
		return nil, err
	}
	f.meter.read()
	return f.Store.List(ctx, patterns...)
}

// Settle reads refs as well.
func (f *fate) Settle(ctx context.Context, tx *refstore.Tx, ours func(refstore.Ref) bool) (refstore.State, []refstore.Ref, error) {
	if err := f.alive(); err != nil {
		return refstore.Open, nil, err
	}
	f.meter.read()
	return f.Store.Settle(ctx, tx, ours)
}

// Log reads a past.
func (f *fate) Log(ctx context.Context, tip refstore.OID, limit int) ([]refstore.Commit, error) {
	if err := f.alive(); err != nil {
		return nil, err
	}
	f.meter.read()
	return f.Store.Log(ctx, tip, limit)
}
