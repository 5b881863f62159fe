package github

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"strings"

	"github.com/git-worklease/git-worklease/providers"
)

// List implements [providers.Provider]. While a limit holds it repeats what was read before, and names the limit among the troubles.
func (p *Provider) List(ctx context.Context, report func(read, of int)) (*providers.Listing, error) {
	l := &listing{p: p, gathering: p.gather(true), numbers: map[providers.Key]int{}}
	began := p.now()
	pages := &pager{
		p: p, path: repoPath(p.repo, "issues"), query: url.Values{"state": {"open"}, "sort": {"created"}, "direction": {"asc"}}, take: l.take, stale: true,
	}
	if report != nil {
		pages.told = func(read int) { report(read, 0) }
	}
	err := pages.run(ctx)
	if ctx.Err() != nil {
		return nil, p.failure(ctx, pages.name(), ctx.Err())
	}
	if err != nil && len(l.issues) == 0 {
		return nil, p.absent(err)
	}
	for _, trouble := range []error{err, pages.limited()} {
		if trouble != nil {
			l.trouble(trouble)
		}
	}
	items := l.items(ctx)
	if ctx.Err() != nil {
		return nil, p.failure(ctx, pages.name(), ctx.Err())
	}
	p.cache.prune()
	read := began
	if !pages.read.IsZero() {
		read = pages.read
	}
	return &providers.Listing{Items: items, Troubles: once(l.troubles), Read: read}, nil
}

// absent says of a repository that is not there what may be the matter.
func (p *Provider) absent(err error) error {
	switch {
	case !errors.Is(err, providers.ErrNotFound):
		return err
	case strings.Contains(err.Error(), ": 410"):
		return fmt.Errorf("%s has no issues: %w", p.Source(), providers.ErrUnsupported)
	case p.transport.anonymous():
		return fmt.Errorf("%s is not there, or not for anybody without a token: %w", p.Source(), providers.ErrUnauthorised)
	}
	return fmt.Errorf("%s is not there, or not for this token: %w", p.Source(), providers.ErrUnauthorised)
}

// listing is one that is being read.
type listing struct {
	*gathering
	p       *Provider
	issues  []*issue
	numbers map[providers.Key]int
}

// take takes the issues of a page. A page that was read while others were closed may repeat some.
func (l *listing) take(items []json.RawMessage) int {
	fresh := 0
	for n, raw := range items {
		i, err := parseIssue(raw)
		if err != nil {
			l.trouble(broken("GET "+l.p.client.BaseURL.String()+repoPath(l.p.repo, "issues"), fmt.Errorf("entry %d of a page: %w", n+1, err)))
			fresh++ // it says that there is more
			continue
		}
		key := ref{l.p.repo, i.Number}.key()
		if _, again := l.numbers[key]; again {
			continue
		}
		l.numbers[key] = i.Number
		l.issues = append(l.issues, i)
		state, _ := l.p.state(i)
		l.learn(key, state)
		fresh++
	}
	return fresh
}

// items are the issues with all that has to be asked for them.
func (l *listing) items(ctx context.Context) []providers.Item {
	items := make([]providers.Item, len(l.issues))
	pulls := map[providers.Key][]providers.Pull{}
	for n, i := range l.issues {
		items[n] = l.p.item(i, l.p.repo)
		if i.Pull != nil && i.State == "open" {
			addPull(pulls, i, items[n].URL, l.p.repo)
		}
	}
	each(len(items), func(n int) { items[n].Needs = l.needs(ctx, l.issues[n], ref{l.p.repo, l.issues[n].Number}) })
	l.settle(ctx, items)
	for n := range items {
		items[n].Pulls = pulls[items[n].Key]
	}
	return sorted(items, l.numbers)
}

// addPull notes which items an open pull request closes.
func addPull(pulls map[providers.Key][]providers.Pull, i *issue, url string, home Repository) {
	pull := providers.Pull{ID: fmt.Sprintf("#%d", i.Number), URL: url, Draft: i.Draft}
	seen := map[providers.Key]bool{}
	for _, r := range closedBy(i.Body, home) {
		if key := r.key(); r.number != i.Number && !seen[key] {
			seen[key] = true
			pulls[key] = append(pulls[key], pull)
		}
	}
}

// once leaves out of some troubles those that say the same as one before: a limit is met by many requests.
func once(troubles []error) []error {
	seen := map[string]bool{}
	var some []error
	for _, err := range troubles {
		what := err.Error()
		if errors.Is(err, providers.ErrRateLimited) {
			what = providers.ErrRateLimited.Error()
		}
		if !seen[what] {
			seen[what] = true
			some = append(some, err)
		}
	}
	return some
}
