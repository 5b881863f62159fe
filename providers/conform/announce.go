package conform

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"time"

	"github.com/git-worklease/git-worklease/providers"
)

var worker = providers.Worker{Agent: "worklease-check", Session: "check", Text: "an announcement that is taken back at once"}

// announcing: an item that is announced shows it, announcing it again changes nothing, and what was announced is taken back.
func (c *check) announcing(ctx context.Context) {
	if c.Announce == "" {
		return
	}
	p, ok := c.p.(providers.Starter)
	if !ok {
		c.wrong("%w", providers.ErrUnsupported)
		return
	}
	before, err := p.Read(ctx, c.Announce)
	if err == nil && (before.State != providers.Open || len(before.Assignees) > 0) {
		err = fmt.Errorf("%s is not an open item that nobody is assigned to: %s, %q", c.Announce, before.State, before.Assignees)
	}
	if err != nil {
		c.wrong("%w", err)
		return
	}
	planned := c.plan(ctx, p)
	mark, err := p.Start(ctx, c.Announce, worker)
	if err != nil {
		c.wrong("%w", err)
	}
	if planned != nil && err == nil && !reflect.DeepEqual(*planned, mark) {
		c.wrong("it planned to change %+v and changed %+v", *planned, mark)
	}
	if !mark.IsZero() {
		// What was announced is taken back also where the user ends the check.
		defer c.takeBack(context.WithoutCancel(ctx), p, before, mark)
	} else if err == nil {
		c.wrong("work on %s was announced, and nothing changed", c.Announce)
	}
	if err != nil {
		return
	}
	c.shows(ctx, p, before, mark)
	if again, err := p.Start(ctx, c.Announce, worker); !again.IsZero() || err != nil {
		c.wrong("announced a second time, it changed %+v, %v", again, err)
	}
	if again := c.plan(ctx, p); again != nil && !again.IsZero() {
		c.wrong("announced, it plans to change %+v", *again)
	}
}

// plan is what a tracker that plans would change; nil: it does not plan.
func (c *check) plan(ctx context.Context, p providers.Starter) *providers.Mark {
	planner, ok := p.(providers.Planner)
	if !ok {
		return nil
	}
	mark, err := planner.Plan(ctx, c.Announce, worker)
	if errors.Is(err, providers.ErrUnsupported) {
		return nil
	}
	if err != nil {
		c.wrong("%w", err)
		return nil
	}
	return &mark
}

func (c *check) shows(ctx context.Context, p providers.Provider, before *providers.Item, mark providers.Mark) {
	after, err := p.Read(ctx, c.Announce)
	if err != nil {
		c.wrong("%w", err)
		return
	}
	if after.Version == before.Version {
		c.wrong("what was announced did not change the version %q", after.Version)
	}
	c.refused(Shown(before, after, mark))
}

func (c *check) takeBack(ctx context.Context, p providers.Starter, before *providers.Item, mark providers.Mark) {
	for _, way := range []string{"taken back", "taken back twice"} {
		if err := p.Unstart(ctx, c.Announce, mark); err != nil {
			c.wrong("%s: %w", way, err)
			return
		}
		after, err := p.Read(ctx, c.Announce)
		if err != nil {
			c.wrong("%w", err)
			return
		}
		if was, is := timeless(*before), timeless(*after); !Same(was, is) {
			c.wrong("%s, it is %+v and was %+v", way, is, was)
		}
	}
}

// timeless is an item without what changes with every change.
func timeless(i providers.Item) providers.Item {
	i.Version, i.Updated = "", time.Time{}
	return i
}

// Shown says where a mark does not say what has changed.
func Shown(before, after *providers.Item, mark providers.Mark) error {
	var wrong []error
	if want := slices.Concat(before.Assignees, mark.Assigned); !sameSet(after.Assignees, want) {
		wrong = append(wrong, fmt.Errorf("assigned to %q after %q and %q", after.Assignees, before.Assignees, mark.Assigned))
	}
	if want := slices.Concat(before.Labels, mark.Labels); !sameSet(after.Labels, want) {
		wrong = append(wrong, fmt.Errorf("labelled %q after %q and %q", after.Labels, before.Labels, mark.Labels))
	}
	switch {
	case mark.Status != "" && (after.Status != mark.Status || before.Status != mark.WasStatus || after.State != providers.Started):
		wrong = append(wrong, fmt.Errorf("status %q after %q, and state %q; marked %+v", after.Status, before.Status, after.State, mark))
	case mark.Status == "" && after.Status != before.Status:
		wrong = append(wrong, fmt.Errorf("status %q after %q is not marked", after.Status, before.Status))
	}
	return errors.Join(wrong...)
}

func sameSet(a, b []string) bool {
	return slices.Equal(slices.Sorted(slices.Values(a)), slices.Sorted(slices.Values(b)))
}
