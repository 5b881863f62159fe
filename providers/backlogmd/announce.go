package backlogmd

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/git-worklease/git-worklease/providers"
)

var (
	_ providers.Planner  = (*Provider)(nil)
	_ providers.Finisher = (*Provider)(nil)
)

// Start gives the item the status of work that has begun, unless it has one already, and adds the agent to its assignees, with the @ that the backlog program's users write. It returns
// [providers.ErrUnsupported], wrapped, for a draft and for what is closed.
func (p *Provider) Start(ctx context.Context, key providers.Key, by providers.Worker) (providers.Mark, error) {
	before, c, err := p.starting(ctx, key, by)
	if err != nil || c.isZero() {
		return providers.Mark{}, err
	}
	failed := p.change(ctx, before, c)
	after, err := p.find(context.WithoutCancel(ctx), key)
	if err != nil {
		return providers.Mark{}, firstOf(failed, err)
	}
	return c.shown(after).mark(before), firstOf(failed, p.missed(after, c))
}

// Plan implements [providers.Planner].
func (p *Provider) Plan(ctx context.Context, key providers.Key, by providers.Worker) (providers.Mark, error) {
	before, c, err := p.starting(ctx, key, by)
	if err != nil {
		return providers.Mark{}, err
	}
	return c.mark(before), nil
}

// starting reads an item that work is to begin on, and says what is to be changed of it.
func (p *Provider) starting(ctx context.Context, key providers.Key, by providers.Worker) (*task, change, error) {
	t, err := p.find(ctx, key)
	if err != nil {
		return nil, change{}, err
	}
	if t.item.State.Closed() || t.folder == draftsFolder {
		return nil, change{}, fmt.Errorf("%s is %q and can't be started: %w", t.item.ID, t.item.Status, providers.ErrUnsupported)
	}
	var c change
	if t.item.State != providers.Started {
		c.status = p.states.started
	}
	if name := "@" + strings.TrimPrefix(by.Agent, "@"); name != "@" && !assigned(t, name) {
		c.add = []string{name}
	}
	return t, c, nil
}

// mark says what a change comes to that is made in full.
func (c change) mark(before *task) providers.Mark {
	mark := providers.Mark{Assigned: c.add}
	if c.status != "" {
		mark.Status, mark.WasStatus = c.status, before.item.Status
	}
	return mark
}

// shown is the part of a change that a task shows.
func (c change) shown(after *task) change {
	var shown change
	if after.item.Status == c.status {
		shown.status = c.status
	}
	for _, name := range c.add {
		if slices.Contains(after.item.Assignees, name) {
			shown.add = append(shown.add, name)
		}
	}
	return shown
}

// assigned says whether a task is a name's, with the @ or without.
func assigned(t *task, name string) bool {
	return slices.ContainsFunc(t.item.Assignees, func(a string) bool { return "@"+strings.TrimPrefix(a, "@") == name })
}

// Unstart takes the status and the assignees of a mark back, where they are still there.
func (p *Provider) Unstart(ctx context.Context, key providers.Key, mark providers.Mark) error {
	t, err := p.find(ctx, key)
	if err != nil {
		return err
	}
	var c change
	if mark.Status != "" && mark.Status == t.item.Status && !t.item.State.Closed() {
		c.status = mark.WasStatus
	}
	for _, name := range mark.Assigned {
		if slices.Contains(t.item.Assignees, name) {
			c.remove = append(c.remove, name)
		}
	}
	return p.changeAndCheck(ctx, t, c)
}

// Finish gives the item the last of the project's statuses, or, where it waits for a reviewer, the one that has "review" in its name; without such a one
// nothing is noted. What is closed stays as it is.
func (p *Provider) Finish(ctx context.Context, key providers.Key, _ providers.Worker, result providers.Result) error {
	t, err := p.find(ctx, key)
	if err != nil {
		return err
	}
	if t.item.State.Closed() {
		return nil
	}
	if t.folder == draftsFolder {
		return fmt.Errorf("%s is a draft and can't be finished: %w", t.item.ID, providers.ErrUnsupported)
	}
	status := p.states.done
	if result == providers.Reviewing {
		status = p.states.review
	}
	if sameWord(status, t.item.Status) {
		return nil
	}
	return p.changeAndCheck(ctx, t, change{status: status})
}

// change tells the backlog program, where that is there and can be told, and edits the file elsewhere.
func (p *Provider) change(ctx context.Context, t *task, c change) error {
	if program := p.program(t, c); program != "" {
		return p.run(ctx, program, t, c)
	}
	return p.write(ctx, t, c)
}

func (p *Provider) changeAndCheck(ctx context.Context, t *task, c change) error {
	if c.isZero() {
		return nil
	}
	if err := p.change(ctx, t, c); err != nil {
		return err
	}
	after, err := p.find(ctx, t.item.Key)
	if err != nil {
		return err
	}
	return p.missed(after, c)
}

// missed says what of a change did not come to the file, whoever was told to make it.
func (p *Provider) missed(after *task, c change) error {
	if c.status != "" && after.item.Status != c.status {
		return broken(after.file, fmt.Errorf("its status is %q after it was set to %q", after.item.Status, c.status))
	}
	if want := c.apply(field{kind: isList, list: after.item.Assignees}); !slices.Equal(want, after.item.Assignees) {
		return broken(after.file, fmt.Errorf("it is assigned to %q after that was set to %q", after.item.Assignees, want))
	}
	return nil
}

func firstOf(errs ...error) error {
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}
