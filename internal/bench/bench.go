package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/git-worklease/git-worklease/internal/gitserver"
)

// delay is what the proxy adds each way.
const delay = 20 * time.Millisecond

// bench is the servers and what they serve.
type bench struct {
	*options
	dir     string
	repos   *gitserver.Repos
	http    *gitserver.HTTPServer
	ssh     *gitserver.SSHServer
	delayed *gitserver.Proxy
	wire    *gitserver.Proxy
	// templates are repositories in a state, made when first wanted and copied for each group.
	templates map[state]*gitserver.Repo
	users     int
}

// newBench starts the servers.
func newBench(ctx context.Context, o *options, dir string) (*bench, error) {
	b := &bench{options: o, dir: dir, templates: map[state]*gitserver.Repo{}}
	if err := b.start(ctx); err != nil {
		b.close()
		return nil, err
	}
	return b, nil
}

func (b *bench) start(ctx context.Context) error {
	var err error
	if b.repos, err = gitserver.NewRepos(filepath.Join(b.dir, "repos")); err != nil {
		return err
	}
	if b.http, err = gitserver.StartHTTP(ctx, gitserver.HTTPOptions{Repos: b.repos}); err != nil {
		return err
	}
	sshDir := filepath.Join(b.dir, "sshd")
	if err = os.Mkdir(sshDir, 0o700); err != nil {
		return err
	}
	if b.ssh, err = gitserver.StartSSH(ctx, sshDir, gitserver.SSHOptions{Repos: b.repos}); err != nil {
		return err
	}
	if b.delayed, err = gitserver.StartProxy(ctx, b.http.Addr(), gitserver.ProxyOptions{Delay: delay}); err != nil {
		return err
	}
	b.wire, err = gitserver.StartProxy(ctx, b.http.Addr(), gitserver.ProxyOptions{})
	return err
}

func (b *bench) close() {
	if b.wire != nil {
		_ = b.wire.Close()
	}
	if b.delayed != nil {
		_ = b.delayed.Close()
	}
	if b.ssh != nil {
		_ = b.ssh.Close()
	}
	if b.http != nil {
		_ = b.http.Close()
	}
}

// repo is a fresh repository in the given state.
func (b *bench) repo(ctx context.Context, name string, s state) (*gitserver.Repo, error) {
	template := b.templates[s]
	if template == nil {
		var err error
		if template, err = s.build(ctx, b.repos); err != nil {
			return nil, fmt.Errorf("state %s: %w", s, err)
		}
		b.templates[s] = template
	}
	repo := b.repos.Repo(name)
	if err := os.CopyFS(repo.Dir, os.DirFS(template.Dir)); err != nil {
		return nil, err
	}
	return repo, nil
}

// user is a new user with a clone of url, or without a repository where url is empty. All share a folder for sockets.
func (b *bench) user(ctx context.Context, url string, env ...string) (*gitserver.Checkout, error) {
	b.users++
	dir := filepath.Join(b.dir, fmt.Sprint("u", b.users))
	env = append([]string{"XDG_RUNTIME_DIR=" + b.dir}, env...)
	if url == "" {
		return gitserver.NewUser(dir, env...)
	}
	return gitserver.NewClone(ctx, dir, url, env...)
}

// errNothing is returned where --only matches no group.
var errNothing = errors.New("no group of that name")

// measure runs all groups that are wanted.
func (b *bench) measure(ctx context.Context) (*report, error) {
	r := newReport(ctx, b.rounds)
	for _, g := range groups() {
		if !b.only.MatchString(g.name) {
			continue
		}
		fmt.Fprintf(os.Stderr, "%-18s", g.name)
		if err := g.measure(ctx, b, g, r); err != nil {
			fmt.Fprintln(os.Stderr)
			return nil, fmt.Errorf("%s: %w", g.name, err)
		}
		fmt.Fprintln(os.Stderr)
	}
	if len(r.Values) == 0 {
		return nil, errNothing
	}
	return r, nil
}
