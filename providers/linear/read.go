package linear

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/git-worklease/git-worklease/providers"
)

// found is the answer to readDocument and beginDocument.
type found struct {
	Viewer *user        `json:"viewer"`
	Issues *list[issue] `json:"issues"`
}

// Read reads one issue anew, closed or archived ones as well. One in the trash is not there.
func (p *Provider) Read(ctx context.Context, key providers.Key) (*providers.Item, error) {
	id, err := p.identOf(key)
	if err != nil {
		return nil, err
	}
	var answer found
	i, err := p.find(ctx, id, readDocument, &answer)
	if err != nil {
		return nil, err
	}
	return p.whole(ctx, id, i)
}

// identOf takes the identifier out of a key as Parse returns it.
func (p *Provider) identOf(key providers.Key) (ident, error) {
	if !strings.HasPrefix(string(key), name+":") {
		return ident{}, fmt.Errorf("%q: %w of linear", key, providers.ErrNotKey)
	}
	return p.parse(string(key))
}

// find asks for one issue by its identifier.
func (p *Provider) find(ctx context.Context, id ident, document string, answer *found) (*issue, error) {
	variables := map[string]any{"team": id.team, "number": json.Number(id.number)}
	what := "issue " + id.String()
	faults, err := p.ask(ctx, what, document, variables, answer)
	if err == nil && len(faults) > 0 {
		err = errors.New(p.words(faults))
	} else if err != nil {
		return nil, err
	}
	switch {
	case err == nil && answer.Issues == nil:
		err = errors.New("answered without issues")
	case err == nil && len(answer.Issues.Nodes) == 0:
		return nil, fmt.Errorf("linear: %s: %w", what, providers.ErrNotFound)
	case err == nil && answer.Issues.Nodes[0] == nil:
		err = errors.New("it is null")
	}
	if err != nil {
		return nil, &providers.BrokenError{Where: "linear: " + what, Err: err}
	}
	if i := answer.Issues.Nodes[0]; !i.Trashed {
		return i, nil
	}
	return nil, fmt.Errorf("linear: %s is in the trash: %w", what, providers.ErrNotFound)
}

// whole makes an item of what was found, with all of its lists.
func (p *Provider) whole(ctx context.Context, id ident, i *issue) (*providers.Item, error) {
	broken := func(err error) error { return &providers.BrokenError{Where: "linear: issue " + id.String(), Err: err} }
	if err := i.check(); err != nil {
		return nil, broken(err)
	}
	if !i.whole() {
		if err := p.rest(ctx, i); err != nil {
			return nil, broken(err)
		}
	}
	item, err := i.item()
	switch {
	case err != nil:
		return nil, broken(err)
	case item.Key != id.key():
		return nil, broken(fmt.Errorf("the answer is %s", item.ID))
	}
	return item, nil
}
