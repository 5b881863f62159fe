package hooks

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/git-worklease/git-worklease/internal/config"
	"github.com/git-worklease/git-worklease/internal/gitexec"
)

func TestPolicyAt(t *testing.T) {
	r := newRepo(t)
	r.commit("none", "a")
	r.write(config.PolicyFile, "[[rule]]\nbranch = 'main'\nclaim = 'any'\n")
	r.git("add", config.PolicyFile)
	r.git("commit", "-q", "-m", "one rule")
	r.write(config.PolicyFile, "[[rule]]\nbranch = ''\n")
	r.git("commit", "-q", "-a", "-m", "a bad one")
	for name, target := range map[string]string{"within": "real.toml", "out": "../real.toml", "dangling": "nowhere.toml"} {
		r.git("checkout", "-q", "-B", name, "main")
		if err := os.Remove(filepath.Join(r.user.Dir, config.PolicyFile)); err != nil {
			t.Fatal(err)
		}
		if err := os.Symlink(target, filepath.Join(r.user.Dir, config.PolicyFile)); err != nil {
			t.Fatal(err)
		}
		r.write("real.toml", "[enforce]\npush = 'off'\n")
		r.git("add", ".")
		r.git("commit", "-q", "-m", name)
	}
	at := func(revision string) (*config.Policy, error) { return PolicyAt(t.Context(), r.exec(), revision) }
	if p, err := at("main~2"); err != nil || p.Found {
		t.Errorf("without a file: %+v, %v", p, err)
	}
	if p, err := at("main~1"); err != nil || len(p.Rules()) != 1 {
		t.Errorf("with a rule: %+v, %v", p, err)
	}
	if p, err := at("within"); err != nil || p.Enforce().Push != config.ModeOff {
		t.Errorf("by a link: %+v, %v", p, err)
	}
	for _, revision := range []string{"main", "out", "dangling"} {
		if p, err := at(revision); !errors.Is(err, config.ErrConfig) {
			t.Errorf("%s: %+v, %v", revision, p, err)
		}
	}
	var failed *gitexec.Error
	if _, err := at("nowhere"); !errors.As(err, &failed) {
		t.Errorf("no commit: %v", err)
	}
}
