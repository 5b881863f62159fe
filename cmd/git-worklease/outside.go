package main

import (
	"path/filepath"

	"github.com/git-worklease/git-worklease/internal/config"
	"github.com/git-worklease/git-worklease/internal/gitexec"
)

// wanders says whether a setting names the remote by a path that leads somewhere else from every folder: a relative one, outside of any repository. On the
// command line it is plain where it leads to.
func (w *work) wanders() bool {
	url := w.remote.URL
	return w.repo.GitDir == "" && url != "" && w.settings.Remote.Origin.Source != config.SourceFlag &&
		gitexec.KindOf(url) == gitexec.KindPath && !filepath.IsAbs(url)
}

// wandering is the error for that.
func (w *work) wandering() error {
	r := w.settings.Remote
	return &config.Error{Origin: r.Origin, Key: "worklease.remote", Value: r.V, Want: "a URL or an absolute path, outside of a repository"}
}
