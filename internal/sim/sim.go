// Package sim lets many workers loose on a remote, and watches whether claims keep their promises there.
//
// Each worker follows a script of its kind with what the program itself is made of: a [lease.Authority] over the store of the remote, and the
// state of a clone in a temporary folder, which several sessions share, and whose keepers push together. A process of a worker is what it opens anew
// for each session; to die is to leave it where it stands.
//
// All of it happens below a prefix of its own, among the refs of probes, where no claim is ever looked for. It is deleted at the end, also of a run that
// is interrupted; what a killed run leaves is deleted by the first doctor that comes a day later.
//
// A referee watches all workers by one clock. It knows nothing of leases but what the workers are told.
package sim

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"time"

	"github.com/git-worklease/git-worklease/lease"
	"github.com/git-worklease/git-worklease/refstore"
	"github.com/git-worklease/git-worklease/refstore/remote"
)

// The limits of a run.
const (
	MostWorkers   = 1000
	MostResources = 10_000
	LongestSpan   = 24 * time.Hour
)

const (
	// sessionsPerClone is how many workers share a clone.
	sessionsPerClone = 4
	// datedGrace and undatedGrace are the default graces, short enough for take-overs within a minute.
	datedGrace, undatedGrace = 10 * time.Second, 5 * time.Second
	// dateError is what a Date is good to: together with the half of a round trip, in which it may have been written at any time, it is what a corrected
	// clock may be off by.
	dateError = time.Second
	// ttlSpread is how much longer than the least a claim may last.
	ttlSpread = 5 * time.Second
	// gathering is within which the workers begin.
	gathering = 3 * time.Second
)

// ErrBadOptions is returned for a run outside of the limits.
var ErrBadOptions = errors.New("outside of the limits of a simulation")

// Options are what is simulated, and where.
type Options struct {
	// Workers, Resources and Span say how much there is; Seed makes the workers' scripts repeatable, not what comes of them.
	Workers, Resources int
	Span               time.Duration
	Seed               uint64
	// Remote says how the remote is reached. The folder, the clock and what is known of the server are each process's own. Git may ask the user for a
	// password before the workers begin, and not later.
	Remote remote.Options
	// Prefix is that of the authority that really is there, and stays untouched.
	Prefix string
	// Dir is an empty folder for the clones.
	Dir string
	// Clock is the true one.
	Clock lease.Clock
	// Attempt bounds one exchange.
	Attempt func(context.Context) (context.Context, context.CancelFunc)
	// Grace is for how long contenders wait after an expiry; 0: 10 s where the server tells its Date, otherwise 5 s.
	Grace time.Duration

	// speed, where it is set, is by how much Clock runs faster than time does: tests have no patience.
	speed time.Duration
	// store, where it is set, stands between the workers and the remote: tests break it.
	store func(refstore.Store) refstore.Store
}

func (o *Options) check() error {
	switch {
	case o.Workers < 1 || o.Workers > MostWorkers:
		return fmt.Errorf("%w: %d workers", ErrBadOptions, o.Workers)
	case o.Resources < 1 || o.Resources > MostResources:
		return fmt.Errorf("%w: %d resources", ErrBadOptions, o.Resources)
	case o.Span <= 0 || o.Span > LongestSpan:
		return fmt.Errorf("%w: %s", ErrBadOptions, o.Span)
	case o.Grace < 0 || o.Grace > lease.MaxGrace:
		return fmt.Errorf("%w: a grace of %s", ErrBadOptions, o.Grace)
	case o.Clock == nil || o.Attempt == nil || o.Dir == "" || o.Prefix == "":
		return fmt.Errorf("%w: clock, bound, folder and prefix are needed", ErrBadOptions)
	}
	return nil
}

// Sim is one simulation.
type Sim struct {
	o       Options
	ground  *ground
	field   *field
	clones  []*clone
	workers []*worker
	referee *referee
	meter   *meter
	gate    *gate
	// grace is for how long contenders wait after an expiry, and trip how long an exchange of a worker may take; 0: as long as any.
	grace, trip time.Duration
	// watching is the referee, for whoever asks while the run goes on.
	watching atomic.Pointer[referee]
	// over ends when the workers are to stop, and abort ends it early.
	over  context.Context //nolint:containedctx // of one run
	abort context.CancelCauseFunc
}

// New checks the options. Nothing is read or sent.
func New(o Options) (*Sim, error) {
	if err := o.check(); err != nil {
		return nil, err
	}
	return &Sim{o: o, meter: newMeter(o.Clock.Now), gate: newGate(o.Workers)}, nil
}

// Run makes the simulation, and cleans up after it. It returns nil and an error where nothing was simulated; where the run was cut short, what
// it saw until then, with an error: that of ctx, or what would not have passed by itself. Refs that could not be deleted again are in
// [Report.Left], or where nothing was simulated in a [*fault.LeftBehindError].
func (s *Sim) Run(ctx context.Context) (*Report, error) {
	ground, err := s.openGround(ctx)
	if err != nil {
		return nil, err
	}
	defer ground.close()
	s.ground = ground
	s.agree()
	if err := s.people(); err != nil {
		return nil, err
	}
	took, err := s.play(ctx)
	report := s.report(took)
	report.Left, report.leftErr = ground.clear(ctx, s.meter.inDoubt())
	return report, err
}

// agree decides on the grace. No two clocks that are corrected may be further apart than that, so that no reply may take longer than they could be wrong by
// for it: an exchange that does fails.
func (s *Sim) agree() {
	s.grace = s.o.Grace
	switch {
	case s.grace == 0 && s.ground.dated:
		s.grace = datedGrace
	case s.grace == 0:
		s.grace = undatedGrace
	}
	if s.ground.dated {
		s.trip = max(s.grace-dateError, dateError) / max(s.o.speed, 1)
	}
}

// people makes the clones and the workers.
func (s *Sim) people() error {
	s.field = newField(s.o.Resources, s.ground.atomic())
	s.referee = newReferee(s.o.Clock.Now, s.field.cellsOf)
	s.watching.Store(s.referee)
	for i := range (s.o.Workers + sessionsPerClone - 1) / sessionsPerClone {
		c, err := newClone(s, i)
		if err != nil {
			return err
		}
		s.clones = append(s.clones, c)
	}
	for i := range s.o.Workers {
		s.workers = append(s.workers, newWorker(s, i))
	}
	return nil
}

// play lets the workers work until their time is up, and says how long that was.
func (s *Sim) play(ctx context.Context) (time.Duration, error) {
	s.over, s.abort = context.WithCancelCause(ctx)
	defer s.abort(nil)
	began := s.o.Clock.Now()
	s.meter.begin(s.o.Span)
	var all sync.WaitGroup
	for _, w := range s.workers {
		all.Go(w.run)
	}
	if s.o.Clock.Sleep(s.over, s.o.Span) == nil {
		s.abort(errTimeUp)
	}
	took := s.o.Clock.Now().Sub(began)
	all.Wait()
	cause := context.Cause(s.over)
	switch {
	case errors.Is(cause, errTimeUp):
		return took, nil
	case ctx.Err() != nil:
		cause = ctx.Err()
	}
	return took, fmt.Errorf("simulation: %w", cause)
}

// errTimeUp ends a run that ends as it should.
var errTimeUp = errors.New("the time is up")

// attempt bounds one exchange. It is not cut short when the run ends: a request that is under way could make a ref after all were deleted.
func (s *Sim) attempt(ctx context.Context) (context.Context, context.CancelFunc) {
	return s.o.Attempt(context.WithoutCancel(ctx))
}

// exchange bounds one exchange of a worker.
func (s *Sim) exchange(ctx context.Context) (context.Context, context.CancelFunc) {
	ctx, cancel := s.attempt(ctx)
	if s.trip == 0 {
		return ctx, cancel
	}
	ctx, end := context.WithTimeout(ctx, s.trip)
	return ctx, func() {
		end()
		cancel()
	}
}

// random is the source of the script of one life of one worker.
func (s *Sim) random(worker, life int) *rand.Rand {
	return rand.New(rand.NewPCG(s.o.Seed, uint64(worker)<<32|uint64(life))) //nolint:gosec // not for secrets
}
