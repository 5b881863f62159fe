// Package providertest holds every tracker to what package providers says of one.
package providertest

import (
	"context"
	"errors"
	"reflect"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/git-worklease/git-worklease/providers"
	"github.com/git-worklease/git-worklease/providers/conform"
)

// World is a tracker, and what is known to be in it.
type World struct {
	Provider providers.Provider
	// Spellings are the ways to write each key, beside the key itself.
	Spellings map[providers.Key][]string
	// NotKeys are texts that no item of the tracker can be called.
	NotKeys []string
	// Items are all that the listing must have, in its order. Version, Updated and URL are not compared where they are zero here.
	Items []providers.Item
	// Missing is the key of no item.
	Missing providers.Key
	// Change changes the title of an item behind the provider's back.
	Change func(t *testing.T, key providers.Key, title string)
	// Startable is an open item that nobody is assigned to; empty where the tracker can't be told.
	Startable providers.Key
	// Unplanned says that the tracker does not know beforehand what it will change.
	Unplanned bool
	// Finishable is a started one; empty where the tracker can't be told.
	Finishable providers.Key
}

var worker = providers.Worker{Agent: "robot", Session: "run-1", Text: "claimed by robot/run-1"}

// Run runs the suite, each part in a world of its own.
func Run(t *testing.T, open func(t *testing.T) World) {
	t.Helper()
	for name, part := range map[string]func(*testing.T, World){
		"keys": keys, "listing": listing, "reading": reading, "versions": versions, "cancelled": cancelled, "at once": atOnce,
		"conforming": conforming,
		"plan":       plan, "start": start, "unstart": unstart, "finish": finish,
	} {
		t.Run(name, func(t *testing.T) { part(t, open(t)) })
	}
}

// keys: all spellings of an item give the same bytes, which name a resource.
func keys(t *testing.T, w World) {
	if w.Provider.Source() == "" || len(w.Spellings) == 0 || len(w.NotKeys) == 0 {
		t.Fatal("there is nothing to test")
	}
	for key, spellings := range w.Spellings {
		for _, text := range append([]string{string(key)}, spellings...) {
			if got, err := w.Provider.Parse(text); got != key || err != nil {
				t.Errorf("%q is %q, %v; want %q", text, got, err, key)
			}
		}
	}
	for _, text := range w.NotKeys {
		if got, err := w.Provider.Parse(text); !errors.Is(err, providers.ErrNotKey) {
			t.Errorf("%q is %q, %v", text, got, err)
		}
	}
	for key, spellings := range w.Spellings {
		for _, text := range append([]string{string(key)}, spellings...) {
			no(t, conform.Odd(w.Provider, text))
		}
	}
}

// no fails for an error.
func no(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Error(err)
	}
}

// conforming: nothing is found either by what looks at trackers without knowing their worlds.
func conforming(t *testing.T, w World) {
	for _, finding := range conform.Check(t.Context(), w.Provider, conform.Options{Announce: w.Startable, Missing: w.Missing}) {
		t.Errorf("%s: %v", finding.Check, finding.Err)
	}
}

func list(t *testing.T, p providers.Provider) *providers.Listing {
	t.Helper()
	l, err := p.List(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	return l
}

func read(t *testing.T, p providers.Provider, key providers.Key) providers.Item {
	t.Helper()
	item, err := p.Read(t.Context(), key)
	if err != nil {
		t.Fatal(err)
	}
	return *item
}

// listing: what is there is listed, once and in order, with keys that parse and states that are known.
func listing(t *testing.T, w World) {
	last, of := 0, 0
	l, err := w.Provider.List(t.Context(), func(read, total int) { last, of = read, total })
	if err != nil {
		t.Fatal(err)
	}
	if !l.Complete() || l.Read.IsZero() {
		t.Errorf("troubles %v, read %v", l.Troubles, l.Read)
	}
	if last == 0 || of != 0 && last > of {
		t.Errorf("%d of %d were reported", last, of)
	}
	seen := map[providers.Key]bool{}
	for _, item := range l.Items {
		no(t, conform.Sound(w.Provider, item.Key))
		no(t, conform.Words(&item))
		if seen[item.Key] {
			t.Errorf("%+v comes twice", item)
		}
		seen[item.Key] = true
		if got, err := w.Provider.Parse(item.ID); err != nil || got != item.Key {
			t.Errorf("what its users call %s is %q, %v", item.Key, got, err)
		}
	}
	var got []providers.Item
	for _, want := range w.Items {
		if i := slices.IndexFunc(l.Items, func(i providers.Item) bool { return i.Key == want.Key }); i < 0 {
			t.Errorf("%s is not listed", want.Key)
		} else {
			same(t, l.Items[i], want)
		}
	}
	for _, item := range l.Items {
		if !item.State.Closed() {
			got = append(got, item)
		}
	}
	var want []providers.Item
	for _, item := range w.Items {
		if !item.State.Closed() {
			want = append(want, item)
		}
	}
	if keysOf(got) == "" || keysOf(got) != keysOf(want) {
		t.Errorf("the open items are %s\nand not %s", keysOf(got), keysOf(want))
	}
}

func keysOf(items []providers.Item) string {
	keys := make([]string, len(items))
	for i, item := range items {
		keys[i] = string(item.Key)
	}
	return strings.Join(keys, " ")
}

// same compares items but for what want leaves open.
func same(t *testing.T, got, want providers.Item) {
	t.Helper()
	if want.Version == "" {
		got.Version = ""
	}
	if want.Updated.IsZero() {
		got.Updated = time.Time{}
	}
	if want.URL == "" {
		got.URL = ""
	}
	if !reflect.DeepEqual(conform.Normal(got), conform.Normal(want)) {
		t.Errorf("got  %+v\nwant %+v", got, want)
	}
}

// reading: an item that is read alone is the one that was listed, and one that isn't there is not found.
func reading(t *testing.T, w World) {
	for _, item := range list(t, w.Provider).Items {
		got := read(t, w.Provider, item.Key)
		for i := range got.Needs { // a listing knows less of others' states
			if i < len(item.Needs) && item.Needs[i].State == "" {
				got.Needs[i].State = ""
			}
		}
		same(t, got, item)
	}
	if item, err := w.Provider.Read(t.Context(), w.Missing); !errors.Is(err, providers.ErrNotFound) {
		t.Errorf("%s: %+v, %v", w.Missing, item, err)
	}
	if item, err := w.Provider.Read(t.Context(), "other:thing"); !errors.Is(err, providers.ErrNotKey) {
		t.Errorf("a key of another tracker: %+v, %v", item, err)
	}
}

// versions: a version changes when its item does, and only then.
func versions(t *testing.T, w World) {
	key := w.Items[0].Key
	before := read(t, w.Provider, key)
	if again := read(t, w.Provider, key); again.Version != before.Version {
		t.Errorf("%q became %q", before.Version, again.Version)
	}
	w.Change(t, key, "a changed title")
	after := read(t, w.Provider, key)
	if after.Version == before.Version || after.Title != "a changed title" {
		t.Errorf("%+v became %+v", before, after)
	}
	l := list(t, w.Provider)
	i := slices.IndexFunc(l.Items, func(i providers.Item) bool { return i.Key == key })
	if i < 0 || l.Items[i].Version != after.Version || l.Items[i].Title != after.Title {
		t.Errorf("%+v is listed as %+v", after, l.Items)
	}
}

// cancelled: whoever is interrupted gets no part of a listing for the whole.
func cancelled(t *testing.T, w World) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if l, err := w.Provider.List(ctx, nil); !errors.Is(err, context.Canceled) {
		t.Errorf("%+v, %v", l, err)
	}
	if item, err := w.Provider.Read(ctx, w.Items[0].Key); !errors.Is(err, context.Canceled) {
		t.Errorf("%+v, %v", item, err)
	}
}

// atOnce: several goroutines may ask at once.
func atOnce(t *testing.T, w World) {
	var group sync.WaitGroup
	for range 4 {
		group.Go(func() {
			if l, err := w.Provider.List(t.Context(), func(int, int) {}); err != nil || len(l.Items) == 0 {
				t.Errorf("%+v, %v", l, err)
			}
			if _, err := w.Provider.Read(t.Context(), w.Items[0].Key); err != nil {
				t.Error(err)
			}
		})
	}
	group.Wait()
}

// plan: what an announcement will change of any item is known before, as is whether it will be refused, and telling it changes nothing.
func plan(t *testing.T, w World) {
	p, ok := w.Provider.(providers.Planner)
	if ok && (w.Startable == "" || w.Unplanned) {
		if mark, err := p.Plan(t.Context(), w.Items[0].Key, worker); !mark.IsZero() || !errors.Is(err, providers.ErrUnsupported) {
			t.Errorf("it can't plan: %+v, %v", mark, err)
		}
		return
	}
	if !told(t, ok, w.Startable) {
		return
	}
	for _, item := range w.Items {
		before := read(t, p, item.Key)
		planned, refused := p.Plan(t.Context(), item.Key, worker)
		if after := read(t, p, item.Key); after.Version != before.Version || planned.IsZero() && item.Key == w.Startable {
			t.Errorf("the plan %+v made %+v of %+v", planned, after, before)
		}
		mark, err := p.Start(t.Context(), item.Key, worker)
		if !reflect.DeepEqual(planned, mark) || !alike(refused, err) {
			t.Errorf("%s: %+v, %v was planned, and done %+v, %v", item.Key, planned, refused, mark, err)
		}
		if again, err := p.Plan(t.Context(), item.Key, worker); !again.IsZero() || !alike(refused, err) {
			t.Errorf("%s a second time: %+v, %v", item.Key, again, err)
		}
	}
	if mark, err := p.Plan(t.Context(), w.Missing, worker); !mark.IsZero() || !errors.Is(err, providers.ErrNotFound) {
		t.Errorf("what is not there: %+v, %v", mark, err)
	}
}

// alike says whether two requests were refused for the same reason, or neither was.
func alike(a, b error) bool {
	for _, kind := range []error{providers.ErrTaken, providers.ErrUnsupported} {
		if errors.Is(a, kind) != errors.Is(b, kind) {
			return false
		}
	}
	return (a == nil) == (b == nil)
}

// start: an item that is announced shows it, and announcing it again changes nothing.
func start(t *testing.T, w World) {
	p, ok := w.Provider.(providers.Starter)
	if ok && w.Startable == "" {
		if mark, err := p.Start(t.Context(), w.Items[0].Key, worker); !mark.IsZero() || !errors.Is(err, providers.ErrUnsupported) {
			t.Errorf("it can't be told: %+v, %v", mark, err)
		}
		if err := p.Unstart(t.Context(), w.Items[0].Key, providers.Mark{}); !errors.Is(err, providers.ErrUnsupported) {
			t.Errorf("it can't be told: %v", err)
		}
	}
	if !told(t, ok, w.Startable) {
		return
	}
	before := read(t, p, w.Startable)
	mark, err := p.Start(t.Context(), w.Startable, worker)
	if err != nil || mark.IsZero() {
		t.Fatalf("%+v, %v", mark, err)
	}
	after := read(t, p, w.Startable)
	if before.State != providers.Open || after.Version == before.Version {
		t.Errorf("%+v became %+v", before, after)
	}
	no(t, conform.Shown(&before, &after, mark))
	if mark, err := p.Start(t.Context(), w.Startable, worker); !mark.IsZero() || err != nil {
		t.Errorf("a second time: %+v, %v", mark, err)
	}
	if mark, err := p.Start(t.Context(), w.Missing, worker); !mark.IsZero() || !errors.Is(err, providers.ErrNotFound) {
		t.Errorf("what is not there: %+v, %v", mark, err)
	}
}

// told says whether a tracker can be told, which its world has to agree with.
func told(t *testing.T, ok bool, able providers.Key) bool {
	t.Helper()
	if !ok && able != "" {
		t.Fatal("it can't be told")
	}
	return able != ""
}

// unstart: what was announced is taken back, and nothing else.
func unstart(t *testing.T, w World) {
	p, ok := w.Provider.(providers.Starter)
	if !told(t, ok, w.Startable) {
		return
	}
	before := read(t, p, w.Startable)
	mark, err := p.Start(t.Context(), w.Startable, worker)
	if err != nil {
		t.Fatal(err)
	}
	w.Change(t, w.Startable, "a title from meanwhile")
	for range 2 { // the second time there is nothing left to take back
		if err := p.Unstart(t.Context(), w.Startable, mark); err != nil {
			t.Fatal(err)
		}
		before.Title, before.Version, before.Updated = "a title from meanwhile", "", time.Time{}
		same(t, read(t, p, w.Startable), before)
	}
	if err := p.Unstart(t.Context(), w.Missing, mark); !errors.Is(err, providers.ErrNotFound) {
		t.Errorf("what is not there: %v", err)
	}
}

// finish: what has come of the work is noted once.
func finish(t *testing.T, w World) {
	p, ok := w.Provider.(providers.Finisher)
	if ok && w.Finishable == "" {
		if err := p.Finish(t.Context(), w.Items[0].Key, worker, providers.Reviewing); !errors.Is(err, providers.ErrUnsupported) {
			t.Errorf("it can't be told: %v", err)
		}
	}
	if !told(t, ok, w.Finishable) {
		return
	}
	for _, result := range []providers.Result{providers.Reviewing, providers.Finished} {
		before := read(t, p, w.Finishable)
		if err := p.Finish(t.Context(), w.Finishable, worker, result); err != nil {
			t.Fatal(err)
		}
		after := read(t, p, w.Finishable)
		if after.Version == before.Version || result == providers.Reviewing && after.State.Closed() {
			t.Errorf("%s: %+v became %+v", result, before, after)
		}
		if err := p.Finish(t.Context(), w.Finishable, worker, result); err != nil {
			t.Fatal(err)
		}
		if again := read(t, p, w.Finishable); again.Version != after.Version {
			t.Errorf("%s twice: %+v became %+v", result, after, again)
		}
	}
	if err := p.Finish(t.Context(), w.Missing, worker, providers.Finished); !errors.Is(err, providers.ErrNotFound) {
		t.Errorf("what is not there: %v", err)
	}
}
