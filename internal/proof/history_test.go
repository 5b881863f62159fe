package proof

import (
	"errors"
	"maps"
	"math"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/anishathalye/porcupine"

	"github.com/git-worklease/git-worklease/lease"
	"github.com/git-worklease/git-worklease/refstore"
)

// fact is what an event says of one ref at some point between its call and its return.
type fact int

const (
	// swapped: the ref moved from old to new.
	swapped fact = iota
	// stood: the ref was at new.
	stood
	// held: the claim stood there, and was not released.
	held
	// over: the claim did not stand there, or was released.
	over
	// foreign: the claim stood there, released or not.
	foreign
)

// event is one fact.
type event struct {
	fact fact
	ref  string
	// call and ret are places in the order in which things began and ended.
	call, ret int64
	// from and to are the true times of those.
	from, to time.Time
	old, new refstore.OID
	// rec is the record at new; nil for a delete.
	rec   *lease.Record
	claim lease.ClaimID
	// fate is whether a swap has landed.
	fate fate
	who  int
}

// fate is what is known of a swap.
type fate int

const (
	never fate = iota
	landed
	perhaps
)

// history is what all workers did and were told. It is safe for use by several goroutines.
type history struct {
	now   func() time.Time
	count atomic.Int64
	// deletes: refs are deleted, and with them what would show that an update had landed. Of one whose fate was not known it is then only known that it
	// will not land any more.
	deletes bool

	mu     sync.Mutex
	events map[string][]*event // by ref
	swaps  map[refstore.OID]*event
	// operations are exchanges and verbs, unknown the outcomes that were.
	operations, unknown int
}

func newHistory(now func() time.Time) *history {
	return &history{now: now, events: map[string][]*event{}, swaps: map[refstore.OID]*event{}}
}

// begun is where something that was begun stands in the order of things.
type begun struct {
	call int64
	from time.Time
}

func (h *history) begin() begun { return begun{h.count.Add(1), h.now()} }

func (h *history) end(b begun, e event) {
	e.call, e.from, e.ret, e.to = b.call, b.from, h.count.Add(1), h.now()
	h.mu.Lock()
	defer h.mu.Unlock()
	h.operations++
	h.events[e.ref] = append(h.events[e.ref], &e)
}

// swap notes how a request for an update ended. Of one that was sent before, and of which it was not known, the first attempt counts as its beginning.
func (h *history) swap(b begun, who int, u *refstore.Update, f fate) {
	if !strings.Contains(u.Ref, "/claims/") {
		return
	}
	ret, to := h.count.Add(1), h.now()
	h.mu.Lock()
	defer h.mu.Unlock()
	h.operations++
	if f == perhaps {
		h.unknown++
		ret = math.MaxInt64
	}
	e := h.swaps[u.New]
	if e == nil || u.New.IsZero() || e.fate == never {
		e = &event{fact: swapped, ref: u.Ref, call: b.call, from: b.from, old: u.Old, new: u.New, who: who, rec: decode(u)}
		h.events[u.Ref] = append(h.events[u.Ref], e)
		h.swaps[u.New] = e
	}
	if e.fate == landed { // by an earlier attempt
		return
	}
	e.ret, e.to, e.fate = ret, to, h.after(e.fate, f)
}

// after is what is known of an update's fate that was known as was, and is now told to be f.
func (h *history) after(was, f fate) fate {
	if was == perhaps && f == never && h.deletes {
		return perhaps
	}
	return f
}

// settled notes what reading has shown of an update whose fate was not known.
func (h *history) settled(u *refstore.Update, f fate) {
	ret, to := h.count.Add(1), h.now()
	h.mu.Lock()
	defer h.mu.Unlock()
	if e := h.swaps[u.New]; e != nil && e.fate == perhaps && !u.New.IsZero() {
		e.ret, e.to, e.fate = ret, to, h.after(e.fate, f)
	}
}

// decode is the record that an update writes; nil for a delete.
func decode(u *refstore.Update) *lease.Record {
	if u.New.IsZero() {
		return nil
	}
	rec, err := lease.DecodeRecord(refstore.Commit{OID: u.New, Parent: u.Old, Message: u.Message})
	if err != nil {
		panic(err) // what is sent is always a record
	}
	return rec
}

// verb notes what a verb was told of a claim's resources.
func (h *history) verb(b begun, who int, f fact, claim lease.ClaimID, resources ...lease.Resource) {
	for _, r := range resources {
		h.end(b, event{fact: f, ref: refOf(r), claim: claim, who: who})
	}
}

func refOf(r lease.Resource) string {
	return lease.DefaultPrefix + "claims/" + lease.EncodeName(string(r))
}

// operationsOf are the events of each ref for porcupine.
func (h *history) byRef() map[string][]porcupine.Operation {
	h.mu.Lock()
	defer h.mu.Unlock()
	all := map[string][]porcupine.Operation{}
	for ref, events := range h.events {
		for _, e := range events {
			if e.fact == swapped && e.fate == never {
				continue
			}
			all[ref] = append(all[ref], porcupine.Operation{ClientId: e.who, Input: e, Call: e.call, Return: e.ret})
		}
	}
	return all
}

// halves are the updates of which one part of a transaction has landed and another can't have, judged by what stood at the refs at the end and below.
// chain has every object that is in the past of a ref.
func (h *history) halves(txs []*refstore.Tx, chain map[refstore.OID]bool) []*refstore.Tx {
	return slices.DeleteFunc(slices.Clone(txs), func(tx *refstore.Tx) bool {
		in := 0
		for i := range tx.Updates {
			if chain[tx.Updates[i].New] {
				in++
			}
		}
		return in == 0 || in == len(tx.Updates)
	})
}

// recorder is a store that notes what goes through it.
type recorder struct {
	refstore.Store
	h   *history
	who int
	mu  sync.Mutex
	txs map[refstore.OID]*refstore.Tx
}

func newRecorder(s refstore.Store, h *history, who int) *recorder {
	return &recorder{Store: s, h: h, who: who, txs: map[refstore.OID]*refstore.Tx{}}
}

func (r *recorder) List(ctx lease.Context, patterns ...string) ([]refstore.Ref, error) {
	b := r.h.begin()
	refs, err := r.Store.List(ctx, patterns...)
	if err != nil {
		return refs, err
	}
	seen := map[string]refstore.OID{}
	for _, p := range patterns {
		if !strings.HasSuffix(p, "/") && !strings.HasSuffix(p, "*") && strings.Contains(p, "/claims/") {
			seen[p] = ""
		}
	}
	for _, ref := range refs {
		if strings.Contains(ref.Name, "/claims/") {
			seen[ref.Name] = ref.Commit.OID
		}
	}
	for name, oid := range seen {
		r.h.end(b, event{fact: stood, ref: name, new: oid, who: r.who})
	}
	return refs, nil
}

func (r *recorder) Swap(ctx lease.Context, tx *refstore.Tx, ours func(refstore.Ref) bool) error {
	r.mu.Lock()
	r.txs[tx.Updates[0].New] = tx
	r.mu.Unlock()
	b, returned := r.h.begin(), false
	defer func() {
		for i := range tx.Updates {
			if !returned { // the process was killed
				r.h.swap(b, r.who, &tx.Updates[i], perhaps)
			}
		}
	}()
	err := r.Store.Swap(ctx, tx, ours)
	returned = true
	for i := range tx.Updates {
		r.h.swap(b, r.who, &tx.Updates[i], fateOf(err, tx.Updates[i].Ref))
	}
	return err
}

// fateOf is what a swap's error promises of one of its refs.
func fateOf(err error, ref string) fate {
	var conflict *refstore.ConflictError
	var half *refstore.HalfAppliedError
	switch {
	case err == nil:
		return landed
	case errors.Is(err, refstore.ErrUndecided):
		return perhaps
	case errors.As(err, &conflict) && conflict.Overtaken:
		return landed
	case errors.As(err, &half) && slices.Contains(half.Applied, ref):
		return landed
	}
	return never
}

func (r *recorder) Settle(ctx lease.Context, tx *refstore.Tx, ours func(refstore.Ref) bool) (refstore.State, []refstore.Ref, error) {
	state, refs, err := r.Store.Settle(ctx, tx, ours)
	if err != nil || state == refstore.Open {
		return state, refs, err
	}
	f := landed
	if state == refstore.Dead {
		f = never
	}
	for i := range tx.Updates {
		r.h.settled(&tx.Updates[i], f)
	}
	return state, refs, nil
}

// sent are the transactions of a recorder.
func (r *recorder) sent() []*refstore.Tx {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Collect(maps.Values(r.txs))
}
