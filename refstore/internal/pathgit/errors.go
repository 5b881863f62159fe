package pathgit

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/git-worklease/git-worklease/internal/gitexec"
	"github.com/git-worklease/git-worklease/refstore"
	"github.com/git-worklease/git-worklease/refstore/internal/gitwire"
)

func (t *transport) unavailable(trouble refstore.Trouble, sent bool, err error) error {
	return &refstore.UnavailableError{URL: t.options.URL, Trouble: trouble, Sent: sent, Err: err}
}

// notStarted is for a process that could not be started.
func (t *transport) notStarted(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return t.unavailable(refstore.TroubleDeadline, false, err)
	}
	return t.unavailable(refstore.TroubleLocal, false, err)
}

// failed ends an exchange that err broke. Where the process just went away, its exit says more than err. sent says that
// a write was begun.
func (t *transport) failed(ctx context.Context, p *process, sent bool, err error) error {
	ended := p.finish()
	trouble := gitwire.Trouble(ctx, err)
	if trouble != refstore.TroubleNetwork {
		return t.unavailable(trouble, sent, err)
	}
	var exit *gitexec.Error
	if !errors.As(ended, &exit) {
		return t.unavailable(refstore.TroubleLocal, sent, err)
	}
	trouble = whyNot(t.options.Git.Dir, t.path, exit.Stderr)
	if trouble != refstore.TroubleLocal {
		// Git gave up by itself, so it never opened it; ended in any other way, it may have been there a moment ago.
		return t.unavailable(trouble, sent && exit.Code != exitGaveUp, exit)
	}
	if !sent {
		if err := t.checkFormat(ctx); err != nil {
			return err
		}
	}
	if exit.Stderr == "" {
		return t.unavailable(trouble, sent, errors.Join(err, exit))
	}
	return t.unavailable(trouble, sent, exit)
}

// exitGaveUp is the status of a git that can't go on.
const exitGaveUp = 128

// checkFormat asks for the repository's object format, since git does not say in words for programs that it is another.
func (t *transport) checkFormat(ctx context.Context) error {
	p, err := t.start(ctx, reader)
	if err != nil {
		return nil //nolint:nilerr // the caller has a better error
	}
	advert, err := gitwire.ReadAdvert(p.answer, nil)
	p.hangUp()
	if err != nil {
		return nil //nolint:nilerr // likewise
	}
	return gitwire.OnlySHA1(t.options.URL, advert.Format)
}

// whyNot says why git could not open a repository, without reading words that are translated: TroubleLocal where it could.
func whyNot(dir, path, stderr string) refstore.Trouble {
	if strings.Contains(stderr, "safe.directory") {
		return refstore.TroubleDenied // git won't trust its owner
	}
	if !filepath.IsAbs(path) {
		path = filepath.Join(dir, path)
	}
	trouble := refstore.TroubleNotFound
	for _, suffix := range []string{"", "/.git", ".git", ".git/.git"} {
		switch err := readable(path + suffix); {
		case err == nil:
			return refstore.TroubleLocal
		case errors.Is(err, fs.ErrPermission):
			trouble = refstore.TroubleDenied
		}
	}
	return trouble
}

// readable says whether a repository, or a file that names one, is at path.
func readable(path string) error {
	info, err := os.Stat(path)
	if err != nil {
		return err
	}
	if info.IsDir() {
		path = filepath.Join(path, "HEAD")
	} else if filepath.Base(path) != ".git" {
		return fs.ErrNotExist
	}
	f, err := os.Open(path) //nolint:gosec // the user's own remote
	if err != nil {
		return err
	}
	defer f.Close() //nolint:errcheck // only read
	_, err = f.Read(make([]byte, 1))
	if errors.Is(err, io.EOF) {
		return nil
	}
	return err
}
