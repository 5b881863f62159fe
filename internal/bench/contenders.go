package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/git-worklease/git-worklease/internal/gitserver"
)

// maker makes a contender; nil where it is not wanted.
type maker func(ctx context.Context) (*contender, error)

// assemble makes the contenders that are wanted.
func (b *bench) assemble(ctx context.Context, makers ...maker) ([]contender, error) {
	var contenders []contender
	for _, make := range makers {
		c, err := make(ctx)
		if err != nil {
			return nil, err
		}
		if c != nil {
			contenders = append(contenders, *c)
		}
	}
	return contenders, nil
}

// nobody is the maker of what is not wanted.
func nobody(context.Context) (*contender, error) { return nil, nil } //nolint:nilnil // see maker

// always is a contender whose samples are all the same command.
func always(name string, cmd command) contender {
	return contender{name, func(context.Context, int) ([]command, error) { return []command{cmd}, nil }}
}

// claim is git-worklease's claim of a new resource, in a clone of its own.
func (f *field) claim(name string, env ...string) maker {
	if f.baselines {
		return nobody
	}
	return func(ctx context.Context) (*contender, error) {
		user, err := f.clone(ctx, env...)
		if err != nil {
			return nil, err
		}
		prepare := func(_ context.Context, n int) ([]command, error) {
			return []command{{user: user, argv: []string{f.binary, "claim", resource(name, n)}}}, nil
		}
		return &contender{name, prepare}, nil
	}
}

// list is a listing of everything: cold with a state folder of its own each time.
func (f *field) list(name string, cold bool) maker {
	if f.baselines {
		return nobody
	}
	return func(ctx context.Context) (*contender, error) {
		user, err := f.clone(ctx)
		if err != nil {
			return nil, err
		}
		prepare := func(_ context.Context, n int) ([]command, error) {
			cmd := command{user: user, argv: []string{f.binary, "list"}}
			if cold {
				cmd.env = []string{"WORKLEASE_STATE_DIR=" + filepath.Join(user.Home, fmt.Sprint("state-", n))}
			}
			return []command{cmd}, nil
		}
		return &contender{name, prepare}, nil
	}
}

// push is stock git's push of one prepared commit to a new ref, in a clone of its own.
func (f *field) push(name string, env ...string) maker {
	return func(ctx context.Context) (*contender, error) {
		user, err := f.clone(ctx, env...)
		if err != nil {
			return nil, err
		}
		prepare := func(ctx context.Context, n int) ([]command, error) {
			cmd, err := f.pushOne(ctx, user, resource(name, n))
			return []command{cmd}, err
		}
		return &contender{name, prepare}, nil
	}
}

// fetchPush is a look at all claims and then the push. The clone has seen the earlier claims, and has packed its refs.
func (f *field) fetchPush(name string, env ...string) maker {
	return func(ctx context.Context) (*contender, error) {
		user, err := f.clone(ctx, env...)
		if err != nil {
			return nil, err
		}
		fetch := command{user: user, argv: []string{"git", "fetch", f.url, "+refs/worklease/*:refs/x/*"}}
		if _, err := fetch.run(ctx); err != nil {
			return nil, err
		}
		if _, err := user.Git(ctx, "pack-refs", "--all"); err != nil {
			return nil, err
		}
		prepare := func(ctx context.Context, n int) ([]command, error) {
			cmd, err := f.pushOne(ctx, user, resource(name, n))
			return []command{fetch, cmd}, err
		}
		return &contender{name, prepare}, nil
	}
}

// pushOne prepares a commit of a record's size and returns the push of it.
func (f *field) pushOne(ctx context.Context, user *gitserver.Checkout, resource string) (command, error) {
	commit, err := newCommit(ctx, user, resource)
	if err != nil {
		return command{}, err
	}
	ref := "refs/worklease/claims/" + strings.NewReplacer(":", "%3a", " ", "-").Replace(resource)
	return command{user: user, argv: []string{"git", "push", "--atomic", "--force-with-lease=" + ref + ":", f.url, commit + ":" + ref}}, nil
}

// recordSize is about that of a lease.
const recordSize = 700

// newCommit makes a commit with the empty tree in the user's repository.
func newCommit(ctx context.Context, user *gitserver.Checkout, subject string) (string, error) {
	tree, err := user.Git(ctx, "hash-object", "-t", "tree", "-w", os.DevNull)
	if err != nil {
		return "", err
	}
	return user.Git(ctx, "commit-tree", "-m", "claim "+subject, "-m", filler(subject), tree)
}

// filler is text that does not compress to nothing.
func filler(seed string) string {
	var b strings.Builder
	x := uint32(2166136261)
	for i := 0; b.Len() < recordSize; i++ {
		x = (x ^ uint32(seed[i%len(seed)])) * 16777619
		fmt.Fprintf(&b, "%08x", x)
	}
	return b.String()
}

// resource is a name that no other sample has.
func resource(contender string, n int) string {
	short := strings.NewReplacer(" ", "-", ",", "", "+", "and").Replace(contender)
	return fmt.Sprintf("task:%s-%d", short, n)
}
