package lease

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/git-worklease/git-worklease/refstore"
	"github.com/git-worklease/git-worklease/refstore/memory"
)

// world is one repository and the true time.
type world struct {
	t    testing.TB
	repo *memory.Repository
	mu   sync.Mutex
	now  time.Time
	// dated: the server tells its Date.
	dated bool
}

func newWorld(t testing.TB) *world {
	t.Helper()
	return &world{t: t, repo: &memory.Repository{}, now: epoch}
}

func (w *world) advance(d time.Duration) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.now = w.now.Add(d)
}

func (w *world) time() time.Time {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.now
}

// logicalClock is a machine's clock: off from the true time, and started anew at will. Waiting takes no time.
type logicalClock struct {
	w    *world
	off  time.Duration
	boot string
}

func (c *logicalClock) Now() time.Time   { return c.w.time().Add(c.off) }
func (c *logicalClock) Instant() Instant { return Instant{Boot: c.boot, Since: c.w.time().Sub(epoch)} }
func (c *logicalClock) Sleep(ctx Context, _ time.Duration) error {
	return ctx.Err()
}

// actor is one process of one session of one clone.
type actor struct {
	*Authority
	w       *world
	clock   *logicalClock
	local   *MemoryLocal
	wire    *wire
	store   refstore.Store
	notices []Notice
	// single is for processes that are to be killed, see fate.
	single bool
}

// actorOption changes how an actor is made.
type actorOption func(*Options)

// actor is a new clone of alice's, bob's, … with a session of the same name.
func (w *world) actor(name string, options ...actorOption) *actor {
	w.t.Helper()
	a := &actor{w: w, clock: &logicalClock{w: w, boot: "boot-" + name}, local: NewMemoryLocal(name)}
	a.connect(a.local, name, options...)
	return a
}

// process is another process of the same clone.
func (a *actor) process(session string, options ...actorOption) *actor {
	a.w.t.Helper()
	b := &actor{w: a.w, clock: a.clock, local: a.local.Process(session)}
	b.connect(b.local, session, options...)
	return b
}

func (a *actor) connect(local Local, session string, options ...actorOption) {
	a.w.t.Helper()
	a.wire = &wire{Transport: a.w.repo.Transport(), world: a.w, clock: a.clock}
	a.store = refstore.New(a.wire, refstore.Options{Check: CheckCommit, Sleep: func(ctx context.Context, _ time.Duration) error { return ctx.Err() }})
	grace := 30 * time.Second
	o := Options{
		Store: a.store, Local: local, Clock: a.clock, MayCreate: true, Holder: Holder{Agent: session, Session: session, Host: "box"},
		Terms:  Terms{TTL: time.Hour, Grace: &grace},
		Notify: func(n Notice) { a.notices = append(a.notices, n) },
	}
	for _, option := range options {
		option(&o)
	}
	var err error
	if a.Authority, err = New(o); err != nil {
		a.w.t.Fatal(err)
	}
}

func (a *actor) noticed(kind NoticeKind) bool {
	for _, n := range a.notices {
		if n.Kind == kind {
			return true
		}
	}
	return false
}

func req(resources ...Resource) ClaimRequest { return ClaimRequest{Resources: resources} }

func (a *actor) mustClaim(resources ...Resource) *ClaimResult {
	a.w.t.Helper()
	res, err := a.Claim(a.w.t.Context(), req(resources...))
	if err != nil {
		a.w.t.Fatal(err)
	}
	return res
}

func (a *actor) mustRelease(resources ...Resource) []ReleaseResult {
	a.w.t.Helper()
	res, err := a.Release(a.w.t.Context(), ReleaseRequest{Resources: resources})
	if err != nil {
		a.w.t.Fatal(err)
	}
	return res
}

func (a *actor) mustStatus(resources ...Resource) []View {
	a.w.t.Helper()
	views, err := a.Status(a.w.t.Context(), resources...)
	if err != nil {
		a.w.t.Fatal(err)
	}
	return views
}

func (a *actor) state(r Resource) Standing {
	a.w.t.Helper()
	return a.mustStatus(r)[0].State
}

// tip is what the server has for a resource, read without any of the code under test but the codec.
func (w *world) tip(r Resource) *Record {
	w.t.Helper()
	s := refstore.New(w.repo.Transport(), refstore.Options{})
	listed, err := s.List(w.t.Context(), refs{DefaultPrefix}.claim(r))
	if err != nil {
		w.t.Fatal(err)
	}
	if len(listed) == 0 {
		return nil
	}
	rec, err := DecodeRecord(listed[0].Commit)
	if err != nil {
		w.t.Fatal(err)
	}
	return rec
}

func want(t testing.TB, err, target error) {
	t.Helper()
	if !errors.Is(err, target) {
		t.Fatalf("got error %v, want %v", err, target)
	}
}

// wire is a transport with faults, and counts what is asked of it.
type wire struct {
	refstore.Transport
	world *world
	clock *logicalClock
	// push stands in for the next pushes, until it is nil.
	push func(tx *refstore.Tx, send func() (*refstore.Report, error)) (*refstore.Report, error)
	// listed may change what the next listing shows, and is told of it afterwards.
	listed func(map[string]refstore.OID)
	// unknown hides what is known of the server.
	unknown bool

	mu            sync.Mutex
	reads, pushes int
	answered      bool
}

func (w *wire) Refs(ctx context.Context, prefixes []string) (map[string]refstore.OID, error) {
	w.count(&w.reads)
	refs, err := w.Transport.Refs(ctx, prefixes)
	w.answer()
	if f := w.listed; f != nil && err == nil {
		w.listed = nil
		f(refs)
	}
	return refs, err
}

func (w *wire) Push(ctx context.Context, tx *refstore.Tx) (*refstore.Report, error) {
	w.count(&w.pushes)
	defer w.answer()
	send := func() (*refstore.Report, error) { return w.Transport.Push(ctx, tx) }
	if w.push == nil {
		return send()
	}
	return w.push(tx, send)
}

func (w *wire) count(n *int) {
	w.mu.Lock()
	defer w.mu.Unlock()
	*n++
}

func (w *wire) answer() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.answered = true
}

func (w *wire) Server() refstore.Server {
	if w.unknown {
		return refstore.Server{}
	}
	return w.Transport.Server()
}

func (w *wire) Skew() (time.Duration, bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if !w.world.dated || !w.answered {
		return 0, false
	}
	return -w.clock.off, true
}

// The faults of a wire.

// errBroken is a connection that broke after the request was sent.
func errBroken() error {
	return &refstore.UnavailableError{URL: "memory", Trouble: refstore.TroubleNetwork, Sent: true, Err: errors.New("broken")}
}

// loseReply lets a push through and loses its reply.
func (w *wire) loseReply(_ *refstore.Tx, send func() (*refstore.Report, error)) (*refstore.Report, error) {
	if _, err := send(); err != nil {
		return nil, err
	}
	return nil, errBroken()
}

// swallow keeps requests for later; none is answered.
type swallow struct {
	kept []func() (*refstore.Report, error)
}

func (s *swallow) push(_ *refstore.Tx, send func() (*refstore.Report, error)) (*refstore.Report, error) {
	s.kept = append(s.kept, send)
	return nil, errBroken()
}

// land lets the kept requests reach the server.
func (s *swallow) land(t testing.TB) {
	t.Helper()
	for _, send := range s.kept {
		if _, err := send(); err != nil {
			t.Fatal(err)
		}
	}
}

func resourceN(n int) Resource { return Resource(fmt.Sprintf("task:%03d", n)) }
