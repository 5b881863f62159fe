package install

import (
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/git-worklease/git-worklease/internal/gitenv"
	"github.com/git-worklease/git-worklease/internal/gitexec"
	"github.com/git-worklease/git-worklease/internal/gitserver"
)

// chainingGit is a version that runs hook files alone.
var chainingGit = gitexec.Version{2, 39}

// site is a clone, and a program that stands for ours: it writes down how it was called, and ends as it is told.
type site struct {
	*gitserver.Checkout
	t *testing.T
	// program writes to log.
	program, log string
	version      gitexec.Version
}

// recorder writes down its name, its arguments and its standard input, and ends with the status in the file NAME.exit beside it, if there is one.
const recorder = `#!/bin/sh
self=$(dirname "$0")
name=$(basename "$0")
{ echo "$name: $*"; sed 's/^/< /'; } >> "$self/log"
[ ! -f "$self/$name.exit" ] || exit "$(cat "$self/$name.exit")"
`

func newSite(t *testing.T) *site {
	t.Helper()
	dir := t.TempDir()
	user, err := gitserver.NewUser(dir, "GIT_CEILING_DIRECTORIES="+dir)
	if err != nil {
		t.Fatal(err)
	}
	programs := filepath.Join(dir, "it's here")
	s := &site{Checkout: user, t: t, program: filepath.Join(programs, "git-worklease"), log: filepath.Join(programs, "log"), version: chainingGit}
	if err := os.MkdirAll(programs, 0o755); err != nil {
		t.Fatal(err)
	}
	s.write(s.program, recorder)
	s.git("init", "--quiet")
	samples, err := filepath.Glob(filepath.Join(s.Dir, ".git/hooks/*.sample"))
	if err != nil {
		t.Fatal(err)
	}
	for _, sample := range samples {
		if err := os.Remove(sample); err != nil {
			t.Fatal(err)
		}
	}
	s.git("commit", "--quiet", "--allow-empty", "-m", "first")
	s.git("init", "--quiet", "--bare", filepath.Join(dir, "remote.git"))
	s.git("remote", "add", "origin", filepath.Join(dir, "remote.git"))
	return s
}

func (s *site) git(args ...string) string {
	s.t.Helper()
	out, err := s.Git(s.t.Context(), args...)
	if err != nil {
		s.t.Fatal(err)
	}
	return out
}

// write writes a script, below the work tree unless the path is absolute.
func (s *site) write(path, text string) {
	s.t.Helper()
	if !filepath.IsAbs(path) {
		path = filepath.Join(s.Dir, path)
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		s.t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o755); err != nil {
		s.t.Fatal(err)
	}
}

// hook writes a hook of the user's that is recorded under the name.
func (s *site) hook(path, name string) {
	s.t.Helper()
	other := filepath.Join(filepath.Dir(s.program), name)
	s.write(other, recorder)
	s.write(path, "#!/bin/sh\nexec '"+strings.ReplaceAll(other, "'", `'\''`)+"' \"$@\"\n")
}

// ends tells a recorder its status.
func (s *site) ends(name, status string) {
	s.t.Helper()
	if err := os.WriteFile(filepath.Join(filepath.Dir(s.program), name+".exit"), []byte(status), 0o600); err != nil {
		s.t.Fatal(err)
	}
}

// calls are what was recorded since they were last asked for.
func (s *site) calls() string {
	s.t.Helper()
	data, err := os.ReadFile(s.log)
	if err != nil && !os.IsNotExist(err) {
		s.t.Fatal(err)
	}
	if err := os.RemoveAll(s.log); err != nil {
		s.t.Fatal(err)
	}
	return strings.TrimSuffix(string(data), "\n")
}

// at is the clone as seen from a folder.
func (s *site) at(dir string) *Clone {
	s.t.Helper()
	git := &gitexec.Git{Dir: dir, Env: s.Env}
	repo, err := gitenv.Discover(s.t.Context(), git)
	if err != nil {
		s.t.Fatal(err)
	}
	return &Clone{Repo: repo, Git: git, Version: s.version, Program: s.program}
}

func (s *site) install() *Status {
	s.t.Helper()
	status, err := s.at(s.Dir).Install(s.t.Context())
	if err != nil {
		s.t.Fatal(err)
	}
	return status
}

func (s *site) uninstall() *Uninstalled {
	s.t.Helper()
	done, err := s.at(s.Dir).Uninstall(s.t.Context())
	if err != nil {
		s.t.Fatal(err)
	}
	return done
}

func (s *site) look() *Status {
	s.t.Helper()
	status, err := s.at(s.Dir).Look(s.t.Context())
	if err != nil {
		s.t.Fatal(err)
	}
	return status
}

// states are the states of the hooks, in git's order.
func states(status *Status) []State {
	var all []State
	for _, spot := range status.Hooks {
		all = append(all, spot.State)
	}
	return all
}

func all(state State) []State { return []State{state, state, state, state} }

// wantStates fails unless the hooks stand as they should.
func (s *site) wantStates(status *Status, want ...State) {
	s.t.Helper()
	if len(want) == 1 {
		want = all(want[0])
	}
	if !slices.Equal(states(status), want) {
		s.t.Fatalf("the hooks stand as %+v, not %v", status.Hooks, want)
	}
}

// commit makes a commit, and returns how it went.
func (s *site) commit(args ...string) gitserver.Result {
	s.t.Helper()
	return s.Run(s.t.Context(), "git", append([]string{"commit", "--quiet", "--allow-empty", "-m", "change"}, args...)...)
}

// tree is all that is below a folder: modes, contents, and where links lead.
type tree map[string]string

func treeOf(t *testing.T, folders ...string) tree {
	t.Helper()
	all := tree{}
	for _, folder := range folders {
		err := filepath.WalkDir(folder, func(path string, entry fs.DirEntry, err error) error {
			if err != nil || entry.IsDir() {
				return err
			}
			info, err := entry.Info()
			if err != nil {
				return err
			}
			text := ""
			if info.Mode()&fs.ModeSymlink != 0 {
				text, err = os.Readlink(path)
			} else {
				var data []byte
				data, err = os.ReadFile(path)
				text = string(data)
			}
			all[path] = info.Mode().String() + " " + text
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	return all
}

// differs names the paths at which two trees differ.
func (a tree) differs(b tree) []string {
	names := map[string]bool{}
	for path, what := range a {
		if b[path] != what {
			names[path] = true
		}
	}
	for path := range b {
		if _, ok := a[path]; !ok {
			names[path] = true
		}
	}
	return slices.Sorted(maps.Keys(names))
}

// private are the files of a clone that hooks may be about.
func (s *site) private() tree {
	s.t.Helper()
	all := treeOf(s.t, filepath.Join(s.Dir, ".git", "hooks"), filepath.Join(s.Dir, ".git", "info"))
	for _, name := range []string{"config", "worklease"} {
		path := filepath.Join(s.Dir, ".git", name)
		if present(path) {
			maps.Copy(all, treeOf(s.t, path))
		}
	}
	return all
}
