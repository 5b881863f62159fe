package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/git-worklease/git-worklease/internal/gitserver"
)

// emptyHook is what a hook costs that does nothing.
const emptyHook = "#!/bin/sh\nexit 0\n"

// policy asks for a claim by the path and by the branch.
const policy = `version = 1
[[rule]]
paths = ["src/**"]
claim = "path"
[[rule]]
branch = "issue/{id}-*"
claim = "task:{id}"
`

// openGoverned opens a repository with the policy on its default branch.
func (g group) openGoverned(ctx context.Context, b *bench, policy string) (*field, error) {
	return g.openWith(ctx, b, files{".worklease.toml": policy})
}

// openWith opens a repository with more files on its default branch.
func (g group) openWith(ctx context.Context, b *bench, more files) (*field, error) {
	f, err := g.open(ctx, b)
	if err != nil {
		return nil, err
	}
	user, err := f.clone(ctx)
	if err != nil {
		return nil, err
	}
	if err := more.write(user); err != nil {
		return nil, err
	}
	for _, args := range [][]string{{"add", "--all"}, {"commit", "--quiet", "-m", "Add what is measured"}, {"push", "--quiet", "origin", "HEAD"}} {
		if _, err := user.Git(ctx, args...); err != nil {
			return nil, err
		}
	}
	return f, nil
}

// stage writes a file and puts it into the index.
func stage(ctx context.Context, user *gitserver.Checkout, name, text string) error {
	if err := (files{name: text}).write(user); err != nil {
		return err
	}
	_, err := user.Git(ctx, "add", "--", name)
	return err
}

// putHook gives a clone a hook that does nothing.
func putHook(user *gitserver.Checkout, name string) error {
	return os.WriteFile(filepath.Join(user.Dir, ".git", "hooks", name), []byte(emptyHook), 0o700) //nolint:gosec // git runs it
}

// guarded is a clone with hooks installed, whose user holds claims.
func (f *field) guarded(ctx context.Context, claims ...string) (*gitserver.Checkout, error) {
	user, err := f.clone(ctx)
	if err != nil {
		return nil, err
	}
	if _, err := (command{user: user, argv: []string{f.binary, "hooks", "install"}}).run(ctx); err != nil {
		return nil, err
	}
	for _, resource := range claims {
		if err := f.claimed(ctx, user, resource); err != nil {
			return nil, err
		}
	}
	return user, nil
}

// preCommit is the hook of a clone in which a file is staged, run as git runs it.
func (f *field) preCommit(name, file string, clone func(context.Context) (*gitserver.Checkout, error)) maker {
	if f.baselines && name != hookEmpty {
		return nobody
	}
	return func(ctx context.Context) (*contender, error) {
		user, err := clone(ctx)
		if err != nil {
			return nil, err
		}
		if err := stage(ctx, user, file, "text\n"); err != nil {
			return nil, err
		}
		c := always(name, command{user: user, argv: []string{"git", "hook", "run", "pre-commit"}})
		return &c, nil
	}
}

// measurePreCommit is what a commit waits for, where no rule is about it and where a claim covers it, more than for an empty hook.
func measurePreCommit(ctx context.Context, b *bench, g group, r *report) error {
	f, err := g.openGoverned(ctx, b, policy)
	if err != nil {
		return err
	}
	unguarded := func(ctx context.Context) (*gitserver.Checkout, error) {
		user, err := f.clone(ctx)
		if err != nil {
			return nil, err
		}
		return user, putHook(user, "pre-commit")
	}
	free := func(ctx context.Context) (*gitserver.Checkout, error) { return f.guarded(ctx) }
	holding := func(ctx context.Context) (*gitserver.Checkout, error) { return f.guarded(ctx, "path:src") }
	contenders, err := f.assemble(ctx, f.preCommit(hookEmpty, "docs/a", unguarded),
		f.preCommit(hookFree, "docs/a", free), f.preCommit(hookCovered, "src/a", holding))
	if err != nil {
		return err
	}
	samples, err := interleave(ctx, contenders, b.rounds, os.Stderr)
	if err != nil {
		return err
	}
	for _, c := range contenders {
		r.times(g.name, c.name, samples[c.name])
		if c.name != hookEmpty {
			r.differences(g.name, c.name+overEmpty, samples[c.name], samples[hookEmpty], func(s sample) time.Duration { return s.took })
		}
	}
	return nil
}

// prePush is what a push of a commit to branches runs.
func (f *field) prePush(user *gitserver.Checkout, commit string, branches ...string) command {
	var refs strings.Builder
	for _, branch := range branches {
		fmt.Fprintf(&refs, "HEAD %s refs/heads/%s %s\n", commit, branch, strings.Repeat("0", len(commit)))
	}
	return command{user: user, argv: []string{f.binary, "hooks", "run", "pre-push", "origin", f.url}, stdin: []byte(refs.String())}
}

// measurePrePush counts what a push asks the remote, by the number of its refs.
func measurePrePush(ctx context.Context, b *bench, g group, r *report) error {
	if b.baselines {
		return nil
	}
	f, err := g.openGoverned(ctx, b, policy)
	if err != nil {
		return err
	}
	user, err := f.guarded(ctx, "task:42")
	if err != nil {
		return err
	}
	commit, err := newCommit(ctx, user, "work")
	if err != nil {
		return err
	}
	const many = 30
	var branches []string
	for i := range many {
		branches = append(branches, fmt.Sprintf("issue/42-part%d", i))
	}
	contenders := []contender{
		always(hookPush, f.prePush(user, commit, branches[0])),
		always(hookPushMany, f.prePush(user, commit, branches...)),
	}
	counts := map[string][]float64{}
	for i := range contenders {
		contenders[i] = b.counting(contenders[i], counts)
	}
	if err := b.contest(ctx, g, r, contenders); err != nil {
		return err
	}
	for _, c := range contenders {
		r.add(g.name, c.name+asked, requests, counts[c.name])
	}
	return nil
}

// counting is a contender whose requests to the http server are counted, once more and untimed before each sample.
func (b *bench) counting(c contender, counts map[string][]float64) contender {
	return contender{c.name, func(ctx context.Context, n int) ([]command, error) {
		commands, err := c.prepare(ctx, n)
		if err != nil {
			return nil, err
		}
		before := len(b.http.Requests())
		for _, cmd := range commands {
			if _, err := cmd.run(ctx); err != nil {
				return nil, err
			}
		}
		if n > 0 { // the first reads records that are new to the clone
			counts[c.name] = append(counts[c.name], float64(len(b.http.Requests())-before))
		}
		return commands, nil
	}}
}

// The size of a large push.
const (
	largePaths = 10_000
	largeRules = 200
)

// measureLargePush is the processor time for a push of many changed paths against many rules, more than git's own to list them.
func measureLargePush(ctx context.Context, b *bench, g group, r *report) error {
	if b.baselines {
		return nil
	}
	f, err := g.openGoverned(ctx, b, largePolicy())
	if err != nil {
		return err
	}
	user, err := f.guarded(ctx, "path:services")
	if err != nil {
		return err
	}
	commit, err := largeCommit(ctx, user)
	if err != nil {
		return err
	}
	argv := []string{"git", "log", "-c", "--raw", "-z", "--no-renames", "--format=%H", commit, "--not", "--remotes=origin", "--"}
	contenders := []contender{always(gitLog, command{user: user, argv: argv}), always(hookLarge, f.prePush(user, commit, "large"))}
	samples, err := interleave(ctx, contenders, b.rounds, os.Stderr)
	if err != nil {
		return err
	}
	spent := func(s sample) time.Duration { return s.processor }
	for _, c := range contenders {
		r.durations(g.name, c.name+processor, samples[c.name], spent)
	}
	r.differences(g.name, hookLarge+processor+overGit, samples[hookLarge], samples[gitLog], spent)
	return nil
}

func largePolicy() string {
	text := "version = 1\n"
	for i := range largeRules {
		kind := []string{"any", "path"}[i%2]
		text += fmt.Sprintf("[[rule]]\npaths = [\"services/s%d/**\", \"*.x%d\", \"!gen/**\"]\nclaim = %q\n", i, i, kind)
	}
	return text
}

// largeCommit makes a commit that adds many files.
func largeCommit(ctx context.Context, user *gitserver.Checkout) (string, error) {
	var stream strings.Builder
	stream.WriteString("commit refs/heads/large\ncommitter Some One <someone@example.com> 1700000000 +0000\ndata 6\nlarge\nfrom refs/remotes/origin/main^0\n")
	for i := range largePaths {
		fmt.Fprintf(&stream, "M 100644 inline services/s%d/internal/part%d/file_%d.go\ndata 1\na\n", i%150, i%70, i)
	}
	argv := []string{"git", "fast-import", "--quiet"}
	if _, err := (command{user: user, argv: argv, stdin: []byte(stream.String())}).run(ctx); err != nil {
		return "", err
	}
	return user.Git(ctx, "rev-parse", "refs/heads/large")
}
