// Package localgit carries records to a bare repository of the clone's own, which is the authority where there is no remote.
//
// Refs are changed by one transaction of `git update-ref`, which decides every swap; nothing else ever writes them. They are read in this
// process where git keeps them in plain files, otherwise through git. Objects are written and read by package objects. The repository is
// created by the first push.
//
// The clock of every writer is this machine's.
package localgit

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"time"

	"github.com/git-worklease/git-worklease/internal/gitexec"
	"github.com/git-worklease/git-worklease/refstore"
	"github.com/git-worklease/git-worklease/refstore/internal/localgit/objects"
)

// Options says where the repository is.
type Options struct {
	// Dir is the bare repository, absolute. Neither it nor the folders above need exist.
	Dir string
	// Git runs git; nil: the one on PATH. Its directory and the variables that bind git to a repository are not used.
	Git *gitexec.Git
	// Early says that a push is most likely the next thing to come: git is then started at once, where there is a repository.
	Early bool
	// Now is the wall clock, which stamps what is known of the server.
	Now func() time.Time
}

// url stands in errors for the repository's path, which nobody typed.
const url = "local repository"

// New makes the transport. It touches nothing, unless it is to be early.
func New(o Options) refstore.Transport {
	if o.Git == nil {
		o.Git = &gitexec.Git{}
	}
	t := &transport{
		dir:     o.Dir,
		git:     private(o.Git),
		known:   o.Now(),
		objects: objects.Dir{Path: filepath.Join(o.Dir, "objects"), Format: refstore.SHA1},
	}
	if _, err := t.look(); o.Early && err == nil {
		t.early.start(t.launch)
	}
	return t
}

type transport struct {
	dir     string
	git     *gitexec.Git
	known   time.Time
	objects objects.Dir
	early   early
}

// Server is known without asking: the repository is ours.
func (t *transport) Server() refstore.Server {
	return refstore.Server{Known: t.known, Atomic: true, Format: refstore.SHA1}
}

// Skew is nothing, and known: writers and readers share a clock.
func (t *transport) Skew() (time.Duration, bool) { return 0, true }

func (t *transport) Close() error {
	t.early.drop()
	return nil
}

func (t *transport) Commits(ctx context.Context, wants []refstore.OID, depth int) ([]refstore.Object, error) {
	if _, err := t.look(); err != nil {
		if errors.Is(err, os.ErrNotExist) {
			return nil, nil
		}
		return nil, t.trouble(ctx, err)
	}
	r := t.objects.NewReader(t.catFile(ctx))
	found, _, err := r.Walk(ctx, wants, depth)
	closed := r.Close()
	if err != nil {
		return nil, t.trouble(ctx, err)
	}
	if closed != nil {
		return nil, t.trouble(ctx, closed)
	}
	return found, nil
}

// trouble tells of something that failed before anything was asked for.
func (t *transport) trouble(ctx context.Context, err error) error {
	u := &refstore.UnavailableError{URL: url, Trouble: refstore.TroubleLocal, Err: err}
	if cause := context.Cause(ctx); cause != nil {
		u.Trouble, u.Err = refstore.TroubleDeadline, cause
	}
	return u
}
