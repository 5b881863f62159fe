package refstore_test

import (
	"errors"
	"fmt"
	"slices"
	"testing"

	"github.com/git-worklease/git-worklease/refstore"
	"github.com/git-worklease/git-worklease/refstore/memory"
)

// several builds n transactions of one new ref each, the second of two.
func several(t *testing.T, s refstore.Store, n int) []*refstore.Tx {
	t.Helper()
	txs := make([]*refstore.Tx, n)
	for i := range txs {
		changes := []refstore.Change{{Ref: fmt.Sprintf("refs/x/%03d", i), Message: []byte("one\n"), When: at}}
		if i == 1 {
			changes = append(changes, refstore.Change{Ref: "refs/x/second", Message: []byte("two\n"), When: at})
		}
		tx, err := s.Build(changes...)
		if err != nil {
			t.Fatal(err)
		}
		txs[i] = tx
	}
	return txs
}

// TestTogether: each transaction gets the error that it would get alone, whatever becomes of the common request.
func TestTogether(t *testing.T) {
	for name, test := range map[string]struct {
		faults []fault
		before func(r *memory.Repository)
		// want are the errors of the first of four; the others have none unless all have the same.
		want   []error
		pushes int
	}{
		"fine":                     {nil, nil, []error{nil}, 1},
		"the reply is lost":        {[]fault{lostReply}, nil, []error{nil}, 1},
		"it never arrives":         {[]fault{lostSend, lostSend, lostSend, lostSend}, nil, []error{refstore.ErrUndecided, refstore.ErrUndecided, refstore.ErrUndecided, refstore.ErrUndecided}, 4},
		"turned away":              {slices.Repeat([]fault{busy}, 9), nil, []error{refstore.ErrUnavailable, refstore.ErrUnavailable, refstore.ErrUnavailable, refstore.ErrUnavailable}, 8},
		"one conflicts":            {nil, func(r *memory.Repository) { r.Set("refs/x/second", r.Add([]byte("x"))) }, []error{nil, refstore.ErrConflict}, 2},
		"the first is refused":     {[]fault{refused, refused, refused, refused, refused, refused, refused, refused}, nil, []error{refstore.ErrRefused}, 11},
		"the server is not atomic": {[]fault{halfDone}, nil, []error{nil}, 4},
	} {
		t.Run(name, func(t *testing.T) {
			r := &memory.Repository{}
			f := &faulty{Transport: r.Transport(), faults: test.faults}
			s := refstore.New(f, refstore.Options{Sleep: noPause})
			txs := several(t, s, 4)
			if test.before != nil {
				test.before(r)
			}
			errs := refstore.Together(t.Context(), s, txs...)
			for i, err := range errs {
				var want error
				if i < len(test.want) {
					want = test.want[i]
				}
				landed := r.Refs()[txs[i].Updates[0].Ref] == txs[i].Updates[0].New
				if !errors.Is(err, want) || (err == nil) != landed {
					t.Errorf("%d: %v, want %v; landed: %t", i, err, want, landed)
				}
			}
			if f.pushes != test.pushes {
				t.Errorf("%d pushes", f.pushes)
			}
		})
	}
}

// TestTogetherAfterADeadSender: some of them had landed before, and the rest lands now.
func TestTogetherAfterADeadSender(t *testing.T) {
	r := &memory.Repository{}
	s := refstore.New(r.Transport(), refstore.Options{Sleep: noPause})
	txs := several(t, s, 4)
	for _, i := range []int{1, 3} {
		if err := s.Swap(t.Context(), txs[i], nil); err != nil {
			t.Fatal(err)
		}
		again := *txs[i]
		again.Doubt = true
		txs[i] = &again
	}
	for i, err := range refstore.Together(t.Context(), s, txs...) {
		if err != nil || r.Refs()[txs[i].Updates[0].Ref] != txs[i].Updates[0].New {
			t.Errorf("%d: %v", i, err)
		}
	}
}

// TestTogetherIsBounded: a request has no more than 256 updates, and no ref twice.
func TestTogetherIsBounded(t *testing.T) {
	r := &memory.Repository{}
	f := &faulty{Transport: r.Transport()}
	s := refstore.New(f, refstore.Options{Sleep: noPause})
	txs := several(t, s, 300)
	twice, err := s.Build(refstore.Change{Ref: "refs/x/000", Old: txs[0].Updates[0].New, Message: []byte("two\n"), When: at})
	if err != nil {
		t.Fatal(err)
	}
	for i, err := range refstore.Together(t.Context(), s, append(txs, twice)...) {
		if err != nil {
			t.Errorf("%d: %v", i, err)
		}
	}
	if f.pushes != 2 || r.Refs()["refs/x/000"] != twice.Updates[0].New {
		t.Errorf("%d pushes", f.pushes)
	}
}

// TestPushed: what was or may have been sent is counted, and nothing else.
func TestPushed(t *testing.T) {
	n := 0
	r := &memory.Repository{}
	f := &faulty{Transport: r.Transport(), faults: []fault{busy, stale, lostSend, refused, fine}}
	s := refstore.New(f, refstore.Options{Sleep: noPause, Attempts: 9, Pushed: func() { n++ }})
	if err := s.Swap(t.Context(), several(t, s, 1)[0], nil); err != nil {
		t.Fatal(err)
	}
	if n != 3 {
		t.Errorf("%d were counted", n)
	}
}
