package refstore_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/git-worklease/git-worklease/refstore"
	"github.com/git-worklease/git-worklease/refstore/memory"
)

// fault is what happens to one push.
type fault int

const (
	fine      fault = iota
	lostReply       // it lands, the reply does not come
	lostSend        // it never arrives, and the client can't tell
	refused         // a hook says no
	busy            // turned away before anything was read
	halfDone        // the first ref moves, the others are refused
	stale           // the advertisement contradicts what is read, and nothing is sent
)

// faulty applies one fault to each push, in order; later ones are fine.
type faulty struct {
	refstore.Transport
	faults []fault
	pushes int
	// after runs after each push, with its number from 1.
	after func(push int)
	// blind makes reads fail, and shortSighted those of a tip's past.
	blind, shortSighted bool
}

func (f *faulty) Commits(ctx context.Context, wants []refstore.OID, depth int) ([]refstore.Object, error) {
	if f.shortSighted && depth > 1 {
		return nil, &refstore.UnavailableError{Trouble: refstore.TroubleNetwork, Err: errors.New("no route")}
	}
	return f.Transport.Commits(ctx, wants, depth)
}

func (f *faulty) Refs(ctx context.Context, prefixes []string) (map[string]refstore.OID, error) {
	if f.blind {
		return nil, &refstore.UnavailableError{Trouble: refstore.TroubleNetwork, Err: errors.New("no route")}
	}
	return f.Transport.Refs(ctx, prefixes)
}

func (f *faulty) Push(ctx context.Context, tx *refstore.Tx) (*refstore.Report, error) {
	kind := fine
	if f.pushes < len(f.faults) {
		kind = f.faults[f.pushes]
	}
	f.pushes++
	if f.after != nil {
		defer f.after(f.pushes)
	}
	all := map[string]string{}
	for i := range tx.Updates {
		all[tx.Updates[i].Ref] = "hook declined"
	}
	broken := &refstore.UnavailableError{Trouble: refstore.TroubleNetwork, Sent: true, Err: errors.New("connection reset")}
	switch kind {
	case lostReply:
		_, _ = f.Transport.Push(ctx, tx)
		return nil, broken
	case lostSend:
		return nil, broken
	case refused:
		return &refstore.Report{Unpack: "ok", Refused: all, Words: "no claims on Sundays\n"}, nil
	case busy:
		return nil, &refstore.UnavailableError{Trouble: refstore.TroubleBusy, Err: errors.New("429")}
	case stale:
		return &refstore.Report{Stale: true}, nil
	case halfDone:
		half := *tx
		half.Updates = tx.Updates[:1]
		_, _ = f.Transport.Push(ctx, &half)
		delete(all, tx.Updates[0].Ref)
		return &refstore.Report{Unpack: "ok", Refused: all}, nil
	default:
		return f.Transport.Push(ctx, tx)
	}
}

var at = time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)

func put(ref string, old refstore.OID, text string) refstore.Change {
	return refstore.Change{Ref: ref, Old: old, Message: []byte(text), When: at}
}

func noPause(context.Context, time.Duration) error { return nil }

// TestSwapSettles is the table of DESIGN section 7: what each sequence of replies lets a writer conclude.
func TestSwapSettles(t *testing.T) {
	const ref = "refs/worklease/claims/a"
	rival := func(r *memory.Repository, n int) func(int) {
		return func(push int) {
			if push == n {
				r.Set(ref, r.Add(refstore.EncodeCommit(refstore.SHA1, "", at, []byte("rival"))))
			}
		}
	}
	overtake := func(r *memory.Repository, _ int) func(int) {
		return func(int) {
			if tip := r.Refs()[ref]; tip != "" {
				r.Set(ref, r.Add(refstore.EncodeCommit(refstore.SHA1, tip, at, []byte("next"))))
			}
		}
	}
	for _, test := range []struct {
		name   string
		faults []fault
		doubt  bool
		after  func(*memory.Repository, int) func(int)
		at     int
		want   error
		pushes int
	}{
		{name: "ok", pushes: 1},
		{name: "reply lost", faults: []fault{lostReply}, pushes: 1},
		{name: "request lost, then ok", faults: []fault{lostSend}, pushes: 2},
		{name: "request lost, rival", faults: []fault{lostSend}, after: rival, at: 1, want: refstore.ErrConflict, pushes: 1},
		{name: "reply lost, overtaken", faults: []fault{lostReply}, after: overtake, want: refstore.ErrConflict, pushes: 1},
		{name: "always lost", faults: []fault{lostSend, lostSend, lostSend, lostSend}, want: refstore.ErrUndecided, pushes: 4},
		{name: "refused for good", faults: []fault{refused, refused, refused, refused}, want: refstore.ErrRefused, pushes: 4},
		{name: "refused once", faults: []fault{refused}, pushes: 2},
		{name: "lost, then refused", faults: []fault{lostSend, refused, refused, refused}, want: refstore.ErrUndecided, pushes: 4},
		{name: "refused in doubt", doubt: true, faults: []fault{refused, refused, refused, refused}, want: refstore.ErrUndecided, pushes: 4},
		{name: "busy, then ok", faults: []fault{busy, busy}, pushes: 3},
		{name: "busy for good", faults: slices.Repeat([]fault{busy}, 9), want: refstore.ErrUnavailable, pushes: 8},
		{name: "busy in doubt", doubt: true, faults: slices.Repeat([]fault{busy}, 9), want: refstore.ErrUndecided, pushes: 8},
		{name: "busy, then refused for good", faults: append([]fault{busy}, slices.Repeat([]fault{refused}, 9)...), want: refstore.ErrRefused, pushes: 4},
		{name: "busy for long, then lost", faults: slices.Concat(slices.Repeat([]fault{busy}, 5), []fault{lostSend}), want: refstore.ErrUndecided, pushes: 6},
		{name: "stale, then ok", faults: []fault{stale}, pushes: 2},
		{name: "stale for good", faults: []fault{stale, stale, stale, stale}, want: refstore.ErrUnavailable, pushes: 4},
		{name: "stale in doubt", doubt: true, faults: []fault{stale, stale, stale, stale}, want: refstore.ErrUndecided, pushes: 4},
		{name: "lost, then stale", faults: []fault{lostSend, stale, stale, stale}, want: refstore.ErrUndecided, pushes: 4},
		{name: "refused, rival", faults: []fault{refused}, after: rival, at: 1, want: refstore.ErrConflict, pushes: 1},
	} {
		t.Run(test.name, func(t *testing.T) {
			repo := &memory.Repository{}
			f := &faulty{Transport: repo.Transport(), faults: test.faults}
			if test.after != nil {
				f.after = test.after(repo, test.at)
			}
			s := refstore.New(f, refstore.Options{Sleep: noPause})
			tx, err := s.Build(put(ref, "", "ours"))
			if err != nil {
				t.Fatal(err)
			}
			tx.Doubt = test.doubt
			if err := s.Swap(t.Context(), tx, nil); !errors.Is(err, test.want) {
				t.Fatalf("got %v, want %v", err, test.want)
			}
			if f.pushes != test.pushes {
				t.Errorf("%d pushes, want %d", f.pushes, test.pushes)
			}
		})
	}
}

// TestSwapBlind loses the reply and then the means to settle it.
func TestSwapBlind(t *testing.T) {
	repo := &memory.Repository{}
	for _, kind := range []fault{lostReply, lostSend, refused} {
		s := refstore.New(&faulty{Transport: repo.Transport(), faults: []fault{kind}, blind: true}, refstore.Options{Sleep: noPause})
		tx, err := s.Build(put("refs/worklease/claims/a", "", "ours"))
		if err != nil {
			t.Fatal(err)
		}
		if err := s.Swap(t.Context(), tx, nil); !errors.Is(err, refstore.ErrUndecided) {
			t.Errorf("fault %d: got %v, want undecided", kind, err)
		}
	}
}

// TestSwapShortSighted: the reply is lost, two others have built upon what landed, and the past can't be read. So nothing is known.
func TestSwapShortSighted(t *testing.T) {
	const ref = "refs/worklease/claims/a"
	repo := &memory.Repository{}
	f := &faulty{Transport: repo.Transport(), faults: []fault{lostReply}, shortSighted: true}
	f.after = func(int) {
		for _, text := range []string{"next", "and next"} {
			repo.Set(ref, repo.Add(refstore.EncodeCommit(refstore.SHA1, repo.Refs()[ref], at, []byte(text))))
		}
	}
	s := refstore.New(f, refstore.Options{Sleep: noPause})
	tx, err := s.Build(put(ref, "", "ours"))
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Swap(t.Context(), tx, nil); !errors.Is(err, refstore.ErrUndecided) {
		t.Errorf("got %v, want undecided", err)
	}
}

func TestSwapHalfApplied(t *testing.T) {
	for _, kind := range []fault{halfDone, lostReply} {
		repo := &memory.Repository{NotAtomic: true}
		f := &faulty{Transport: repo.Transport(), faults: []fault{kind}}
		s := refstore.New(f, refstore.Options{Sleep: noPause})
		tx, err := s.Build(put("refs/worklease/claims/a", "", "a"), put("refs/worklease/claims/b", "", "b"))
		if err != nil {
			t.Fatal(err)
		}
		if kind == lostReply { // the server does one half, and says nothing
			f.after = func(int) { repo.Set("refs/worklease/claims/b", "") }
		}
		err = s.Swap(t.Context(), tx, nil)
		var half *refstore.HalfAppliedError
		if !errors.As(err, &half) || strings.Join(half.Applied, " ") != "refs/worklease/claims/a" {
			t.Fatalf("got %v, want half applied", err)
		}
	}
}

// TestSwapHalfAppliedIsRemembered: a server that did a part of a swap is not called atomic any more, whatever was known of it.
func TestSwapHalfAppliedIsRemembered(t *testing.T) {
	f := &faulty{Transport: (&memory.Repository{}).Transport(), faults: []fault{halfDone}}
	s := refstore.New(f, refstore.Options{Sleep: noPause})
	tx, err := s.Build(put("refs/worklease/claims/a", "", "a"), put("refs/worklease/claims/b", "", "b"))
	if err != nil {
		t.Fatal(err)
	}
	if !s.Server().Atomic {
		t.Fatal("not atomic before")
	}
	if err := s.Swap(t.Context(), tx, nil); !errors.Is(err, refstore.ErrHalfApplied) {
		t.Fatal(err)
	}
	if server := s.Server(); server.Atomic || server.Known.IsZero() {
		t.Errorf("%+v", server)
	}
}

// TestSwapRefusedWords hands on what the server's hook wrote.
func TestSwapRefusedWords(t *testing.T) {
	f := &faulty{Transport: (&memory.Repository{}).Transport(), faults: []fault{refused, refused, refused, refused}}
	s := refstore.New(f, refstore.Options{Sleep: noPause})
	tx, err := s.Build(put("refs/worklease/claims/a", "", "ours"))
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Swap(t.Context(), tx, nil); err == nil || !strings.Contains(err.Error(), "no claims on Sundays") {
		t.Fatalf("got %v", err)
	}
}
