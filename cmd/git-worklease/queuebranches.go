package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/git-worklease/git-worklease/hooks"
	"github.com/git-worklease/git-worklease/internal/gitexec"
	"github.com/git-worklease/git-worklease/providers"
	"github.com/git-worklease/git-worklease/queue"
	"github.com/git-worklease/git-worklease/refstore"
)

const branchPrefix = "refs/heads/"

// ruleBranches reads the remote's branches, once, and finds those that the policy's rules tie to an item. Whether one is merged is judged by the commits that
// this clone has: one that it does not have is not merged, as far as it knows, nor is it known to have been dropped.
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
	b := &queue.Branches{
		Of:      map[providers.Key][]queue.Branch{},
		Has:     func(name string) bool { return tips[name] != "" },
		Dropped: func(tip string) bool { return w.isDropped(ctx, tip, tips[trunk]) },
	}
	tied := map[string][]providers.Key{}
	for name := range tips {
		resources, err := rules.OfBranch(name)
		if name == trunk || err != nil {
			continue // what its name says makes no resource
		}
		for _, r := range resources {
			tied[name] = append(tied[name], providers.Key(r))
		}
	}
	merged, err := w.mergedBranches(ctx, tips[trunk], tips, tied)
	if err != nil {
		return nil, fmt.Errorf("the remote's branches: %w", err)
	}
	for name, keys := range tied {
		for _, k := range keys {
			b.Of[k] = append(b.Of[k], queue.Branch{Name: name, Merged: merged(tips[name])})
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

// mergedBranches says of the tied branches' tips which are in the past of the default branch, by two runs of git however many there are.
func (w *work) mergedBranches(ctx context.Context, main string, tips map[string]string, tied map[string][]providers.Key) (merged func(tip string) bool, err error) {
	ask := []string{main}
	for name := range tied {
		ask = append(ask, tips[name])
	}
	here, err := w.hasCommits(ctx, ask)
	if err != nil {
		return nil, err
	}
	if len(tied) == 0 || !here[main] {
		return func(tip string) bool { return tip == main }, nil
	}
	var stdin strings.Builder
	for tip := range here {
		if tip != main {
			stdin.WriteString(tip + "\n")
		}
	}
	stdin.WriteString("^" + main + "\n")
	out, err := w.git.Pipe(ctx, []byte(stdin.String()), "rev-list", "--stdin")
	if err != nil {
		return nil, err
	}
	ahead := map[string]bool{}
	for line := range bytes.Lines(out) {
		ahead[string(bytes.TrimSpace(line))] = true
	}
	return func(tip string) bool { return here[tip] && !ahead[tip] }, nil
}

// hasCommits says which of some commits this clone has.
func (w *work) hasCommits(ctx context.Context, commits []string) (map[string]bool, error) {
	out, err := w.git.Pipe(ctx, []byte(strings.Join(commits, "\n")+"\n"), "cat-file", "--batch-check=%(objectname) %(objecttype)")
	if err != nil {
		return nil, err
	}
	here := map[string]bool{}
	for line := range strings.Lines(string(out)) {
		if oid, kind, _ := strings.Cut(strings.TrimSpace(line), " "); kind == "commit" {
			here[oid] = true
		}
	}
	return here, nil
}

// isDropped says that a commit is known not to be in the default branch: it is not in its past, and merging it would change something, which it would not
// where it was squashed. What git can't tell, such as git before 2.38, is not known.
func (w *work) isDropped(ctx context.Context, tip, main string) bool {
	if _, err := refstore.ParseOID(tip); err != nil || main == "" {
		return false
	}
	_, err := w.git.Output(ctx, "merge-base", "--is-ancestor", tip, main)
	var failed *gitexec.Error
	if !errors.As(err, &failed) || failed.Code != 1 {
		return false
	}
	merged, err := w.git.Output(ctx, "merge-tree", "--write-tree", main, tip)
	if err != nil {
		return false
	}
	tree, err := w.git.Output(ctx, "rev-parse", "--verify", "--quiet", main+"^{tree}")
	return err == nil && !bytes.Equal(bytes.TrimSpace(merged), bytes.TrimSpace(tree))
}
