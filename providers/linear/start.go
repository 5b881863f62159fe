package linear

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/git-worklease/git-worklease/providers"
)

// begun is what a change begins with.
type begun struct {
	id     ident
	issue  *issue
	item   *providers.Item
	viewer *user
}

func (p *Provider) begin(ctx context.Context, key providers.Key) (*begun, error) {
	id, err := p.identOf(key)
	if err != nil {
		return nil, err
	}
	var answer found
	i, err := p.find(ctx, id, beginDocument, &answer)
	if err != nil {
		return nil, err
	}
	item, err := p.whole(ctx, id, i)
	if err != nil {
		return nil, err
	}
	if answer.Viewer == nil || answer.Viewer.ID == "" || i.Team == nil {
		return nil, &providers.BrokenError{Where: "linear: issue " + id.String(), Err: errors.New("answered without a viewer or a team")}
	}
	return &begun{id: id, issue: i, item: item, viewer: answer.Viewer}, nil
}

// first is the first of the team's states, in its own order, that does; nil for none.
func (b *begun) first(does func(state) bool) *state {
	states := slices.SortedFunc(slices.Values(b.issue.Team.States.Nodes), func(x, y state) int {
		return cmp.Or(cmp.Compare(x.Position, y.Position), cmp.Compare(x.ID, y.ID))
	})
	if i := slices.IndexFunc(states, func(s state) bool { return s.ID != "" && does(s) }); i >= 0 {
		return &states[i]
	}
	return nil
}

func ofType(want string) func(state) bool { return func(s state) bool { return s.Type == want } }

// Start moves an issue to the first started state of its team, unless it is in a started one, and assigns it to the token's user, unless anybody is. Both are one
// change. A closed one is not opened again: that is [providers.ErrUnsupported]. Where no answer came, the mark is of what was asked for, since it may have
// been done; [Provider.Unstart] takes back only what stands.
func (p *Provider) Start(ctx context.Context, key providers.Key, _ providers.Worker) (providers.Mark, error) {
	b, input, wanted, lacks := p.starting(ctx, key)
	if len(input) == 0 {
		return providers.Mark{}, lacks
	}
	changed, err := p.update(ctx, b, input)
	switch {
	case errors.Is(err, providers.ErrUnavailable) || ctx.Err() != nil:
		return wanted, err
	case err != nil:
		return providers.Mark{}, err
	}
	after, err := p.whole(ctx, b.id, changed)
	if err != nil {
		return wanted, err
	}
	mark, err := p.marked(b, after, len(wanted.Assigned) > 0)
	return mark, cmp.Or(err, lacks)
}

// Plan implements [providers.Planner].
func (p *Provider) Plan(ctx context.Context, key providers.Key, _ providers.Worker) (providers.Mark, error) {
	_, _, wanted, err := p.starting(ctx, key)
	return wanted, err
}

// starting reads an issue that work is to begin on, and says what is to be changed of it, also where there is an error that keeps the rest from being changed.
func (p *Provider) starting(ctx context.Context, key providers.Key) (b *begun, input map[string]any, wanted providers.Mark, err error) {
	b, err = p.begin(ctx, key)
	if err != nil {
		return nil, nil, providers.Mark{}, err
	}
	if b.item.State.Closed() {
		return nil, nil, providers.Mark{}, fmt.Errorf("linear: %s is %q, and is not opened again by this: %w", b.id, b.item.Status, providers.ErrUnsupported)
	}
	input = map[string]any{}
	if b.item.State != providers.Started {
		if s := b.first(ofType(typeStarted)); s != nil {
			input["stateId"], wanted.Status, wanted.WasStatus = s.ID, s.Name, b.item.Status
		} else {
			err = fmt.Errorf("linear: the team of %s has no started state: %w", b.id, providers.ErrUnsupported)
		}
	}
	if len(b.item.Assignees) == 0 {
		input["assigneeId"], wanted.Assigned = b.viewer.ID, []string{b.viewer.Name}
	}
	return b, input, wanted, err
}

// marked is what the change has come to. Linear compares nothing before it writes, and a rule of the team's may have moved the issue on.
func (p *Provider) marked(b *begun, after *providers.Item, assigned bool) (providers.Mark, error) {
	var mark providers.Mark
	if after.Status != b.item.Status {
		mark.Status, mark.WasStatus = after.Status, b.item.Status
	}
	if !assigned {
		return mark, nil
	}
	if !slices.Contains(after.Assignees, b.viewer.Name) {
		return mark, fmt.Errorf("linear: %s is assigned to %s: %w", b.id, strings.Join(after.Assignees, ", "), providers.ErrTaken)
	}
	mark.Assigned = []string{b.viewer.Name}
	return mark, nil
}

// update changes an issue, and returns what it is then.
func (p *Provider) update(ctx context.Context, b *begun, input map[string]any) (*issue, error) {
	var answer struct {
		Update *struct {
			Success bool   `json:"success"`
			Issue   *issue `json:"issue"`
		} `json:"issueUpdate"`
	}
	what := "the change of " + b.id.String()
	faults, err := p.ask(ctx, what, updateDocument, map[string]any{"id": *b.issue.ID, "input": input}, &answer)
	switch {
	case err != nil:
		return nil, err
	case len(faults) > 0:
		return nil, &providers.BrokenError{Where: "linear: " + what, Err: errors.New(p.words(faults))}
	case answer.Update == nil || !answer.Update.Success || answer.Update.Issue == nil:
		return nil, &providers.BrokenError{Where: "linear: " + what, Err: errors.New("it was not made")}
	}
	return answer.Update.Issue, nil
}

// Unstart moves the issue back to the state that it had, and takes its assignees from it, as far as the mark's still are what it shows. A state that the team has
// no more is [providers.ErrUnsupported]; the rest is taken back.
func (p *Provider) Unstart(ctx context.Context, key providers.Key, mark providers.Mark) error {
	b, err := p.begin(ctx, key)
	if err != nil {
		return err
	}
	input := map[string]any{}
	var lacks error
	if mark.Status != "" && mark.Status != mark.WasStatus && b.item.Status == mark.Status {
		if s := b.first(func(s state) bool { return s.Name == mark.WasStatus }); s != nil {
			input["stateId"] = s.ID
		} else {
			lacks = fmt.Errorf("linear: the team of %s has no state %q any more: %w", b.id, mark.WasStatus, providers.ErrUnsupported)
		}
	}
	if u := b.issue.Assignee; u != nil && slices.Contains(mark.Assigned, u.Name) {
		input["assigneeId"] = nil
	}
	if u := b.issue.Delegate; u != nil && slices.Contains(mark.Assigned, u.Name) {
		input["delegateId"] = nil
	}
	if len(input) > 0 {
		if _, err := p.update(ctx, b, input); err != nil {
			return err
		}
	}
	return lacks
}
