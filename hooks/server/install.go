package server

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/git-worklease/git-worklease/internal/gitexec"
)

// The conditions of installing.
var (
	// ErrNotBare is returned for a repository with a work tree: it is nobody's server.
	ErrNotBare = errors.New("not a bare repository")
	// ErrOldGit is returned where git may run no hook that decides.
	ErrOldGit = errors.New("git is too old for the server hook")
	// ErrSharedHooks is returned where git looks for the repository's hooks in a folder that is not its own.
	ErrSharedHooks = errors.New("the hooks of this repository are shared with others")
	// ErrHookChanged is returned for a hook file of ours that somebody has changed, which is not touched, and for a file that is in the way of one.
	ErrHookChanged = errors.New("the hook was changed by hand")
)

// leastGit is the oldest git that git-worklease works with anywhere; the first that has reference-transaction is older.
var leastGit = gitexec.Version{2, 31}

// before is what follows the name of a hook that was there before ours.
const before = ".before-worklease"

// Repository is a bare repository whose hooks are ours to install.
type Repository struct {
	// Dir is the git directory, and Folder where its hooks are; both absolute.
	Dir, Folder string
	// Program is the absolute path that the hooks call.
	Program string
}

// Open finds the bare repository of g's directory. It returns [ErrNotBare], [ErrOldGit] or [ErrSharedHooks], wrapped, and [*gitexec.Error] where there is
// no repository.
func Open(ctx context.Context, g *gitexec.Git, program string) (*Repository, error) {
	version, full, ok, err := g.Version(ctx)
	if err != nil {
		return nil, err
	}
	if ok && version.Before(leastGit) {
		return nil, fmt.Errorf("%w: it is %s, and %s is needed", ErrOldGit, full, leastGit)
	}
	out, err := g.Output(ctx, "rev-parse", "--path-format=absolute", "--is-bare-repository", "--git-dir", "--git-path", "hooks")
	if err != nil {
		return nil, err
	}
	answers := strings.Split(strings.TrimSuffix(string(out), "\n"), "\n")
	if len(answers) != 3 {
		return nil, fmt.Errorf("git rev-parse: a directory with a line break in its name: %q", out)
	}
	r := &Repository{Dir: answers[1], Folder: answers[2], Program: program}
	if answers[0] != "true" {
		return nil, fmt.Errorf("%w: %s", ErrNotBare, r.Dir)
	}
	if rel, err := filepath.Rel(r.Dir, r.Folder); err != nil || !filepath.IsLocal(rel) {
		return nil, fmt.Errorf("%w: %s", ErrSharedHooks, r.Folder)
	}
	return r, nil
}

// HookStatus is how one hook stands.
type HookStatus struct {
	Hook string `json:"hook"`
	Path string `json:"path"`
	// Installed says that the file is ours and as it was written, Changed that it is ours and is not.
	Installed bool `json:"installed"`
	Changed   bool `json:"changed,omitempty"`
	// Chained is the path of the hook that was there before and runs first.
	Chained string `json:"chained,omitempty"`
	// Program is what it calls, and Missing says that this is not there.
	Program string `json:"program,omitempty"`
	Missing bool   `json:"missing,omitempty"`
}

// Status says how the hooks stand.
func (r *Repository) Status() ([]HookStatus, error) {
	var all []HookStatus
	for _, hook := range Hooks() {
		w, ours, err := r.read(hook)
		if err != nil {
			return nil, err
		}
		s := HookStatus{Hook: hook, Path: r.path(hook), Installed: ours && !w.changed, Changed: ours && w.changed}
		if ours {
			s.Program = w.program
			_, statErr := os.Stat(w.program)
			s.Missing = statErr != nil
			if w.chained != "" {
				s.Chained = filepath.Join(r.Folder, w.chained)
			}
		}
		all = append(all, s)
	}
	return all, nil
}

func (r *Repository) path(hook string) string { return filepath.Join(r.Folder, hook) }

// read reads the file of a hook.
func (r *Repository) read(hook string) (w written, ours bool, err error) {
	data, err := os.ReadFile(r.path(hook))
	if errors.Is(err, fs.ErrNotExist) {
		return w, false, nil
	}
	if err != nil {
		return w, false, fmt.Errorf("hook: %w", err)
	}
	w, ours = parse(hook, data)
	return w, ours, nil
}

// Install writes the hooks, again where they are there. A hook that is not ours is kept beside ours, and runs before it. It returns [ErrHookChanged],
// wrapped.
func (r *Repository) Install() error {
	if err := os.MkdirAll(r.Folder, 0o755); err != nil { //nolint:gosec // as git makes it: who pushes may be another user
		return fmt.Errorf("install hooks: %w", err)
	}
	for _, hook := range Hooks() {
		if err := r.install(hook); err != nil {
			return fmt.Errorf("install %s: %w", hook, err)
		}
	}
	return nil
}

func (r *Repository) install(hook string) error {
	w, ours, err := r.read(hook)
	switch {
	case err != nil:
		return err
	case w.changed:
		return fmt.Errorf("%w: %s", ErrHookChanged, r.path(hook))
	}
	if _, err := os.Lstat(r.path(hook)); err == nil && !ours {
		w.chained = hook + before
		if err := r.keep(hook, w.chained); err != nil {
			return err
		}
	}
	return r.write(hook, render(hook, r.Program, w.chained))
}

// keep gives the hook that is there a second name, so that there is always one of both: without either, a push would go through unchecked.
func (r *Repository) keep(hook, as string) error {
	was, err := os.Lstat(r.path(hook))
	if err != nil {
		return err
	}
	if there, err := os.Lstat(r.path(as)); err == nil && !os.SameFile(was, there) { // the same where an installation was cut short
		return fmt.Errorf("%w: %s is in the way", ErrHookChanged, r.path(as))
	} else if err == nil {
		return nil
	}
	if os.Link(r.path(hook), r.path(as)) == nil {
		return nil
	}
	return os.Rename(r.path(hook), r.path(as)) // a file system without links
}

// write replaces a hook file in one go.
func (r *Repository) write(hook string, text []byte) error {
	f, err := os.CreateTemp(r.Folder, ".worklease-")
	if err != nil {
		return err
	}
	defer os.Remove(f.Name()) //nolint:errcheck // it was renamed, or is of no use
	_, err = f.Write(text)
	if err = errors.Join(err, f.Chmod(0o755), f.Close()); err != nil {
		return err
	}
	return os.Rename(f.Name(), r.path(hook))
}

// Uninstall removes the hooks and puts back what was there before, as it was. It leaves the settings. It returns [ErrHookChanged], wrapped.
func (r *Repository) Uninstall() error {
	for _, hook := range Hooks() {
		w, ours, err := r.read(hook)
		switch {
		case err != nil:
			return err
		case !ours:
			continue
		case w.changed:
			return fmt.Errorf("%w: %s", ErrHookChanged, r.path(hook))
		case w.chained != "":
			err = os.Rename(r.path(w.chained), r.path(hook))
			if errors.Is(err, fs.ErrNotExist) {
				err = os.Remove(r.path(hook))
			}
		default:
			err = os.Remove(r.path(hook))
		}
		if err != nil {
			return fmt.Errorf("uninstall %s: %w", hook, err)
		}
	}
	return nil
}
