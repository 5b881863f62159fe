package lease

import (
	"maps"
	"slices"
	"sync"
)

// MemoryLocal is a [Local] in memory, for tests and demonstrations. Each is one process of one session; [MemoryLocal.Process] makes others of
// the same clone.
type MemoryLocal struct {
	clone   *memoryClone
	session string
}

type memoryClone struct {
	mu      sync.Mutex
	holds   map[string][]Hold
	intents map[string]*Intent
	// owners are the processes that have an intent locked.
	owners map[string]*MemoryLocal
	// turns are the processes that have the turn of a claim.
	turns map[ClaimID]*MemoryLocal
	seen  map[Resource]Sighting
	meta  MetaSighting
}

// NewMemoryLocal is a process of a new clone.
func NewMemoryLocal(session string) *MemoryLocal {
	return &MemoryLocal{session: session, clone: &memoryClone{
		holds: map[string][]Hold{}, intents: map[string]*Intent{}, owners: map[string]*MemoryLocal{}, seen: map[Resource]Sighting{},
		turns: map[ClaimID]*MemoryLocal{},
	}}
}

// Process is another process of the same clone, for the given session.
func (l *MemoryLocal) Process(session string) *MemoryLocal {
	return &MemoryLocal{clone: l.clone, session: session}
}

// Die frees the locks of this process, as its death would.
func (l *MemoryLocal) Die() {
	l.clone.mu.Lock()
	defer l.clone.mu.Unlock()
	maps.DeleteFunc(l.clone.owners, func(_ string, o *MemoryLocal) bool { return o == l })
	maps.DeleteFunc(l.clone.turns, func(_ ClaimID, o *MemoryLocal) bool { return o == l })
}

// Holds implements [Local].
func (l *MemoryLocal) Holds() ([]Hold, error) {
	l.clone.mu.Lock()
	defer l.clone.mu.Unlock()
	return slices.Clone(l.clone.holds[l.session]), nil
}

// SaveHold implements [Local].
func (l *MemoryLocal) SaveHold(h Hold) error {
	l.clone.mu.Lock()
	defer l.clone.mu.Unlock()
	holds := l.clone.holds[h.Holder.Session]
	i := slices.IndexFunc(holds, func(o Hold) bool { return o.Claim == h.Claim })
	switch {
	case i < 0:
		l.clone.holds[h.Holder.Session] = append(holds, h)
	case !h.Replaces(&holds[i]):
	case holds[i].End != nil && h.End == nil: // it has come back
		l.clone.holds[h.Holder.Session] = append(slices.Delete(holds, i, i+1), h)
	default:
		h.Unconfirmed = h.Unconfirmed && holds[i].Unconfirmed
		holds[i] = h
	}
	return nil
}

// Begin implements [Local].
func (l *MemoryLocal) Begin(i *Intent) error {
	l.clone.mu.Lock()
	defer l.clone.mu.Unlock()
	var left *Intent
	for id, other := range l.clone.intents {
		if !overlap(other.Resources, i.Resources) {
			continue
		}
		if l.clone.owners[id] != nil {
			return ErrIntentBusy
		}
		left = other
	}
	if left != nil {
		return &OpenIntentError{Intent: left}
	}
	saved := *i
	l.clone.intents[i.ID], l.clone.owners[i.ID] = &saved, l
	return nil
}

func overlap(a, b []Resource) bool {
	return slices.ContainsFunc(a, func(r Resource) bool { return slices.Contains(b, r) })
}

// End implements [Local].
func (l *MemoryLocal) End(i *Intent) error {
	l.clone.mu.Lock()
	defer l.clone.mu.Unlock()
	delete(l.clone.intents, i.ID)
	delete(l.clone.owners, i.ID)
	return nil
}

// Leave implements [Local].
func (l *MemoryLocal) Leave(i *Intent) error {
	l.clone.mu.Lock()
	defer l.clone.mu.Unlock()
	delete(l.clone.owners, i.ID)
	return nil
}

// Pending implements [Local].
func (l *MemoryLocal) Pending(resources ...Resource) (left, busy []*Intent, err error) {
	l.clone.mu.Lock()
	defer l.clone.mu.Unlock()
	for _, id := range slices.Sorted(maps.Keys(l.clone.intents)) {
		i := l.clone.intents[id]
		found := *i
		switch {
		case len(resources) > 0 && !overlap(i.Resources, resources):
		case l.clone.owners[id] != nil:
			busy = append(busy, &found)
		default:
			l.clone.owners[id] = l
			left = append(left, &found)
		}
	}
	return left, busy, nil
}

// Turn implements [Local].
func (l *MemoryLocal) Turn(claims ...ClaimID) (done func(), err error) {
	l.clone.mu.Lock()
	defer l.clone.mu.Unlock()
	if slices.ContainsFunc(claims, func(c ClaimID) bool { return l.clone.turns[c] != nil }) {
		return nil, ErrIntentBusy
	}
	for _, c := range claims {
		l.clone.turns[c] = l
	}
	return func() { l.endTurn(claims) }, nil
}

func (l *MemoryLocal) endTurn(claims []ClaimID) {
	l.clone.mu.Lock()
	defer l.clone.mu.Unlock()
	maps.DeleteFunc(l.clone.turns, func(c ClaimID, o *MemoryLocal) bool { return o == l && slices.Contains(claims, c) })
}

// Seen implements [Local].
func (l *MemoryLocal) Seen(resources ...Resource) (map[Resource]Sighting, error) {
	l.clone.mu.Lock()
	defer l.clone.mu.Unlock()
	seen := map[Resource]Sighting{}
	for _, r := range resources {
		if s, ok := l.clone.seen[r]; ok {
			seen[r] = s
		}
	}
	return seen, nil
}

// See implements [Local].
func (l *MemoryLocal) See(sightings ...Sighting) error {
	l.clone.mu.Lock()
	defer l.clone.mu.Unlock()
	for _, s := range sightings {
		l.clone.seen[s.Resource] = l.clone.seen[s.Resource].Merge(s)
	}
	return nil
}

// Meta implements [Local].
func (l *MemoryLocal) Meta() (MetaSighting, error) {
	l.clone.mu.Lock()
	defer l.clone.mu.Unlock()
	return l.clone.meta, nil
}

// SeeMeta implements [Local].
func (l *MemoryLocal) SeeMeta(m MetaSighting) error {
	l.clone.mu.Lock()
	defer l.clone.mu.Unlock()
	l.clone.meta = m
	return nil
}
