package refstore

import (
	"context"
	"errors"
	"slices"
	"time"
)

// maxTogether bounds the updates of a request that carries several transactions.
const maxTogether = 256

// Patience is how long a change may be kept waiting for those of others.
type Patience struct {
	// Wait is how long it may wait before it is sent.
	Wait time.Duration
	// Life is how old it may become: after that it is not sent any more.
	Life time.Duration
}

// Gatherer is a store that sends in one request what several processes want to swap.
type Gatherer interface {
	Store
	// Gather is [Together] with those of other processes, which it waits for as long as p allows. No process is kept waiting by another that
	// hangs, and none decides for another: each transaction is sent as it is given, or not at all.
	Gather(ctx context.Context, p Patience, txs ...*Tx) []error
}

// Together swaps each of txs, whatever becomes of the others, in as few requests as will do. The error at each place is what Swap, with nil for
// ours, promises for the transaction there. A server that is not known to be atomic is sent one transaction at a time.
func Together(ctx context.Context, s Store, txs ...*Tx) []error {
	g := &group{Store: s, txs: slices.Clone(txs), errs: make([]error, len(txs)), alone: make([]bool, len(txs))}
	for i := range txs {
		g.open = append(g.open, i)
	}
	for len(g.open) > 0 {
		if batch := g.batch(); len(batch) > 1 {
			g.send(ctx, batch)
		} else {
			g.close(batch[0], s.Swap(ctx, g.txs[batch[0]], nil))
		}
	}
	return g.errs
}

// group is one call of Together.
type group struct {
	Store
	txs  []*Tx
	errs []error
	// open are the places of the transactions whose end is not known yet, in order.
	open []int
	// alone are those that are not sent with others any more.
	alone []bool
}

func (g *group) close(i int, err error) {
	g.errs[i] = err
	g.open = slices.DeleteFunc(g.open, func(o int) bool { return o == i })
}

// batch is the first open transaction, and those that can go with it: no ref twice, and none in doubt beside one that is not, which would have
// to share the doubt.
func (g *group) batch() []int {
	first := g.open[0]
	batch := []int{first}
	if server := g.Server(); g.alone[first] || server.Known.IsZero() || !server.Atomic {
		return batch
	}
	refs := map[string]bool{}
	add(refs, g.txs[first])
	for _, i := range g.open[1:] {
		tx := g.txs[i]
		switch {
		case g.alone[i] || tx.Format != g.txs[first].Format || tx.Doubt != g.txs[first].Doubt:
		case len(refs)+len(tx.Updates) > maxTogether:
		case slices.ContainsFunc(tx.Updates, func(u Update) bool { return refs[u.Ref] }):
		default:
			add(refs, tx)
			batch = append(batch, i)
		}
	}
	return batch
}

func add(refs map[string]bool, tx *Tx) {
	for i := range tx.Updates {
		refs[tx.Updates[i].Ref] = true
	}
}

// merged is one transaction that does what all of a batch do.
func (g *group) merged(batch []int) *Tx {
	first := g.txs[batch[0]]
	tx := &Tx{Format: first.Format, Doubt: first.Doubt}
	for _, i := range batch {
		tx.Updates = append(tx.Updates, g.txs[i].Updates...)
	}
	return tx
}

// send sends a batch, and closes what is decided by that.
func (g *group) send(ctx context.Context, batch []int) {
	tx := g.merged(batch)
	err := g.Swap(ctx, tx, nil)
	var conflict *ConflictError
	var lacks *UnsupportedError
	switch {
	case errors.Is(err, ErrUndecided): // before all others, because it wraps what went wrong last
		g.closeAll(batch, err)
	case errors.As(err, &conflict):
		g.part(ctx, batch, conflict.Refs)
	case errors.Is(err, ErrHalfApplied): // some had landed before, or the server is not what it says
		g.doubt(batch)
		refs, err := g.List(ctx, tx.refs()...)
		if err != nil {
			g.closeAll(batch, &UndecidedError{Err: err})
			return
		}
		g.part(ctx, batch, refs)
	case errors.Is(err, ErrRefused), errors.As(err, &lacks) && lacks.Feature == FeatureAtomic: // it may be about one of them
		g.separate(batch)
	default:
		g.closeAll(batch, err)
	}
}

func (tx *Tx) refs() []string {
	names := make([]string, len(tx.Updates))
	for i := range tx.Updates {
		names[i] = tx.Updates[i].Ref
	}
	return names
}

func (g *group) closeAll(batch []int, err error) {
	for _, i := range batch {
		g.close(i, err)
	}
}

// doubt makes sure that nothing is concluded for a transaction from the sole refusal of a later request.
func (g *group) doubt(batch []int) {
	for _, i := range batch {
		tx := *g.txs[i]
		tx.Doubt = true
		g.txs[i] = &tx
	}
}

func (g *group) separate(batch []int) {
	for _, i := range batch {
		g.alone[i] = true
	}
}

// part tells by the tips which of a batch have landed and which never will. The rest is sent again, one by one if that tells nothing.
func (g *group) part(ctx context.Context, batch []int, refs []Ref) {
	before := len(g.open)
	for _, i := range batch {
		tx := g.txs[i]
		switch {
		case tx.all(refs, func(u *Update) OID { return u.New }):
			g.close(i, nil)
		case !tx.all(refs, func(u *Update) OID { return u.Old }):
			g.judge(ctx, i)
		}
	}
	if len(g.open) == before {
		g.separate(batch)
	}
}

// all says whether every ref of tx is at the object that at says.
func (tx *Tx) all(refs []Ref, at func(*Update) OID) bool {
	for i := range tx.Updates {
		u := &tx.Updates[i]
		if find(refs, u.Ref).Commit.OID != at(u) {
			return false
		}
	}
	return true
}

// judge closes a transaction of which some ref has moved, unless that was a view of refs in motion.
func (g *group) judge(ctx context.Context, i int) {
	switch state, refs, err := g.Settle(ctx, g.txs[i], nil); {
	case errors.Is(err, ErrHalfApplied):
		g.close(i, err)
	case err != nil:
		g.close(i, &UndecidedError{Err: err})
	case state == Landed:
		g.close(i, nil)
	case state == Open:
		g.alone[i] = true
	default:
		g.close(i, &ConflictError{Refs: refs, Overtaken: state == Overtaken})
	}
}
