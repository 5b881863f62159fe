package main

import (
	"context"
	"fmt"
	"maps"

	"github.com/git-worklease/git-worklease/hooks"
	"github.com/git-worklease/git-worklease/internal/fault"
	"github.com/git-worklease/git-worklease/internal/term"
)

// metaBranch is the member of a claim's meta that names the branch that it is for.
const metaBranch = "branch"

// branchKeys are the keys that the policy's rules ask for on the branch that is checked out, and the meta of a claim that is for it.
func (a *app) branchKeys(ctx context.Context, meta map[string]string) (keys []string, forBranch map[string]string, err error) {
	a.judges = true
	w, err := a.openSettings(ctx)
	if err != nil {
		return nil, nil, err
	}
	if w.repo.GitDir == "" {
		return nil, nil, noKey("")
	}
	branch, err := hooks.Branch(ctx, w.git, w.repo.GitDir)
	if err != nil {
		return nil, nil, err
	}
	if branch == "" {
		return nil, nil, noKey(", and no branch is checked out")
	}
	rules, err := hooks.Compile(w.policy.Rules())
	if err != nil {
		return nil, nil, err
	}
	resources, err := rules.OfBranch(branch)
	if err != nil {
		return nil, nil, err
	}
	if len(resources) == 0 {
		return nil, nil, noKey(fmt.Sprintf(", and no rule of the policy asks for one on branch %s", term.Clean(branch)))
	}
	for _, r := range resources {
		keys = append(keys, string(r))
	}
	forBranch = map[string]string{metaBranch: branch}
	maps.Copy(forBranch, meta)
	return keys, forBranch, nil
}

// noKey is the error for a claim of nothing.
func noKey(why string) error {
	return &fault.UsageError{
		Message: "claim: no key given" + why, Hint: "write the key, such as task:login; a shell takes an unquoted #42 for a comment",
	}
}
