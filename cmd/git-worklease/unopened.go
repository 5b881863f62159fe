package main

import (
	"context"

	"github.com/git-worklease/git-worklease/providers"
)

// unopened stands for a tracker whose own files, or whose token, can't be used. It says so whatever it is asked, also what a key without a scheme means: it
// may be one of its own.
type unopened struct {
	name string
	err  error
}

var (
	_ providers.Planner  = unopened{}
	_ providers.Finisher = unopened{}
)

func (u unopened) Name() string                        { return u.name }
func (u unopened) Source() string                      { return u.name }
func (u unopened) Parse(string) (providers.Key, error) { return "", u.err }

func (u unopened) List(context.Context, func(int, int)) (*providers.Listing, error) {
	return nil, u.err
}

func (u unopened) Read(context.Context, providers.Key) (*providers.Item, error) { return nil, u.err }

func (u unopened) Plan(context.Context, providers.Key, providers.Worker) (providers.Mark, error) {
	return providers.Mark{}, u.err
}

func (u unopened) Start(context.Context, providers.Key, providers.Worker) (providers.Mark, error) {
	return providers.Mark{}, u.err
}

func (u unopened) Unstart(context.Context, providers.Key, providers.Mark) error { return u.err }

func (u unopened) Finish(context.Context, providers.Key, providers.Worker, providers.Result) error {
	return u.err
}
