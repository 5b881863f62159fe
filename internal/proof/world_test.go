package proof

import (
	"context"
	"math/rand/v2"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/git-worklease/git-worklease/internal/gitexec"
	"github.com/git-worklease/git-worklease/internal/gitserver"
	"github.com/git-worklease/git-worklease/lease"
	"github.com/git-worklease/git-worklease/refstore"
	"github.com/git-worklease/git-worklease/refstore/remote"
)

// worldClock is the true time, which is put forward while workers work.
type worldClock struct {
	system lease.SystemClock
	passed atomic.Int64
	// still is held for reading while a worker is at it, and for writing where more time passes at once than clocks may be wrong by.
	still sync.RWMutex
}

func (c *worldClock) Now() time.Time {
	return c.system.Now().Round(0).Add(time.Duration(c.passed.Load()))
}

// pass puts the clock forward, by little at any time and by much between what workers do, until ctx ends.
func (c *worldClock) pass(ctx context.Context, seed uint64) {
	random := rand.New(rand.NewPCG(seed, 5))
	for c.system.Sleep(ctx, time.Duration(random.Int64N(int64(80*time.Millisecond)))) == nil {
		if random.IntN(12) > 0 {
			c.passed.Add(random.Int64N(int64(2 * time.Second)))
			continue
		}
		c.still.Lock()
		c.passed.Add(random.Int64N(int64(3 * ttl)))
		c.still.Unlock()
	}
}

// machineClock is one machine's.
type machineClock struct {
	world *worldClock
	boot  string
	off   time.Duration
}

func (c *machineClock) Now() time.Time { return c.world.Now().Add(c.off) }

func (c *machineClock) Instant() lease.Instant {
	return lease.Instant{Boot: c.boot, Since: c.world.system.Instant().Since + time.Duration(c.world.passed.Load())}
}

func (c *machineClock) Sleep(ctx context.Context, d time.Duration) error {
	return c.world.system.Sleep(ctx, d)
}

// place is a repository behind one kind of server.
type place struct {
	repo *gitserver.Repo
	http *gitserver.HTTPServer
	url  string
	env  []string
	// throughGit and local are how it is reached.
	throughGit, local bool
}

// places are the kinds of servers.
var places = map[string]func(t *testing.T, date func() time.Time) *place{
	"http": httpPlace,
	"ssh": func(t *testing.T, _ func() time.Time) *place {
		s := gitserver.TestSSH(t, gitserver.SSHOptions{})
		return &place{repo: gitserver.TestRepo(t, s.Repos, "app"), url: s.URL("app"), env: s.Env()}
	},
	"path": func(t *testing.T, _ func() time.Time) *place {
		repo := gitserver.TestRepo(t, gitserver.TestRepos(t), "app")
		return &place{repo: repo, url: repo.Dir}
	},
	"git": func(t *testing.T, date func() time.Time) *place {
		p := httpPlace(t, date)
		p.throughGit = true
		return p
	},
	"local": func(t *testing.T, _ func() time.Time) *place {
		return &place{url: filepath.Join(t.TempDir(), "local.git"), local: true}
	},
}

func httpPlace(t *testing.T, date func() time.Time) *place {
	t.Helper()
	s := gitserver.TestHTTP(t, gitserver.HTTPOptions{Date: date})
	return &place{repo: gitserver.TestRepo(t, s.Repos, "app"), http: s, url: s.URL("app")}
}

// user is a clone of somebody's, and its machine.
type user struct {
	name    string
	local   *lease.MemoryLocal
	clock   *machineClock
	options remote.Options
}

func (p *place) user(t *testing.T, name, session string, clock *machineClock) *user {
	t.Helper()
	home, err := gitserver.NewUser(t.TempDir(), p.env...)
	if err != nil {
		t.Fatal(err)
	}
	git := &gitexec.Git{Dir: home.Dir, Env: home.Env}
	config, err := gitexec.ReadConfig(t.Context(), git)
	if err != nil {
		t.Fatal(err)
	}
	run, err := os.MkdirTemp("", "proof") // a short name, for sockets
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(run) })
	return &user{name: name, local: lease.NewMemoryLocal(session), clock: clock, options: remote.Options{
		URL: p.url, Git: git, Config: config, Dir: home.Home, Now: clock.Now, ThroughGit: p.throughGit, SSHPersist: time.Minute, RuntimeDir: run,
		Store: refstore.Options{Check: lease.CheckCommit, Sleep: clock.Sleep},
	}}
}

// open is a new process's way there.
func (u *user) open(p *place) refstore.Store {
	if p.local {
		return remote.OpenLocal(p.url, u.options)
	}
	return remote.Open(u.options)
}

// mortal is a store at which a process may be killed: before its swap is sent, or after it is done.
type mortal struct {
	refstore.Store
	random *rand.Rand
	kill   int // of a thousand
	faults *atomic.Int64
}

func (m *mortal) Swap(ctx context.Context, tx *refstore.Tx, ours func(refstore.Ref) bool) error {
	m.maybe()
	err := m.Store.Swap(ctx, tx, ours)
	m.maybe()
	return err
}

func (m *mortal) maybe() {
	if m.random.IntN(1000) < m.kill {
		m.faults.Add(1)
		panic(killed{})
	}
}
