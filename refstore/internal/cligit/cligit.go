// Package cligit carries records through the system's git, by `git push`, `git fetch` and `git ls-remote`: slower than the other transports,
// but at home with every scheme, helper, object format and setting that git itself knows.
//
// Commands run in a bare repository of ours, which holds objects and no refs, so that nothing of the user's repository is read or
// written; the settings that matter to a connection are handed over from there (see settings.go). What the server said of itself, and
// whether a request left at all, is taken from git's own packet trace (see trace.go); it is only ever used to be more certain that
// nothing was sent.
package cligit

import (
	"context"
	"errors"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/git-worklease/git-worklease/internal/gitexec"
	"github.com/git-worklease/git-worklease/refstore"
	"github.com/git-worklease/git-worklease/refstore/internal/localgit/objects"
)

// Options says what to reach, and how.
type Options struct {
	// URL is the remote's, rewritten by git's rules already. It is not rewritten again.
	URL string
	// Git runs git in the user's repository, or outside of any; nil: the one on PATH.
	Git *gitexec.Git
	// Config is the configuration as it holds there; nil: it is read when needed.
	Config *gitexec.Config
	// Dir is where the bare repository is kept, absolute; its objects are a cache. Neither it nor the folders above need exist. That
	// of a SHA-256 remote is beside it, with "-sha256" appended.
	Dir string
	// Known is what is known of the server.
	Known refstore.Server
	// Now is the wall clock, which stamps what is learned.
	Now func() time.Time
}

// New makes the transport. It touches nothing.
func New(o Options) refstore.Transport {
	if o.Git == nil {
		o.Git = &gitexec.Git{}
	}
	return &transport{o: o, server: o.Known}
}

type transport struct {
	o Options

	mu       sync.Mutex
	server   refstore.Server
	settings []setting // handed over; nil until gathered
}

func (t *transport) Server() refstore.Server {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.server
}

// Skew is never known: git does not tell the server's Date.
func (t *transport) Skew() (time.Duration, bool) { return 0, false }

func (t *transport) Close() error { return nil }

// learn keeps what a trace tells of the server.
func (t *transport) learn(tr *trace) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if tr.format != "" {
		t.server.Format = tr.format
	}
	if tr.version2 {
		t.server.ReadV2 = true
	}
	if tr.advertised != nil {
		t.server.Known, t.server.Atomic, t.server.Agent = t.o.Now(), tr.atomic, tr.agent
	}
}

// format is the remote's object format as far as it is known.
func (t *transport) format() refstore.Format {
	if f := t.Server().Format; f != "" {
		return f
	}
	return refstore.SHA1
}

// repo is the bare repository for objects of one format.
type repo struct {
	dir     string
	objects objects.Dir
}

func (t *transport) repo(f refstore.Format) (*repo, error) {
	dir := t.o.Dir
	if f == refstore.SHA256 {
		dir += "-sha256"
	}
	r := &repo{dir: dir, objects: objects.Dir{Path: filepath.Join(dir, "objects"), Format: f}}
	return r, r.create(t.o.Now())
}

// trouble tells of a failure before anything was sent.
func (t *transport) trouble(ctx context.Context, err error) *refstore.UnavailableError {
	u := &refstore.UnavailableError{URL: gitexec.Redact(t.o.URL), Trouble: refstore.TroubleLocal, Err: err}
	var failure *gitexec.Error
	if errors.As(err, &failure) && failure.Code >= 0 {
		u.Trouble = classify(failure.Stderr)
	}
	if cause := context.Cause(ctx); cause != nil {
		u.Trouble, u.Err = refstore.TroubleDeadline, cause
	}
	return u
}

// classify sorts trouble by git's untranslated words. That decides what people are told, and whether to try again.
func classify(words string) refstore.Trouble {
	says := func(some ...string) bool {
		for _, s := range some {
			if strings.Contains(words, s) {
				return true
			}
		}
		return false
	}
	switch {
	case says("Authentication failed", "could not read Username", "could not read Password", "Permission denied", "Host key verification failed", "error: 401"):
		return refstore.TroubleAuth
	case says("error: 403"):
		return refstore.TroubleDenied
	case says("error: 429", "error: 500", "error: 502", "error: 503", "error: 504", "kex_exchange_identification"):
		return refstore.TroubleBusy
	case says("not found", "does not appear to be a git repository", "does not exist", "error: 404", "not exported"):
		return refstore.TroubleNotFound
	}
	return refstore.TroubleNetwork
}
