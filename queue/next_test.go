package queue

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/git-worklease/git-worklease/lease"
	"github.com/git-worklease/git-worklease/providers"
	"github.com/git-worklease/git-worklease/refstore"
	"github.com/git-worklease/git-worklease/refstore/memory"
)

// tracker is one in memory.
type tracker struct {
	mu    sync.Mutex
	items []providers.Item
	// troubles are among each listing, err is instead of one, readErr instead of an item.
	troubles     []error
	err, readErr error
	listed, read int
}

func (k *tracker) Name() string   { return "tt" }
func (k *tracker) Source() string { return "memory" }
func (k *tracker) Parse(text string) (providers.Key, error) {
	return providers.Key(text), nil
}

func (k *tracker) List(_ context.Context, report func(int, int)) (*providers.Listing, error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.listed++
	if k.err != nil {
		return nil, k.err
	}
	report(len(k.items), 0)
	return &providers.Listing{Items: slices.Clone(k.items), Troubles: k.troubles, Read: time.Unix(1, 0)}, nil
}

func (k *tracker) Read(_ context.Context, key providers.Key) (*providers.Item, error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.read++
	if k.readErr != nil {
		return nil, k.readErr
	}
	for _, i := range k.items {
		if i.Key == key {
			return &i, nil
		}
	}
	return nil, providers.ErrNotFound
}

func (k *tracker) change(key providers.Key, change func(*providers.Item)) {
	k.mu.Lock()
	defer k.mu.Unlock()
	for i := range k.items {
		if k.items[i].Key == key {
			change(&k.items[i])
		}
	}
}

// agent is one with a clone of its own.
func agent(t *testing.T, repo *memory.Repository, k *tracker, name string) *Queue {
	t.Helper()
	a, err := lease.New(lease.Options{
		Store: refstore.New(repo.Transport(), refstore.Options{Check: lease.CheckCommit}), Local: lease.NewMemoryLocal("s"), Clock: &lease.SystemClock{},
		MayCreate: true, Holder: lease.Holder{Agent: name, Session: "s"}, Terms: lease.Terms{TTL: time.Hour}, Inherit: Inherited,
	})
	if err != nil {
		t.Fatal(err)
	}
	return &Queue{Providers: providers.Set{k}, Claims: a, Agent: name, Session: "s", Pick: rand.IntN}
}

func some(n int) *tracker {
	k := &tracker{}
	for i := range n {
		k.items = append(k.items, item(providers.Key(fmt.Sprintf("tt:%d", i+1))))
	}
	return k
}

// TestCase02EachGetsAnother is CASES row 2: agents that come at once get different items, and the last ones none.
func TestCase02EachGetsAnother(t *testing.T) {
	repo, k := &memory.Repository{}, some(12)
	k.items[3].Needs = []providers.Need{{Key: "tt:1"}}
	got := make([]providers.Key, 16)
	var group sync.WaitGroup
	for i := range got {
		q := agent(t, repo, k, fmt.Sprintf("agent-%d", i))
		group.Go(func() {
			taken, err := q.Next(t.Context(), NextRequest{})
			var empty *EmptyError
			switch {
			case errors.As(err, &empty):
				if empty.Open != 12 || empty.Why[Held] != 11 || empty.Why[Needs] != 1 {
					t.Errorf("%+v", empty)
				}
			case err != nil:
				t.Error(err)
			default:
				got[i] = taken.Entries[0].Item.Key
			}
		})
	}
	group.Wait()
	slices.Sort(got)
	if got = slices.Compact(got); len(got) != 12 || got[0] != "" || slices.Contains(got, "tt:4") {
		t.Errorf("%q", got)
	}
}

// TestNextOfMany: several are taken by one claim, those that are left where there are fewer, and none of what this session holds already.
func TestNextOfMany(t *testing.T) {
	repo, k := &memory.Repository{}, some(5)
	q := agent(t, repo, k, "alice")
	q.Pick = nil
	for _, want := range [][]lease.Resource{{"tt:1", "tt:2", "tt:3"}, {"tt:4", "tt:5"}} {
		taken, err := q.Next(t.Context(), NextRequest{Count: 3, TTL: time.Minute, Meta: map[string]string{"a": "b"}})
		if err != nil {
			t.Fatal(err)
		}
		if r := taken.Result.Records[0]; !slices.Equal(r.Members, want) || r.TTL() != time.Minute || r.Meta["a"] != "b" || r.Purpose != "" {
			t.Errorf("%+v", r)
		}
	}
	if _, err := q.Next(t.Context(), NextRequest{Count: 3}); !errors.Is(err, ErrEmpty) {
		t.Error(err)
	}
}

// TestPlaces: those that have a claim, or had one until just now, begin at different items, by an order that all see alike, and whoever is alone gets the
// first.
func TestPlaces(t *testing.T) {
	now := time.Unix(100_000, 0)
	by := func(claim lease.ClaimID, mine bool, changes ...func(*lease.View)) lease.View {
		v := held("tt:9", false, changes...)
		v.Record.Claim, v.Mine = claim, mine
		return v
	}
	dead := func(v *lease.View) { v.Takeable = true }
	ended := func(ago time.Duration) func(*lease.View) {
		return func(v *lease.View) {
			released(lease.OutcomeDone)(v)
			v.Record.Release.At = now.Add(-ago)
		}
	}
	for name, test := range map[string]struct {
		claims        []lease.View
		place, window int
	}{
		"nobody has anything":     {nil, -1, 1},
		"alone":                   {[]lease.View{by("a", true), by("b", true)}, 0, 1},
		"the second of three":     {[]lease.View{by("c", false), by("b", true), by("a", false)}, 1, 3},
		"a newcomer":              {[]lease.View{by("c", false), by("a", false), by("a", false)}, -1, 3},
		"beside the dead":         {[]lease.View{by("a", false, dead), by("b", true)}, 0, 1},
		"released just now":       {[]lease.View{by("a", false, ended(time.Second)), by("own", false, ended(time.Second))}, 1, 2},
		"released before":         {[]lease.View{by("a", false, ended(time.Hour)), by("own", false, ended(time.Hour))}, -1, 1},
		"a record of nobody's":    {[]lease.View{{State: lease.StandingCorrupt}}, -1, 1},
		"the second of two names": {[]lease.View{by("z", true), by("a", false)}, 1, 2},
	} {
		q := &Queue{Own: func(c lease.ClaimID) bool { return c == "own" }}
		if place, window := q.places(&Board{Read: now, facts: Facts{Claims: test.claims}}); place != test.place || window != test.window {
			t.Errorf("%s: %d of %d", name, place, window)
		}
	}
}

// TestEachBeginsElsewhere: agents that hold something and come at once for the next lose no race.
func TestEachBeginsElsewhere(t *testing.T) {
	repo, k := &memory.Repository{}, some(16)
	queues := make([]*Queue, 8)
	for i := range queues {
		queues[i] = agent(t, repo, k, fmt.Sprintf("agent-%d", i))
		if _, err := queues[i].Next(t.Context(), NextRequest{}); err != nil {
			t.Fatal(err)
		}
	}
	// All of them have read before the first claims.
	var read, group sync.WaitGroup
	read.Add(len(queues))
	for _, q := range queues {
		q.Claims = &closing{q.Claims, func() { read.Done(); read.Wait() }}
		group.Go(func() {
			if taken, err := q.Next(t.Context(), NextRequest{}); err != nil || taken.Lost != 0 {
				t.Errorf("%+v, %v", taken, err)
			}
		})
	}
	group.Wait()
}

// closing is claims beside which something happens to the tracker: between the board and the claim.
type closing struct {
	Claims
	happens func()
}

func (c *closing) Claim(ctx context.Context, req lease.ClaimRequest) (*lease.ClaimResult, error) {
	c.happens()
	return c.Claims.Claim(ctx, req)
}

// TestClosedMeanwhile: what is closed between the board and the claim is given back, and the next is taken.
func TestClosedMeanwhile(t *testing.T) {
	for name, happen := range map[string]func(*tracker){
		"closed":  func(k *tracker) { k.change("tt:1", done) },
		"deleted": func(k *tracker) { k.change("tt:1", func(i *providers.Item) { i.Key = "tt:other" }) },
	} {
		t.Run(name, func(t *testing.T) {
			repo, k := &memory.Repository{}, some(2)
			q := agent(t, repo, k, "alice")
			q.Pick, q.Claims = nil, &closing{q.Claims, func() { happen(k) }}
			k.items[1].Title = "two\n\x1b[31mlines"
			taken, err := q.Next(t.Context(), NextRequest{})
			if err != nil || taken.Entries[0].Item.Key != "tt:2" || taken.Result.Records[0].Purpose != "two  [31mlines" {
				t.Fatalf("%+v, %v", taken, err)
			}
			views, err := q.Claims.List(t.Context())
			if err != nil || len(views) != 2 || views[0].State != lease.StandingReleased || views[0].Record.Release.Outcome != lease.OutcomeAbandoned {
				t.Errorf("%+v, %v", views, err)
			}
		})
	}
}

// TestTrackerFailsAfterClaim: a tracker that can't be asked any more loses no claim.
func TestTrackerFailsAfterClaim(t *testing.T) {
	k := some(1)
	q := agent(t, &memory.Repository{}, k, "alice")
	k.readErr = providers.ErrUnavailable
	taken, err := q.Next(t.Context(), NextRequest{})
	if err != nil || len(taken.Troubles) != 1 || !errors.Is(taken.Troubles[0], providers.ErrUnavailable) {
		t.Errorf("%+v, %v", taken, err)
	}
}

// blind is claims that can't be read.
type blind struct{ Claims }

func (blind) List(context.Context) ([]lease.View, error) { return nil, refstore.ErrUnavailable }

func TestBoard(t *testing.T) {
	k := some(3)
	k.troubles = []error{&providers.BrokenError{Where: "x.md", Line: 3, Err: errors.New("no ID")}}
	k.items[1].Priority, k.items[2].Priority = providers.Low, providers.Urgent
	k.items[0].Labels, k.items[2].Labels = []string{"Bug"}, []string{"bug", "hard"}
	q := agent(t, &memory.Repository{}, k, "alice")
	last := 0
	b, err := q.Read(t.Context(), &View{}, func(read int) { last = read })
	if err != nil || last != 3 || b.Read != time.Unix(1, 0) || len(b.Troubles) != 1 || !errors.Is(b.Troubles[0], providers.ErrBroken) {
		t.Fatalf("%+v, %v", b, err)
	}
	for name, test := range map[string]struct {
		view View
		want string
	}{
		"most urgent first": {View{}, "tt:3 tt:2 tt:1"},
		"as it is":          {View{Order: ByTracker}, "tt:1 tt:2 tt:3"},
		"one label":         {View{Labels: []string{"BUG"}, Order: ByTracker}, "tt:1 tt:3"},
		"not another":       {View{Labels: []string{"bug"}, Without: []string{"hard"}}, "tt:1"},
		"another tracker":   {View{Sources: []string{"tt"}, Milestone: "v1"}, ""},
		"nobody's":          {View{Assignee: "@alice"}, ""},
	} {
		b, err := q.Read(t.Context(), &test.view, nil)
		if err != nil {
			t.Fatal(err)
		}
		got := ""
		for i, e := range b.Entries {
			got += " "[:min(i, 1)] + string(e.Item.Key)
		}
		if got != test.want {
			t.Errorf("%s: %q, want %q", name, got, test.want)
		}
	}

	q.Claims = blind{q.Claims}
	if b, err := q.Read(t.Context(), &View{}, nil); err != nil || len(b.Troubles) != 2 || b.Entries[0].Ready() || b.Entries[0].Why[0].Kind != Unknown {
		t.Errorf("%+v, %v", b, err)
	}
	var empty *EmptyError
	if taken, err := q.Next(t.Context(), NextRequest{}); !errors.Is(err, refstore.ErrUnavailable) || errors.As(err, &empty) {
		t.Errorf("with the claims unread: %+v, %v", taken, err)
	}
	k.err = providers.ErrUnauthorised
	if b, err := q.Read(t.Context(), &View{}, nil); !errors.Is(err, providers.ErrUnauthorised) {
		t.Errorf("%+v, %v", b, err)
	}
	for _, none := range []struct {
		q *Queue
		v View
	}{{q: &Queue{Claims: q.Claims}}, {q, View{Sources: []string{"other"}}}} {
		if b, err := none.q.Read(t.Context(), &none.v, nil); !errors.Is(err, providers.ErrNoProvider) {
			t.Errorf("%+v, %v", b, err)
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if b, err := q.Read(ctx, &View{}, nil); !errors.Is(err, context.Canceled) {
		t.Errorf("%+v, %v", b, err)
	}
}

// deaf is a tracker that does not answer.
type deaf struct{ *tracker }

func (deaf) Name() string { return "deaf" }
func (deaf) List(ctx context.Context, _ func(int, int)) (*providers.Listing, error) {
	<-ctx.Done()
	return nil, ctx.Err()
}

// TestNoAnswer: a tracker that does not answer is named, and leaves time to claim what another has.
func TestNoAnswer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		q := agent(t, &memory.Repository{}, some(1), "alice")
		q.Providers = append(q.Providers, deaf{some(1)})
		q.Limit = func(ctx context.Context) (context.Context, context.CancelFunc) {
			return context.WithTimeout(ctx, 20*time.Second)
		}
		ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
		defer cancel()
		taken, err := q.Next(ctx, NextRequest{})
		if err != nil || taken.Entries[0].Item.Key != "tt:1" || len(taken.Troubles) != 1 || taken.Troubles[0].Source != "deaf" {
			t.Errorf("%+v, %v", taken, err)
		}
		q.Providers = q.Providers[1:]
		if b, err := q.Read(t.Context(), &View{}, nil); err == nil || err.Error() != "deaf: context deadline exceeded" {
			t.Errorf("%+v, %v", b, err)
		}
	})
}

// TestMostUrgentFirst: nothing is drawn before what is more urgent.
func TestMostUrgentFirst(t *testing.T) {
	repo, k := &memory.Repository{}, some(6)
	k.items[4].Priority, k.items[2].Priority = providers.Urgent, providers.Low
	bob := agent(t, repo, k, "bob")
	for _, other := range []lease.Resource{"task:a", "task:b", "task:c"} {
		if _, err := bob.Claims.Claim(t.Context(), lease.ClaimRequest{Resources: []lease.Resource{other}}); err != nil {
			t.Fatal(err)
		}
	}
	q := agent(t, repo, k, "alice")
	q.Pick = func(n int) int { return n - 1 }
	for _, want := range []providers.Key{"tt:5", "tt:3"} {
		taken, err := q.Next(t.Context(), NextRequest{})
		if err != nil || taken.Entries[0].Item.Key != want {
			t.Fatalf("%+v, %v, want %s", taken, err, want)
		}
		if e := taken.Entries[0]; !e.Mine || e.Ready() || e.Claim != nil {
			t.Errorf("%+v", e)
		}
	}
}
