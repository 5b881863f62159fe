package lease

import (
	"fmt"
	"slices"
	"time"

	"github.com/git-worklease/git-worklease/refstore"
)

// FlawKind tells apart what may be wrong with a resource's past.
type FlawKind string

// The kinds of flaws, of which a forced release is none that anybody has to repair.
const (
	FlawUnreadable FlawKind = "unreadable" // no valid record; Err says why
	FlawBackwards  FlawKind = "backwards"  // generation or revision did not grow
	FlawRevived    FlawKind = "revived"    // a claim was written again after its release
	FlawEarly      FlawKind = "early"      // taken or ended by another before it could be, by the stamps of both
	FlawForced     FlawKind = "forced"     // ended by force
	FlawCut        FlawKind = "cut"        // what came before it can't be read
)

// Flaw is one of them.
type Flaw struct {
	Kind FlawKind
	// OID is the record that shows it, At its time by its writer's clock, Record what it says; nil for one that can't be read.
	OID    refstore.OID
	At     time.Time
	Record *Record
	// Before is the record below it, where that could be read.
	Before *Record
	Err    error
}

// Audit reads the whole past of what stands at a ref, and returns what is wrong with it, oldest first, and how many records there are. Each
// record's signature is checked. v is of [Authority.Survey] or [Authority.List]. It writes nothing.
func (a *Authority) Audit(ctx Context, v View) ([]Flaw, int, error) {
	if v.Tip.IsZero() {
		return nil, 0, nil
	}
	commits, err := a.store.Log(ctx, v.Tip, mostDepth)
	if err != nil {
		return nil, 0, fmt.Errorf("history of %s: %w", v.Ref, err)
	}
	known, err := a.known()
	if err != nil {
		return nil, 0, err
	}
	return a.audit(commits, v.Ref, known.Authority), len(commits), nil
}

// audit judges commits, newest first, of one ref.
func (a *Authority) audit(commits []refstore.Commit, ref, authority string) []Flaw {
	var flaws []Flaw
	var was *Record
	for i, c := range slices.Backward(commits) {
		if i == len(commits)-1 && !c.Parent.IsZero() {
			flaws = append(flaws, Flaw{Kind: FlawCut, OID: c.OID, At: c.When})
		}
		now, err := a.decode(refstore.Ref{Name: ref, Commit: c, Err: CheckCommit(c)}, authority)
		if err != nil {
			flaws = append(flaws, Flaw{Kind: FlawUnreadable, OID: c.OID, At: c.When, Before: was, Err: err})
			continue
		}
		if kind := judgeStep(was, now); kind != "" {
			flaws = append(flaws, Flaw{Kind: kind, OID: c.OID, At: now.writtenAt(), Record: now, Before: was})
		}
		was = now
	}
	return flaws
}

// writtenAt is when a record was written, by its writer's clock.
func (r *Record) writtenAt() time.Time {
	if r.Released() {
		return r.Release.At
	}
	return r.RenewedAt
}

// judgeStep says what is wrong with a record on top of another; "" for nothing. It is pure.
func judgeStep(was, now *Record) FlawKind {
	switch {
	case was == nil && now.Released() && now.Release.Forced:
		return FlawForced
	case was == nil:
		return ""
	case now.Generation < was.Generation:
		return FlawBackwards
	case now.Claim == was.Claim:
		return judgeSame(was, now)
	case now.Released():
		return judgeEnded(was, now)
	case now.Generation == was.Generation:
		return FlawBackwards
	case !was.Released() && now.ClaimedAt.Add(clockTolerance).Before(was.takeableAt(now.Holder)):
		return FlawEarly
	}
	return ""
}

// judgeSame is about two records of one claim.
func judgeSame(was, now *Record) FlawKind {
	switch {
	case now.Generation != was.Generation || now.Revision <= was.Revision:
		return FlawBackwards
	case was.Released() && !now.Released():
		return FlawRevived
	}
	return ""
}

// judgeEnded is about a tombstone that another than the claim's holder has written.
func judgeEnded(was, now *Record) FlawKind {
	switch {
	case now.Release.Forced:
		return FlawForced
	case now.Generation == was.Generation && now.Revision <= was.Revision:
		return FlawBackwards
	case !was.Released() && now.Release.At.Add(clockTolerance).Before(was.takeableAt(now.Holder)):
		return FlawEarly
	}
	return ""
}

// takeableAt is when a lease could be taken by h at the earliest: an agent need not wait for its own dead session for as long as others.
func (r *Record) takeableAt(h Holder) time.Time {
	if h.Agent == r.Holder.Agent {
		return r.RenewedAt.Add(r.TTL() + r.Grace())
	}
	return r.over()
}
