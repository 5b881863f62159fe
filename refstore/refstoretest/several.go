package refstoretest

import (
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/git-worklease/git-worklease/refstore"
)

func testBundle(e *env) {
	e.must(change(name("a"), "", "1"), change(name("b"), "", "2"), change(name("c"), "", "3"))
	tips := e.tips(prefix)
	if len(tips) != 3 {
		e.Fatalf("got %v", tips)
	}
	a, b := tips[name("a")].Commit.OID, tips[name("b")].Commit.OID
	e.must(change(name("a"), a, "4"), drop(name("b"), b), change(name("d"), "", "5"))
	e.holds(name("a"), "4")
	e.holds(name("b"), "")
	e.holds(name("c"), "3")
	e.holds(name("d"), "5")
}

// testBundleConflict has one stale member in each position and of each kind: nothing moves.
func testBundleConflict(e *env) {
	a := e.must(change(name("a"), "", "1"))
	b := e.must(change(name("b"), "", "2"))
	stale := a
	a = e.must(change(name("a"), a, "3"))
	for _, changes := range [][]refstore.Change{
		{change(name("a"), stale, "x"), change(name("b"), b, "x"), change(name("c"), "", "x")},
		{change(name("b"), b, "x"), change(name("a"), stale, "x")},
		{change(name("c"), "", "x"), change(name("b"), "", "x")},
		{drop(name("b"), b), drop(name("a"), stale)},
		{change(name("a"), a, "x"), change(name("d"), b, "x")},
	} {
		e.conflict(changes...)
		e.holds(name("a"), "3")
		e.holds(name("b"), "2")
		e.holds(name("c"), "")
		e.holds(name("d"), "")
	}
}

func testMany(e *env) {
	const n = 300
	var changes []refstore.Change
	for i := range n {
		changes = append(changes, change(name("m%03d", i), "", strconv.Itoa(i)))
	}
	for len(changes) > 0 {
		k := min(32, len(changes))
		e.must(changes[:k]...)
		changes = changes[k:]
	}
	tips := e.tips(prefix)
	for i := range n {
		if got := tips[name("m%03d", i)]; string(got.Commit.Message) != strconv.Itoa(i)+"\n" {
			e.Fatalf("%d: got %+v", i, got)
		}
	}
}

// testRace lets clients add to one counter by compare-and-swap: no addition is lost, none is counted twice.
func testRace(e *env) {
	const each = 6
	e.race(e.tgt.Racers, func(i int, s refstore.Store) error {
		for k := range each {
			if err := add(e, s, fmt.Sprintf("racer %d, %d", i, k), name("n")); err != nil {
				return err
			}
		}
		return nil
	})
	e.counts(name("n"), e.tgt.Racers*each)
}

// testRacePairs does so with two refs that move together or not at all.
func testRacePairs(e *env) {
	const each = 4
	e.race(e.tgt.Racers, func(i int, s refstore.Store) error {
		for k := range each {
			if err := add(e, s, fmt.Sprintf("racer %d, %d", i, k), name("x"), name("y")); err != nil {
				return err
			}
		}
		return nil
	})
	e.counts(name("x"), e.tgt.Racers*each)
	e.counts(name("y"), e.tgt.Racers*each)
}

func (e *env) counts(ref string, want int) {
	e.Helper()
	tips := e.tips(ref)
	got, _, _ := strings.Cut(string(tips[ref].Commit.Message), " ")
	if got != strconv.Itoa(want) {
		e.Fatalf("%s counts %s, want %d", ref, got, want)
	}
	chain, err := e.store.Log(e.ctx, tips[ref].Commit.OID, want+1)
	if err != nil || len(chain) != want {
		e.Fatalf("%s has %d records (%v), want %d", ref, len(chain), err, want)
	}
}

// add adds one to the counters at refs, as often as it takes. who makes each record one of a kind.
func add(e *env, s refstore.Store, who string, refs ...string) error {
	for range 1000 {
		tips, err := s.List(e.ctx, refs...)
		if err != nil {
			return err
		}
		at := map[string]refstore.Commit{}
		for _, r := range tips {
			at[r.Name] = r.Commit
		}
		var changes []refstore.Change
		for _, ref := range refs {
			count, _, _ := strings.Cut(string(at[ref].Message), " ")
			n, _ := strconv.Atoi(count)
			changes = append(changes, change(ref, at[ref].OID, fmt.Sprintf("%d %s", n+1, who)))
		}
		tx, err := s.Build(changes...)
		if err != nil {
			return err
		}
		err = s.Swap(e.ctx, tx, nil)
		if err == nil || errors.Is(err, refstore.ErrConflict) && err.(*refstore.ConflictError).Overtaken { //nolint:errorlint // a store returns it bare
			return nil
		}
		if !errors.Is(err, refstore.ErrConflict) && !errors.Is(err, refstore.ErrRefused) {
			return err
		}
	}
	return errors.New("no progress in 1000 tries")
}
