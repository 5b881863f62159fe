package beads

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/git-worklease/git-worklease/providers"
)

// The bounds of what an issue gets to wait for by others' dependencies. Where there is more, it still waits.
const (
	// maxAncestors is how many parents, and theirs, are followed from an issue.
	maxAncestors = 64
	// maxHanded is how many needs an issue has from each of them, and by each gate.
	maxHanded = 100
)

// graph is all issues that were read, and what they are to one another.
type graph struct {
	records []*record
	byID    map[string]*record
	// families are by the parent's ID.
	families map[string]*family
	// handed are what issues have their children wait for, once that was asked for.
	handed   map[*record][]providers.Need
	troubles *troubles
	ours     func(id string) bool
	now      time.Time
}

// family is what there is of an issue's children.
type family struct {
	// open are the first of those that can be waited for.
	open []*record
	// closed says that there is one that is.
	closed bool
}

// newGraph takes in what was read. Of several issues with one ID the last one counts, as where bd imports them; the others are troubles.
func newGraph(entries []entry, t *troubles, ours func(string) bool, now time.Time) *graph {
	g := &graph{byID: make(map[string]*record, len(entries)), families: map[string]*family{}, handed: map[*record][]providers.Need{}, troubles: t, ours: ours, now: now}
	if t == nil {
		g.troubles = &troubles{}
	}
	last := make(map[string]int, len(entries))
	for i := range entries {
		id := entries[i].record.id
		if former, twice := last[id]; twice {
			e := entries[former]
			g.troubles.add(e.where, e.line, fmt.Errorf("%s is there again%s, which counts", e.record.ID, again(entries[i])))
			entries[former].record = nil
		}
		last[id] = i
	}
	g.records = make([]*record, 0, len(last))
	for i := range entries {
		if r := entries[i].record; r != nil {
			g.records = append(g.records, r)
			g.byID[r.id] = r
		}
	}
	g.gather()
	return g
}

// gather finds the families.
func (g *graph) gather() {
	for _, r := range g.records {
		for i := range r.Links {
			if l := &r.Links[i]; l.kind() == parentChild {
				id := lower(l.target())
				f := g.families[id]
				if f == nil {
					f = &family{}
					g.families[id] = f
				}
				f.closed = f.closed || r.state.Closed()
				if !released(r.Status) && len(f.open) < maxHanded {
					f.open = append(f.open, r)
				}
			}
		}
	}
}

// again says where.
func again(e entry) string {
	if e.line == 0 {
		return ""
	}
	return fmt.Sprintf(" in line %d", e.line)
}

// items are the issues in their order.
func (g *graph) items() []providers.Item {
	slices.SortFunc(g.records, inOrder)
	items := make([]providers.Item, len(g.records))
	for i, r := range g.records {
		items[i] = g.item(r)
	}
	return items
}

// inOrder is by priority, age, and key.
func inOrder(a, b *record) int {
	return cmp.Or(urgency(a)-urgency(b), a.created.Compare(b.created), cmp.Compare(a.id, b.id))
}

// urgency is the priority with none at the end.
func urgency(r *record) int {
	if p := r.priority(); p != providers.NoPriority {
		return int(p)
	}
	return int(providers.Lowest) + 1
}

func key(id string) providers.Key { return providers.Key(name + ":" + id) }

func (g *graph) item(r *record) providers.Item {
	item := providers.Item{
		Key: key(r.id), ID: r.ID, Title: r.Title, State: r.state, Status: r.Status, Priority: r.priority(), Labels: r.Labels,
		Needs: g.needs(r), Version: r.version, Updated: parseTime(r.UpdatedAt), Parent: g.parent(r),
	}
	if r.Assignee != "" {
		item.Assignees = []string{r.Assignee}
	}
	if r.state == providers.Open && (r.deferred(g.now) || slices.ContainsFunc(g.parents(r), func(p *record) bool { return p.deferred(g.now) })) {
		item.State = providers.Waiting
	}
	return item
}

// parents are the issues that an issue is a part of by a dependency.
func (g *graph) parents(r *record) []*record {
	var parents []*record
	for i := range r.Links {
		if l := &r.Links[i]; l.kind() == parentChild {
			if p := g.byID[lower(l.target())]; p != nil {
				parents = append(parents, p)
			}
		}
	}
	return parents
}

// parent is the first one that the issue names, or else the one that its ID is below of.
func (g *graph) parent(r *record) providers.Key {
	for i := range r.Links {
		if l := &r.Links[i]; l.kind() == parentChild && isID(lower(l.target())) {
			return key(lower(l.target()))
		}
	}
	if dot := strings.LastIndexByte(r.id, '.'); dot > 0 {
		return key(r.id[:dot])
	}
	return ""
}

// needs are what an issue waits for: its own, and what its parents wait for, and theirs, up to those that wait for nothing any more.
func (g *graph) needs(r *record) []providers.Need {
	if len(r.Links) == 0 {
		return nil
	}
	needs := g.own(nil, r)
	seen := map[*record]bool{r: true}
	for queue := g.parents(r); len(queue) > 0 && len(seen) <= maxAncestors; queue = queue[1:] {
		p := queue[0]
		if seen[p] || released(p.Status) {
			continue
		}
		seen[p] = true
		needs = append(needs, g.handsDown(p)...)
		queue = append(queue, g.parents(p)...)
	}
	// Of several of one issue, its own comes first.
	slices.SortStableFunc(needs, func(a, b providers.Need) int {
		return cmp.Or(cmp.Compare(a.Key, b.Key), cmp.Compare(a.Text, b.Text), rank(a)-rank(b))
	})
	return slices.CompactFunc(needs, func(a, b providers.Need) bool { return a.Key == b.Key && a.Text == b.Text })
}

// handsDown is what an issue has its children wait for.
func (g *graph) handsDown(p *record) []providers.Need {
	handed, known := g.handed[p]
	if known {
		return handed
	}
	for _, n := range g.own(nil, p) {
		if !n.State.Closed() && len(handed) < maxHanded {
			n.Kind = parentChild
			handed = append(handed, n)
		}
	}
	g.handed[p] = handed
	return handed
}

// rank orders the kinds.
func rank(n providers.Need) int {
	return slices.Index([]string{blocks, conditionalBlocks, waitsFor, parentChild}, n.Kind)
}

// own appends what an issue itself waits for.
func (g *graph) own(needs []providers.Need, r *record) []providers.Need {
	for i := range r.Links {
		l := &r.Links[i]
		id := lower(l.target())
		other := g.byID[id]
		switch kind := l.kind(); kind {
		case blocks, conditionalBlocks:
			if n, waits := g.need(l, id, other); waits {
				needs = append(needs, n)
			}
		case waitsFor:
			if other == nil {
				n, _ := g.need(l, id, nil)
				needs = append(needs, n)
			} else {
				needs = g.gate(needs, l, g.families[id])
			}
		}
	}
	return needs
}

// need is a dependency on an issue. It is none on one that is pinned.
func (g *graph) need(l *link, id string, other *record) (n providers.Need, waits bool) {
	n = providers.Need{Text: l.target(), Kind: l.kind()}
	status := l.Status
	switch {
	case other != nil:
		n.Key, n.State, status = key(id), other.state, other.Status
	case l.Status != "" && isID(id):
		n.Key, n.State = key(id), stateOf(l.Status)
	case g.ours(id):
		n.Key = key(id)
	}
	return n, status != "pinned"
}

// gate appends the children that an issue waits for. An issue that waits for any of them waits for all until one is closed.
func (*graph) gate(needs []providers.Need, l *link, f *family) []providers.Need {
	if f == nil || f.closed && anyChild(l.Metadata) {
		return needs
	}
	for _, c := range f.open {
		needs = append(needs, providers.Need{Key: key(c.id), Text: c.ID, Kind: waitsFor, State: c.state})
	}
	return needs
}

// anyChild reads a dependency's metadata, which is JSON in a text.
func anyChild(metadata json.RawMessage) bool {
	var text string
	if json.Unmarshal(metadata, &text) != nil {
		text = string(metadata)
	}
	var m struct {
		Gate string `json:"gate"`
	}
	return json.Unmarshal([]byte(text), &m) == nil && m.Gate == "any-children"
}
