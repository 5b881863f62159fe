package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/git-worklease/git-worklease/lease"
)

// isItem says whether a key ends like the number of an item, and so is no path although it may have a slash.
func isItem(key string) bool {
	rest := strings.TrimRight(key, "0123456789")
	return rest != key && strings.HasSuffix(rest, "#")
}

// hasDrive says whether a key begins like a path with a drive, and so is one although it has a colon.
func hasDrive(key string) bool {
	return len(key) > 2 && 'a' <= key[0]|0x20 && key[0]|0x20 <= 'z' && key[1] == ':' && strings.IndexByte(`/\`, key[2]) >= 0
}

// resources reads keys as a person types them in this place.
func (w *work) resources(keys []string) ([]lease.Resource, error) {
	resources := make([]lease.Resource, len(keys))
	for i, key := range keys {
		found, err := w.findKey(key)
		if err != nil {
			return nil, err
		}
		resources[i] = found.Resource
	}
	return resources, nil
}

// findKey reads a key: a path by its form, an item of a tracker, a path by what is there, or a resource as it stands.
func (w *work) findKey(key string) (keyJSON, error) {
	found := keyJSON{Key: key, How: "path"}
	var err error
	if w.looksLikePath(key) {
		found.Resource, err = w.barePath(key)
		return found, err
	}
	r, p, isItem, err := w.item(key)
	switch {
	case err != nil:
		return keyJSON{}, err
	case isItem:
		return keyJSON{Key: key, Resource: r, How: "item", Provider: p.Name(), Source: p.Source()}, nil
	case w.isThere(key):
		found.Resource, err = w.barePath(key)
		return found, err
	}
	found.How = "resource"
	found.Resource, err = lease.ParseResource(key)
	return found, err
}

// looksLikePath says whether a key without a scheme is a path by its form: it has a slash, or begins with a dot. What ends like the number of an item is
// none, nor is what has a colon, so that a scheme that was mistyped is not taken for a folder.
func (w *work) looksLikePath(key string) bool {
	switch {
	case key == "" || lease.Resource(key).Scheme() != "":
		return false
	case strings.ContainsRune(`./\`, rune(key[0])), hasDrive(key):
		return true
	default:
		return !isItem(key) && strings.ContainsAny(key, `/\`) && !strings.Contains(key, ":")
	}
}

// isThere says whether a key without a scheme names something in this place.
func (w *work) isThere(key string) bool {
	if key == "" || lease.Resource(key).Scheme() != "" || isItem(key) || w.repo.WorkTree == "" {
		return false
	}
	dir, err := w.here()
	if err != nil {
		return false
	}
	_, err = os.Lstat(filepath.Join(dir, key))
	return err == nil
}

// barePath is the resource of a path that is relative to the current directory, or absolute.
func (w *work) barePath(key string) (lease.Resource, error) {
	path := filepath.FromSlash(strings.ReplaceAll(key, `\`, "/"))
	rooted := filepath.IsAbs(path)
	switch {
	case w.repo.WorkTree == "":
		return "", fmt.Errorf("%q: %w: there is no work tree here that it is a part of", key, lease.ErrBadPath)
	case !rooted && (os.IsPathSeparator(path[0]) || hasDrive(key)):
		return lease.PathResource(key) // which says what is wrong with it
	case !rooted:
		dir, err := w.here()
		if err != nil {
			return "", err
		}
		path = filepath.Join(dir, path)
	}
	rest, ok := within(w.repo.WorkTree, path)
	if !ok {
		return "", fmt.Errorf("%q: %w: it leads out of the work tree", key, lease.ErrBadPath)
	}
	return lease.PathResource(filepath.ToSlash(rest))
}

// here is the directory in which the command runs, without symbolic links, which .. would not follow back.
func (w *work) here() (string, error) {
	dir, err := filepath.Abs(w.git.Dir)
	if err == nil {
		dir, err = filepath.EvalSymlinks(dir)
	}
	if err != nil {
		return "", fmt.Errorf("the current directory: %w", err)
	}
	return dir, nil
}

// within is the part of an absolute path below top, "." for top itself. Where top begins is decided by what is there, not by its name, which may
// be another through a symbolic link or in another case.
func within(top, path string) (rest string, ok bool) {
	root, err := os.Stat(top)
	if err != nil {
		return "", false
	}
	rest = "."
	for path = filepath.Clean(path); ; {
		if info, err := os.Stat(path); err == nil && os.SameFile(info, root) {
			return rest, true
		}
		parent := filepath.Dir(path)
		if parent == path {
			return "", false
		}
		rest, path = filepath.Join(filepath.Base(path), rest), parent
	}
}
