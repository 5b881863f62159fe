package main

import (
	"context"
	"os"
	"time"

	"github.com/git-worklease/git-worklease/internal/gitserver"
)

// measureFenced is a push of a branch together with a claim's renewal against stock git's push of the branch, both with a pre-push hook that does nothing.
func measureFenced(ctx context.Context, b *bench, g group, r *report) error {
	return g.contestFence(ctx, b, r)
}

// measureFencedSSH is the same over ssh.
func measureFencedSSH(ctx context.Context, b *bench, g group, r *report) error {
	return g.contestFence(ctx, b, r, b.ssh.Env()...)
}

func (g group) contestFence(ctx context.Context, b *bench, r *report, env ...string) error {
	f, err := g.open(ctx, b, env...)
	if err != nil {
		return err
	}
	contenders, err := f.assemble(ctx, f.pushBranch(pushAtomic, "stock"), f.pushBranch(fenced, "fenced"))
	if err != nil {
		return err
	}
	return b.contest(ctx, g, r, contenders)
}

// pushBranch is a push of one more commit of a branch.
func (f *field) pushBranch(name, branch string) maker {
	if f.baselines && name == fenced {
		return nobody
	}
	return func(ctx context.Context) (*contender, error) {
		user, err := f.clone(ctx)
		if err != nil {
			return nil, err
		}
		if err := putHook(user, "pre-push"); err != nil {
			return nil, err
		}
		argv := []string{"git", "push", "--atomic", "origin", "HEAD:refs/heads/" + branch}
		if name == fenced {
			argv = []string{f.binary, "push", "origin", "HEAD:refs/heads/" + branch}
			if err := f.claimed(ctx, user, "task:"+branch); err != nil {
				return nil, err
			}
		}
		prepare := func(ctx context.Context, n int) ([]command, error) {
			_, err := user.Git(ctx, "commit", "--quiet", "--allow-empty", "-m", filler(resource(name, n)))
			return []command{{user: user, argv: argv}}, err
		}
		return &contender{name, prepare}, nil
	}
}

// measureServerHook is the processor time that the hooks of a server take for one claim: what it takes more, the server's processes included, than where
// there are none. The server is reached by its path, so that its processes are the client's.
func measureServerHook(ctx context.Context, b *bench, g group, r *report) error {
	if b.baselines {
		return nil
	}
	plain, err := g.open(ctx, b)
	if err != nil {
		return err
	}
	contenders, err := plain.assemble(ctx, plain.claim(bare))
	if err != nil {
		return err
	}
	strict, err := g.open(ctx, b)
	if err != nil {
		return err
	}
	admin, err := b.user(ctx, "")
	if err != nil {
		return err
	}
	install := command{user: &gitserver.Checkout{Dir: strict.url, Env: admin.Env}, argv: []string{b.binary, "hooks", "install", "--server"}}
	if _, err := install.run(ctx); err != nil {
		return err
	}
	more, err := strict.assemble(ctx, strict.claim(judged))
	if err != nil {
		return err
	}
	samples, err := interleave(ctx, append(contenders, more...), b.rounds, os.Stderr)
	if err != nil {
		return err
	}
	spent := func(s sample) time.Duration { return s.processor }
	r.durations(g.name, bare+processor, samples[bare], spent)
	r.durations(g.name, judged+processor, samples[judged], spent)
	r.differences(g.name, serverHook+processor, samples[judged], samples[bare], spent)
	return nil
}
