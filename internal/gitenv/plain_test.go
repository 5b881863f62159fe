package gitenv

import (
	"os"
	"path/filepath"
	"reflect"
	"testing"

	"github.com/git-worklease/git-worklease/internal/gitexec"
)

// TestPlainAgreesWithGit compares what is guessed and confirmed with what git says, in the places where the guess must hold and where it must
// give way.
func TestPlainAgreesWithGit(t *testing.T) {
	root, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	env := append(os.Environ(), "HOME="+root, "GIT_CONFIG_NOSYSTEM=1", "GIT_CONFIG_GLOBAL="+os.DevNull)
	git := func(dir string, args ...string) {
		t.Helper()
		g := &gitexec.Git{Dir: filepath.Join(root, dir), Env: env}
		if _, err := g.Output(t.Context(), args...); err != nil {
			t.Fatal(err)
		}
	}
	git("", "init", "--quiet", "main")
	git("main", "-c", "user.name=A", "-c", "user.email=a@b", "commit", "--quiet", "--allow-empty", "-m", "one")
	git("main", "worktree", "add", "--quiet", "../linked")
	git("", "init", "--quiet", "--bare", "bare.git")
	git("", "clone", "--quiet", "--depth=1", "file://"+filepath.Join(root, "main"), "shallow")
	git("", "init", "--quiet", "--separate-git-dir="+filepath.Join(root, "apart"), "separate")
	git("", "init", "--quiet", "moved")
	git("moved", "config", "core.worktree", root)
	for _, dir := range []string{"main/sub/dir", "outside", "main/.git/empty", "broken/.git"} {
		if err := os.MkdirAll(filepath.Join(root, dir), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Symlink(filepath.Join(root, "main", "sub"), filepath.Join(root, "link")); err != nil {
		t.Fatal(err)
	}
	for dir, guessed := range map[string]bool{
		"main": true, "main/sub/dir": true, "link": true, "shallow": true,
		"linked": false, "bare.git": false, "bare.git/refs": false, "separate": false, "moved": false, "outside": false, "main/.git": false,
		"main/.git/empty": false, "broken": false,
	} {
		t.Run(dir, func(t *testing.T) {
			g := &gitexec.Git{Dir: filepath.Join(root, dir), Env: env}
			want, wantErr := discover(t.Context(), g)
			got, err := Discover(t.Context(), g)
			if (err == nil) != (wantErr == nil) || !reflect.DeepEqual(got, want) {
				t.Errorf("got %+v, %v; git says %+v, %v", got, err, want, wantErr)
			}
			ok := false
			if top := findPlain(g); top != "" {
				_, ok = plain(t.Context(), g, top)
			}
			if ok != guessed {
				t.Errorf("guessed: %v", ok)
			}
		})
	}
	tied := &gitexec.Git{Dir: filepath.Join(root, "main"), Env: append(env, "GIT_DIR="+filepath.Join(root, "bare.git"))}
	if top := findPlain(tied); top != "" {
		t.Errorf("GIT_DIR was not seen: %s", top)
	}
}
