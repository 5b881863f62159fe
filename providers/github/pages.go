package github

import (
	"context"
	"encoding/json"
	"errors"
	"net/url"
	"strconv"
	"sync"
	"time"

	gh "github.com/google/go-github/v66/github"

	"github.com/git-worklease/git-worklease/providers"
)

const (
	// perPage is the most that the API puts on a page, and maxPages what is read of one list: 100,000 items.
	perPage, maxPages = 100, 1000
	// atOnce is how many requests are under way together.
	atOnce = 4
	// ahead is how many pages are read before anybody looks at what is on them.
	ahead = 2 * atOnce
	// maxCursor bounds what a page says of the next one, in bytes.
	maxCursor = 1024
)

var (
	errNoList  = errors.New("the answer is no list")
	errLoop    = errors.New("a page names one as the next that was read before")
	errNothing = errors.New("a page has nothing new, and names a next one")
	errEndless = errors.New("there are more pages than anybody has items")
)

// page is a page of a list.
type page struct {
	items []json.RawMessage
	resp  *gh.Response
}

// pager reads a list page by page.
type pager struct {
	p    *Provider
	path string
	// query are the parameters of each page.
	query url.Values
	// take is given what is on a page, in order, and returns how much of that is new.
	take func(items []json.RawMessage) (fresh int)
	// told is told how many items have been read.
	told func(read int)
	got  int
	// stale says that kept answers will do while a limit holds; read is then when the oldest was read, and until when the limit ends.
	stale bool
	mu    sync.Mutex
	read  time.Time
	until time.Time
}

// run reads all pages. What was read before an error has been taken.
func (g *pager) run(ctx context.Context) error {
	if g.stale {
		ctx = context.WithValue(ctx, staleKey{}, true)
	}
	first, err := g.page(ctx, url.Values{})
	if err != nil {
		return err
	}
	g.use(first)
	if first.resp.After == "" && first.resp.NextPage == 2 && first.resp.LastPage >= 2 {
		return g.numbered(ctx, first.resp.LastPage)
	}
	return g.linked(ctx, first)
}

// numbered reads the pages from the second to the last, some side by side. The last of them says whether that was so.
func (g *pager) numbered(ctx context.Context, last int) error {
	var end *page
	for from := 2; from <= last; from += ahead {
		pages, err := g.batch(ctx, from, min(ahead, last-from+1))
		for i, read := range pages {
			if fresh := g.take(read.items); fresh == 0 && from+i < last {
				return g.broken(errNothing)
			}
			end = read
		}
		if err != nil {
			return err
		}
	}
	return g.linkedFrom(ctx, end, last)
}

// batch reads n pages, and returns those before the first that could not be read.
func (g *pager) batch(ctx context.Context, from, n int) ([]*page, error) {
	pages, errs := make([]*page, n), make([]error, n)
	var mu sync.Mutex
	each(n, func(i int) {
		if from+i > g.p.pages {
			errs[i] = g.broken(errEndless)
			return
		}
		if pages[i], errs[i] = g.page(ctx, url.Values{"page": {strconv.Itoa(from + i)}}); errs[i] != nil || g.told == nil {
			return
		}
		mu.Lock()
		defer mu.Unlock()
		g.got += len(pages[i].items)
		g.told(g.got)
	})
	for i, err := range errs {
		if err != nil {
			return pages[:i], err
		}
	}
	return pages, nil
}

// linked follows from page to page.
func (g *pager) linked(ctx context.Context, from *page) error { return g.linkedFrom(ctx, from, 1) }

func (g *pager) linkedFrom(ctx context.Context, from *page, count int) error {
	seen := map[string]bool{}
	for next := nextOf(from.resp); next != nil; next = nextOf(from.resp) {
		cursor := next.Encode()
		switch {
		case seen[cursor] || len(cursor) > maxCursor:
			return g.broken(errLoop)
		case count >= g.p.pages:
			return g.broken(errEndless)
		}
		seen[cursor] = true
		var err error
		if from, err = g.page(ctx, next); err != nil {
			return err
		}
		count++
		if g.use(from) == 0 && nextOf(from.resp) != nil {
			return g.broken(errNothing)
		}
	}
	return nil
}

func (g *pager) use(from *page) int {
	fresh := g.take(from.items)
	if g.told != nil {
		g.got += len(from.items)
		g.told(g.got)
	}
	return fresh
}

// page reads one page.
func (g *pager) page(ctx context.Context, which url.Values) (*page, error) {
	query := url.Values{"per_page": {strconv.Itoa(perPage)}}
	for _, values := range []url.Values{g.query, which} {
		for name := range values {
			query.Set(name, values.Get(name))
		}
	}
	from := &page{}
	resp, err := g.p.get(ctx, g.path+"?"+query.Encode(), &from.items)
	if err != nil {
		return nil, err
	}
	if from.items == nil {
		return nil, g.broken(errNoList)
	}
	from.resp = resp
	g.note(resp)
	return from, nil
}

// note takes down that an answer was an old one.
func (g *pager) note(resp *gh.Response) {
	read, err := strconv.ParseInt(resp.Header.Get(headerRead), 10, 64)
	until, untilErr := strconv.ParseInt(resp.Header.Get(headerUntil), 10, 64)
	if err != nil || untilErr != nil {
		return
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	if at := time.Unix(read, 0); g.read.IsZero() || at.Before(g.read) {
		g.read = at
	}
	g.until = time.Unix(until, 0)
}

// nextOf are the parameters of the next page; nil where there is none. Nothing else of its address is used, so that a link leads nowhere else.
func nextOf(resp *gh.Response) url.Values {
	switch {
	case resp.After != "":
		v := url.Values{"after": {resp.After}}
		if resp.NextPage > 0 {
			v.Set("page", strconv.Itoa(resp.NextPage))
		}
		return v
	case resp.NextPage > 0:
		return url.Values{"page": {strconv.Itoa(resp.NextPage)}}
	}
	return nil
}

func (g *pager) name() string { return "GET " + g.p.client.BaseURL.String() + g.path }

func (g *pager) broken(err error) error { return broken(g.name(), err) }

// limited is the trouble of a listing that was repeated; nil for one that was read.
func (g *pager) limited() error {
	if g.until.IsZero() {
		return nil
	}
	return &providers.RateLimitedError{Until: g.until, Request: g.name()}
}

// each calls f with the numbers below n, a few at once.
func each(n int, f func(i int)) {
	var group sync.WaitGroup
	room := make(chan struct{}, atOnce)
	for i := range n {
		room <- struct{}{}
		group.Go(func() {
			defer func() { <-room }()
			f(i)
		})
	}
	group.Wait()
}
