package lease

import (
	"fmt"
	"time"
)

// MoveRequest names claims by any of their resources, none: all that the session holds, and the session of this clone that is to have them.
type MoveRequest struct {
	Resources []Resource
	To        string
}

// MoveResult is what came of one claim. A verb that names one member acts on the whole claim.
type MoveResult struct {
	// Hold is the claim as the other session has it, or as this one still has it where Err is set; zero where the session has none on Resources.
	Hold Hold
	// Resources are those of the request that this is about.
	Resources []Resource
	// Late is for how long the claim had expired before nobody took it; 0 if it had not.
	Late time.Duration
	// Err is nil where the claim is the other session's now; otherwise as in [RenewResult].
	Err error
}

// Move hands claims to another session of this clone, at once: claim ID, generations and key stay, the records are renewed in the other session's
// name, and the key goes from this session's file into the other's. The other's process need not run. If this one is killed, whoever comes next
// in the clone ends what it began. The error is the first of the results' errors.
func (a *Authority) Move(ctx Context, req MoveRequest) ([]MoveResult, error) {
	if err := req.check(a.o.Holder.Session); err != nil {
		return nil, err
	}
	groups, err := a.group(ctx, VerbMove, req.Resources)
	if err != nil {
		return nil, err
	}
	var results []MoveResult
	var errs []error
	for _, g := range groups {
		res := MoveResult{Hold: g.hold, Err: g.err}
		if g.err == nil {
			res = a.moveHold(ctx, g.hold, req.To)
		}
		res.Resources = g.asked
		results, errs = append(results, res), append(errs, res.Err)
	}
	return results, first(errs)
}

func (r *MoveRequest) check(own string) error {
	if err := checkText(r.To, MaxName); err != nil {
		return fmt.Errorf("%w: session %q: %w", ErrBadRequest, r.To, err)
	}
	if r.To == own {
		return fmt.Errorf("%w: session %q has it already", ErrBadRequest, r.To)
	}
	return nil
}

func (a *Authority) moveHold(ctx Context, h Hold, to string) MoveResult {
	ctx, cancel := a.bounded(ctx, h)
	defer cancel()
	var t tries
	for {
		res, err := a.moveOnce(ctx, h, to)
		if err == nil {
			return res
		}
		if err := a.again(ctx, &t, VerbMove, h.resources(), err); err != nil {
			return MoveResult{Hold: h, Err: err}
		}
		now, err := a.current(h)
		if now.End != nil && now.End.How == EndMoved && now.End.Reason == to { // another process of the clone has ended what this one began
			return MoveResult{Hold: now.heldBy(to)}
		}
		if err != nil {
			return MoveResult{Hold: h, Err: err}
		}
		h = now
	}
}

func (a *Authority) moveOnce(ctx Context, h Hold, to string) (MoveResult, error) {
	h, err := a.confirmed(ctx, h)
	if err != nil {
		return MoveResult{}, err
	}
	st, _, err := a.look(ctx, &h)
	switch {
	case err != nil:
		return MoveResult{}, err
	case st.lost != nil:
		return MoveResult{}, a.conclude(ctx, h, st)
	case st.unknown != nil:
		return MoveResult{}, st.unknown
	}
	m := a.moment()
	late := max(-h.Left(m.now(), m.at), 0)
	next, records := renewal(h, st, m, func(r *Record) { r.Holder.Session = to })
	i, err := a.intend(VerbMove, next.heldBy(to), records)
	if err != nil {
		return MoveResult{}, err
	}
	i.Session = h.Holder.Session
	if err := a.write(ctx, i); err != nil {
		return MoveResult{}, anew(err)
	}
	if late > 0 {
		a.notify(Notice{Kind: NoticeLate, Resources: h.resources(), Offset: late})
	}
	return MoveResult{Hold: i.Hold, Late: late}, nil
}

// heldBy is the claim in the hands of another session.
func (h *Hold) heldBy(session string) Hold {
	next := *h
	next.Holder.Session, next.End = session, nil
	return next
}

// holds are what is saved once an intent has landed. Of a move, the new session has the claim before the old one has not.
func (i *Intent) holds() []Hold {
	if i.Verb != VerbMove {
		return []Hold{i.Hold}
	}
	was := i.Hold
	was.Holder.Session, was.Key = i.Session, nil
	was.End = &End{How: EndMoved, At: i.Hold.RenewedAt, Reason: i.Hold.Holder.Session}
	return []Hold{i.Hold, was}
}
