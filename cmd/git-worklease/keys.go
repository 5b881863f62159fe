package main

import (
	"strings"

	"github.com/spf13/cobra"
)

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

// poolsAndFiles completes the pools of the policy, and files, for what is new to this session.
func (a *app) poolsAndFiles(cmd *cobra.Command, _ []string, begun string) ([]string, cobra.ShellCompDirective) {
	w, err := a.openSettings(cmd.Context())
	if err != nil {
		return nil, cobra.ShellCompDirectiveDefault
	}
	var keys []string
	for _, p := range w.settings.Pools {
		if key := "pool:" + p.Name; begun != "" && strings.HasPrefix(key, begun) {
			keys = append(keys, key)
		}
	}
	return keys, cobra.ShellCompDirectiveDefault
}

// noFiles completes nothing.
func noFiles(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
	return nil, cobra.ShellCompDirectiveNoFileComp
}
