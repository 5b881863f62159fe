package refstoretest

import (
	"bytes"
	"context"
	"errors"
	"strings"

	"github.com/git-worklease/git-worklease/refstore"
)

func testEmpty(e *env) {
	if tips := e.tips(prefix, "refs/worklease/meta"); len(tips) != 0 {
		e.Fatalf("an empty repository lists %v", tips)
	}
}

func testCreate(e *env) {
	oid := e.must(change(name("a"), "", "one"))
	c := e.holds(name("a"), "one")
	if c.OID != oid || !c.Parent.IsZero() || !c.When.Equal(epoch) {
		e.Fatalf("got %+v, want %s without a parent at %s", c, oid, epoch)
	}
}

func testStaleCreate(e *env) {
	first := e.must(change(name("a"), "", "one"))
	c := e.conflict(change(name("a"), "", "two"))
	if len(c.Refs) != 1 || c.Refs[0].Commit.OID != first || string(c.Refs[0].Commit.Message) != "one\n" || c.Overtaken {
		e.Fatalf("the conflict says %+v", c)
	}
	e.holds(name("a"), "one")
}

func testUpdate(e *env) {
	first := e.must(change(name("a"), "", "one"))
	second := e.must(change(name("a"), first, "two"))
	if c := e.holds(name("a"), "two"); c.Parent != first || c.OID != second {
		e.Fatalf("got %+v, want parent %s", c, first)
	}
}

func testStaleUpdate(e *env) {
	first := e.must(change(name("a"), "", "one"))
	e.must(change(name("a"), first, "two"))
	e.conflict(change(name("a"), first, "three"))
	e.holds(name("a"), "two")
}

func testAbsentUpdate(e *env) {
	first := e.must(change(name("b"), "", "one"))
	c := e.conflict(change(name("a"), first, "two"))
	if len(c.Refs) != 0 {
		e.Fatalf("the conflict shows %v for an absent ref", c.Refs)
	}
	e.holds(name("a"), "")
}

func testDelete(e *env) {
	first := e.must(change(name("a"), "", "one"))
	e.must(drop(name("a"), first))
	e.holds(name("a"), "")
}

func testStaleDelete(e *env) {
	first := e.must(change(name("a"), "", "one"))
	e.must(change(name("a"), first, "two"))
	e.conflict(drop(name("a"), first))
	e.holds(name("a"), "two")
}

// testIdempotent sends a transaction that has landed once more, as after a lost reply.
func testIdempotent(e *env) {
	tx := e.build(change(name("a"), "", "one"), change(name("b"), "", "two"))
	for range 2 {
		if err := e.tgt.Open(e.T).Swap(e.ctx, tx, nil); err != nil {
			e.Fatalf("swap: %v", err)
		}
	}
}

// testOvertaken sends a transaction that has landed and was built upon by another: that is not "landed", and not "never landed" either.
func testOvertaken(e *env) {
	tx := e.build(change(name("a"), "", "one"))
	if err := e.store.Swap(e.ctx, tx, nil); err != nil {
		e.Fatal(err)
	}
	tip := tx.Updates[0].New
	for _, text := range []string{"two", "three"} {
		tip = e.must(change(name("a"), tip, text))
	}
	tx.Doubt = true
	var c *refstore.ConflictError
	if err := e.store.Swap(e.ctx, tx, nil); !errors.As(err, &c) || !c.Overtaken {
		e.Fatalf("got %v, want a conflict that says overtaken", err)
	}
}

func testOurs(e *env) {
	tx := e.build(change(name("a"), "", "one"))
	if err := e.store.Swap(e.ctx, tx, nil); err != nil {
		e.Fatal(err)
	}
	e.must(change(name("a"), tx.Updates[0].New, "one, renewed"))
	ours := func(r refstore.Ref) bool { return bytes.HasPrefix(r.Commit.Message, []byte("one")) }
	if err := e.store.Swap(e.ctx, tx, ours); err != nil {
		e.Fatalf("got %v, want success: the writer itself built upon it", err)
	}
}

func testSettle(e *env) {
	tx := e.build(change(name("a"), "", "one"))
	e.settled(tx, refstore.Open)
	if err := e.store.Swap(e.ctx, tx, nil); err != nil {
		e.Fatal(err)
	}
	e.settled(tx, refstore.Landed)
	e.settled(e.build(change(name("a"), "", "two")), refstore.Dead)
	e.must(change(name("a"), tx.Updates[0].New, "three"))
	e.settled(tx, refstore.Overtaken)
}

func (e *env) settled(tx *refstore.Tx, want refstore.State) {
	e.Helper()
	got, _, err := e.tgt.Open(e.T).Settle(e.ctx, tx, nil)
	if err != nil || got != want {
		e.Fatalf("settle: %v, %v; want %v", got, err, want)
	}
}

func testLog(e *env) {
	var tip refstore.OID
	texts := []string{"one", "two", "three", "four"}
	for _, text := range texts {
		tip = e.must(change(name("a"), tip, text))
	}
	for limit := 1; limit <= 5; limit++ {
		chain, err := e.tgt.Open(e.T).Log(e.ctx, tip, limit)
		if err != nil || len(chain) != min(limit, 4) {
			e.Fatalf("limit %d: %d records, %v", limit, len(chain), err)
		}
		for i, c := range chain {
			if want := texts[3-i] + "\n"; string(c.Message) != want {
				e.Fatalf("limit %d: record %d is %q, want %q", limit, i, c.Message, want)
			}
		}
	}
}

func testPatterns(e *env) {
	e.must(change(name("a"), "", "a"), change(name("ab"), "", "ab"), change("refs/worklease/meta", "", "m"), change("refs/worklease/metal", "", "x"))
	for _, test := range []struct {
		patterns []string
		want     string
	}{
		{[]string{name("a")}, "a"},
		{[]string{"refs/worklease/meta"}, "m"},
		{[]string{prefix}, "a,ab"},
		{[]string{name("ab"), "refs/worklease/meta"}, "ab,m"},
		{[]string{"refs/worklease/"}, "a,ab,m,x"},
		{[]string{name("")[:len(prefix)-1]}, ""},
		{[]string{name("a*")}, "a,ab"},
		{[]string{name("ab*"), "refs/worklease/metal"}, "ab,x"},
		{[]string{"refs/worklease/meta*"}, "m,x"},
		{[]string{prefix + "*"}, "a,ab"},
		{[]string{name("b*")}, ""},
	} {
		refs, err := e.store.List(e.ctx, test.patterns...)
		if err != nil {
			e.Fatal(err)
		}
		var got []string
		for _, r := range refs {
			got = append(got, strings.TrimSpace(string(r.Commit.Message)))
		}
		if s := strings.Join(got, ","); s != test.want {
			e.Errorf("%v: got %s, want %s", test.patterns, s, test.want)
		}
	}
}

func testOddNames(e *env) {
	for _, n := range []string{"%41", "a%2eb", "_", "0", "x+" + strings.Repeat("f", 64), strings.Repeat("n", 200), "a-b_c%2e%2e"} {
		e.must(change(name("%s", n), "", "odd"))
		e.holds(name("%s", n), "odd")
	}
}

func testRecords(e *env) {
	for i, text := range []string{
		strings.Repeat("x", 64<<10), "línea · 行", "tree 123\nparent 456", "\n\nleading", "trailing  \n\n", "#comment\n\x7f", "a\r\nb",
	} {
		ref := name("r%d", i)
		e.must(change(ref, "", text))
		e.holds(ref, text)
	}
}

func testPlanted(e *env) {
	if e.tgt.Plant == nil {
		return
	}
	e.must(change(name("good"), "", "good"))
	e.tgt.Plant(e.T, name("bad"))
	tips := e.tips(prefix)
	if got := tips[name("bad")]; !errors.Is(got.Err, refstore.ErrNotRecord) || got.Commit.OID.IsZero() {
		e.Fatalf("got %+v, want ErrNotRecord and the object's ID", got)
	}
	if got := tips[name("good")]; got.Err != nil || string(got.Commit.Message) != "good\n" {
		e.Fatalf("the record beside it: %+v", got)
	}
	e.must(change(name("bad"), tips[name("bad")].Commit.OID, "mended"))
	e.holds(name("bad"), "mended")
}

// testUnreadable: a ref that the server can't read is never taken for an absent one, nor are those beside it lost with it.
func testUnreadable(e *env) {
	if e.tgt.Damage == nil {
		return
	}
	e.must(change(name("good"), "", "good"))
	old := e.must(change(name("bad"), "", "bad"))
	e.tgt.Damage(e.T, name("bad"))
	for _, pattern := range []string{prefix, name("b") + "*", name("bad")} {
		if got := e.tips(pattern)[name("bad")]; !errors.Is(got.Err, refstore.ErrUnreadable) || got.Commit.OID != refstore.Unreadable {
			e.Fatalf("got %+v, want unreadable", got)
		}
	}
	e.holds(name("good"), "good")
	for _, c := range []refstore.Change{change(name("bad"), "", "new"), change(name("bad"), old, "next"), drop(name("bad"), old)} {
		if err := e.store.Swap(e.ctx, e.build(c), nil); !errors.Is(err, refstore.ErrUnreadable) {
			e.Errorf("swap: got %v, want unreadable", err)
		}
	}
	for _, c := range []refstore.Change{change(name("bad"), refstore.Unreadable, "mended"), drop(name("bad"), refstore.Unreadable)} {
		if _, err := e.store.Build(c); !errors.Is(err, refstore.ErrUnreadable) {
			e.Errorf("build: got %v, want unreadable", err)
		}
	}
	if chain, err := e.store.Log(e.ctx, refstore.Unreadable, 9); err != nil || len(chain) != 1 || chain[0].OID != refstore.Unreadable {
		e.Errorf("log: %v, %v", chain, err)
	}
}

func testCancelled(e *env) {
	ctx, cancel := context.WithCancel(e.ctx)
	cancel()
	if _, err := e.store.List(ctx, prefix); !errors.Is(err, refstore.ErrUnavailable) {
		e.Errorf("list: got %v, want unavailable", err)
	}
	err := e.store.Swap(ctx, e.build(change(name("a"), "", "one")), nil)
	if !errors.Is(err, refstore.ErrUnavailable) && !errors.Is(err, refstore.ErrUndecided) {
		e.Errorf("swap: got %v, want unavailable or undecided", err)
	}
}

func testBadChanges(e *env) {
	oid := e.must(change(name("a"), "", "one"))
	for _, changes := range [][]refstore.Change{
		nil,
		{drop(name("a"), "")},
		{change(name("a"), oid, "x"), change(name("a"), oid, "y")},
		{change("heads/main", "", "x")},
		{change("refs/worklease/claims/a b", "", "x")},
		{change("refs/worklease/claims/a\nb", "", "x")},
		{change("refs/worklease/../x", "", "x")},
		{change("refs/worklease/x.lock", "", "x")},
		{change(name("a"), "abc", "x")},
		{change(name("b"), "", strings.Repeat("x", refstore.MaxCommit))},
	} {
		if tx, err := e.store.Build(changes...); !errors.Is(err, refstore.ErrBadChange) {
			e.Errorf("%.80v: built %v, %v", changes, tx, err)
		}
	}
}
