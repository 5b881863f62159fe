package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"
)

// The sizes of what trackers hold.
const (
	manyTasks  = 2_000
	manyIssues = 10_000
	// claimedItems is how many of them another user has claimed.
	claimedItems = 20
)

// backlogProgram is where `make deps` puts it.
const backlogProgram = ".tools/trackers/node_modules/.bin/backlog"

// measureTasks is a listing of a Backlog.md project, joined with the claims on its tasks, against the backlog program's own listing.
func measureTasks(ctx context.Context, b *bench, g group, r *report) error {
	f, err := g.openWith(ctx, b, mixedTasks(manyTasks))
	if err != nil {
		return err
	}
	return f.contestListing(ctx, r, "backlogmd:task-%d", f.backlogList(r))
}

// measureIssues is a listing of what Beads has exported, joined with the claims.
func measureIssues(ctx context.Context, b *bench, g group, r *report) error {
	if b.baselines {
		return nil
	}
	f, err := g.openWith(ctx, b, exportedIssues(manyIssues))
	if err != nil {
		return err
	}
	return f.contestListing(ctx, r, "beads:demo-%x", nobody)
}

// contestListing lists items of which another user has claimed a few. key makes an item's key of its number.
func (f *field) contestListing(ctx context.Context, r *report, key string, rival maker) error {
	contenders, err := f.assemble(ctx, f.queueList(key), rival)
	if err != nil {
		return err
	}
	samples, err := interleave(ctx, contenders, f.rounds, os.Stderr)
	if err != nil {
		return err
	}
	for _, c := range contenders {
		r.times(f.group.name, c.name, samples[c.name])
		r.durations(f.group.name, c.name+processor, samples[c.name], func(s sample) time.Duration { return s.processor })
	}
	return nil
}

// queueList is git-worklease's listing.
func (f *field) queueList(key string) maker {
	if f.baselines {
		return nobody
	}
	return func(ctx context.Context) (*contender, error) {
		other, err := f.clone(ctx)
		if err != nil {
			return nil, err
		}
		for i := range claimedItems {
			if err := f.claimed(ctx, other, fmt.Sprintf(key, 4*i+2)); err != nil {
				return nil, err
			}
		}
		user, err := f.clone(ctx)
		if err != nil {
			return nil, err
		}
		c := always(queueList, command{user: user, argv: []string{f.binary, "queue", "list"}})
		return &c, nil
	}
}

// backlogList is the backlog program's listing. Where the program is not installed the report says so.
func (f *field) backlogList(r *report) maker {
	return func(ctx context.Context) (*contender, error) {
		if _, err := os.Stat(backlogProgram); errors.Is(err, fs.ErrNotExist) {
			r.Missing = append(r.Missing, fmt.Sprintf("%s: %s: the program is not installed: make deps", f.group.name, backlogList))
			return nobody(ctx)
		}
		program, err := filepath.Abs(backlogProgram)
		if err != nil {
			return nil, err
		}
		user, err := f.clone(ctx)
		if err != nil {
			return nil, err
		}
		c := always(backlogList, command{user: user, argv: []string{program, "task", "list", "--plain"}})
		return &c, nil
	}
}
