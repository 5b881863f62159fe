package queue

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/git-worklease/git-worklease/lease"
	"github.com/git-worklease/git-worklease/providers"
)

// Claims is what the queue needs of leases; see [lease.Authority].
type Claims interface {
	List(ctx context.Context) ([]lease.View, error)
	Claim(ctx context.Context, req lease.ClaimRequest) (*lease.ClaimResult, error)
	Release(ctx context.Context, req lease.ReleaseRequest) ([]lease.ReleaseResult, error)
	Renew(ctx context.Context, req lease.RenewRequest) ([]lease.RenewResult, error)
}

// Queue is the trackers and the claims of a repository. Its fields are set before it is used.
type Queue struct {
	Providers providers.Set
	Claims    Claims
	// Branches reads the remote's branches; nil: no rule asks for a claim by its branch.
	Branches func(ctx context.Context) (*Branches, error)
	// Agent is this agent's name, Session that of its run, and Names those by which trackers may know it.
	Agent, Session string
	Names          []string
	// Own says whether a claim was made by this session, also where it has ended; nil: nobody knows.
	Own func(lease.ClaimID) bool
	// Limit bounds the reading of all sources, and the telling of trackers, so that one that does not answer leaves time for the rest; nil: it has all the time.
	Limit func(ctx context.Context) (context.Context, context.CancelFunc)
	// Pick draws the number of a candidate below n, so that agents that come at once do not all try the same first; nil: the first.
	Pick func(n int) int
}

// Board is items joined with claims, as of when they were read.
type Board struct {
	// Entries are those that the view lets through, in its order.
	Entries []Entry
	// Troubles are what could not be read. Where there are any, entries may be missing.
	Troubles []SourceError
	// Read is when the oldest listing was read.
	Read time.Time

	facts Facts
	items []providers.Item
}

// SourceError is that something of a source could not be read.
type SourceError struct {
	// Source is a tracker's name, "claims" or "branches".
	Source string
	Err    error
}

func (t SourceError) Error() string { return fmt.Sprintf("%s: %v", t.Source, t.Err) }

// Unwrap gives the fault of the source.
func (t SourceError) Unwrap() error { return t.Err }

// Read reads all sources side by side, once each. It fails only where ctx ends or no source at all could be read: otherwise what is missing is among the
// board's troubles. report, which may be nil, is told how many items have been read over all trackers.
func (q *Queue) Read(ctx context.Context, v *View, report func(read int)) (*Board, error) {
	sources := v.sources(q.Providers)
	if len(sources) == 0 {
		return nil, providers.ErrNoProvider
	}
	b := &Board{facts: Facts{Agent: q.Agent, Names: q.Names, Schemes: map[string]bool{}, Again: v.Again}}
	listings := make([]*providers.Listing, len(sources))
	within, cancel := q.limited(ctx)
	defer cancel()
	var mu sync.Mutex
	var group sync.WaitGroup
	trouble := func(source string, err error) {
		mu.Lock()
		defer mu.Unlock()
		b.Troubles = append(b.Troubles, SourceError{source, err})
	}
	counts := &counter{report: report, read: make([]int, len(sources))}
	for i, p := range sources {
		group.Go(func() {
			l, err := p.List(within, func(read, _ int) { counts.set(i, read) })
			if err != nil {
				trouble(p.Name(), err)
				return
			}
			listings[i] = l
		})
	}
	group.Go(func() {
		var err error
		if b.facts.Claims, err = q.Claims.List(within); err != nil {
			b.facts.Blind = true
			trouble("claims", err)
		}
	})
	if q.Branches != nil {
		group.Go(func() {
			var err error
			if b.facts.Branches, err = q.Branches(within); err != nil {
				b.facts.Branches = nil
				trouble("branches", err)
			}
		})
	}
	group.Wait()
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	if err := b.take(sources, listings); err != nil {
		return nil, err
	}
	b.judge(v)
	return b, nil
}

func (q *Queue) limited(ctx context.Context) (context.Context, context.CancelFunc) {
	if q.Limit == nil {
		return ctx, func() {}
	}
	return q.Limit(ctx)
}

// take puts the listings together.
func (b *Board) take(sources []providers.Provider, listings []*providers.Listing) error {
	readable := false
	for i, l := range listings {
		if l == nil {
			continue
		}
		readable = true
		b.items = append(b.items, l.Items...)
		for _, err := range l.Troubles {
			b.Troubles = append(b.Troubles, SourceError{sources[i].Name(), err})
		}
		b.facts.Schemes[sources[i].Name()] = l.Complete()
		if b.Read.IsZero() || l.Read.Before(b.Read) {
			b.Read = l.Read
		}
	}
	slices.SortStableFunc(b.Troubles, func(x, y SourceError) int { return strings.Compare(x.Source, y.Source) })
	if !readable {
		return b.Troubles[slices.IndexFunc(b.Troubles, func(t SourceError) bool { return t.Source != "claims" && t.Source != "branches" })]
	}
	return nil
}

// judge makes the entries anew from what was read.
func (b *Board) judge(v *View) {
	b.Entries = slices.DeleteFunc(Judge(b.items, &b.facts), func(e Entry) bool { return !v.shows(&e) })
	v.sort(b.Entries)
}

// Empty is the error for a view of ready items that lets nothing through: an [*EmptyError], or, where the claims could not be read, what kept them from it.
func (b *Board) Empty(v *View) error {
	if b.facts.Blind {
		return b.Troubles[slices.IndexFunc(b.Troubles, func(t SourceError) bool { return t.Source == "claims" })]
	}
	return b.empty(v)
}

// empty is what keeps the items that a view has.
func (b *Board) empty(v *View) *EmptyError {
	all := *v
	all.Ready, all.Closed = false, false
	whole := &Board{facts: b.facts, items: b.items}
	whole.judge(&all)
	e := &EmptyError{Open: len(whole.Entries), Why: map[Kind]int{}, Troubles: b.Troubles}
	for i := range whole.Entries {
		if why := whole.Entries[i].Why; len(why) > 0 {
			e.Why[why[0].Kind]++
		}
	}
	return e
}

func sum(counts map[Kind]int) int {
	all := 0
	for _, n := range counts {
		all += n
	}
	return all
}

// Show reads the item that a person means, with what its tracker lists of the items that it needs, and the claims.
func (q *Queue) Show(ctx context.Context, text string, again bool) (*Entry, []SourceError, error) {
	key, p, err := q.Providers.Resolve(text)
	if err != nil {
		return nil, nil, err
	}
	item, err := p.Read(ctx, key)
	if err != nil {
		return nil, nil, err
	}
	b, err := q.Read(ctx, &View{Closed: true, Again: again}, nil)
	if err != nil {
		return nil, nil, err
	}
	b.items = append(slices.DeleteFunc(b.items, func(i providers.Item) bool { return i.Key == key }), *item)
	entries := Judge(b.items, &b.facts)
	return &entries[len(entries)-1], b.Troubles, nil
}

// counter adds up what several trackers report.
type counter struct {
	mu     sync.Mutex
	report func(int)
	read   []int
}

func (c *counter) set(i, read int) {
	if c.report == nil {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.read[i] = read
	sum := 0
	for _, n := range c.read {
		sum += n
	}
	c.report(sum)
}

// Order is how a view orders its entries.
type Order string

// The orders. In all of them items that are alike stay as their tracker has them.
const (
	ByPriority Order = "priority" // the most urgent first
	ByTracker  Order = "tracker"  // as the trackers have them, one after another
	ByUpdated  Order = "updated"  // the longest untouched first
)

// View says which items are shown, and how. The zero value shows all open ones, the most urgent first.
type View struct {
	Name string
	// Sources are the names of trackers; none: all.
	Sources []string
	// Labels are those that an item must have, all of them, and Without those that it must not have. Case does not matter.
	Labels, Without []string
	// Assignee and Milestone are those that it must have; empty: any.
	Assignee, Milestone string
	// Ready leaves out what is not ready, Closed lets closed items through.
	Ready, Closed bool
	// Again takes items whose work was answered for ready.
	Again bool
	Order Order
}

func (v *View) sources(all providers.Set) []providers.Provider {
	if len(v.Sources) == 0 {
		return all
	}
	return slices.DeleteFunc(slices.Clone(all), func(p providers.Provider) bool { return !slices.Contains(v.Sources, p.Name()) })
}

func (v *View) shows(e *Entry) bool {
	has := func(label string) bool {
		return slices.ContainsFunc(e.Item.Labels, func(l string) bool { return strings.EqualFold(l, label) })
	}
	switch {
	case e.Item.State.Closed() && !v.Closed, v.Ready && !e.Ready(), slices.ContainsFunc(v.Without, has):
		return false
	case slices.ContainsFunc(v.Labels, func(l string) bool { return !has(l) }):
		return false
	case v.Milestone != "" && !strings.EqualFold(v.Milestone, e.Item.Milestone):
		return false
	case v.Assignee != "":
		want := strings.TrimPrefix(v.Assignee, "@")
		return slices.ContainsFunc(e.Item.Assignees, func(a string) bool { return strings.EqualFold(strings.TrimPrefix(a, "@"), want) })
	default:
		return true
	}
}

func (v *View) sort(entries []Entry) {
	switch v.Order {
	case ByTracker:
	case ByUpdated:
		slices.SortStableFunc(entries, func(a, b Entry) int { return a.Item.Updated.Compare(b.Item.Updated) })
	default:
		slices.SortStableFunc(entries, func(a, b Entry) int { return cmp.Compare(rank(a.Item.Priority), rank(b.Item.Priority)) })
	}
}

// rank puts what has no priority last.
func rank(p providers.Priority) providers.Priority {
	if p == providers.NoPriority {
		return providers.Lowest + 1
	}
	return p
}
