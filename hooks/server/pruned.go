package server

import (
	"bufio"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// withoutPruned leaves out the refs that git only packs: `git pack-refs` deletes the file of a ref once packed-refs has it, and tells the hook the same as
// where a ref is deleted. It holds no lock on packed-refs then, and whoever deletes a ref does, so that nobody packs it meanwhile; the files say which it is.
func (p *Push) withoutPruned(updates []update) ([]update, error) {
	deletes := slices.ContainsFunc(updates, func(u update) bool { return u.next.IsZero() && !u.symbolic })
	if !deletes {
		return updates, nil
	}
	packed := filepath.Join(p.Dir, "packed-refs")
	if _, err := os.Lstat(packed + ".lock"); err == nil {
		return updates, nil
	}
	f, err := os.Open(packed)
	if errors.Is(err, fs.ErrNotExist) {
		return updates, nil
	}
	if err != nil {
		return nil, fmt.Errorf("packed refs: %w", err)
	}
	defer f.Close()
	kept := map[string]string{}
	for lines := bufio.NewScanner(f); ; {
		if !lines.Scan() {
			if err := lines.Err(); err != nil {
				return nil, fmt.Errorf("packed refs: %w", err)
			}
			break
		}
		if oid, ref, ok := strings.Cut(lines.Text(), " "); ok {
			kept[ref] = oid
		}
	}
	return slices.DeleteFunc(updates, func(u update) bool {
		was, err := os.ReadFile(filepath.Join(p.Dir, filepath.FromSlash(u.ref)))
		return u.next.IsZero() && !u.symbolic && err == nil && strings.TrimSpace(string(was)) == kept[u.ref]
	}), nil
}
