package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"

	"github.com/git-worklease/git-worklease/internal/gitserver"
)

// group is what is measured together, on one repository.
type group struct {
	name string
	// state is that of the repository.
	state state
	// url is where the repository is reached.
	url func(b *bench, r *gitserver.Repo) (string, error)
	// measure adds the group's values to the report.
	measure func(ctx context.Context, b *bench, g group, r *report) error
}

func groups() []group {
	var all []group
	states := []state{few, foreign, fiveThous}
	for _, s := range states {
		all = append(all, group{"http " + string(s), s, overHTTP, measureRemote})
	}
	all = append(all, group{"http few, delayed", few, overDelayedHTTP, measureRemote})
	for _, s := range states {
		all = append(all, group{"ssh " + string(s), s, overSSH, measureSSH})
	}
	for _, s := range states {
		all = append(all, group{"path " + string(s), s, byPath, measureRemote})
	}
	for _, s := range states {
		all = append(all, group{"bytes " + string(s), s, overWire, measureBytes})
	}
	return append(all,
		group{"list 5k claims", fiveThous, overHTTP, measureList},
		group{name: "local", measure: measureLocal},
		group{name: "version", measure: measureVersion},
		group{"pre-commit", few, overHTTP, measurePreCommit},
		group{"pre-push", few, overHTTP, measurePrePush},
		group{"pre-push, large", few, overHTTP, measureLargePush},
		group{"http fenced", few, overHTTP, measureFenced},
		group{"ssh fenced", few, overSSH, measureFencedSSH},
		group{"server hook", few, byPath, measureServerHook},
		group{"queue, 2k tasks", few, overHTTP, measureTasks},
		group{"queue, 10k issues", few, overHTTP, measureIssues},
		group{"queue, 32 agents", few, overHTTP, measureNext})
}

func overHTTP(b *bench, r *gitserver.Repo) (string, error) { return b.http.URL(r.Name), nil }

func overDelayedHTTP(b *bench, r *gitserver.Repo) (string, error) {
	return b.delayed.Through(b.http.URL(r.Name))
}

func overWire(b *bench, r *gitserver.Repo) (string, error) { return b.wire.Through(b.http.URL(r.Name)) }

func overSSH(b *bench, r *gitserver.Repo) (string, error) { return b.ssh.URL(r.Name), nil }

func byPath(_ *bench, r *gitserver.Repo) (string, error) { return r.Dir, nil }

// field is a group's repository while it is measured.
type field struct {
	*bench
	group group
	url   string
	env   []string
}

// open makes the group's repository.
func (g group) open(ctx context.Context, b *bench, env ...string) (*field, error) {
	slug := fmt.Sprintf("r%d", b.users) // short: it is in paths and on the wire
	repo, err := b.repo(ctx, slug, g.state)
	if err != nil {
		return nil, err
	}
	url, err := g.url(b, repo)
	return &field{bench: b, group: g, url: url, env: env}, err
}

// clone is a new user of the group's repository.
func (f *field) clone(ctx context.Context, env ...string) (*gitserver.Checkout, error) {
	return f.user(ctx, f.url, append(f.env[:len(f.env):len(f.env)], env...)...)
}

// contest interleaves the contenders and reports their times.
func (b *bench) contest(ctx context.Context, g group, r *report, contenders []contender) error {
	samples, err := interleave(ctx, contenders, b.rounds, os.Stderr)
	if err != nil {
		return err
	}
	for _, c := range contenders {
		r.times(g.name, c.name, samples[c.name])
	}
	return nil
}

// measureRemote is a claim against stock pushes.
func measureRemote(ctx context.Context, b *bench, g group, r *report) error {
	f, err := g.open(ctx, b)
	if err != nil {
		return err
	}
	contenders, err := f.assemble(ctx, f.claim(claim), f.push(push), f.fetchPush(fetchPush))
	if err != nil {
		return err
	}
	return b.contest(ctx, g, r, contenders)
}

// measureSSH has shared connections besides.
func measureSSH(ctx context.Context, b *bench, g group, r *report) error {
	f, err := g.open(ctx, b, b.ssh.Env()...)
	if err != nil {
		return err
	}
	shared := fmt.Sprintf("GIT_SSH_COMMAND=%s -o ControlMaster=auto -o ControlPersist=10m -o ControlPath='%s'",
		b.ssh.Command(), filepath.Join(b.dir, "%C"))
	contenders, err := f.assemble(ctx, f.claim(claim), f.claim(claimAlone, "WORKLEASE_SSH_PERSIST=off"),
		f.push(push), f.push(pushShared, shared), f.fetchPush(fetchPush))
	if err != nil {
		return err
	}
	return b.contest(ctx, g, r, contenders)
}

// measureList is a listing with and without what the last one left.
func measureList(ctx context.Context, b *bench, g group, r *report) error {
	f, err := g.open(ctx, b)
	if err != nil {
		return err
	}
	cold, err := f.assemble(ctx, f.list(listCold, true), f.list(listWarm, false))
	if err != nil {
		return err
	}
	samples, err := interleave(ctx, cold, b.rounds, os.Stderr)
	if err != nil {
		return err
	}
	for name, s := range samples {
		r.times(g.name, name, s)
		r.memory(g.name, name+peak, s)
	}
	return nil
}

// measureVersion is how long it takes to start.
func measureVersion(ctx context.Context, b *bench, g group, r *report) error {
	user, err := b.user(ctx, "")
	if err != nil {
		return err
	}
	contenders := []contender{always(execPath, command{user: user, argv: []string{"git", "--exec-path"}})}
	if !b.baselines {
		contenders = append(contenders, always(version, command{user: user, argv: []string{b.binary, "version"}}))
	}
	return b.contest(ctx, g, r, contenders)
}
