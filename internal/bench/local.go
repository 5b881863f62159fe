package main

import (
	"context"
	"os/exec"
	"path/filepath"

	"github.com/git-worklease/git-worklease/internal/gitserver"
)

// measureLocal is claims without a remote against what git itself needs to write one ref.
func measureLocal(ctx context.Context, b *bench, g group, r *report) error {
	user, err := b.user(ctx, "")
	if err != nil {
		return err
	}
	if _, err := user.Git(ctx, "init", "--quiet"); err != nil {
		return err
	}
	contenders := []contender{b.updateRef(user)}
	if program, err := exec.LookPath("flock"); err == nil {
		argv := []string{program, filepath.Join(user.Home, "lock"), "true"}
		contenders = append(contenders, always(flock, command{user: user, argv: argv}))
	}
	if !b.baselines {
		ours, err := b.localClaims(ctx, user)
		if err != nil {
			return err
		}
		contenders = append(contenders, ours...)
	}
	return b.contest(ctx, g, r, contenders)
}

// updateRef is the creation of one ref to a prepared commit.
func (b *bench) updateRef(user *gitserver.Checkout) contender {
	return contender{updateRef, func(ctx context.Context, n int) ([]command, error) {
		commit, err := newCommit(ctx, user, resource(updateRef, n))
		argv := []string{"git", "update-ref", "refs/x/" + commit, commit, ""}
		return []command{{user: user, argv: argv}}, err
	}}
}

// localClaims are a claim that is granted and one that is refused.
func (b *bench) localClaims(ctx context.Context, user *gitserver.Checkout) ([]contender, error) {
	const held = "task:held"
	if err := b.claimed(ctx, user, held, "WORKLEASE_SESSION=rival"); err != nil {
		return nil, err
	}
	granted := func(_ context.Context, n int) ([]command, error) {
		return []command{{user: user, argv: []string{b.binary, "claim", resource(claim, n)}}}, nil
	}
	const exitRefused = 3
	return []contender{
		{claim, granted},
		always(refused, command{user: user, argv: []string{b.binary, "claim", held}, want: exitRefused}),
	}, nil
}
