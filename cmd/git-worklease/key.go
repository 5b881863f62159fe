package main

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/git-worklease/git-worklease/internal/fault"
	"github.com/git-worklease/git-worklease/lease"
)

// keyJSON says which resource a key is.
type keyJSON struct {
	Key      string         `json:"key"`
	Resource lease.Resource `json:"resource"`
	// How it was found: "item" of a tracker, "path" of the work tree, or "resource" where it is one as it stands.
	How      string `json:"how"`
	Provider string `json:"provider,omitempty"`
	Source   string `json:"source,omitempty"`
}

func newKey(a *app) *cobra.Command {
	return &cobra.Command{
		Use:   "key KEY...",
		Short: "show which resource a key is",
		Long: `Shows the resource that each key stands for: what claim would claim. A key is an item as the
policy's trackers call it (42, #42, ENG-123, task-7, an address), a path, or a resource.

Nobody is asked, so it says nothing of whether there is such an item.`,
		Example: "  git worklease key 42\n  git worklease key https://github.com/acme/app/issues/42 --json", ValidArgsFunction: noFiles,
		RunE: a.run(func(ctx context.Context, args []string) (*outcome, error) {
			if len(args) == 0 {
				return nil, &fault.UsageError{Message: "key: no key given", Hint: "write the key, such as 42; a shell takes an unquoted #42 for a comment"}
			}
			return a.runKey(ctx, args)
		}),
	}
}

func (a *app) runKey(ctx context.Context, keys []string) (*outcome, error) {
	w, err := a.openState(ctx)
	if err != nil {
		return nil, err
	}
	defer w.closeTrackers() // a program may have been asked what a key is
	found := make([]keyJSON, len(keys))
	for i, key := range keys {
		if found[i], err = w.findKey(key); err != nil {
			return nil, err
		}
	}
	return &outcome{result: found, text: func(p *printer) {
		for _, k := range found {
			p.printf("%s\n", k.Resource)
		}
	}}, nil
}
