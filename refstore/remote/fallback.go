package remote

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/git-worklease/git-worklease/refstore"
)

// fallback uses its first transport until that says, before it sent anything, that it can't do it: then the second one for good. A server that
// lacks a capability lacks it for both, so that is passed on.
type fallback struct {
	// second makes the second one, told why; nil once it did.
	second func(why error) refstore.Transport

	mu      sync.Mutex
	current refstore.Transport
	retired refstore.Transport
}

// do calls f with the current transport, and once more with the second where the first can't do it.
func (b *fallback) do(f func(refstore.Transport) error) error {
	t := b.get()
	err := f(t)
	var u *refstore.UnsupportedError
	if !errors.As(err, &u) || u.Feature == refstore.FeatureAtomic {
		return err
	}
	next := b.retire(t, err)
	if next == nil {
		return err
	}
	return f(next)
}

func (b *fallback) get() refstore.Transport {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.current
}

// retire replaces t, unless somebody did so already; nil where there is nothing further.
func (b *fallback) retire(t refstore.Transport, why error) refstore.Transport {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.current != t {
		return b.current
	}
	if b.second == nil {
		return nil
	}
	next := b.second(why)
	b.second, b.retired, b.current = nil, t, next
	return next
}

func (b *fallback) Refs(ctx context.Context, prefixes []string) (refs map[string]refstore.OID, err error) {
	err = b.do(func(t refstore.Transport) error {
		refs, err = t.Refs(ctx, prefixes)
		return err
	})
	return refs, err
}

func (b *fallback) Commits(ctx context.Context, wants []refstore.OID, depth int) (objects []refstore.Object, err error) {
	err = b.do(func(t refstore.Transport) error {
		objects, err = t.Commits(ctx, wants, depth)
		return err
	})
	return objects, err
}

func (b *fallback) Push(ctx context.Context, tx *refstore.Tx) (report *refstore.Report, err error) {
	err = b.do(func(t refstore.Transport) error {
		report, err = t.Push(ctx, tx)
		return err
	})
	return report, err
}

func (b *fallback) Server() refstore.Server { return b.get().Server() }

func (b *fallback) Skew() (time.Duration, bool) { return b.get().Skew() }

func (b *fallback) Close() error {
	b.mu.Lock()
	defer b.mu.Unlock()
	err := b.current.Close()
	if b.retired != nil {
		err = errors.Join(err, b.retired.Close())
	}
	return err
}
