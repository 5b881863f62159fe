package sim

import (
	"context"
	"errors"
	"net/http"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/git-worklease/git-worklease/internal/fault"
	"github.com/git-worklease/git-worklease/internal/gitexec"
	"github.com/git-worklease/git-worklease/internal/gitserver"
	"github.com/git-worklease/git-worklease/lease"
	"github.com/git-worklease/git-worklease/refstore"
	"github.com/git-worklease/git-worklease/refstore/remote"
)

// fastClock is a clock that runs faster than time does.
type fastClock struct {
	lease.SystemClock
	start time.Time
	speed time.Duration
}

func newFastClock(speed time.Duration) *fastClock { return &fastClock{start: time.Now(), speed: speed} }

func (c *fastClock) Now() time.Time { return c.start.Add(time.Since(c.start) * c.speed) }

func (c *fastClock) Instant() lease.Instant {
	i := c.SystemClock.Instant()
	i.Since *= c.speed
	return i
}

func (c *fastClock) Sleep(ctx context.Context, d time.Duration) error {
	return c.SystemClock.Sleep(ctx, d/c.speed)
}

// site is a repository with a claim that is really there, and what is at its refs.
type site struct {
	repo *gitserver.Repo
	o    Options
	refs map[string]string
}

const kept = lease.DefaultPrefix + "claims/task%3areal"

func newSite(t *testing.T, repo *gitserver.Repo, url string, clock *fastClock) *site {
	t.Helper()
	checkout := gitserver.Clone(t, url)
	git := &gitexec.Git{Dir: checkout.Dir, Env: checkout.Env}
	config, err := gitexec.ReadConfig(t.Context(), git)
	if err != nil {
		t.Fatal(err)
	}
	head, err := repo.Git(t.Context(), "rev-parse", "HEAD")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := repo.Git(t.Context(), "update-ref", kept, head); err != nil {
		t.Fatal(err)
	}
	s := &site{repo: repo, o: Options{
		speed:   clock.speed,
		Workers: 12, Resources: 30, Span: time.Hour, Seed: 1, Prefix: lease.DefaultPrefix, Dir: t.TempDir(), Clock: clock,
		Remote: remote.Options{URL: url, Git: git, Config: config},
		Attempt: func(ctx context.Context) (context.Context, context.CancelFunc) {
			return context.WithTimeout(ctx, time.Minute)
		},
	}}
	s.refs = s.all(t)
	return s
}

// all are the refs of the repository.
func (s *site) all(t *testing.T) map[string]string {
	t.Helper()
	refs, err := s.repo.Refs(t.Context(), "refs/")
	if err != nil {
		t.Fatal(err)
	}
	return refs
}

// clean checks that the refs are what they were before.
func (s *site) clean(t *testing.T) {
	t.Helper()
	after := s.all(t)
	for name := range after {
		if s.refs[name] != after[name] {
			t.Errorf("%s is there, or changed", name)
		}
	}
	if len(after) < len(s.refs) {
		t.Errorf("there are %d refs, and were %d", len(after), len(s.refs))
	}
}

func (s *site) sim(t *testing.T) *Sim {
	t.Helper()
	x, err := New(s.o)
	if err != nil {
		t.Fatal(err)
	}
	return x
}

// runUntil lets a simulation run until something has happened, and interrupts it then.
func runUntil(t *testing.T, s *Sim, happened func(Progress) bool) *Report {
	t.Helper()
	ctx, interrupt := context.WithCancel(t.Context())
	defer interrupt()
	over := make(chan struct{})
	go func() {
		defer interrupt()
		for !happened(s.Progress()) && s.o.Clock.Sleep(ctx, 100*time.Millisecond) == nil {
			select {
			case <-over:
				return
			default:
			}
		}
	}()
	report, err := s.Run(ctx)
	close(over)
	if !errors.Is(err, context.Canceled) || report == nil {
		t.Fatalf("%+v, %v", report, err)
	}
	return report
}

// sound checks a report of a run at a remote that works.
func sound(t *testing.T, r *Report) {
	t.Helper()
	if err := r.Err(); err != nil {
		t.Errorf("%v: %q", err, r.Fouls)
	}
	if r.Increases == 0 || r.Pushes == 0 || r.Reads == 0 {
		t.Errorf("nothing was done: %+v", r)
	}
	claims := 0
	for _, k := range r.Kinds {
		claims += k.Claims
		if k.Workers == 0 || k.Least > k.Most || k.Evenness <= 0 || k.Evenness > 1 {
			t.Errorf("%+v", k)
		}
	}
	if claims != r.Claims {
		t.Errorf("%d claims by kind, %d in all", claims, r.Claims)
	}
}

// TestOverPath: workers contend, die, are late and have wrong clocks, until claims were refused and taken over. It is interrupted then.
func TestOverPath(t *testing.T) {
	t.Parallel()
	repo := gitserver.TestRepo(t, gitserver.TestRepos(t), "app")
	s := newSite(t, repo, repo.Dir, newFastClock(8))
	s.o.Resources, s.o.Grace = perTree, 2*time.Second
	r := runUntil(t, s.sim(t), func(p Progress) bool { return p.TakeOvers > 0 && p.Refusals > 0 && p.Claims > 10 })
	sound(t, r)
	if r.Dated || !r.Atomic {
		t.Errorf("%+v", r)
	}
	s.clean(t)
}

// TestOverHTTP: the server's Date corrects clocks that are off by minutes.
func TestOverHTTP(t *testing.T) {
	t.Parallel()
	clock := newFastClock(4)
	server := gitserver.TestHTTP(t, gitserver.HTTPOptions{Date: clock.Now})
	repo := gitserver.TestRepo(t, server.Repos, "app")
	s := newSite(t, repo, server.URL("app"), clock)
	r := runUntil(t, s.sim(t), func(p Progress) bool { return p.Claims > 10 })
	sound(t, r)
	if !r.Dated || !r.Atomic {
		t.Errorf("%+v", r)
	}
	pushes := 0
	for _, req := range server.Requests() {
		if req.Method == http.MethodPost && strings.HasSuffix(req.Path, "/git-receive-pack") {
			pushes++
		}
	}
	if r.Pushes > pushes || r.Pushes < pushes/2 {
		t.Errorf("%d pushes were counted, and the server had %d, with those before and after the run", r.Pushes, pushes)
	}
	s.clean(t)
}

// TestTimeIsUp: a run that ends by itself, at a server that changes one ref at a time.
func TestTimeIsUp(t *testing.T) {
	t.Parallel()
	repo := gitserver.TestRepo(t, gitserver.TestRepos(t), "app", "receive.advertiseAtomic=false")
	s := newSite(t, repo, repo.Dir, newFastClock(10))
	s.o.Workers, s.o.Span = 7, 8*time.Second
	r, err := s.sim(t).Run(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if err := r.Err(); err != nil || r.Atomic || r.Claims == 0 || r.Clones != 2 || r.Seconds < 8 {
		t.Errorf("%+v, %v", r, err)
	}
	s.clean(t)
}

// gullible takes a conflict for success, except over the authority itself.
type gullible struct{ refstore.Store }

func (g gullible) Swap(ctx context.Context, tx *refstore.Tx, ours func(refstore.Ref) bool) error {
	err := g.Store.Swap(ctx, tx, ours)
	creates := slices.ContainsFunc(tx.Updates, func(u refstore.Update) bool { return strings.HasSuffix(u.Ref, "/meta") })
	if errors.Is(err, refstore.ErrConflict) && !creates {
		return nil
	}
	return err
}

// TestBrokenStoreIsNoticed: where claims don't exclude each other, the simulation says so.
func TestBrokenStoreIsNoticed(t *testing.T) {
	t.Parallel()
	repo := gitserver.TestRepo(t, gitserver.TestRepos(t), "app")
	s := newSite(t, repo, repo.Dir, newFastClock(20))
	s.o.Resources = 1
	s.o.store = func(inner refstore.Store) refstore.Store { return gullible{inner} }
	x := s.sim(t)
	ctx, interrupt := context.WithCancel(t.Context())
	defer interrupt()
	go func() {
		for x.Progress().LostUpdates == 0 && s.o.Clock.Sleep(ctx, time.Second) == nil {
		}
		interrupt()
	}()
	r, err := x.Run(ctx)
	if r == nil {
		t.Fatal(err)
	}
	if !errors.Is(r.Err(), fault.ErrNotExclusive) || len(r.Fouls) == 0 {
		t.Errorf("%+v, %v, %v", r, r.Err(), err)
	}
	s.clean(t)
}

// noDeletions is a hook that refuses to delete refs.
const noDeletions = "#!/bin/sh\nwhile read -r old new ref; do case $new in 0000000*) echo no; exit 1 ;; esac; done\n"

// TestRefusingServers: what keeps a run from beginning is said, and what stays at the remote as well.
func TestRefusingServers(t *testing.T) {
	tests := map[string]struct {
		config, hook string
		want         error
		left         int
	}{
		"no deletions": {hook: noDeletions, want: fault.ErrLeftBehind, left: 1},
		"hidden refs":  {config: "uploadpack.hideRefs=refs/worklease", want: lease.ErrHidden},
		"read-only":    {hook: "#!/bin/sh\necho no >&2\nexit 1\n", want: refstore.ErrRefused},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			repo := gitserver.TestRepo(t, gitserver.TestRepos(t), "app")
			if test.config != "" {
				if err := repo.Set(t.Context(), test.config); err != nil {
					t.Fatal(err)
				}
			}
			if test.hook != "" {
				if err := repo.Hook("pre-receive", test.hook); err != nil {
					t.Fatal(err)
				}
			}
			s := newSite(t, repo, repo.Dir, newFastClock(100))
			r, err := s.sim(t).Run(t.Context())
			if r != nil || !errors.Is(err, test.want) {
				t.Fatalf("%+v, %v", r, err)
			}
			if after := s.all(t); len(after) != len(s.refs)+test.left {
				t.Errorf("%d refs instead of %d", len(after), len(s.refs)+test.left)
			}
			var left *fault.LeftBehindError
			if errors.As(err, &left) != (test.left > 0) || test.left > 0 && left.Refs != test.left {
				t.Errorf("%v", err)
			}
		})
	}
}

// TestCleanUpFails: the server stops letting refs be deleted while the workers work. It is said how many are left.
func TestCleanUpFails(t *testing.T) {
	t.Parallel()
	repo := gitserver.TestRepo(t, gitserver.TestRepos(t), "app")
	s := newSite(t, repo, repo.Dir, newFastClock(20))
	s.o.Workers = 2
	x := s.sim(t)
	var once error
	r := runUntil(t, x, func(p Progress) bool {
		if p.Claims == 0 {
			return false
		}
		once = repo.Hook("pre-receive", noDeletions)
		return true
	})
	var left *fault.LeftBehindError
	if err := r.Err(); once != nil || !errors.As(err, &left) || !errors.Is(err, refstore.ErrRefused) {
		t.Fatalf("%v, %v", err, once)
	}
	if n := len(s.all(t)) - len(s.refs); n == 0 || left.Refs != n {
		t.Errorf("%d refs are left, and %d were told", n, left.Refs)
	}
}

// TestBrokenRun: what does not pass by itself ends a run early, and cleans up.
func TestBrokenRun(t *testing.T) {
	t.Parallel()
	repo := gitserver.TestRepo(t, gitserver.TestRepos(t), "app")
	s := newSite(t, repo, repo.Dir, newFastClock(20))
	s.o.store = func(inner refstore.Store) refstore.Store { return refusing{inner} }
	r, err := s.sim(t).Run(t.Context())
	if r == nil || !errors.Is(err, refstore.ErrRefused) || r.Err() != nil {
		t.Errorf("%+v, %v", r, err)
	}
	s.clean(t)
	if entries, err := os.ReadDir(s.o.Dir); err != nil || len(entries) == 0 {
		t.Errorf("no clones: %v, %v", entries, err)
	}
}

// refusing refuses whatever is written.
type refusing struct{ refstore.Store }

func (refusing) Swap(context.Context, *refstore.Tx, func(refstore.Ref) bool) error {
	return &refstore.RefusedError{Words: "no"}
}
