package github

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strings"
	"sync"

	"github.com/git-worklease/git-worklease/providers"
)

// maxLookups bounds how many items are looked up one by one for a listing, because others name them and they are not in it.
const maxLookups = 200

// gathering finds out what items need. Its methods may be called by several goroutines.
type gathering struct {
	p *Provider
	// stale says that kept answers will do while a limit holds.
	stale bool

	mu       sync.Mutex
	states   map[providers.Key]providers.State
	troubles []error
}

func (p *Provider) gather(stale bool) *gathering {
	return &gathering{p: p, stale: stale, states: map[providers.Key]providers.State{}}
}

func (g *gathering) trouble(err error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.troubles = append(g.troubles, err)
}

func (g *gathering) learn(key providers.Key, state providers.State) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.states[key] = state
}

func (g *gathering) state(key providers.Key) (providers.State, bool) {
	g.mu.Lock()
	defer g.mu.Unlock()
	s, ok := g.states[key]
	return s, ok
}

// needs are what an open issue waits for, those first that the API itself has. It asks only where the issue says that there is something open. What could
// not be read is a need without a key, so that nobody takes the item for one that waits for nothing.
func (g *gathering) needs(ctx context.Context, i *issue, at ref) []providers.Need {
	if i.State == "closed" {
		return nil
	}
	var needs []providers.Need
	if i.Dependencies.Open > 0 || i.Dependencies.Total > 0 {
		needs = append(needs, g.related(ctx, at, kindBlocked, i.Dependencies.Total, i.Dependencies.Open, "dependencies", "blocked_by")...)
	}
	if open := i.SubIssues.Total - i.SubIssues.Completed; open > 0 {
		needs = append(needs, g.related(ctx, at, kindSubIssue, i.SubIssues.Total, open, "sub_issues")...)
	}
	for _, n := range needsIn(i.Body, at.repo) {
		needs = append(needs, providers.Need{Key: n.ref.key(), Text: n.text, Kind: n.kind})
	}
	seen := map[providers.Key]bool{}
	return slices.DeleteFunc(needs, func(n providers.Need) bool {
		again := n.Key != "" && seen[n.Key]
		seen[n.Key] = true
		return again
	})
}

// related are the items that the API relates to one: as many as total, of which some are open.
func (g *gathering) related(ctx context.Context, at ref, kind string, total, open int, path ...string) []providers.Need {
	var needs []providers.Need
	pages := &pager{p: g.p, path: issuePath(at, path...), query: url.Values{}, stale: g.stale}
	seen := map[providers.Key]bool{}
	pages.take = func(items []json.RawMessage) int {
		fresh := 0
		for _, raw := range items {
			need, err := g.need(raw, at.repo, kind)
			if err != nil {
				g.trouble(broken(pages.name(), err))
			} else if !seen[need.Key] {
				seen[need.Key] = true
				needs = append(needs, need)
				fresh++
			}
		}
		return fresh
	}
	if err := pages.run(ctx); err != nil {
		g.trouble(err)
		return append(needs, providers.Need{Text: fmt.Sprintf("%d items that could not be read", open), Kind: kind})
	}
	if err := pages.limited(); err != nil {
		g.trouble(err)
	}
	for _, n := range needs {
		if !n.State.Closed() {
			open--
		}
	}
	if hidden := min(open, total-len(needs)); hidden > 0 {
		needs = append(needs, providers.Need{Text: fmt.Sprintf("%d items that this token can't see", hidden), Kind: kind})
	}
	return needs
}

// need is an issue that another waits for, which may be of another repository.
func (g *gathering) need(raw json.RawMessage, home Repository, kind string) (providers.Need, error) {
	i, err := parseIssue(raw)
	if err != nil {
		return providers.Need{}, err
	}
	repo, err := g.p.repoOf(i, home)
	if err != nil {
		return providers.Need{}, err
	}
	r := ref{repo, i.Number}
	state, _ := g.p.state(i)
	g.learn(r.key(), state)
	text := fmt.Sprintf("#%d", i.Number)
	if !repo.same(home) {
		text = fmt.Sprintf("%s/%s#%d", repo.Owner, repo.Name, i.Number)
	}
	return providers.Need{Key: r.key(), Text: text, Kind: kind, State: state}, nil
}

var errNoRepository = errors.New("an issue of no repository")

// repoOf is the repository that an issue says it is of.
func (p *Provider) repoOf(i *issue, home Repository) (Repository, error) {
	if i.Repository == "" {
		return home, nil
	}
	r, err := p.apiRef(strings.TrimSuffix(i.Repository, "/")+"#1", home)
	if err != nil {
		return Repository{}, fmt.Errorf("#%d: %w: %q", i.Number, errNoRepository, short(i.Repository))
	}
	return r.repo, nil
}

// settle fills in the states of what items need: from what is known, else by looking up each that nobody knows yet. Those that stay unknown have none.
func (g *gathering) settle(ctx context.Context, items []providers.Item) {
	var unknown []ref
	asked := map[providers.Key]bool{}
	for _, item := range items {
		for _, n := range item.Needs {
			if _, known := g.state(n.Key); n.Key == "" || known || asked[n.Key] {
				continue
			}
			asked[n.Key] = true
			if r, err := parseRef(string(n.Key), g.p.repo); err == nil {
				unknown = append(unknown, r)
			}
		}
	}
	if len(unknown) > maxLookups {
		g.trouble(broken(g.p.Source(), fmt.Errorf("%d items outside of the listing are waited for, and %d of them were looked up", len(unknown), maxLookups)))
		unknown = unknown[:maxLookups]
	}
	if g.stale {
		ctx = context.WithValue(ctx, staleKey{}, true)
	}
	each(len(unknown), func(i int) { g.lookUp(ctx, unknown[i]) })
	for _, item := range items {
		for i, n := range item.Needs {
			if s, known := g.state(n.Key); known {
				item.Needs[i].State = s
			}
		}
	}
}

// lookUp learns an item's state. One that is not there has none, which says enough.
func (g *gathering) lookUp(ctx context.Context, r ref) {
	i, err := g.p.getIssue(ctx, r)
	switch {
	case err == nil:
		state, _ := g.p.state(i)
		g.learn(r.key(), state)
	case !errors.Is(err, providers.ErrNotFound):
		g.trouble(err)
	}
}
