package backlogmd

import (
	"context"
	"fmt"
	"os"
	"path"
	"slices"
	"strings"
	"time"

	"github.com/git-worklease/git-worklease/providers"
)

// Options are what a [Provider] is made of.
type Options struct {
	// Dir is the top of the work tree. Nothing outside of it is read or written, also where a link leads there.
	Dir string
	// Directory is the project's folder, relative to Dir, with slashes; empty: Dir itself.
	Directory string
	// Open are the statuses of work that nobody has begun; none: the project's first one.
	Open []string
	// Started is the status that a claim announces; empty: one is chosen as the package says.
	Started string
	// Program is the backlog program, a path or a name on PATH, and Env its environment; nil: this process's own. Where Program is empty or is not
	// found, files are edited.
	Program string
	Env     []string
	// Now reads the clock; nil: the system's. What it says is written down as the time of a change.
	Now func() time.Time
}

// Provider is a project of Backlog.md in a work tree. It keeps no file open, and nothing of what it has read but the configuration.
type Provider struct {
	opts   Options
	place  place
	config *config
	states statuses
}

// Open reads the configuration. It returns [providers.ErrUnavailable], wrapped, where there is no project, and a [*providers.BrokenError] for a
// configuration, or options, that make no sense.
func Open(opts Options) (*Provider, error) {
	if opts.Now == nil {
		opts.Now = time.Now
	}
	home := path.Clean(strings.ReplaceAll(opts.Directory, `\`, "/"))
	top, err := os.OpenRoot(opts.Dir)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", providers.ErrUnavailable, err)
	}
	defer top.Close() //nolint:errcheck // nothing was written
	if home != "." && folderBelow(home) == "" {
		return nil, &providers.BrokenError{Where: opts.Directory, Err: errOutside}
	}
	at, conf, err := find(top, home)
	if err != nil {
		return nil, err
	}
	states, err := newStatuses(conf.statuses, opts.Open, opts.Started)
	if err != nil {
		return nil, &providers.BrokenError{Where: at.config, Err: err}
	}
	return &Provider{opts: opts, place: at, config: conf, states: states}, nil
}

// Name is "backlogmd".
func (p *Provider) Name() string { return Name }

// Source is the folder of tasks, such as "backlog/tasks".
func (p *Provider) Source() string { return path.Join(p.place.dir, tasksFolder) }

// List reads all tasks and drafts, and those that were completed. Two files with one ID are a trouble and no item, and so is a file that can't be read.
func (p *Provider) List(ctx context.Context, report func(read, of int)) (*providers.Listing, error) {
	c, err := p.load(ctx, report, tasksFolder, completedFolder, draftsFolder)
	if err != nil {
		return nil, err
	}
	slices.SortFunc(c.tasks, compare)
	l := &providers.Listing{Items: make([]providers.Item, len(c.tasks)), Troubles: c.troubles, Read: p.opts.Now()}
	for i, t := range c.tasks {
		l.Items[i] = t.item
	}
	return l, nil
}

// Read reads one item, also an archived one. It returns a [*providers.BrokenError] where two files have its ID, or where the file that by its name has it
// can't be read.
func (p *Provider) Read(ctx context.Context, key providers.Key) (*providers.Item, error) {
	t, err := p.find(ctx, key)
	if err != nil {
		return nil, err
	}
	return &t.item, nil
}

// find is the task of a key, with the state of what it needs. The archive is asked last, since its IDs are used again.
func (p *Provider) find(ctx context.Context, key providers.Key) (*task, error) {
	id, err := p.idOf(key)
	if err != nil {
		return nil, err
	}
	for _, folders := range [][]string{{tasksFolder, completedFolder, draftsFolder}, {archiveFolder, archiveDraftsFolder}} {
		c, err := p.load(ctx, nil, folders...)
		if err != nil {
			return nil, err
		}
		if i := slices.IndexFunc(c.tasks, func(t *task) bool { return t.id == id }); i >= 0 {
			return c.tasks[i], nil
		}
		if err := c.broken[id]; err != nil {
			return nil, err
		}
	}
	return nil, fmt.Errorf("%s: %w", key, providers.ErrNotFound)
}
