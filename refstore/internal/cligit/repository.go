package cligit

import (
	"errors"
	"os"
	"path/filepath"
	"time"

	"github.com/git-worklease/git-worklease/refstore"
)

// create makes the repository unless it is there. Any number of processes may do so at once: the first to give it its name wins.
func (r *repo) create(now time.Time) error {
	if _, err := os.Stat(filepath.Join(r.dir, "config")); err == nil {
		r.sweep(now)
		return nil
	}
	if err := os.MkdirAll(filepath.Dir(r.dir), 0o700); err != nil {
		return err
	}
	tmp, err := os.MkdirTemp(filepath.Dir(r.dir), ".new-*.git")
	if err != nil {
		return err
	}
	defer func() { _ = os.RemoveAll(tmp) }() // it is gone, or of no use
	if err := skeleton(tmp, r.objects.Format); err != nil {
		return err
	}
	err = os.Rename(tmp, r.dir)
	if _, there := os.Stat(filepath.Join(r.dir, "config")); there == nil {
		return nil
	}
	return err
}

// sweep removes what processes that were killed have left behind.
func (r *repo) sweep(now time.Time) {
	entries, err := os.ReadDir(r.dir)
	if err != nil {
		return
	}
	for _, e := range entries {
		if !hasPrefix(e.Name(), []string{"fetch-", "trace-", "graft-"}) {
			continue
		}
		if info, err := e.Info(); err == nil && now.Sub(info.ModTime()) > leftoverLife {
			_ = os.RemoveAll(filepath.Join(r.dir, e.Name()))
		}
	}
}

// leftoverLife is longer than any command may run.
const leftoverLife = 24 * time.Hour

// skeleton fills an empty directory with what git takes for a bare repository.
func skeleton(dir string, f refstore.Format) error {
	config := "[core]\n\trepositoryformatversion = 0\n\tbare = true\n"
	if f == refstore.SHA256 {
		config = "[core]\n\trepositoryformatversion = 1\n\tbare = true\n[extensions]\n\tobjectformat = sha256\n"
	}
	return errors.Join(
		os.Mkdir(filepath.Join(dir, "refs"), 0o700),
		os.MkdirAll(filepath.Join(dir, "objects", "pack"), 0o700),
		os.WriteFile(filepath.Join(dir, "HEAD"), []byte("ref: refs/heads/none\n"), 0o600),
		os.WriteFile(filepath.Join(dir, "config"), []byte(config), 0o600),
	)
}

// scratch makes a git directory for one fetch, which writes down there where it cut history off: concurrent fetches would lock each other
// out of a common one. Its objects go to r.
func (r *repo) scratch() (dir string, remove func(), err error) {
	dir, err = os.MkdirTemp(r.dir, "fetch-*")
	if err != nil {
		return "", nil, err
	}
	remove = func() { _ = os.RemoveAll(dir) }
	if err := skeleton(dir, r.objects.Format); err != nil {
		remove()
		return "", nil, err
	}
	return dir, remove, nil
}
