package gitenv_test

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/git-worklease/git-worklease/internal/gitenv"
)

// TestChooseUntrusted: a policy that comes with a clone must not lead to a repository that comes with it as well, whose hooks git would run.
func TestChooseUntrusted(t *testing.T) {
	b := newBox(t)
	b.git("r", "init", "-q")
	b.configure("r", "remote.team/up.url=u")
	repo := b.discover("r")
	top := repo.WorkTree
	if err := os.MkdirAll(filepath.Join(top, "vendor", "evil.git"), 0o700); err != nil {
		t.Fatal(err)
	}
	outside := t.TempDir()
	if err := os.Symlink(filepath.Join(top, "vendor"), filepath.Join(outside, "link")); err != nil {
		t.Fatal(err)
	}
	for wanted, ok := range map[string]bool{
		"team/up":                               true,
		"https://h/r":                           true,
		"git@h:r":                               true,
		"file://" + outside + "/r.git":          true,
		"vendor/evil.git":                       false,
		"file://" + top + "/vendor/evil.git":    false,
		"file://" + top + "/vendor/evil":        false,
		"file://h" + top + "/vendor/%65vil.git": false,
		"FILE://" + top:                         false,
		"file://vendor":                         false, // taken for a path from the current directory
		"file://" + top + "/vendor?/evil":       false,
		"file://" + outside + "/link/evil.git":  false,
	} {
		_, err := repo.ChooseUntrusted(wanted)
		if (err == nil) != ok || err != nil && !errors.Is(err, gitenv.ErrNoSuchRemote) {
			t.Errorf("%s: %v", wanted, err)
		}
	}
}
