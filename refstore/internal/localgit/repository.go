package localgit

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"

	"github.com/git-worklease/git-worklease/internal/gitexec"
	"github.com/git-worklease/git-worklease/refstore"
)

// private is g without ties to the user's repository, nor to what the user wants of all: hooks that git runs from its configuration would run here, too.
func private(g *gitexec.Git) *gitexec.Git {
	env := gitexec.Unbound(g.Environ(), "GIT_NAMESPACE", "GIT_TEMPLATE_DIR", "GIT_DEFAULT_REF_FORMAT", "GIT_CONFIG_GLOBAL", "GIT_CONFIG_SYSTEM")
	return &gitexec.Git{Program: g.Program, Dir: g.Dir, Env: append(env, "GIT_DEFAULT_REF_FORMAT=files", "GIT_CONFIG_GLOBAL=/dev/null", "GIT_CONFIG_NOSYSTEM=1")}
}

func (t *transport) args(args ...string) []string {
	return append([]string{"--git-dir=" + t.dir, "-c", "core.hooksPath=/dev/null", "-c", "core.logAllRefUpdates=false"}, args...)
}

// catFile makes the command that reads packed objects.
func (t *transport) catFile(ctx context.Context) func() *exec.Cmd {
	return func() *exec.Cmd { return t.git.Command(ctx, t.args("cat-file", "--batch")...) }
}

// storage says how the repository keeps its refs.
type storage int

const (
	files  storage = iota // one file each, and packed-refs
	opaque                // in any other way
)

// look finds out how refs are kept. It returns fs.ErrNotExist where there is no repository yet.
func (t *transport) look() (storage, error) {
	config, err := os.ReadFile(filepath.Join(t.dir, "config"))
	if err != nil {
		return files, err
	}
	config = bytes.ToLower(config)
	switch {
	case bytes.Contains(config, []byte("objectformat")):
		return files, fmt.Errorf("%s: not a SHA-1 repository", t.dir)
	case bytes.Contains(config, []byte("refstorage")):
		return opaque, nil
	default:
		return files, nil
	}
}

// create makes the repository unless it is there. Any number of processes may do so at once: each makes its own, and the first to give
// it the name wins.
func (t *transport) create(ctx context.Context) error {
	if _, err := t.look(); !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	parent := filepath.Dir(t.dir)
	if err := os.MkdirAll(parent, 0o700); err != nil {
		return err
	}
	tmp, err := os.MkdirTemp(parent, ".new-*.git")
	if err != nil {
		return err
	}
	defer os.RemoveAll(tmp) //nolint:errcheck // it is gone, or of no use
	if _, err := t.git.Output(ctx, "init", "--bare", "--quiet", "--object-format="+string(refstore.SHA1), "--template=", tmp); err != nil {
		return err
	}
	err = os.Rename(tmp, t.dir)
	if _, there := t.look(); there == nil {
		return nil
	}
	return errors.Join(err, errNotOurs)
}

var errNotOurs = errors.New("something else is where the repository should be")
