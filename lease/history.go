package lease

import (
	"fmt"
	"time"

	"github.com/git-worklease/git-worklease/refstore"
)

// Event is what a record did to its resource.
type Event string

// The events of a history.
const (
	EventClaimed   Event = "claimed"
	EventTakenOver Event = "taken-over"
	EventRenewed   Event = "renewed"
	EventReleased  Event = "released"
	EventForced    Event = "forced"
	EventUnread    Event = "unreadable" // Err says why
)

// Entry is one event of a resource's past; renewals that follow each other are one.
type Entry struct {
	Event Event
	// At is when, by the writer's clock; of several renewals the last, and then First is the first.
	At, First time.Time
	// Count is how many records the entry stands for.
	Count int
	// OID is the newest of them, and Record what it says; nil for EventUnread.
	OID    refstore.OID
	Record *Record
	Err    error
}

// The bounds of a history, in commits.
const (
	firstDepth = 64
	mostDepth  = 1 << 16
)

// History is a resource's past, newest first, at most limit entries; 0: all. It is nil for a resource without a past. The signatures of
// older records are checked like those of the newest.
func (a *Authority) History(ctx Context, resource Resource, limit int) ([]Entry, error) {
	if err := checkText(string(resource), MaxResource); err != nil {
		return nil, fmt.Errorf("%w: %w", ErrBadResource, err)
	}
	if resource.IsPool() {
		return nil, fmt.Errorf("%w: %s is a pool, and each of its slots has a history of its own: %s#1", ErrBadRequest, resource, resource)
	}
	s, err := a.read(ctx, []Resource{resource})
	if err != nil {
		return nil, err
	}
	tip := s.tips[resource].oid
	if tip.IsZero() {
		return nil, nil
	}
	depth := firstDepth
	if limit <= 0 {
		depth = mostDepth
	}
	for {
		commits, err := a.store.Log(ctx, tip, depth)
		if err != nil {
			return nil, fmt.Errorf("history of %s: %w", resource, err)
		}
		entries := fold(commits, resource)
		if len(commits) < depth || depth >= mostDepth {
			return cut(entries, limit), nil
		}
		if limit > 0 && len(entries) > limit {
			return cut(entries, limit), nil
		}
		depth *= 8
	}
}

func cut(entries []Entry, limit int) []Entry {
	if limit > 0 && len(entries) > limit {
		return entries[:limit]
	}
	return entries
}

// fold makes entries of commits, newest first. It is pure.
func fold(commits []refstore.Commit, resource Resource) []Entry {
	var entries []Entry
	for _, c := range commits {
		e := entry(c, resource)
		if last := len(entries) - 1; last >= 0 && e.Event == EventRenewed && entries[last].Event == EventRenewed && entries[last].Record.Holder == e.Record.Holder {
			entries[last].Count++
			entries[last].First = e.At
			continue
		}
		entries = append(entries, e)
	}
	return entries
}

func entry(c refstore.Commit, resource Resource) Entry {
	e := Entry{Count: 1, OID: c.OID, At: c.When, First: c.When}
	rec, err := DecodeRecord(c)
	if err == nil {
		err = CheckCommit(c)
	}
	if err == nil && rec.Resource != resource {
		err = fmt.Errorf("%w: a record of %q", ErrCorrupt, rec.Resource)
	}
	if err != nil {
		e.Event, e.Err = EventUnread, err
		return e
	}
	e.Record, e.At = rec, rec.RenewedAt
	switch {
	case rec.Released() && rec.Release.Forced:
		e.Event, e.At = EventForced, rec.Release.At
	case rec.Released():
		e.Event, e.At = EventReleased, rec.Release.At
	case rec.Revision > 1:
		e.Event = EventRenewed
	case rec.Predecessor != nil && rec.Predecessor.Why != whyReleased && rec.Predecessor.Why != whyForced:
		e.Event = EventTakenOver
	default:
		e.Event = EventClaimed
	}
	e.First = e.At
	return e
}
