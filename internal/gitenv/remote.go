package gitenv

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"github.com/git-worklease/git-worklease/internal/gitexec"
)

// ErrSeveralPushURLs is returned for a remote with more than one push URL: claims need one place that decides. See
// [SeveralPushURLsError].
var ErrSeveralPushURLs = errors.New("more than one push URL")

// SeveralPushURLsError names the remote. The URLs may hold passwords, and are left out.
type SeveralPushURLsError struct {
	Remote string
	Count  int
}

func (e *SeveralPushURLsError) Error() string {
	return fmt.Sprintf("remote %s: %v (%d)", e.Remote, ErrSeveralPushURLs, e.Count)
}

// Is links the type to [ErrSeveralPushURLs].
func (e *SeveralPushURLsError) Is(target error) bool { return target == ErrSeveralPushURLs }

// ErrWhichRemote is returned where several remotes are configured and nothing says which one holds the claims. See
// [WhichRemoteError].
var ErrWhichRemote = errors.New("several remotes, and none is marked")

// WhichRemoteError lists the remotes, sorted.
type WhichRemoteError struct{ Remotes []string }

func (e *WhichRemoteError) Error() string {
	return fmt.Sprintf("%v: %s", ErrWhichRemote, strings.Join(e.Remotes, ", "))
}

// Is links the type to [ErrWhichRemote].
func (e *WhichRemoteError) Is(target error) bool { return target == ErrWhichRemote }

// ErrNoSuchRemote is returned for a name that is no configured remote's. See [NoSuchRemoteError].
var ErrNoSuchRemote = errors.New("no such remote")

// NoSuchRemoteError has the name, and the remotes that there are, sorted.
type NoSuchRemoteError struct {
	Name    string
	Remotes []string
}

func (e *NoSuchRemoteError) Error() string { return fmt.Sprintf("%v: %q", ErrNoSuchRemote, e.Name) }

// Is links the type to [ErrNoSuchRemote].
func (e *NoSuchRemoteError) Is(target error) bool { return target == ErrNoSuchRemote }

// Remote is where claims live.
type Remote struct {
	// Name is the configured remote's; empty for a bare URL.
	Name string
	// URL is a bare URL or path as it was given; empty where Name is set.
	URL string
}

// Local says that there is no remote: the clone itself decides.
func (r Remote) Local() bool { return r == Remote{} }

// Remotes are the names of the configured remotes that have a URL, sorted.
func (r *Repo) Remotes() []string {
	var names []string
	for _, s := range r.Config.WithPrefix("remote.") {
		name, ok := strings.CutSuffix(strings.TrimPrefix(s.Key, "remote."), ".url")
		if !ok {
			name, ok = strings.CutSuffix(strings.TrimPrefix(s.Key, "remote."), ".pushurl")
		}
		if ok && name != "" {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// Choose finds the remote of the claims. wanted is the setting worklease.remote: a configured remote's name, a URL or a path;
// empty where it isn't set. Then it is the remote marked gh-resolved = base, else upstream, else origin, else the only
// one; a repository without remotes is [Remote.Local]. It returns a [*WhichRemoteError] or a [*NoSuchRemoteError].
func (r *Repo) Choose(wanted string) (Remote, error) {
	remotes := r.Remotes()
	switch {
	case slices.Contains(remotes, wanted):
		return Remote{Name: wanted}, nil
	case wanted != "" && looksLikeURL(wanted):
		return Remote{URL: wanted}, nil
	case wanted != "":
		return Remote{}, &NoSuchRemoteError{Name: wanted, Remotes: remotes}
	case len(remotes) == 0:
		return Remote{}, nil
	}
	for _, name := range remotes {
		if r.Config.Value("remote."+name+".gh-resolved") == "base" {
			return Remote{Name: name}, nil
		}
	}
	for _, name := range []string{"upstream", "origin"} {
		if slices.Contains(remotes, name) {
			return Remote{Name: name}, nil
		}
	}
	if len(remotes) > 1 {
		return Remote{}, &WhichRemoteError{Remotes: remotes}
	}
	return Remote{Name: remotes[0]}, nil
}

// looksLikeURL tells a URL or a path from a mere name, which is then no remote's. A path needs a separator: ./x, not x.
func looksLikeURL(s string) bool {
	return strings.ContainsAny(s, ":/") || runtime.GOOS == "windows" && strings.Contains(s, `\`)
}

// PushURL is the one URL that git would push to, with git's rewriting rules applied; a relative path is made absolute. For
// a bare URL that is what git would fetch from. It returns a [*SeveralPushURLsError], or a [*gitexec.Error] where git had to
// be asked and failed.
func (r *Repo) PushURL(ctx context.Context, remote Remote) (string, error) {
	urls, err := r.pushURLs(ctx, remote)
	switch {
	case err != nil:
		return "", err
	case len(urls) == 0, urls[0] == "" && len(urls) == 1: // an empty path would mean this very clone
		return "", &NoSuchRemoteError{Name: remote.Name, Remotes: r.Remotes()}
	case len(urls) > 1:
		return "", &SeveralPushURLsError{Remote: remote.Name, Count: len(urls)}
	}
	return r.resolve(urls[0]), nil
}

func (r *Repo) pushURLs(ctx context.Context, remote Remote) ([]string, error) {
	if remote.Name == "" {
		if !r.rewrites() {
			return []string{remote.URL}, nil
		}
		return r.ask(ctx, "ls-remote", "--get-url", "--", remote.URL)
	}
	urls := r.Config.All("remote." + remote.Name + ".pushurl")
	if len(urls) == 0 {
		urls = r.Config.All("remote." + remote.Name + ".url")
	}
	// An empty value empties the list in newer versions of git: let it say what holds.
	if r.rewrites() || slices.Contains(urls, "") {
		return r.ask(ctx, "remote", "get-url", "--push", "--all", "--", remote.Name)
	}
	return urls, nil
}

// rewrites says whether any insteadOf or pushInsteadOf rule is configured.
func (r *Repo) rewrites() bool {
	return slices.ContainsFunc(r.Config.WithPrefix("url."), func(s gitexec.Setting) bool {
		return strings.HasSuffix(s.Key, ".insteadof") || strings.HasSuffix(s.Key, ".pushinsteadof")
	})
}

func (r *Repo) ask(ctx context.Context, args ...string) ([]string, error) {
	out, err := r.git.Output(ctx, args...)
	if err != nil {
		return nil, err
	}
	return strings.Split(strings.TrimSuffix(string(out), "\n"), "\n"), nil
}

// resolve makes a relative path absolute, as git does: from the top of the work tree, in a bare repository from the git
// directory, outside a repository from the current directory.
func (r *Repo) resolve(url string) string {
	if gitexec.KindOf(url) != gitexec.KindPath || filepath.IsAbs(url) {
		return url
	}
	base := r.WorkTree
	if base == "" {
		base = r.GitDir
	}
	if base == "" {
		base = r.git.Dir
	}
	path, err := filepath.Abs(filepath.Join(base, filepath.FromSlash(url)))
	if err != nil {
		return url
	}
	return path
}
