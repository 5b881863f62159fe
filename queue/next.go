package queue

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/git-worklease/git-worklease/lease"
	"github.com/git-worklease/git-worklease/providers"
)

// ErrEmpty is returned where no item is ready; see [*EmptyError].
var ErrEmpty = errors.New("no item is ready")

// EmptyError is [ErrEmpty] with what keeps the items that the view has.
type EmptyError struct {
	// Open is how many open items there are, and Why how many of them are kept first by which kind of reason.
	Open int
	Why  map[Kind]int
	// Lost is how many others were quicker to claim in this call.
	Lost int
	// Troubles are what could not be read: there may be more items.
	Troubles []SourceError
}

func (e *EmptyError) Error() string { return fmt.Sprintf("%v: %d open", ErrEmpty, e.Open) }

// Is says that e is [ErrEmpty].
func (e *EmptyError) Is(target error) bool { return target == ErrEmpty }

// NextRequest asks for the next items.
type NextRequest struct {
	View View
	// Count is how many to claim by one claim, 1 to [lease.MaxMembers]; fewer where fewer are ready.
	Count int
	TTL   time.Duration
	// Purpose is the claim's; empty: the item's title.
	Purpose string
	Meta    map[string]string
	// Report is told how many items have been read; nil: nobody wants to know.
	Report func(read int)
}

// Taken is items that this session has claimed.
type Taken struct {
	Entries []Entry
	Result  *lease.ClaimResult
	// Lost is how many tries others were quicker at.
	Lost int
	// Troubles are what could not be read, of the board or of the items after they were claimed.
	Troubles []SourceError
}

// Next claims the first items that are ready, and returns nil only with them held. Where another was quicker it goes on to the next; what was closed meanwhile
// is given back. It returns an [*EmptyError] where there is nothing left to try, and what [lease.Authority.Claim] returns where it can't be told whether
// something is held.
func (q *Queue) Next(ctx context.Context, req NextRequest) (*Taken, error) {
	view := req.View
	view.Ready = true
	b, err := q.Read(ctx, &view, req.Report)
	if err != nil {
		return nil, err
	}
	n := &next{Queue: q, req: req, view: view, board: b, out: map[providers.Key]bool{}}
	n.place, n.window = q.places(b)
	for {
		taken, err := n.try(ctx)
		if taken != nil || err != nil {
			return taken, err
		}
	}
}

// lostWindow is among how many candidates a claim is drawn, at least, once a race was lost. Each further one widens it: who comes at once spreads out.
const lostWindow = 16

// atWork is for how long a session that has released a claim counts as one that will soon want the next.
const atWork = time.Minute

// places is where this session begins among the candidates, and among how many it draws where it has no place: one more than there are claims of others, held
// or just released. Those that have such a claim go by the order of the claims, which all see alike, so that they differ though they come at once; whoever is
// alone gets the first.
func (q *Queue) places(b *Board) (place, window int) {
	var others []lease.ClaimID
	var mine lease.ClaimID
	for i := range b.facts.Claims {
		v := &b.facts.Claims[i]
		switch {
		case v.Record == nil, v.State == lease.StandingHeld && v.Takeable, v.Record.Release != nil && v.Record.Release.At.Before(b.Read.Add(-atWork)):
		case !v.Mine && (q.Own == nil || !q.Own(v.Record.Claim)):
			others = append(others, v.Record.Claim)
		case mine == "" || v.Record.Claim < mine:
			mine = v.Record.Claim
		}
	}
	slices.Sort(others)
	others = slices.Compact(others)
	if mine == "" {
		return -1, len(others) + 1
	}
	place, _ = slices.BinarySearch(others, mine)
	return place, len(others) + 1
}

// next is one call of Next.
type next struct {
	*Queue
	req   NextRequest
	view  View
	board *Board
	// place is where this session begins until it has lost a race; -1: it draws among window.
	place, window int
	// out are the items that others have, or that are closed.
	out    map[providers.Key]bool
	lost   int
	extras []SourceError
}

// try claims once. It returns nothing where it is to be called again.
func (n *next) try(ctx context.Context) (*Taken, error) {
	chosen := n.choose()
	if len(chosen) == 0 {
		return nil, n.empty()
	}
	result, err := n.Claims.Claim(ctx, n.request(chosen))
	var rival *lease.HeldError
	switch {
	case errors.As(err, &rival):
		n.out[providers.Key(rival.Resource)] = true
		n.lost, n.place, n.window = n.lost+1, -1, max(lostWindow, 4*n.window)
		return nil, n.look(ctx)
	case err != nil:
		return nil, err
	}
	closed := n.readAgain(ctx, chosen)
	if len(closed) == 0 {
		for i := range chosen { // what the board says of it is past
			chosen[i].Mine, chosen[i].Claim, chosen[i].Why = true, nil, []Reason{{Kind: Held, Who: result.Records[0].Holder.String()}}
		}
		return &Taken{Entries: chosen, Result: result, Lost: n.lost, Troubles: slices.Concat(n.board.Troubles, n.extras)}, nil
	}
	for _, key := range closed {
		n.out[key] = true
	}
	_, err = n.Claims.Release(ctx, lease.ReleaseRequest{
		Resources: resources(chosen), Outcome: lease.OutcomeAbandoned, Reason: fmt.Sprintf("%s was closed meanwhile", closed[0]),
	})
	return nil, err
}

// choose draws the items of the next try.
func (n *next) choose() []Entry {
	var ready []Entry
	for _, e := range n.board.Entries {
		if e.Ready() && !n.out[e.Item.Key] {
			ready = append(ready, e)
		}
	}
	count := min(max(n.req.Count, 1), lease.MaxMembers, len(ready))
	start := 0
	switch room := min(n.window*count, n.alike(ready)) - count; {
	case room <= 0:
	case n.place >= 0:
		start = n.place * count % (room + 1)
	case n.Pick != nil:
		start = n.Pick(room + 1)
	}
	return ready[start : start+count]
}

// alike is how many come first with equal right: as urgent as the first, where the most urgent come first.
func (n *next) alike(ready []Entry) int {
	if n.view.Order == ByTracker || n.view.Order == ByUpdated {
		return len(ready)
	}
	other := slices.IndexFunc(ready, func(e Entry) bool { return e.Item.Priority != ready[0].Item.Priority })
	if other < 0 {
		return len(ready)
	}
	return other
}

func (n *next) request(chosen []Entry) lease.ClaimRequest {
	purpose := n.req.Purpose
	if purpose == "" && len(chosen) == 1 {
		purpose = clip(chosen[0].Item.Title)
	}
	return lease.ClaimRequest{Resources: resources(chosen), TTL: n.req.TTL, Purpose: purpose, Meta: n.meta(chosen)}
}

// meta is what is asked for, and how often the items were opened so far.
func (n *next) meta(chosen []Entry) map[string]string {
	meta := maps.Clone(n.req.Meta)
	for i := range chosen {
		item := &chosen[i].Item
		if item.Opening == "" {
			continue
		}
		if meta == nil {
			meta = map[string]string{}
		}
		meta[metaOpening+string(item.Key)] = string(item.Opening)
	}
	return meta
}

func resources(entries []Entry) []lease.Resource {
	all := make([]lease.Resource, len(entries))
	for i, e := range entries {
		all[i] = lease.Resource(e.Item.Key)
	}
	return all
}

// look reads the claims anew after a lost race: whoever was quicker has probably not been the only one.
func (n *next) look(ctx context.Context) error {
	claims, err := n.Claims.List(ctx)
	if err != nil {
		return err
	}
	n.board.facts.Claims = claims
	n.board.judge(&n.view)
	return nil
}

// readAgain reads items once they are claimed, and returns those that are closed by now. One that can't be read stays: its tracker decides nothing.
func (n *next) readAgain(ctx context.Context, chosen []Entry) (closed []providers.Key) {
	for i := range chosen {
		p := n.Providers.Of(chosen[i].Item.Key)
		item, err := p.Read(ctx, chosen[i].Item.Key)
		switch {
		case errors.Is(err, providers.ErrNotFound):
			closed = append(closed, chosen[i].Item.Key)
		case err != nil:
			n.extras = append(n.extras, SourceError{p.Name(), err})
		case item.State.Closed():
			closed = append(closed, item.Key)
		default:
			chosen[i].Item = *item
		}
	}
	return closed
}

// empty says why nothing is left. What others were quicker to claim counts as claimed, whatever the board says.
func (n *next) empty() error {
	if n.board.facts.Blind {
		return n.board.Empty(&n.view)
	}
	e := n.board.empty(&n.view)
	e.Lost = n.lost
	e.Why[Held] += e.Open - sum(e.Why)
	return e
}
