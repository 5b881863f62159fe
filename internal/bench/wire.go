package main

import (
	"context"

	"github.com/git-worklease/git-worklease/internal/gitserver"
)

// byteRounds is enough: what goes over the wire hardly differs.
const byteRounds = 3

// measureBytes counts what goes over the wire, both ways, headers included, once the server is known.
func measureBytes(ctx context.Context, b *bench, g group, r *report) error {
	f, err := g.open(ctx, b)
	if err != nil {
		return err
	}
	contenders, err := f.assemble(ctx, f.claim(claim), f.status(status), f.push(push))
	if err != nil {
		return err
	}
	for _, c := range contenders {
		var counts []float64
		for n := range byteRounds + 1 {
			commands, err := c.prepare(ctx, n)
			if err != nil {
				return err
			}
			count, err := b.count(ctx, commands)
			if err != nil {
				return err
			}
			if n > 0 {
				counts = append(counts, float64(count))
			}
		}
		r.add(g.name, c.name, bytesOnWire, counts)
	}
	return nil
}

// count runs the commands and returns the bytes that went through the proxy meanwhile.
func (b *bench) count(ctx context.Context, commands []command) (int64, error) {
	before := b.wire.Traffic()
	for _, cmd := range commands {
		if _, err := cmd.run(ctx); err != nil {
			return 0, err
		}
	}
	return b.wire.Traffic().Sub(before).Bytes(), nil
}

// status asks for a resource that another user claimed just before.
func (f *field) status(name string) maker {
	if f.baselines {
		return nobody
	}
	return func(ctx context.Context) (*contender, error) {
		rival, err := f.clone(ctx)
		if err != nil {
			return nil, err
		}
		user, err := f.clone(ctx)
		if err != nil {
			return nil, err
		}
		prepare := func(ctx context.Context, n int) ([]command, error) {
			err := f.claimed(ctx, rival, resource(name, n))
			return []command{{user: user, argv: []string{f.binary, "status", resource(name, n)}}}, err
		}
		return &contender{name, prepare}, nil
	}
}

// claimed claims a resource, untimed.
func (b *bench) claimed(ctx context.Context, user *gitserver.Checkout, resource string, env ...string) error {
	_, err := command{user: user, argv: []string{b.binary, "claim", resource}, env: env}.run(ctx)
	return err
}
