// Package coalesce lets the processes of one clone push together, so that a server sees few requests however many claims are kept.
//
// A process posts what it wants to swap in a folder that all of them know, and waits for a lock. Whoever has the lock waits a moment for
// others, takes what is posted, sends it in as few requests as will do ([refstore.Together]), and leaves for each of the others what came of
// theirs. What is sent was signed and saved as an intent by the one who posted it; the sender only sends bytes.
//
// Only the living are served: who posts keeps a lock on that, which dies with the process, and what is posted has an age, by the clock that
// runs through suspend, at which it is not sent any more. Nobody depends on another: whoever waited for long enough takes back what is posted
// and sends it alone. A process may be killed at any instant. What a dead sender had taken may have been sent, so the next one sends it
// again in doubt, and finds at the tips whether it had landed.
//
// A request is known by its files, all of which begin with its ID:
//
//	ID.lock   locked by the process that posted it, for as long as that waits
//	ID.posted what is to be sent
//	ID.taken  the same, once a sender has taken it: it may have been sent
//	ID.done   what came of it
package coalesce

import (
	"context"
	"errors"
	"os"
	"slices"
	"time"

	"github.com/git-worklease/git-worklease/internal/lockfile"
	"github.com/git-worklease/git-worklease/lease"
	"github.com/git-worklease/git-worklease/refstore"
)

// The rhythm of waiting.
const (
	firstPoll = 5 * time.Millisecond
	lastPoll  = 50 * time.Millisecond
	// hush is how long nothing new must have come before what is posted is sent, and longestLinger how long a sender waits for that.
	hush          = time.Second
	longestLinger = 5 * time.Second
	// oldest is the age at which a request is not sent any more.
	oldest = 30 * time.Second
	// extra is for how much longer a sender whose own time is up goes on for the sake of the others.
	extra = 3 * time.Second
)

// Store is a store that shares its requests with the other processes of the clone. All but Gather is the inner store's.
type Store struct {
	refstore.Store
	dir   string
	clock lease.Clock
}

var _ refstore.Gatherer = (*Store)(nil)

// New wraps a store. The folder is that of all processes which push to the same place; it is made when it is needed.
func New(inner refstore.Store, dir string, clock lease.Clock) *Store {
	return &Store{Store: inner, dir: dir, clock: clock}
}

// Gather swaps each of txs, together with what other processes want to swap. Where the folder can't be used, and where one of txs is in doubt, it
// waits for nobody.
func (s *Store) Gather(ctx context.Context, p refstore.Patience, txs ...*refstore.Tx) []error {
	if len(txs) == 0 || slices.ContainsFunc(txs, func(tx *refstore.Tx) bool { return tx.Doubt }) {
		return refstore.Together(ctx, s.Store, txs...)
	}
	r, err := s.post(ctx, p, txs)
	if err != nil {
		return refstore.Together(ctx, s.Store, txs...)
	}
	defer r.forget()
	return s.wait(ctx, r, p.Wait)
}

// wait is until somebody has sent the request: another process, or this one once it has the lock.
func (s *Store) wait(ctx context.Context, r *request, longest time.Duration) []error {
	pause := firstPoll
	for waited := time.Duration(0); ; waited += pause {
		if errs := r.result(); errs != nil {
			return errs
		}
		unlock, err := lockfile.TryLock(s.path("lock"))
		switch {
		case err == nil:
			errs := s.lead(ctx, r, longest-waited)
			_ = unlock() // it ends with the process at the latest
			return errs
		case !errors.Is(err, lockfile.ErrLocked) || waited >= longest:
			return s.alone(ctx, r)
		}
		pause = min(2*pause, lastPoll)
		if s.clock.Sleep(ctx, pause) != nil {
			return s.alone(ctx, r)
		}
	}
}

// alone takes the request back and sends it by itself, unless it is too old: in doubt where another process has taken it, because that may have sent it.
func (s *Store) alone(ctx context.Context, r *request) []error {
	taken := !r.withdraw()
	if errs := r.result(); errs != nil {
		return errs
	}
	if r.old() {
		return r.expired(taken)
	}
	return refstore.Together(ctx, s.Store, r.transactions(taken)...)
}

// lead sends what is posted, this process's own request first among it. The caller has the lock.
func (s *Store) lead(ctx context.Context, own *request, longest time.Duration) []error {
	if errs := own.result(); errs != nil {
		return errs
	}
	s.linger(ctx, longest)
	if ctx.Err() != nil {
		return s.alone(ctx, own)
	}
	batch := s.collect(own)
	var txs []*refstore.Tx
	for _, r := range batch {
		txs = append(txs, r.transactions(r.doubt)...)
	}
	if len(txs) > 0 {
		s.send(ctx, batch, txs)
	}
	if errs := own.result(); errs != nil {
		return errs
	}
	return s.alone(ctx, own)
}

// linger waits for others, as long as new ones come.
func (s *Store) linger(ctx context.Context, longest time.Duration) {
	quiet, limit := min(hush, longest/8), min(longestLinger, longest/4)
	if quiet <= 0 {
		return
	}
	for waited, before := time.Duration(0), -1; waited < limit; waited += quiet {
		now := s.count()
		if now == before || s.clock.Sleep(ctx, quiet) != nil {
			return
		}
		before = now
	}
}

// send sends what was collected, and leaves with each request what came of it.
func (s *Store) send(ctx context.Context, batch []*request, txs []*refstore.Tx) {
	if len(batch) > 1 {
		var cancel func()
		ctx, cancel = s.lasting(ctx)
		defer cancel()
	}
	errs := refstore.Together(ctx, s.Store, txs...)
	for _, r := range batch {
		r.finish(errs[:len(r.Txs)])
		errs = errs[len(r.Txs):]
	}
}

// lasting is ctx, but goes on a little longer.
func (s *Store) lasting(ctx context.Context) (longer context.Context, cancel func()) {
	longer, end := context.WithCancelCause(context.WithoutCancel(ctx))
	stop := context.AfterFunc(ctx, func() {
		_ = s.clock.Sleep(longer, extra) // its end is the end either way
		end(context.Cause(ctx))
	})
	return longer, func() {
		stop()
		end(nil)
	}
}

// collect takes what the living have posted. Whatever a dead process left is swept away and never sent, and what is too old is answered.
func (s *Store) collect(own *request) []*request {
	batch := take(nil, own)
	for _, id := range s.ids() {
		if id == own.id {
			continue
		}
		r := &request{store: s, id: id}
		if r.abandoned() {
			continue
		}
		if r.read() == nil {
			batch = take(batch, r)
		}
	}
	return batch
}

// take adds a request to a batch, unless it has an answer, was taken back, or is too old.
func take(batch []*request, r *request) []*request {
	switch {
	case r.answered():
	case r.old():
		r.finish(r.expired(!r.withdraw()))
	case r.take():
		return append(batch, r)
	}
	return batch
}

func (s *Store) path(name string) string { return s.dir + string(os.PathSeparator) + name }
