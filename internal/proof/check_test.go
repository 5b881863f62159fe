package proof

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/anishathalye/porcupine"

	"github.com/git-worklease/git-worklease/internal/proof/tally"
	"github.com/git-worklease/git-worklease/lease"
	"github.com/git-worklease/git-worklease/refstore"
)

// searchTime bounds the search for an order of the events of one ref.
const searchTime = time.Minute

// violations are the broken promises of a run: refs without an order of events that the register allows, and pairs that held at once.
func violations(h *history, b *beliefs) []string {
	found := b.twoAtOnce()
	byRef := h.byRef()
	for ref, ops := range byRef {
		switch result, _ := porcupine.CheckOperationsVerbose(model(), ops, searchTime); result {
		case porcupine.Illegal:
			found = append(found, fmt.Sprintf("%s is no register:\n%s", ref, story(ops)))
		case porcupine.Unknown:
			found = append(found, fmt.Sprintf("%s: no answer for %d events in %s", ref, len(ops), searchTime))
		}
	}
	return found
}

// story is the longest beginning of a history that the register explains, and some of what follows.
func story(ops []porcupine.Operation) string {
	slices.SortFunc(ops, func(a, b porcupine.Operation) int { return cmp.Compare(a.Return, b.Return) })
	bad := len(ops)
	for n := 1; n <= len(ops); n++ { // whatever was begun by the end of the beginning may have happened
		last := ops[n-1].Return
		var sofar []porcupine.Operation
		for _, op := range ops {
			if e := op.Input.(*event); op.Return <= last || e.fact == swapped && op.Call < last {
				sofar = append(sofar, open(op, last))
			}
		}
		if result := porcupine.CheckOperationsTimeout(model(), sofar, searchTime); result == porcupine.Illegal {
			bad = n
			break
		}
	}
	var lines []string
	for _, op := range ops[max(0, bad-40):min(len(ops), bad+5)] {
		mark := "  "
		if bad > 0 && op.Input == ops[min(bad, len(ops))-1].Input {
			mark = "> "
		}
		lines = append(lines, mark+op.Input.(*event).String())
	}
	return strings.Join(lines, "\n")
}

// open is a swap that had not returned by a point, as what it was then: of unknown fate.
func open(op porcupine.Operation, last int64) porcupine.Operation {
	if op.Return <= last {
		return op
	}
	e := *op.Input.(*event)
	e.fate = perhaps
	op.Input = &e
	return op
}

// whole fails where a transaction has landed in part. Every object that ever stood at a ref must still be in its past.
func whole(ctx testing.TB, h *history, recorders []*recorder, reader refstore.Store) []string {
	refs, err := reader.List(ctx.Context(), lease.DefaultPrefix+"claims/")
	if err != nil {
		return []string{err.Error()}
	}
	chain := map[refstore.OID]bool{}
	for _, ref := range refs {
		log, err := reader.Log(ctx.Context(), ref.Commit.OID, 0)
		if err != nil {
			return []string{err.Error()}
		}
		for _, c := range log {
			chain[c.OID] = true
		}
	}
	var found []string
	for _, r := range recorders {
		for _, tx := range h.halves(withoutMeta(r.sent()), chain) {
			found = append(found, fmt.Sprintf("landed in part: %v", tx.Updates))
		}
	}
	return found
}

// withoutMeta leaves out the transactions that make an authority, whose meta ref is not looked at.
func withoutMeta(txs []*refstore.Tx) []*refstore.Tx {
	return slices.DeleteFunc(txs, func(tx *refstore.Tx) bool {
		return slices.ContainsFunc(tx.Updates, func(u refstore.Update) bool { return !strings.Contains(u.Ref, "/claims/") })
	})
}

// row is the figures of a run.
func (h *history) row(faults, violations int) tally.Row {
	h.mu.Lock()
	defer h.mu.Unlock()
	return tally.Row{Operations: h.operations, Faults: faults, Unknown: h.unknown, Violations: violations}
}
