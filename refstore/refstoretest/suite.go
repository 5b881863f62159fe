// Package refstoretest holds the suite that every [refstore.Store] passes, whatever carries it.
package refstoretest

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/git-worklease/git-worklease/refstore"
)

// Target is an empty repository to run the suite against.
type Target struct {
	// Open is a new client of the repository, with no memory of earlier ones.
	Open func(t *testing.T) refstore.Store
	// Plant makes ref hold an object that is no record: a commit with a file in it, as a person's push would. Nil where that can't happen.
	Plant func(t *testing.T, ref string)
	// Damage leaves the file of ref empty, as a crash does. Nil where that can't happen, or where the server does not show such a ref.
	Damage func(t *testing.T, ref string)
	// Racers is how many clients race; 0: 8.
	Racers int
}

// Run runs the suite. target is called once for each test, and cleans up by t.Cleanup.
func Run(t *testing.T, target func(t *testing.T) Target) {
	t.Helper()
	tests := []struct {
		name string
		run  func(*env)
	}{
		{"empty", testEmpty},
		{"create", testCreate},
		{"stale create", testStaleCreate},
		{"update", testUpdate},
		{"stale update", testStaleUpdate},
		{"update of an absent ref", testAbsentUpdate},
		{"delete", testDelete},
		{"stale delete", testStaleDelete},
		{"several refs", testBundle},
		{"several refs, one stale", testBundleConflict},
		{"the same again", testIdempotent},
		{"overtaken", testOvertaken},
		{"built upon by the same writer", testOurs},
		{"settle", testSettle},
		{"log", testLog},
		{"patterns", testPatterns},
		{"odd names", testOddNames},
		{"large and odd records", testRecords},
		{"no record", testPlanted},
		{"unreadable", testUnreadable},
		{"cancelled", testCancelled},
		{"bad changes", testBadChanges},
		{"many refs", testMany},
		{"race for one ref", testRace},
		{"race over two refs", testRacePairs},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			tgt := target(t)
			if tgt.Racers == 0 {
				tgt.Racers = 8
			}
			test.run(&env{T: t, ctx: t.Context(), tgt: tgt, store: tgt.Open(t)})
		})
	}
}

const prefix = "refs/worklease/claims/"

// env is one test's repository and first client.
type env struct {
	*testing.T
	ctx   context.Context
	tgt   Target
	store refstore.Store
}

// epoch is the date of every record of the suite.
var epoch = time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)

func change(ref string, old refstore.OID, text string) refstore.Change {
	return refstore.Change{Ref: ref, Old: old, Message: []byte(text + "\n"), When: epoch}
}

func drop(ref string, old refstore.OID) refstore.Change {
	return refstore.Change{Ref: ref, Old: old, When: epoch}
}

func (e *env) build(changes ...refstore.Change) *refstore.Tx {
	e.Helper()
	tx, err := e.store.Build(changes...)
	if err != nil {
		e.Fatalf("build: %v", err)
	}
	return tx
}

// must swaps and returns the new tip of the first change.
func (e *env) must(changes ...refstore.Change) refstore.OID {
	e.Helper()
	tx := e.build(changes...)
	if err := e.store.Swap(e.ctx, tx, nil); err != nil {
		e.Fatalf("swap: %v", err)
	}
	return tx.Updates[0].New
}

// conflict swaps and insists on a conflict.
func (e *env) conflict(changes ...refstore.Change) *refstore.ConflictError {
	e.Helper()
	err := e.store.Swap(e.ctx, e.build(changes...), nil)
	var c *refstore.ConflictError
	if !errors.As(err, &c) || !errors.Is(err, refstore.ErrConflict) {
		e.Fatalf("swap: got %v, want a conflict", err)
	}
	return c
}

// tips lists with a fresh client, so that nothing remembered can answer.
func (e *env) tips(patterns ...string) map[string]refstore.Ref {
	e.Helper()
	refs, err := e.tgt.Open(e.T).List(e.ctx, patterns...)
	if err != nil {
		e.Fatalf("list: %v", err)
	}
	if !slices.IsSortedFunc(refs, func(a, b refstore.Ref) int { return strings.Compare(a.Name, b.Name) }) {
		e.Errorf("list is not sorted: %v", refs)
	}
	tips := map[string]refstore.Ref{}
	for _, r := range refs {
		tips[r.Name] = r
	}
	return tips
}

// holds checks what a ref holds; "" is an absent ref.
func (e *env) holds(ref, text string) refstore.Commit {
	e.Helper()
	got, ok := e.tips(ref)[ref]
	switch {
	case text == "" && ok:
		e.Fatalf("%s exists: %q", ref, got.Commit.Message)
	case text != "" && !ok:
		e.Fatalf("%s is absent", ref)
	case got.Err != nil:
		e.Fatalf("%s: %v", ref, got.Err)
	case text != "" && string(got.Commit.Message) != text+"\n":
		e.Fatalf("%s holds %q, want %q", ref, got.Commit.Message, text)
	}
	return got.Commit
}

// race runs n clients at once and waits for them.
func (e *env) race(n int, run func(i int, s refstore.Store) error) {
	e.Helper()
	stores := make([]refstore.Store, n)
	for i := range stores {
		stores[i] = e.tgt.Open(e.T)
	}
	errs := make([]error, n)
	var group sync.WaitGroup
	for i := range n {
		group.Go(func() { errs[i] = run(i, stores[i]) })
	}
	group.Wait()
	for i, err := range errs {
		if err != nil {
			e.Errorf("racer %d: %v", i, err)
		}
	}
	if e.Failed() {
		e.FailNow()
	}
}

func name(format string, args ...any) string { return prefix + fmt.Sprintf(format, args...) }
