package gitenv

import (
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/git-worklease/git-worklease/internal/gitexec"
)

// FuzzParseAnswers: what git says of a repository is refused, or says the same when it is written anew.
func FuzzParseAnswers(f *testing.F) {
	f.Add("false\nfalse\n/r/.git\n/r/.git\n/r\n")
	f.Add("true\nfalse\n/r.git\n/r.git\n")
	f.Add("false\ntrue\n/r/.git/worktrees/x\n/r/.git\n/x\n")
	f.Fuzz(func(t *testing.T, out string) {
		repo, err := parseAnswers(out)
		if err != nil {
			return
		}
		if !filepath.IsAbs(repo.GitDir) || !filepath.IsAbs(repo.CommonDir) || (repo.Worktree == "") != (repo.GitDir == repo.CommonDir) {
			t.Errorf("%+v", repo)
		}
		again := fmt.Sprintf("%t\n%t\n%s\n%s\n", repo.Bare, repo.Shallow, repo.GitDir, repo.CommonDir)
		if repo.WorkTree != "" {
			again += repo.WorkTree + "\n"
		}
		if back, err := parseAnswers(again); err != nil || *back != *repo {
			t.Errorf("%+v became %+v, %v", repo, back, err)
		}
	})
}

// FuzzChoose: whatever git's configuration and a setting say, the remote is one that is configured, or what was asked for; and what a policy file asks for
// is no path.
func FuzzChoose(f *testing.F) {
	setting := func(lines ...string) []byte {
		var b strings.Builder
		for _, line := range lines {
			b.WriteString("local\x00file:x\x00" + line + "\x00")
		}
		return []byte(b.String())
	}
	f.Add(setting("remote.origin.url\nx", "remote.up.stream.pushurl\ny"), "up.stream")
	f.Add(setting("remote.a.url\nx", "remote.b.url\ny", "remote.b.gh-resolved\nbase"), "")
	f.Add(setting("remote..url\nx", "remote.url\ny"), "file://h/a")
	f.Add(setting("remote./tmp/x.url\nx"), "/tmp/x")
	work := f.TempDir()
	f.Fuzz(func(t *testing.T, config []byte, wanted string) {
		r := &Repo{Config: gitexec.ParseConfig(config), WorkTree: work, CommonDir: filepath.Join(work, ".git")}
		names := r.Remotes()
		if !slices.IsSorted(names) || slices.Contains(names, "") {
			t.Errorf("remotes %q", names)
		}
		for _, choose := range []func(string) (Remote, error){r.Choose, r.ChooseUntrusted} {
			got, err := choose(wanted)
			switch {
			case err != nil && !errors.Is(err, ErrNoSuchRemote) && !errors.Is(err, ErrWhichRemote):
				t.Errorf("got %v", err)
			case err != nil || got.Local() && len(names) == 0 && wanted == "":
			case got.Name != "" && (!slices.Contains(names, got.Name) || got.URL != "" || wanted != "" && got.Name != wanted):
				t.Errorf("%q of %q: %+v", wanted, names, got)
			case got.Name == "" && got.URL != wanted:
				t.Errorf("%q of %q: %+v", wanted, names, got)
			}
		}
		if got, err := r.ChooseUntrusted(wanted); err == nil && got.URL != "" && gitexec.KindOf(got.URL) == gitexec.KindPath {
			t.Errorf("a policy may name %q", got.URL)
		}
	})
}
