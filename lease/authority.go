package lease

import (
	"context"
	"crypto/rand"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"sync"
	"sync/atomic"
	"time"

	"github.com/git-worklease/git-worklease/refstore"
)

// The default terms.
const (
	DefaultTTL = 2 * time.Hour
	// DatedGrace is the grace where the server's Date corrects all clocks, or where there is only one clock.
	DatedGrace = 30 * time.Second
	// UndatedGrace is the grace where nothing corrects the clocks.
	UndatedGrace = 5 * time.Minute
)

// Terms are what a holder asks for, and the least that a contender grants to others. The zero value asks for the defaults.
type Terms struct {
	// TTL is from 10 s to 24 h; 0: 2 h.
	TTL time.Duration
	// Grace is from 0 s to 1 h; nil: 30 s where clocks are corrected by the server's Date or in local mode, otherwise 5 min.
	Grace *time.Duration
	// Takeover is "" for stale.
	Takeover Takeover
	// Expiry is "" for clock.
	Expiry Expiry
}

// Options are what an [Authority] works with.
type Options struct {
	// Store holds the refs. It must check records with [CheckCommit] as they come.
	Store refstore.Store
	// Local is what this clone remembers.
	Local Local
	// Clock is read for all times.
	Clock Clock
	// Prefix is where the refs are; "": [DefaultPrefix].
	Prefix string
	// AuthorityID is the authority that the policy names; "": none is named.
	AuthorityID string
	// MayCreate lets a claim create the authority where none is known and the remote carries none.
	MayCreate bool
	// Holder is who claims.
	Holder Holder
	Terms  Terms
	// Pools are the pools and how many slots each has, at most [MaxSlots].
	Pools map[string]int
	// Rand is the source of keys; nil: the system's.
	Rand io.Reader
	// Notify is told what a person should know; nil: nobody is. It may be called by several goroutines.
	Notify func(Notice)
	// LocalMode says that the store is this machine's own, so that there is one clock.
	LocalMode bool
	// Attempt bounds each of the exchanges of a call that goes on for longer than one, such as [Authority.Keep]; nil: nothing but the call's context does.
	Attempt func(Context) (Context, context.CancelFunc)
	// Inherit says what a new claim keeps of the meta of what stood at a resource, unless the request has it; nil: nothing.
	Inherit func(before *Record) map[string]string
	// Within bounds a renewal, so that there is time for another, by the clock that Clock goes by; nil: by [context.WithTimeout].
	Within func(ctx Context, limit time.Duration) (Context, context.CancelFunc)
}

// Authority claims resources for one session. It is safe for use by several goroutines.
type Authority struct {
	o     Options
	refs  refs
	store refstore.Store
	local Local
	clock Clock

	clockNamed atomic.Bool
	random     sync.Mutex
}

// New checks the options. Nothing is read or sent.
func New(o Options) (*Authority, error) {
	if o.Store == nil || o.Local == nil || o.Clock == nil {
		return nil, fmt.Errorf("%w: store, local state and clock are needed", ErrBadRequest)
	}
	for _, name := range []string{o.Holder.Agent, o.Holder.Session} {
		if err := checkText(name, MaxName); err != nil {
			return nil, fmt.Errorf("%w: agent or session %q: %w", ErrBadRequest, name, err)
		}
	}
	if err := o.Terms.defaults(); err != nil {
		return nil, err
	}
	if o.Prefix == "" {
		o.Prefix = DefaultPrefix
	}
	if o.Rand == nil {
		o.Rand = rand.Reader
	}
	a := &Authority{o: o, refs: refs{o.Prefix}, store: o.Store, local: o.Local, clock: o.Clock}
	if !refstore.ValidRef(a.refs.meta()) {
		return nil, fmt.Errorf("%w: prefix %q", ErrBadRequest, o.Prefix)
	}
	return a, nil
}

func (t *Terms) defaults() error {
	if t.TTL == 0 {
		t.TTL = DefaultTTL
	}
	if t.Takeover == "" {
		t.Takeover = TakeoverStale
	}
	if t.Expiry == "" {
		t.Expiry = ExpiryClock
	}
	switch {
	case checkTTL(t.TTL) != nil:
		return checkTTL(t.TTL)
	case t.Grace != nil && (*t.Grace < 0 || *t.Grace > MaxGrace):
		return fmt.Errorf("%w: grace of %s, which is not from 0s to %s", ErrBadRequest, *t.Grace, MaxGrace)
	case t.Takeover != TakeoverStale && t.Takeover != TakeoverDead:
		return fmt.Errorf("%w: takeover %q", ErrBadRequest, t.Takeover)
	case t.Expiry != ExpiryClock && t.Expiry != ExpiryObserved:
		return fmt.Errorf("%w: expiry %q", ErrBadRequest, t.Expiry)
	}
	return nil
}

func checkTTL(ttl time.Duration) error {
	if ttl < MinTTL || ttl > MaxTTL {
		return fmt.Errorf("%w: ttl of %s, which is not from %s to %s", ErrBadRequest, ttl, MinTTL, MaxTTL)
	}
	return nil
}

// moment reads all clocks. The wall clock's reading is freed of the one that Go adds, which stands still while the machine is suspended.
func (a *Authority) moment() moment {
	m := moment{wall: a.clock.Now().Round(0), at: a.clock.Instant()}
	if a.o.LocalMode {
		return m
	}
	m.skew, m.dated = a.store.Skew()
	if !m.dated {
		m.skew = 0
	}
	return m
}

// grace is what holders and contenders are given; dated says whether clocks are corrected.
func (a *Authority) grace(dated bool) time.Duration {
	switch {
	case a.o.Terms.Grace != nil:
		return *a.o.Terms.Grace
	case dated || a.o.LocalMode:
		return DatedGrace
	default:
		return UndatedGrace
	}
}

func (a *Authority) within(ctx Context, limit time.Duration) (Context, context.CancelFunc) {
	if a.o.Within == nil {
		return context.WithTimeout(ctx, limit)
	}
	return a.o.Within(ctx, limit)
}

// attempt bounds one exchange of a call that goes on for longer.
func (a *Authority) attempt(ctx Context) (Context, context.CancelFunc) {
	if a.o.Attempt == nil {
		return ctx, func() {}
	}
	return a.o.Attempt(ctx)
}

// stance is this session as a contender.
func (a *Authority) stance(m moment) stance {
	return stance{agent: a.o.Holder.Agent, grace: a.grace(m.dated), takeover: a.o.Terms.Takeover, expiry: a.o.Terms.Expiry, moment: m}
}

// watchClock names a clock that is far off, once.
func (a *Authority) watchClock() {
	m := a.moment()
	if m.skew.Abs() > clockTolerance && a.clockNamed.CompareAndSwap(false, true) {
		a.notify(Notice{Kind: NoticeClock, Offset: m.skew})
	}
}

// randomBytes fills b.
func (a *Authority) randomBytes(b []byte) error {
	a.random.Lock()
	defer a.random.Unlock()
	if _, err := io.ReadFull(a.o.Rand, b); err != nil {
		return fmt.Errorf("random bytes: %w", err)
	}
	return nil
}

// The bounds of trying again.
const (
	maxTries   = 12
	maxWaits   = 60
	firstPause = 20 * time.Millisecond
	lastPause  = 500 * time.Millisecond
)

// pause waits before the given further try, with jitter.
func (a *Authority) pause(ctx Context, try int) error {
	longest := min(firstPause<<min(try, 10), lastPause)
	more, err := a.jitter(longest)
	if err != nil {
		return err
	}
	return a.clock.Sleep(ctx, longest/2+more)
}

// jitter is a random duration below the given one.
func (a *Authority) jitter(below time.Duration) (time.Duration, error) {
	var b [8]byte
	if err := a.randomBytes(b[:]); err != nil {
		return 0, err
	}
	return time.Duration(binary.NativeEndian.Uint64(b[:]) % uint64(below)), nil
}

// errAgain says that the state of things has changed, and what was to be done has to be decided anew.
var errAgain = errors.New("decide again")

// timeUp is the error of a wait that was cut short, nil for one that was not.
func timeUp(err error) error {
	if err == nil {
		return nil
	}
	return &refstore.UnavailableError{Trouble: refstore.TroubleDeadline, Err: err}
}

// tries counts what a verb has met so far.
type tries struct{ again, waits int }

// again says whether a verb that failed with err should decide anew, after what stood in its way is settled. Otherwise it returns the
// verb's error.
func (a *Authority) again(ctx Context, t *tries, verb Verb, resources []Resource, err error) error {
	var open *OpenIntentError
	var withdrawn *withdrawnError
	switch {
	case errors.Is(err, ErrPending):
		return err
	case errors.As(err, &withdrawn):
		if t.again++; t.again > maxTries {
			return withdrawn.rival
		}
		return timeUp(a.pause(ctx, t.again))
	case errors.Is(err, errAgain), errors.Is(err, refstore.ErrConflict):
		if t.again++; t.again > maxTries {
			return fmt.Errorf("%s: %w", verb, refstore.ErrConflict)
		}
		if t.again == 1 {
			return nil
		}
		return timeUp(a.pause(ctx, t.again))
	case errors.As(err, &open):
		if t.again++; t.again > maxTries {
			return &PendingError{Verb: verb, Session: a.o.Holder.Session, Resources: resources, Err: err}
		}
		return a.resolve(ctx, resources)
	case errors.Is(err, ErrIntentBusy):
		if t.waits++; t.waits > maxWaits {
			return &PendingError{Verb: verb, Session: a.o.Holder.Session, Resources: resources, Busy: true}
		}
		if err := a.pause(ctx, t.waits); err != nil {
			return &PendingError{Verb: verb, Session: a.o.Holder.Session, Resources: resources, Busy: true, Err: err}
		}
		return nil
	default:
		return err
	}
}
