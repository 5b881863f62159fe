package install

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
)

// Folder is where git looks for the files of hooks.
type Folder struct {
	Path string `json:"path"`
	// Scope is git's word for where core.hooksPath was set; empty where it is not.
	Scope string `json:"scope,omitempty"`
	// Exists says whether it is there. Git passes over one that is not without a word.
	Exists bool `json:"exists"`

	// Off says that core.hooksPath names what is no folder, /dev/null say, so that no hook file runs.
	Off bool `json:"off,omitempty"`

	// husky is the folder where husky's users put their hooks; empty where the folder is not husky's own.
	husky string
	// others says whose it is where files of ours have no place in it; empty where they have.
	others string
}

// folder finds where git looks for hooks. It starts no process unless the setting needs git to be read.
func (c *Clone) folder(ctx context.Context) (Folder, error) {
	f := Folder{Path: filepath.Join(c.Repo.CommonDir, "hooks")}
	if s, ok := c.Repo.Config.Get("core.hookspath"); ok {
		path, err := c.resolve(ctx, s.Value)
		if err != nil {
			return f, err
		}
		f.Path, f.Scope = path, s.Scope
	}
	info, err := os.Stat(f.Path)
	f.Exists = err == nil && info.IsDir()
	f.husky = huskyOf(f.Path)
	switch {
	case err == nil && !info.IsDir():
		f.Off = true
	case f.husky != "":
		f.others = "husky's own, and written anew by it"
	case f.Scope != "" && f.Scope != "local" && f.Scope != "worktree":
		f.others = "for all repositories of this user or machine"
	case c.committed(f.Path):
		f.others = "part of the work tree"
	}
	return f, nil
}

// committed says whether a folder is part of a work tree, where what is written shows up and gets committed: this worktree's, or the main one's.
func (c *Clone) committed(path string) bool {
	if within(path, c.Repo.CommonDir) || within(path, c.Repo.GitDir) {
		return false
	}
	main := ""
	if filepath.Base(c.Repo.CommonDir) == ".git" {
		main = filepath.Dir(c.Repo.CommonDir)
	}
	return within(path, c.Repo.WorkTree) || within(path, main)
}

// resolve reads a path as git reads core.hooksPath.
func (c *Clone) resolve(ctx context.Context, path string) (string, error) {
	switch {
	case path == "": // git finds none, whatever is at the top of the file system
		return os.DevNull, nil
	case strings.HasPrefix(path, "~") || strings.HasPrefix(path, "%"):
		there := *c.Git
		there.Dir = c.top()
		out, err := there.Output(ctx, "rev-parse", "--path-format=absolute", "--git-path", "hooks")
		if err != nil {
			return "", fmt.Errorf("core.hooksPath: %w", err)
		}
		return filepath.FromSlash(strings.TrimSuffix(string(out), "\n")), nil
	case filepath.IsAbs(path):
		return filepath.Clean(path), nil
	}
	return filepath.Join(c.top(), path), nil
}

// within says whether a path is in a folder, or is it.
func within(path, folder string) bool {
	if folder == "" {
		return false
	}
	rel, err := filepath.Rel(real(folder), real(path))
	return err == nil && filepath.IsLocal(rel)
}

// real is a path without links, as far as it exists.
func real(path string) string {
	if resolved, err := filepath.EvalSymlinks(path); err == nil {
		return resolved
	}
	parent := filepath.Dir(path)
	if parent == path {
		return path
	}
	return filepath.Join(real(parent), filepath.Base(path))
}

// executable says whether git would run the file; a system without such modes runs all.
func executable(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.Mode().IsRegular() && (runtime.GOOS == "windows" || info.Mode()&0o111 != 0)
}

// present says whether there is anything at path, a link that leads nowhere included.
func present(path string) bool {
	_, err := os.Lstat(path)
	return !errors.Is(err, fs.ErrNotExist)
}

// maxScript bounds what is read of a hook of others.
const maxScript = 1 << 20

// read is the beginning of a file; nil where it can't be read.
func read(path string) []byte {
	info, err := os.Stat(path)
	if err != nil || !info.Mode().IsRegular() || info.Size() > maxScript {
		return nil
	}
	data, err := os.ReadFile(path) //nolint:gosec // a hook of the clone's
	if err != nil {
		return nil
	}
	return data
}

// ours reads a hook file of ours; not ok: there is none at path.
func ours(path string) (written, bool) { return parse(read(path)) }
