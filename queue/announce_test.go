package queue

import (
	"context"
	"errors"
	"reflect"
	"testing"
	"testing/synctest"
	"time"

	"github.com/git-worklease/git-worklease/lease"
	"github.com/git-worklease/git-worklease/providers"
	"github.com/git-worklease/git-worklease/refstore/memory"
)

// board is a tracker that can be told.
type board struct {
	*tracker
	// told is called before each change, refuse is what comes of it.
	told   func()
	refuse error
	// only is all that Start changes, if it is set.
	only *providers.Mark
}

func (b *board) Plan(ctx context.Context, key providers.Key, by providers.Worker) (providers.Mark, error) {
	i, err := b.Read(ctx, key)
	if err != nil || i.State == providers.Started {
		return providers.Mark{}, err
	}
	return providers.Mark{Status: "Doing", WasStatus: i.Status, Assigned: []string{"@" + by.Agent}}, nil
}

func (b *board) Start(ctx context.Context, key providers.Key, by providers.Worker) (providers.Mark, error) {
	b.told()
	mark, err := b.Plan(ctx, key, by)
	switch {
	case err != nil || b.refuse != nil:
		return providers.Mark{}, errors.Join(err, b.refuse)
	case b.only != nil:
		mark = *b.only
	}
	if !mark.IsZero() {
		b.change(key, func(i *providers.Item) { i.State, i.Status, i.Assignees = providers.Started, "Doing", mark.Assigned })
	}
	return mark, nil
}

func (b *board) Unstart(_ context.Context, key providers.Key, mark providers.Mark) error {
	b.change(key, func(i *providers.Item) {
		i.Assignees = nil
		if i.Status == mark.Status {
			i.State, i.Status = providers.Open, mark.WasStatus
		}
	})
	return nil
}

// marks is what a claim says that was announced.
func marks(t *testing.T, q *Queue) providers.Mark {
	t.Helper()
	views, err := q.Claims.List(t.Context())
	if err != nil || len(views) != 1 {
		t.Fatalf("%d claims, %v", len(views), err)
	}
	return MarkOf(views[0].Record)
}

// TestAnnounced: a claim says what is told before that is told, and what has become of it afterwards.
func TestAnnounced(t *testing.T) {
	whole := providers.Mark{Status: "Doing", WasStatus: "To Do", Assigned: []string{"@alice"}}
	part := providers.Mark{Assigned: []string{"@alice"}}
	for name, test := range map[string]struct {
		board       board
		noted, want providers.Mark
		troubles    int
	}{
		"all of it":       {noted: whole, want: whole},
		"a part":          {board: board{only: &part}, noted: whole, want: part},
		"nothing":         {board: board{refuse: providers.ErrUnavailable}, noted: whole, troubles: 1},
		"what can't read": {board: board{tracker: &tracker{readErr: providers.ErrUnavailable}}, troubles: 1},
	} {
		t.Run(name, func(t *testing.T) {
			b := test.board
			k := some(1)
			if b.tracker != nil {
				k.readErr = b.readErr
			}
			b.tracker = k
			q := agent(t, &memory.Repository{}, k, "alice")
			q.Providers = providers.Set{&b}
			b.told = func() {
				if got := marks(t, q); !reflect.DeepEqual(got, test.noted) {
					t.Errorf("noted before it was told: %+v, want %+v", got, test.noted)
				}
			}
			taken, err := q.Next(t.Context(), NextRequest{})
			if err != nil {
				t.Fatal(err)
			}
			troubles, err := q.Announce(t.Context(), taken.Result.Records, "")
			if err != nil || len(troubles) != test.troubles {
				t.Errorf("%v, %v", troubles, err)
			}
			if got := marks(t, q); !reflect.DeepEqual(got, test.want) {
				t.Errorf("noted at the end: %+v, want %+v", got, test.want)
			}
		})
	}
}

// failing is claims that can't be written from the nth time on.
type failing struct {
	Claims
	left int
}

func (f *failing) Claim(ctx context.Context, req lease.ClaimRequest) (*lease.ClaimResult, error) {
	if f.left--; f.left < 0 {
		return nil, lease.ErrLost
	}
	return f.Claims.Claim(ctx, req)
}

// TestUnannounced: where the claim can't be written nothing is told, and where it can't be written afterwards what was told is taken back.
func TestUnannounced(t *testing.T) {
	for _, writes := range []int{0, 1} {
		b := &board{tracker: some(1), told: func() {}, only: &providers.Mark{Status: "Doing", WasStatus: "To Do"}}
		q := agent(t, &memory.Repository{}, b.tracker, "alice")
		q.Providers = providers.Set{b}
		taken, err := q.Next(t.Context(), NextRequest{})
		if err != nil {
			t.Fatal(err)
		}
		q.Claims = &failing{q.Claims, writes}
		if troubles, err := q.Announce(t.Context(), taken.Result.Records, ""); !errors.Is(err, lease.ErrLost) || len(troubles) > 0 {
			t.Errorf("%v, %v", troubles, err)
		}
		if i := b.items[0]; i.State != providers.Open || i.Status != "To Do" || i.Assignees != nil {
			t.Errorf("after %d writes: %+v", writes, i)
		}
	}
}

// mute is a tracker that is told and gives no answer.
type mute struct{ *board }

func (m mute) Start(ctx context.Context, key providers.Key, by providers.Worker) (providers.Mark, error) {
	_, _ = m.board.Start(ctx, key, by)
	<-ctx.Done()
	return providers.Mark{}, ctx.Err()
}

// TestAnnouncedWithoutAnswer: a tracker that does not answer loses no claim, and what it may have done is noted.
func TestAnnouncedWithoutAnswer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		k := some(1)
		q := agent(t, &memory.Repository{}, k, "alice")
		q.Providers = providers.Set{mute{&board{tracker: k, told: func() {}}}}
		q.Limit = func(ctx context.Context) (context.Context, context.CancelFunc) {
			return context.WithTimeout(ctx, 20*time.Second)
		}
		ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
		defer cancel()
		taken, err := q.Next(ctx, NextRequest{})
		if err != nil {
			t.Fatal(err)
		}
		troubles, err := q.Announce(ctx, taken.Result.Records, "")
		if err != nil || len(troubles) != 1 || !errors.Is(troubles[0], context.DeadlineExceeded) {
			t.Errorf("%+v, %v", troubles, err)
		}
		if mark := marks(t, q); mark.Status != "Doing" {
			t.Errorf("%+v", mark)
		}
		q.Limit = nil
		ctx, interrupt := context.WithCancel(t.Context())
		time.AfterFunc(time.Second, interrupt)
		if troubles, err := q.Announce(ctx, taken.Result.Records, ""); !errors.Is(err, context.Canceled) {
			t.Errorf("interrupted: %+v, %v", troubles, err)
		}
	})
}

// TestInherited: who goes on with an item keeps what was announced of it before, so that it can still be taken back.
func TestInherited(t *testing.T) {
	repo, b := &memory.Repository{}, &board{tracker: some(1), told: func() {}}
	for _, name := range []string{"alice", "bob"} {
		q := agent(t, repo, b.tracker, name)
		q.Providers = providers.Set{b}
		taken, err := q.Next(t.Context(), NextRequest{})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := q.Announce(t.Context(), taken.Result.Records, ""); err != nil {
			t.Fatal(err)
		}
		if got, want := marks(t, q), (providers.Mark{Status: "Doing", WasStatus: "To Do", Assigned: []string{"@alice"}}); !reflect.DeepEqual(got, want) {
			t.Errorf("%s: %+v", name, got)
		}
		if _, err := q.Claims.Release(t.Context(), lease.ReleaseRequest{Outcome: lease.OutcomeAbandoned}); err != nil {
			t.Fatal(err)
		}
		views, err := q.Claims.List(t.Context())
		if err != nil || len(Stales(views)) != 1 {
			t.Errorf("%s: %+v, %v", name, Stales(views), err)
		}
		if name == "bob" {
			if troubles := q.Finish(t.Context(), views, nil); len(troubles) > 0 || b.items[0].Status != "To Do" {
				t.Errorf("%+v, %v", b.items[0], troubles)
			}
			if views, err := q.Claims.List(t.Context()); err != nil || len(Stales(views)) != 0 || views[0].Record.Release.Outcome != lease.OutcomeAbandoned {
				t.Errorf("what was taken back is still to be taken back: %+v, %v", Stales(views), err)
			}
		}
	}
}

func TestJoined(t *testing.T) {
	first := providers.Mark{Status: "A", WasStatus: "0", Assigned: []string{"x"}, Labels: []string{"l"}}
	for _, test := range []struct{ first, then, want providers.Mark }{
		{first, providers.Mark{}, first},
		{providers.Mark{}, first, first},
		{first, providers.Mark{Status: "B", WasStatus: "A"}, providers.Mark{Status: "B", WasStatus: "0", Assigned: []string{"x"}, Labels: []string{"l"}}},
		{first, providers.Mark{Status: "B", WasStatus: "C", Assigned: []string{"x", "w"}}, providers.Mark{Status: "B", WasStatus: "C", Assigned: []string{"w", "x"}, Labels: []string{"l"}}},
	} {
		if got := joined(test.first, test.then); !reflect.DeepEqual(got, test.want) {
			t.Errorf("%+v", got)
		}
	}
}

// TestStands: an announcement stands as long as anything of it shows, and not at a tracker that has the item no more.
func TestStands(t *testing.T) {
	q := &Queue{Providers: providers.Set{&tracker{items: []providers.Item{item("tt:1", started, assigned("@bob"))}}}}
	for name, test := range map[string]struct {
		stale Stale
		want  bool
	}{
		"its status":       {Stale{Key: "tt:1", Mark: providers.Mark{Status: "In Progress", WasStatus: "To Do"}}, true},
		"its assignee":     {Stale{Key: "tt:1", Mark: providers.Mark{Status: "Doing", Assigned: []string{"@bob"}}}, true},
		"taken back":       {Stale{Key: "tt:1", Mark: providers.Mark{Status: "Doing", Assigned: []string{"@al"}, Labels: []string{"agent"}}}, false},
		"an item no more":  {Stale{Key: "tt:2", Mark: providers.Mark{Status: "In Progress"}}, false},
		"nothing was told": {Stale{Key: "tt:1"}, false},
	} {
		if got, err := q.Stands(t.Context(), test.stale); err != nil || got != test.want {
			t.Errorf("%s: %v, %v", name, got, err)
		}
	}
	_, err := q.Stands(t.Context(), Stale{Key: "uu:1"})
	if !errors.Is(err, providers.ErrNoProvider) || err.Error() != "the policy has no tracker uu: no provider is configured" {
		t.Errorf("%v", err)
	}
}
