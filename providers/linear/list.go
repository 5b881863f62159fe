package linear

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"

	"github.com/git-worklease/git-worklease/providers"
)

const (
	// maxIssues is how many a listing may have.
	maxIssues = 100_000
	// maxRests is how many issues of a listing may have lists of their own to read on; each costs a request.
	maxRests = 200
)

// page is the answer to pageDocument.
type page struct {
	Teams  *list[team]            `json:"teams"`
	Issues *list[json.RawMessage] `json:"issues"`
}

type team struct {
	Key string `json:"key"`
}

// reading is a listing that is being read.
type reading struct {
	*Provider
	listing *providers.Listing
	known   map[providers.Key]float64 // their order among those of one priority
	seen    int
	rests   int
}

// List reads the open issues of the teams, a page at a time. A page that fails ends it: what was read until then is shown, and the failure is a trouble. So is a team that is not there.
func (p *Provider) List(ctx context.Context, report func(read, of int)) (*providers.Listing, error) {
	r := &reading{Provider: p, listing: &providers.Listing{Read: p.now()}, known: map[providers.Key]float64{}}
	for cursor, n := (*string)(nil), 1; ; n++ {
		next, err := r.page(ctx, n, cursor)
		switch {
		case ctx.Err() != nil:
			return nil, fmt.Errorf("linear: %w", ctx.Err())
		case err != nil && len(r.known) == 0:
			return nil, err
		case err != nil:
			r.trouble(err)
		}
		if report != nil {
			report(len(r.listing.Items), 0)
		}
		if next == nil {
			break
		}
		cursor = next
	}
	r.sort()
	return r.listing, nil
}

func (r *reading) trouble(err error) { r.listing.Troubles = append(r.listing.Troubles, err) }

// sort orders by priority, then as Linear does among those of one, then by identifier.
func (r *reading) sort() {
	urgency := func(p providers.Priority) int { return (int(p) + int(providers.Lowest)) % (int(providers.Lowest) + 1) }
	slices.SortFunc(r.listing.Items, func(a, b providers.Item) int {
		return cmp.Or(cmp.Compare(urgency(a.Priority), urgency(b.Priority)), cmp.Compare(r.known[a.Key], r.known[b.Key]), byIdent(a.ID, b.ID))
	})
}

// byIdent orders ENG-9 before ENG-10.
func byIdent(a, b string) int {
	x, _ := parseIdent(a)
	y, _ := parseIdent(b)
	return cmp.Or(cmp.Compare(x.team, y.team), cmp.Compare(len(x.number), len(y.number)), cmp.Compare(x.number, y.number))
}

// page reads the nth page, and returns where the next one begins; nil for none.
func (r *reading) page(ctx context.Context, n int, cursor *string) (*string, error) {
	what := fmt.Sprintf("page %d of the issues", n)
	variables := map[string]any{"teams": r.teams, "first": pageSize, "after": cursor, "begin": n == 1}
	var answer page
	faults, err := r.ask(ctx, what, pageDocument, variables, &answer)
	if err != nil {
		return nil, err
	}
	broken := func(err error) error { return &providers.BrokenError{Where: "linear: " + what, Err: err} }
	spoilt := map[int]string{}
	for _, f := range faults {
		i := f.index("issues", "nodes")
		if i < 0 {
			return nil, broken(errors.New(r.words(faults)))
		}
		spoilt[i] = r.words([]fault{f})
	}
	if answer.Issues == nil || n == 1 && answer.Teams == nil {
		return nil, broken(errors.New("answered without issues"))
	}
	if n == 1 {
		if err := r.checkTeams(answer); err != nil {
			return nil, err
		}
	}
	before := len(r.known)
	for i, raw := range answer.Issues.Nodes {
		if r.seen++; r.seen > maxIssues {
			return nil, broken(fmt.Errorf("more than %d issues", maxIssues))
		}
		if err := r.take(ctx, raw, spoilt[i]); err != nil {
			r.trouble(broken(fmt.Errorf("issue %d of it: %w", i+1, err)))
		}
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
	}
	info := answer.Issues.Page
	switch {
	case !info.More:
		return nil, nil //nolint:nilnil // there is no next page
	case info.End == nil || *info.End == "" || cursor != nil && *info.End == *cursor:
		return nil, broken(errors.New("there is more, but not said where"))
	case len(r.known) == before:
		return nil, broken(errors.New("the pages go on without further issues"))
	}
	return info.End, nil
}

// checkTeams names the teams that are not there, and fails where that is all of them.
func (r *reading) checkTeams(answer page) error {
	var lost []error
	for _, key := range r.teams {
		if !slices.ContainsFunc(answer.Teams.Nodes, func(t *team) bool { return t != nil && t.Key == key }) {
			lost = append(lost, &providers.BrokenError{Where: settings + " teams", Err: fmt.Errorf("there is no team %s that LINEAR_API_KEY may read", key)})
		}
	}
	if len(lost) == len(r.teams) {
		return lost[0]
	}
	r.listing.Troubles = append(r.listing.Troubles, lost...)
	return nil
}

// take adds an issue. spoilt says what part of it could not be had.
func (r *reading) take(ctx context.Context, raw *json.RawMessage, spoilt string) error {
	if raw == nil {
		return errors.New(cmp.Or(spoilt, "it is null"))
	}
	var i issue
	err := json.Unmarshal(*raw, &i) // which goes on after a part of another type
	called := func(err error) error {
		if i.Identifier == nil {
			return err
		}
		return fmt.Errorf("%s: %w", r.clean(strconv.Quote(*i.Identifier)), err)
	}
	switch {
	case spoilt != "":
		return called(errors.New(spoilt))
	case err != nil:
		return called(err)
	}
	if err := i.check(); err != nil {
		return called(err)
	}
	if !i.whole() {
		if r.rests++; r.rests > maxRests {
			return called(fmt.Errorf("it has more labels, relations or attachments than can be read, as have %d others", maxRests))
		}
		if err := r.rest(ctx, &i); err != nil {
			return called(err)
		}
	}
	item, err := i.item()
	if err != nil {
		return called(err)
	}
	if _, twice := r.known[item.Key]; twice || i.Trashed {
		return nil
	}
	r.known[item.Key] = *i.Order
	r.listing.Items = append(r.listing.Items, *item)
	return nil
}

// rest reads the whole lists of an issue that has long ones.
func (p *Provider) rest(ctx context.Context, i *issue) error {
	var answer struct {
		Issue *struct {
			ID string `json:"id"`
			lists
		} `json:"issue"`
	}
	faults, err := p.ask(ctx, "the lists of "+*i.Identifier, restDocument, map[string]any{"id": *i.ID}, &answer)
	switch {
	case err != nil:
		return err
	case len(faults) > 0:
		return errors.New(p.words(faults))
	case answer.Issue == nil || answer.Issue.ID != *i.ID:
		return errors.New("its lists are another's")
	}
	if missing := answer.Issue.missing(); missing != "" {
		return fmt.Errorf("it has no %s", missing)
	}
	if !answer.Issue.whole() {
		return errors.New("it has more than 250 labels, relations or attachments")
	}
	i.lists = answer.Issue.lists
	return nil
}
