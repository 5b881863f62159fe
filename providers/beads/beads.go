package beads

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"time"

	"github.com/git-worklease/git-worklease/internal/gitexec"
	"github.com/git-worklease/git-worklease/providers"
)

// name is the provider's, and the scheme of its keys.
const name = "beads"

// Settings are the policy's table [providers.beads].
type Settings struct {
	// Prefixes are what the project's IDs begin with, without the hyphen that follows; none: they are looked for in .beads.
	Prefixes []string `toml:"prefixes"`
	// FileOnly has the export read where bd is installed as well.
	FileOnly bool `toml:"file_only"`
}

// Options are what a provider is made of.
type Options struct {
	Settings
	// Dir is the top of the work tree.
	Dir string
	// Program is the path of bd; empty: bd on PATH, if it is there. It must not come from the repository.
	Program string
	// Env is bd's environment; nil: the process's own.
	Env []string
	// Now is the clock that issues are put off by; nil: the system's.
	Now func() time.Time
	// Timeout is how long bd may take for an answer; zero: 30 s.
	Timeout time.Duration
}

// Provider is the issues of one work tree.
type Provider struct {
	dir, program string
	env          []string
	now          func() time.Time
	timeout      time.Duration
	maxAnswer    int
	// prefixes are as the project spells them.
	prefixes []string
}

var (
	_ providers.Planner  = (*Provider)(nil)
	_ providers.Finisher = (*Provider)(nil)
)

// Open finds out how issues can be read and what their IDs begin with. It runs nothing, and reads of the issues at most the first. It returns a
// [*providers.BrokenError] for settings that can't be read.
func Open(opts Options) (*Provider, error) {
	p := &Provider{dir: opts.Dir, program: opts.Program, env: opts.Env, now: opts.Now, timeout: opts.Timeout, maxAnswer: maxAnswer}
	if p.now == nil {
		p.now = time.Now
	}
	if p.timeout == 0 {
		p.timeout = 30 * time.Second
	}
	if p.env == nil {
		p.env = os.Environ()
	}
	// A hook's variables would have bd look at the repository of the hook.
	p.env = gitexec.Unbound(p.env)
	switch {
	case opts.FileOnly:
		p.program = ""
	case p.program == "":
		if path, err := exec.LookPath("bd"); err == nil {
			p.program = path
		}
	}
	var err error
	p.prefixes, err = prefixes(opts)
	if err != nil {
		return nil, err
	}
	return p, nil
}

// Name is "beads".
func (p *Provider) Name() string { return name }

// Source is the export's name, or bd's.
func (p *Provider) Source() string {
	if p.program == "" {
		return exportFile
	}
	return "bd"
}

// List reads all issues, closed ones as well: what waits for them must know. The order is by priority, then by age, the oldest first.
func (p *Provider) List(ctx context.Context, report func(read, of int)) (*providers.Listing, error) {
	g, err := p.all(ctx)
	if err != nil {
		return nil, err
	}
	l := &providers.Listing{Items: g.items(), Troubles: g.troubles.list(), Read: p.now()}
	if report != nil {
		report(len(l.Items), len(l.Items))
	}
	return l, nil
}

// all reads all issues.
func (p *Provider) all(ctx context.Context) (*graph, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	read := p.listFile
	if p.program != "" {
		read = p.listProgram
	}
	entries, t, err := read(ctx)
	if err != nil {
		return nil, err
	}
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	return newGraph(entries, t, p.ours, p.now()), nil
}

// Read reads one issue: alone where what it waits for can be told from that, and with all others where that hangs on its parents or on another's children.
func (p *Provider) Read(ctx context.Context, key providers.Key) (*providers.Item, error) {
	id, err := p.id(key)
	if err != nil {
		return nil, err
	}
	if p.program != "" {
		r, err := p.show(ctx, id)
		if err != nil {
			return nil, err
		}
		if r != nil && r.alone() {
			item := newGraph([]entry{{record: r}}, nil, p.ours, p.now()).items()[0]
			return &item, nil
		}
	}
	g, r, err := p.find(ctx, id)
	if err != nil {
		return nil, err
	}
	item := g.item(r)
	return &item, nil
}

// find reads all issues, and picks one.
func (p *Provider) find(ctx context.Context, id string) (*graph, *record, error) {
	g, err := p.all(ctx)
	if err != nil {
		return nil, nil, err
	}
	if r := g.byID[id]; r != nil {
		return g, r, nil
	}
	if n := g.troubles.count(); n > 0 {
		return nil, nil, fmt.Errorf("%s: %w; %d others could not be read, the first: %w", id, providers.ErrNotFound, n, g.troubles.first())
	}
	return nil, nil, fmt.Errorf("%s: %w", id, providers.ErrNotFound)
}

// record reads one issue, exactly the one asked for: bd takes a part of an ID for the whole, which is nothing to write by.
func (p *Provider) record(ctx context.Context, key providers.Key) (*record, error) {
	id, err := p.id(key)
	if err != nil {
		return nil, err
	}
	r, err := p.show(ctx, id)
	if r == nil && err == nil {
		_, r, err = p.find(ctx, id)
	}
	return r, err
}
