package lease

import (
	"maps"
	"slices"
	"strings"

	"github.com/git-worklease/git-worklease/refstore"
)

// guarded makes the world's repository refuse, as a server's hook does, what breaks the rules of steps by the true time.
type guarded struct {
	w *world
	// force lets everybody release by force.
	force bool
	// passed counts the steps that were let through, by what they are; refused are the errors of the others.
	passed  map[string]int
	refused []error
}

func (w *world) guard() *guarded {
	g := &guarded{w: w, passed: map[string]int{}}
	w.repo.Guard = g.judge
	return g
}

func (g *guarded) judge(old, next map[string]refstore.Ref) error {
	t := transactionOf(old, next)
	t.Force = g.force
	if err := Refusal(t.Judge(g.w.time())); err != nil {
		g.refused = append(g.refused, err)
		return err
	}
	for _, s := range t.Steps {
		g.passed[stepName(s)]++
	}
	return nil
}

// transactionOf is what a repository is asked for.
func transactionOf(old, next map[string]refstore.Ref) *Transaction {
	t := &Transaction{Prefix: DefaultPrefix, Meta: old[refs{DefaultPrefix}.meta()]}
	for _, name := range slices.Sorted(maps.Keys(next)) {
		t.Steps = append(t.Steps, RefStep{Ref: name, Old: old[name], New: next[name]})
	}
	t.Standing = func() (highest Generation, authority string, err error) {
		for name, ref := range old {
			if r, err := ReadRecord(DefaultPrefix, name, ref.Commit); err == nil {
				highest, authority = max(highest, r.Generation), r.Authority
			}
		}
		return highest, authority, nil
	}
	t.Below = func(refstore.OID) (Generation, error) { return 1, nil }
	return t
}

// stepName says what a step is.
func stepName(s RefStep) string {
	if !strings.Contains(s.Ref, "/claims/") {
		return "meta"
	}
	old, _ := ReadRecord(DefaultPrefix, s.Ref, s.Old.Commit)
	next, _ := ReadRecord(DefaultPrefix, s.Ref, s.New.Commit)
	switch {
	case next == nil:
		return "delete"
	case old == nil && !s.Old.Commit.OID.IsZero():
		return "repair"
	case old == nil:
		return "create"
	case old.Claim == next.Claim:
		return sameName(old, next)
	case next.Released() && next.Release.Forced:
		return "force"
	case next.Released():
		return "overlapped"
	case old.Released():
		return "claim"
	}
	return "take over"
}

func sameName(old, next *Record) string {
	switch {
	case old.Released():
		return "restamp"
	case next.Released():
		return "release"
	case old.Place != next.Place:
		return "bring"
	case old.Holder != next.Holder:
		return "move"
	}
	return "renew"
}
