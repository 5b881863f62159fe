package install

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"

	"github.com/git-worklease/git-worklease/internal/gitexec"
	"github.com/git-worklease/git-worklease/internal/lockfile"
)

// Install installs all hooks, again where they are installed, and says how they stand then. What only its owner may change is left as it is: such
// a hook is [Inert] until the owner has added its snippet.
func (c *Clone) Install(ctx context.Context) (*Status, error) {
	unlock, err := c.lock(ctx)
	if err != nil {
		return nil, err
	}
	defer unlock() //nolint:errcheck // a lock that goes with the process
	if err := c.install(ctx); err != nil {
		return nil, unwritable(err)
	}
	if err := c.reload(ctx); err != nil {
		return nil, err
	}
	return c.Look(ctx)
}

func (c *Clone) install(ctx context.Context) error {
	f, err := c.folder(ctx)
	if err != nil {
		return err
	}
	if err := c.leave(f.Path); err != nil {
		return err
	}
	// First the record: what is cut short is then known to be incomplete.
	if err := c.saveRecord(&record{Hooks: Hooks(), Folder: f.Path, Git: c.Version}); err != nil {
		return fmt.Errorf("install hooks: %w", err)
	}
	if !c.Version.Before(configured) {
		if err := c.configure(ctx); err != nil {
			return err
		}
		return c.cleanFolders(f.Path)
	}
	if err := c.unconfigure(ctx); err != nil {
		return err
	}
	for _, h := range Hooks() {
		if err := c.put(f, h); err != nil {
			return fmt.Errorf("install %s: %w", h, err)
		}
	}
	return nil
}

// leave removes what an earlier installation has put into another folder.
func (c *Clone) leave(folder string) error {
	rec, err := c.readRecord()
	if err != nil || rec == nil || rec.Folder == "" || rec.Folder == folder {
		return err
	}
	return c.cleanFolders(rec.Folder)
}

// lock keeps two installations of one clone apart.
func (c *Clone) lock(ctx context.Context) (unlock func() error, err error) {
	if err := os.MkdirAll(c.stateDir(), 0o700); err != nil {
		return nil, unwritable(err)
	}
	unlock, err = lockfile.Lock(ctx, filepath.Join(c.stateDir(), "hooks.lock"))
	return unlock, unwritable(err)
}

// reload reads git's configuration again.
func (c *Clone) reload(ctx context.Context) error {
	config, err := gitexec.ReadConfig(ctx, c.Git)
	if err != nil {
		return err
	}
	repo := *c.Repo
	repo.Config = config
	c.Repo = &repo
	return nil
}

// configure writes the hooks into the clone's configuration. The command comes first: git does nothing at all with an event that has none.
func (c *Clone) configure(ctx context.Context) error {
	for _, h := range Hooks() {
		for _, setting := range [][2]string{{".command", command(h, c.Program)}, {".event", string(h)}} {
			if _, err := c.Git.Output(ctx, "config", "--local", "--replace-all", section(h)+setting[0], setting[1]); err != nil {
				return fmt.Errorf("install %s: %w", h, err)
			}
		}
	}
	return nil
}

// unconfigure removes them from there.
func (c *Clone) unconfigure(ctx context.Context) error {
	for _, h := range Hooks() {
		if !c.inLocalConfig(h) {
			continue
		}
		if _, err := c.Git.Output(ctx, "config", "--local", "--remove-section", section(h)); err != nil {
			return fmt.Errorf("remove %s: %w", h, err)
		}
	}
	return nil
}

func (c *Clone) inLocalConfig(h Hook) bool {
	for _, s := range c.Repo.Config.WithPrefix(section(h) + ".") {
		if s.Scope == "local" {
			return true
		}
	}
	return false
}

// put writes the file of a hook, unless that is for somebody else to do.
func (c *Clone) put(f Folder, h Hook) error {
	s := c.spot(f, h)
	if f.Off {
		return nil
	}
	if s.Snippet != "" || s.Way == ByManager || f.others != "" {
		return c.clean(f.Path, h)
	}
	if err := os.MkdirAll(f.Path, 0o755); err != nil { //nolint:gosec // as git makes it
		return err
	}
	path := filepath.Join(f.Path, string(h))
	if s.Manager == PreCommitTool && managerOf(read(path)) == PreCommitTool {
		path += legacySuffix
	}
	return c.putFile(path, h)
}

// putFile writes our file. What is there already is kept beside it; at no time there is no hook.
func (c *Clone) putFile(path string, h Hook) error {
	chained := ""
	var added []byte
	if own, ok := ours(path); ok {
		var pristine bool
		if added, pristine = bytes.CutPrefix(read(path), render(h, own.program, own.chained)); !pristine {
			return &ChangedError{Paths: []string{path}}
		}
		chained = own.chained
	} else if present(path) {
		var err error
		if chained, err = keepBeside(path, h); err != nil {
			return err
		}
	}
	return replace(path, append(render(h, c.Program, chained), added...), 0o755)
}

// besideSuffix names what was there before.
const besideSuffix = ".before-worklease"

// keepBeside makes what is at path stay under another name in its folder, and returns the name. Nothing that is there by that name already is lost.
func keepBeside(path string, h Hook) (string, error) {
	for n := 1; ; n++ {
		name := string(h) + besideSuffix
		if n > 1 {
			name += "." + strconv.Itoa(n)
		}
		beside := filepath.Join(filepath.Dir(path), name)
		if present(beside) {
			if data := read(beside); data == nil || !bytes.Equal(data, read(path)) {
				continue
			}
			if err := os.Remove(beside); err != nil {
				return "", err
			}
		}
		if err := os.Link(path, beside); err == nil {
			return name, nil
		}
		return name, os.Rename(path, beside)
	}
}

// ErrUnwritable is returned where the files of hooks, or the clone's folder, can't be written.
var ErrUnwritable = errors.New("hooks can't be written")

// unwritable marks errors of the file system.
func unwritable(err error) error {
	var path *fs.PathError
	var link *os.LinkError
	if errors.As(err, &path) || errors.As(err, &link) {
		return fmt.Errorf("%w: %w", ErrUnwritable, err)
	}
	return err
}

// ErrChanged is returned for a hook file of ours that somebody has changed since: to remove it would lose what was added. See [ChangedError].
var ErrChanged = errors.New("a hook of git-worklease was changed by hand")

// ChangedError names the files.
type ChangedError struct{ Paths []string }

func (e *ChangedError) Error() string { return fmt.Sprintf("%v: %s", ErrChanged, some(e.Paths)) }

// Is links the type to [ErrChanged].
func (e *ChangedError) Is(target error) bool { return target == ErrChanged }
