package sim

import (
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/git-worklease/git-worklease/internal/coalesce"
	"github.com/git-worklease/git-worklease/internal/session"
	"github.com/git-worklease/git-worklease/lease"
	"github.com/git-worklease/git-worklease/refstore"
	"github.com/git-worklease/git-worklease/refstore/remote"
)

// hostName is the machine that all clones are on.
const hostName = "sim"

// clone is the state of a clone.
type clone struct {
	*Sim
	place session.Place
}

func newClone(s *Sim, n int) (*clone, error) {
	dir := filepath.Join(s.o.Dir, fmt.Sprintf("clone-%d", n+1))
	root := filepath.Join(dir, "worklease")
	if err := os.MkdirAll(root, 0o700); err != nil {
		return nil, fmt.Errorf("simulation: %w", err)
	}
	return &clone{Sim: s, place: session.Place{Root: root, Owner: dir}}, nil
}

// process is one process of one session of a clone.
type process struct {
	*lease.Authority
	clone *clone
	clock lease.Clock
	state *session.State
	store refstore.Store
	known refstore.Server
	fate  *fate
}

// open starts a process whose wall clock is off.
func (c *clone) open(agent, name string, off time.Duration) (*process, error) {
	p := &process{clone: c, clock: &wrongClock{c.o.Clock, off}}
	var err error
	where := c.o.Remote.URL + " " + c.ground.prefix
	if p.state, err = session.Open(session.Options{Place: c.place, Where: where, Session: name, HostName: hostName}); err != nil {
		return nil, err
	}
	if p.known, err = p.state.FreshServer(c.o.Remote.URL, p.clock.Now()); err != nil {
		return nil, err
	}
	p.store = remote.Open(p.remote())
	p.fate = &fate{Store: p.store, meter: c.meter}
	var store refstore.Store = p.fate
	if c.o.store != nil {
		store = c.o.store(store)
	}
	grace := c.grace
	p.Authority, err = lease.New(lease.Options{
		Store: coalesce.New(store, p.state.Renewals(), p.clock), Local: p.state, Clock: p.clock, Prefix: c.ground.prefix, MayCreate: true,
		Holder: lease.Holder{Agent: agent, Session: name, Host: hostName}, Terms: lease.Terms{Grace: &grace}, Attempt: c.exchange,
	})
	if err != nil {
		p.close()
		return nil, err
	}
	return p, nil
}

// remote is how a process reaches the remote. It asks nobody for a password.
func (p *process) remote() remote.Options {
	c := p.clone
	o := c.o.Remote
	git := *o.Git
	git.Interactive = false
	o.Git, o.Dir, o.Known, o.Now = &git, p.state.Dir(), p.known, p.clock.Now
	o.Store = refstore.Options{Check: lease.CheckCommit, Sleep: p.clock.Sleep, Pushed: c.meter.pushed}
	return o
}

// close frees the connections, and remembers what was learned of the server.
func (p *process) close() {
	_ = p.store.Close()                                                      // all that was wanted of it is done
	_ = p.state.LearnServer(p.clone.o.Remote.URL, p.known, p.store.Server()) // it is learned again
}

// left is for how long a claim stands by the process's own clocks.
func (p *process) left(h *lease.Hold) time.Duration {
	skew, dated := p.store.Skew()
	if !dated {
		skew = 0
	}
	return h.Left(p.clock.Now().Round(0).Add(skew), p.clock.Instant())
}

// wrongClock is a wall clock that is off; the clock that runs through suspend is right.
type wrongClock struct {
	lease.Clock
	off time.Duration
}

func (c *wrongClock) Now() time.Time { return c.Clock.Now().Add(c.off) }
