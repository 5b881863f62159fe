package main

import (
	"fmt"
	"net/url"
	"testing"
	"time"

	"github.com/git-worklease/git-worklease/internal/gitserver"
	"github.com/git-worklease/git-worklease/lease"
)

// blade cuts what goes between workers and a server.
type blade interface {
	// Inject adds a cut, and Heal takes all away.
	Inject(c gitserver.Cut)
	Heal()
	// Measure is what goes through a connection, counted from 1, or 0: the most that goes through one, each way, while run goes well.
	Measure(conn int64, run func()) gitserver.Traffic
}

// proxyBlade is a proxy through which each run makes one connection.
type proxyBlade struct{ *gitserver.Proxy }

func (p proxyBlade) Measure(_ int64, run func()) gitserver.Traffic {
	before := p.Traffic()
	run()
	return p.Traffic().Sub(before)
}

// cutting is one verb of alice's on one resource, whose exchange with the server is cut again and again.
type cutting struct {
	*site
	t          *testing.T
	blade      blade
	alice, bob *worker
	verb, key  string
	book       *ledger
	*severing
}

// newCutting makes a worker beside one who reaches the server through the blade. Both know the server.
func newCutting(t *testing.T, s *site, b blade, alice *worker) *cutting {
	t.Helper()
	c := &cutting{site: s, blade: b, alice: alice, bob: s.worker(t, "bob"), key: "task:demo"}
	c.bob.must(t, 0, "claim", "task:first")
	c.alice.clock = hurriedClock{s.clock}
	c.alice.must(t, 0, "claim", "task:second")
	c.alice.must(t, 0, "claim", c.key)
	c.alice.must(t, 0, "release", c.key)
	return c
}

// hurriedClock is a clock by whose measure pauses are a fiftieth of what they should be.
type hurriedClock struct{ lease.Clock }

func (c hurriedClock) Sleep(ctx lease.Context, d time.Duration) error {
	return c.Clock.Sleep(ctx, d/50)
}

// proxied makes a worker who is sent to the server through a proxy.
func proxied(t *testing.T, s *site, environ ...string) (proxyBlade, *worker) {
	t.Helper()
	at, err := url.Parse(s.url)
	if err != nil {
		t.Fatal(err)
	}
	proxy := gitserver.TestProxy(t, at.Host, gitserver.ProxyOptions{})
	at.Host = proxy.Addr()
	alice := s.worker(t, "alice", environ...)
	if _, err := alice.Git(t.Context(), "remote", "set-url", "origin", at.String()); err != nil {
		t.Fatal(err)
	}
	return proxyBlade{proxy}, alice
}

// severing is a way to cut, and how many bytes lie between two cuts; the same where there is little time, when only the first of the verbs may meet it.
type severing struct {
	name string
	gitserver.Cut
	step, scant int64
	alone       bool
	// flags are added to the verb.
	flags []string
	// well: the verb must end well all the same.
	well bool
}

// TestProofCutAtEveryByteOverHTTP: the connection breaks in the middle of the request or of the reply, at each byte of the exchange, with which
// everything ends well or in doubt, and the next command clears that up. Where only the first connection breaks, the verb ends well.
func TestProofCutAtEveryByteOverHTTP(t *testing.T) {
	for _, f := range []severing{
		{name: "each connection cut", step: 1, scant: 293},
		{name: "first connection cut", Cut: gitserver.Cut{Conn: 1}, step: 3, scant: 499, alone: true, well: true},
		{name: "each connection reset", Cut: gitserver.Cut{How: gitserver.Resets}, step: 11, scant: 997, alone: true},
		// Each costs the time that the verb is given. The bytes of a line of HTTP or of a packet wait alike.
		{name: "each connection stalls", Cut: gitserver.Cut{How: gitserver.Stalls}, step: 97, scant: 1 << 20, alone: true, flags: []string{"--timeout", "1s"}},
	} {
		t.Run(f.name, func(t *testing.T) {
			t.Parallel()
			s := httpSite(t, gitserver.HTTPOptions{})
			proxy, alice := proxied(t, s)
			newCutting(t, s, proxy, alice).sweep(t, &f)
		})
	}
}

// sweep cuts each verb at every so many bytes of each direction.
func (c *cutting) sweep(t *testing.T, f *severing) {
	t.Helper()
	for _, verb := range []string{"claim", "renew", "release"} {
		t.Run(verb, func(t *testing.T) {
			c.t, c.verb, c.severing, c.book = t, verb, f, c.account(t, "offsets", f.name)
			c.sweepVerb()
		})
		if f.alone && !thorough() {
			break
		}
	}
	c.sound(t)
}

func (c *cutting) sweepVerb() {
	c.t.Helper()
	step := c.step
	if !thorough() {
		step = c.scant
	}
	whole, n := c.traffic(), 0
	cut := c.Cut
	for direction, size := range map[gitserver.Direction]int64{gitserver.Up: whole.Up, gitserver.Down: whole.Down} {
		for at := int64(0); at < size; at += step {
			cut.Direction, cut.After = direction, at
			c.one(cut, n%4 == 0)
			n++
		}
	}
	c.t.Logf("%d cuts of %d bytes up and %d down", n, whole.Up, whole.Down)
}

// traffic is what goes over the wire when all goes well.
func (c *cutting) traffic() gitserver.Traffic {
	c.t.Helper()
	c.prepare()
	defer c.settle()
	return c.blade.Measure(c.Conn, func() { c.alice.must(c.t, 0, c.verb, c.key) })
}

// prepare makes what the verb needs.
func (c *cutting) prepare() {
	c.t.Helper()
	rec := c.record(c.t, lease.Resource(c.key))
	if held := rec != nil && !rec.Released(); held != (c.verb != "claim") {
		c.alice.must(c.t, 0, map[bool]string{true: "release", false: "claim"}[held], c.key)
	}
}

// settle is the next command, which ends what was left in doubt, and has the verb's effect.
func (c *cutting) settle() {
	c.t.Helper()
	c.alice.must(c.t, 0, c.verb, c.key)
}

// one cuts the verb's exchange once: what it says is true, nobody else gets what is held, and the next command of the clone finds out.
func (c *cutting) one(cut gitserver.Cut, rival bool) {
	c.t.Helper()
	c.prepare()
	before := c.record(c.t, lease.Resource(c.key))
	c.blade.Inject(cut)
	r := c.alice.do(c.t, append([]string{c.verb, c.key}, c.flags...)...)
	c.blade.Heal()
	c.book.struck(r.Code)
	at := fmt.Sprintf("%s cut at %d, direction %d", c.verb, cut.After, cut.Direction)
	if r.Code != 0 && (r.Code != 2 || c.well) {
		c.t.Fatalf("%s: exit %d\n%s", at, r.Code, r.Stdout)
	}
	c.truth(at, r, before, c.record(c.t, lease.Resource(c.key)))
	if rival && c.rival(at) {
		return
	}
	c.settle()
}

// truth compares what was said with what stands at the server.
func (c *cutting) truth(at string, r *ran, before, after *lease.Record) {
	c.t.Helper()
	changed := after.Revision != before.Revision || after.Generation != before.Generation
	sure := r.Code == 0 || r.doc.Error.Reason != "pending" && r.doc.Error.Reason != "undecided"
	if after.Holder.Agent != "alice" || changed && after.Released() != (c.verb == "release") || sure && changed != (r.Code == 0) {
		c.t.Fatalf("%s: exit %d, at the server stood %s, and stands %s\n%s", at, r.Code, brief(before), brief(after), r.Stdout)
	}
}

// rival lets another claim, and says whether that was granted: never while alice holds it.
func (c *cutting) rival(at string) bool {
	c.t.Helper()
	free := c.record(c.t, lease.Resource(c.key)).Released()
	r := c.bob.do(c.t, "claim", c.key)
	if r.Code == 3 { // the server may have been at the request still, whose sender is gone
		free = c.record(c.t, lease.Resource(c.key)).Released()
	}
	if code := map[bool]int{true: 0, false: 3}[free]; r.Code != code {
		c.t.Fatalf("%s: the rival ended with exit %d instead of %d\n%s", at, r.Code, code, r.Stdout)
	}
	c.book.done(r.Code)
	if !free {
		return false
	}
	next := map[string]int{"claim": 3, "renew": 4, "release": 0}[c.verb] // released is released, whoever has it now
	c.alice.must(c.t, next, c.verb, c.key)
	c.bob.must(c.t, 0, "verify", c.key)
	c.bob.must(c.t, 0, "release", c.key)
	c.alice.must(c.t, 0, "claim", c.key) // the record is alice's again
	return true
}
