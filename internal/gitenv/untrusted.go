package gitenv

import (
	"path/filepath"

	"github.com/git-worklease/git-worklease/internal/gitexec"
)

// ChooseUntrusted is [Repo.Choose] for what a policy file wants, which anybody may have written: a configured remote's name or a URL, but no
// path, and no repository that came with the clone. Git runs the hooks of a repository on this machine that it pushes to.
func (r *Repo) ChooseUntrusted(wanted string) (Remote, error) {
	remote, err := r.Choose(wanted)
	if err == nil && remote.URL != "" && (gitexec.KindOf(remote.URL) == gitexec.KindPath || r.contains(remote.URL)) {
		return Remote{}, &NoSuchRemoteError{Name: wanted, Remotes: r.Remotes()}
	}
	return remote, err
}

// contains says whether a file URL leads into a work tree of the clone.
func (r *Repo) contains(fileURL string) bool {
	if gitexec.KindOf(fileURL) != gitexec.KindFile {
		return false
	}
	path := filepath.FromSlash(gitexec.FilePath(fileURL))
	if !filepath.IsAbs(path) {
		return true
	}
	for path = resolved(path); ; path = filepath.Dir(path) {
		if sameFile(path, r.WorkTree) || sameFile(path, filepath.Dir(r.CommonDir)) {
			return true
		}
		if path == filepath.Dir(path) {
			return false
		}
	}
}

// resolved is a path without links, as far as there is anything: git may add an ending to the rest.
func resolved(path string) string {
	target, err := filepath.EvalSymlinks(path)
	if err == nil {
		return target
	}
	if dir := filepath.Dir(path); dir != path {
		return filepath.Join(resolved(dir), filepath.Base(path))
	}
	return path
}
