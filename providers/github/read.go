package github

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"slices"

	"github.com/git-worklease/git-worklease/providers"
)

// Read implements [providers.Provider].
func (p *Provider) Read(ctx context.Context, key providers.Key) (*providers.Item, error) {
	r, err := p.canonical(key)
	if err != nil {
		return nil, err
	}
	var i *issue
	var pulls []providers.Pull
	var issueErr, pullsErr error
	each(2, func(n int) {
		if n == 0 {
			i, issueErr = p.getIssue(ctx, r)
		} else {
			pulls, pullsErr = p.pulls(ctx, r)
		}
	})
	if err := cmp.Or(issueErr, pullsErr); err != nil {
		return nil, err
	}
	item := p.item(i, r.repo)
	item.Pulls = pulls
	g := p.gather(false)
	item.Needs = g.needs(ctx, i, r)
	one := []providers.Item{item}
	g.settle(ctx, one)
	if len(g.troubles) > 0 {
		return nil, g.troubles[0]
	}
	return &one[0], nil
}

// canonical reads a key in its own spelling.
func (p *Provider) canonical(key providers.Key) (ref, error) {
	if key.Scheme() != scheme {
		return ref{}, notKey(string(key))
	}
	return parseRef(string(key), p.repo)
}

// pulls are the open pull requests that close an item. A token that may not read pull requests knows of none.
func (p *Provider) pulls(ctx context.Context, of ref) ([]providers.Pull, error) {
	found := map[providers.Key][]providers.Pull{}
	numbers := map[string]int{}
	pages := &pager{p: p, path: repoPath(of.repo, "pulls"), query: url.Values{"state": {"open"}}}
	pages.take = func(items []json.RawMessage) int {
		fresh := 0
		for _, raw := range items {
			i, err := parseIssue(raw)
			if err != nil {
				continue
			}
			id := fmt.Sprintf("#%d", i.Number)
			if numbers[id] == 0 {
				numbers[id] = i.Number
				fresh++
				addPull(found, i, p.page(i, ref{of.repo, i.Number}), of.repo)
			}
		}
		return fresh
	}
	err := pages.run(ctx)
	if errors.Is(err, providers.ErrNotFound) || errors.Is(err, providers.ErrUnauthorised) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	list := found[of.key()]
	slices.SortFunc(list, func(a, b providers.Pull) int { return cmp.Compare(numbers[a.ID], numbers[b.ID]) })
	return list, nil
}

// moved says of an item that answers by another number where it is now.
func moved(name string, i *issue) error {
	return fmt.Errorf("%s: it is %s now: %w", name, short(i.URL), providers.ErrNotFound)
}
