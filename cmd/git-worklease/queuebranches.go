package main

import (
	"context"
	"fmt"
	"strings"

	"github.com/git-worklease/git-worklease/hooks"
	"github.com/git-worklease/git-worklease/providers"
	"github.com/git-worklease/git-worklease/queue"
)

const branchPrefix = "refs/heads/"

// ruleBranches reads the remote's branches, once, and finds those that the policy's rules tie to an item. Whether one is merged is judged by the commits that
// this clone has: one that it does not have is not merged, as far as it knows.
func (w *work) ruleBranches(ctx context.Context) (*queue.Branches, error) {
	rules, err := hooks.Compile(w.policy.Rules())
	if err != nil {
		return nil, err
	}
	out, err := w.git.Output(ctx, "ls-remote", "--symref", "--", w.codeRemote(), "HEAD", branchPrefix+"*")
	if err != nil {
		return nil, fmt.Errorf("the remote's branches: %w", err)
	}
	trunk, tips := parseBranches(string(out))
	b := &queue.Branches{Of: map[providers.Key][]queue.Branch{}}
	main := tips[trunk]
	b.Merged = func(_, tip string) bool { return w.isMerged(ctx, tip, main) }
	for name, tip := range tips {
		if name == trunk {
			continue
		}
		resources, err := rules.OfBranch(name)
		if err != nil {
			continue // what its name says makes no resource
		}
		for _, r := range resources {
			b.Of[providers.Key(r)] = append(b.Of[providers.Key(r)], queue.Branch{Name: name, Merged: tip == main || b.Merged(name, tip)})
		}
	}
	return b, nil
}

// parseBranches reads what ls-remote prints: the default branch, and the tips of all.
func parseBranches(out string) (trunk string, tips map[string]string) {
	tips = map[string]string{}
	for line := range strings.Lines(out) {
		left, name, _ := strings.Cut(strings.TrimRight(line, "\r\n"), "\t")
		if target, ok := strings.CutPrefix(left, "ref: "); ok && name == "HEAD" {
			trunk = strings.TrimPrefix(target, branchPrefix)
		} else if branch, ok := strings.CutPrefix(name, branchPrefix); ok {
			tips[branch] = left
		}
	}
	return trunk, tips
}

// isMerged says whether this clone knows that a commit is a part of another's past.
func (w *work) isMerged(ctx context.Context, tip, main string) bool {
	if tip == "" || main == "" {
		return false
	}
	_, err := w.git.Output(ctx, "merge-base", "--is-ancestor", tip, main)
	return err == nil
}
