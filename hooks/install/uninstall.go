package install

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// Uninstalled says what was done.
type Uninstalled struct {
	// Was says that hooks were installed.
	Was bool `json:"was_installed"`
	// Asked are the spots at which others still call us.
	Asked []Spot `json:"still_called,omitempty"`
	// Kept are hooks that were there before us and were written anew by others since: theirs count, and these are nobody's.
	Kept []string `json:"kept,omitempty"`
}

// Uninstall removes all hooks, and puts back what was there before, byte for byte. What others call us by is theirs to remove. It returns a [*ChangedError]
// for files that were changed since, after all that could be removed was.
func (c *Clone) Uninstall(ctx context.Context) (*Uninstalled, error) {
	rec, err := c.readRecord()
	if err != nil {
		return nil, err
	}
	before, err := c.look(ctx, rec)
	if err != nil {
		return nil, err
	}
	done := &Uninstalled{Was: rec != nil || slices.ContainsFunc(before.Hooks, func(s Spot) bool { return s.Way == ByFile || s.Way == ByConfig })}
	unlock, err := c.lock(ctx)
	if err != nil {
		return nil, err
	}
	defer c.leaveNothing(unlock)
	folders := []string{filepath.Join(c.Repo.CommonDir, "hooks"), before.Folder.Path}
	if rec != nil && rec.Folder != "" {
		folders = append(folders, rec.Folder)
	}
	slices.Sort(folders)
	folders = slices.Compact(folders)
	if err := c.unconfigure(ctx); err != nil {
		return nil, err
	}
	changed := c.cleanFolders(folders...)
	if changed != nil && !errors.Is(changed, ErrChanged) {
		return nil, unwritable(changed)
	}
	if err := os.Remove(c.recordPath()); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, unwritable(err)
	}
	done.Kept = kept(folders)
	return done, errors.Join(changed, c.stillCalled(ctx, done))
}

// kept are the files that tidy has left.
func kept(folders []string) []string {
	var names []string
	for _, folder := range folders {
		for _, h := range Hooks() {
			found, _ := filepath.Glob(filepath.Join(escape(folder), string(h)+besideSuffix+"*")) // the pattern is well formed
			names = append(names, found...)
		}
	}
	return names
}

// leaveNothing removes the lock and, where nothing else is in it, the folder.
func (c *Clone) leaveNothing(unlock func() error) {
	_ = os.Remove(filepath.Join(c.stateDir(), "hooks.lock")) // by whoever has it
	_ = unlock()
	_ = os.Remove(c.stateDir()) // which fails where claims are
}

func (c *Clone) stillCalled(ctx context.Context, done *Uninstalled) error {
	if err := c.reload(ctx); err != nil {
		return err
	}
	after, err := c.look(ctx, nil)
	if err != nil {
		return err
	}
	for _, s := range after.Hooks {
		if s.Way == ByManager {
			done.Asked = append(done.Asked, s)
		}
	}
	return nil
}

// cleanFolders removes our files from folders.
func (c *Clone) cleanFolders(folders ...string) error {
	changed := &ChangedError{}
	for _, folder := range folders {
		for _, h := range Hooks() {
			err := c.clean(folder, h)
			var one *ChangedError
			switch {
			case errors.As(err, &one):
				changed.Paths = append(changed.Paths, one.Paths...)
			case err != nil:
				return fmt.Errorf("remove %s: %w", h, err)
			}
		}
	}
	if len(changed.Paths) > 0 {
		return changed
	}
	return nil
}

// clean removes our file of a hook, wherever another program has moved it, and puts back what was there before.
func (c *Clone) clean(folder string, h Hook) error {
	path := filepath.Join(folder, string(h))
	for _, place := range []string{path, path + legacySuffix, path + replacedSuffix} {
		own, ok := ours(place)
		if !ok {
			continue
		}
		if own.changed {
			return &ChangedError{Paths: []string{place}}
		}
		if err := putBack(place, own); err != nil {
			return err
		}
	}
	return tidy(path)
}

func putBack(place string, own written) error {
	if beside := filepath.Join(filepath.Dir(place), own.chained); own.chained != "" && present(beside) {
		return os.Rename(beside, place)
	}
	return os.Remove(place)
}

// tidy looks after what is left of hooks that were there before us, where our own file was overwritten or removed by others: the one that is in our
// place now counts. What would be lost stays.
func tidy(path string) error {
	if info, err := os.Stat(filepath.Dir(path)); err != nil || !info.IsDir() {
		return nil //nolint:nilerr // there is nothing
	}
	entries, err := os.ReadDir(filepath.Dir(path))
	if err != nil {
		return err
	}
	for _, entry := range entries {
		if !strings.HasPrefix(entry.Name(), filepath.Base(path)+besideSuffix) {
			continue
		}
		beside := filepath.Join(filepath.Dir(path), entry.Name())
		switch {
		case !present(path):
			err = os.Rename(beside, path)
		case bytes.Equal(read(beside), read(path)):
			err = os.Remove(beside)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// some names files.
func some(paths []string) string { return strings.Join(paths, ", ") }
