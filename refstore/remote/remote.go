// Package remote opens the store of a URL: it chooses what carries it, and falls back to the system's git for whatever the transports in
// this process can't do.
package remote

import (
	"context"
	"path/filepath"
	"time"

	"github.com/git-worklease/git-worklease/internal/gitexec"
	"github.com/git-worklease/git-worklease/refstore"
	"github.com/git-worklease/git-worklease/refstore/internal/cligit"
	"github.com/git-worklease/git-worklease/refstore/internal/httpgit"
	"github.com/git-worklease/git-worklease/refstore/internal/localgit"
	"github.com/git-worklease/git-worklease/refstore/internal/pathgit"
	"github.com/git-worklease/git-worklease/refstore/internal/sshgit"
)

// Options are where the store is and what it may use.
type Options struct {
	// URL is where git would push, rewritten by its rules already.
	URL string
	// Git runs git in the user's repository, or outside of any: credentials and settings are what hold there.
	Git *gitexec.Git
	// Config is git's configuration there.
	Config *gitexec.Config
	// Dir is a folder for what is kept between processes: records, and the fallback's objects. It must exist when something is to be kept.
	Dir string
	// Known is what is known of the server.
	Known refstore.Server
	// Now is the wall clock. It is compared with the server's Date.
	Now func() time.Time
	// ThroughGit makes the system's git carry everything.
	ThroughGit bool
	// Through, where it is set, is told why the system's git carries everything, when that is decided; it may be so before anything is sent.
	Through func(why string)
	// Early is the prefix of refs that will most likely be written at once: what takes time and can be done before that is begun when the store is opened.
	// Empty: nothing is.
	Early string
	// UploadPack and ReceivePack are the programs at an ssh server; empty: git's own names.
	UploadPack, ReceivePack string
	// SSHPersist is how long a shared ssh connection stays open; 0: none is shared.
	SSHPersist time.Duration
	// RuntimeDir is the user's folder for sockets, $XDG_RUNTIME_DIR; empty: there is none.
	RuntimeDir string
	// Store has what else a store needs. Its cache is set here.
	Store refstore.Options
}

// Open makes the store of a URL. Nothing is sent, and nothing read unless Early is set.
func Open(o Options) refstore.Store {
	o.Store.Cache = refstore.OpenCache(filepath.Join(o.Dir, "records"))
	return refstore.New(o.transport(), o.Store)
}

// OpenLocal makes the store of a clone without a remote: a bare repository at dir, which need not exist.
func OpenLocal(dir string, o Options) refstore.Store {
	return refstore.New(localgit.New(localgit.Options{Dir: dir, Git: o.Git, Early: o.Early != "", Now: o.Now}), o.Store)
}

func (o *Options) transport() refstore.Transport {
	first, why := o.inProcess()
	if first == nil {
		o.through(why)
		return o.throughGit()
	}
	return &fallback{current: first, second: func(why error) refstore.Transport {
		o.through(why.Error())
		return o.throughGit()
	}}
}

func (o *Options) through(why string) {
	if o.Through != nil {
		o.Through(why)
	}
}

// inProcess is the transport of this process for the URL, or nil and why there is none.
func (o *Options) inProcess() (t refstore.Transport, why string) {
	switch {
	case o.ThroughGit:
		return nil, "a setting asks for it"
	case o.Known.Format == refstore.SHA256:
		return nil, "the repository's object format is sha256"
	}
	switch gitexec.KindOf(o.URL) {
	case gitexec.KindHTTP:
		if setting, bad := httpgit.Unsupported(o.Config, o.URL); bad {
			return nil, setting + " is set"
		}
		return httpgit.New(httpgit.Options{URL: o.URL, Git: o.Git, Config: o.Config, Known: o.Known, Now: o.Now}), ""
	case gitexec.KindSSH:
		return sshgit.New(o.ssh()), ""
	case gitexec.KindPath, gitexec.KindFile:
		return pathgit.New(pathgit.Options{URL: o.URL, Git: o.Git, Known: o.Known, Now: o.Now}), ""
	default:
		return nil, "git alone knows this kind of URL"
	}
}

func (o *Options) ssh() sshgit.Options {
	return sshgit.Options{
		URL: o.URL, Git: o.Git, Config: o.Config, UploadPack: o.UploadPack, ReceivePack: o.ReceivePack,
		Early: o.Early, Persist: o.SSHPersist, RuntimeDir: o.RuntimeDir, Known: o.Known, Now: o.Now,
	}
}

// Sharing describes the connection that calls over ssh share.
type Sharing = sshgit.Sharing

// DescribeSharing finds out whether calls to an ssh URL would share a connection. It opens none.
func DescribeSharing(ctx context.Context, o Options) (Sharing, error) {
	return sshgit.Describe(ctx, o.ssh())
}

// Ride is an environment in which git itself pushes to the URL over the ssh connection that calls share, for a short call: nil where there is none. done is to
// be called when that has ended. Nothing is opened.
func Ride(ctx context.Context, o Options) (env []string, done func()) {
	if o.ThroughGit || gitexec.KindOf(o.URL) != gitexec.KindSSH {
		return nil, func() {}
	}
	return sshgit.Ride(ctx, o.ssh())
}

func (o *Options) throughGit() refstore.Transport {
	return cligit.New(cligit.Options{URL: o.URL, Git: o.Git, Config: o.Config, Dir: filepath.Join(o.Dir, "store.git"), Known: o.Known, Now: o.Now})
}
