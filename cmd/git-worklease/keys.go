package main

import (
	"github.com/spf13/cobra"

	"github.com/git-worklease/git-worklease/lease"
)

// parseKeys reads resources as a person types them.
func parseKeys(keys []string) ([]lease.Resource, error) {
	resources := make([]lease.Resource, len(keys))
	for i, key := range keys {
		r, err := lease.ParseResource(key)
		if err != nil {
			return nil, err
		}
		resources[i] = r
	}
	return resources, nil
}

// ownKeys completes the resources that this session holds, without the remote.
func (a *app) ownKeys(cmd *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
	w, err := a.openState(cmd.Context())
	if err != nil {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	holds, err := w.state.Holds()
	if err != nil {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	given := map[string]bool{}
	for _, arg := range args {
		given[arg] = true
	}
	var keys []string
	for _, h := range holds {
		for _, m := range h.Members {
			if h.End == nil && !given[string(m.Resource)] {
				keys = append(keys, string(m.Resource))
			}
		}
	}
	return keys, cobra.ShellCompDirectiveNoFileComp
}

// noFiles completes nothing.
func noFiles(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
	return nil, cobra.ShellCompDirectiveNoFileComp
}
