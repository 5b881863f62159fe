package external

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"github.com/git-worklease/git-worklease/providers"
)

// prefix is what the names of the programs begin with.
const prefix = "git-worklease-provider-"

// maxName is the longest name, in bytes.
const maxName = 32

// CheckName refuses what can't be the name of a program's tracker: a name is 2 to 32 of a to z, 0 to 9 and dashes and begins with a letter, so that it can be a
// key's scheme, and is not one that keys have without a tracker.
func CheckName(name string) error {
	if len(name) < 2 || len(name) > maxName || name[0] < 'a' || name[0] > 'z' {
		return fmt.Errorf("%q can't name a provider: a name has 2 to %d letters a to z, digits and dashes, and begins with a letter", name, maxName)
	}
	for _, c := range []byte(name) {
		if (c < 'a' || c > 'z') && (c < '0' || c > '9') && c != '-' {
			return fmt.Errorf("%q can't name a provider: a name has letters a to z, digits and dashes", name)
		}
	}
	if name == "path" || name == "pool" {
		return fmt.Errorf("%q can't name a provider: keys of that scheme are no items", name)
	}
	return nil
}

// Detect is the names of the programs that are installed, sorted. Nothing in a work tree says that it wants one, so they are only candidates. env is the
// environment; nil: the process's own.
func Detect(env []string) []string {
	var names []string
	folders, _ := folders(env)
	for _, folder := range folders {
		entries, err := os.ReadDir(folder)
		if err != nil {
			continue // as a shell does
		}
		for _, entry := range entries {
			name, ours := strings.CutPrefix(entry.Name(), prefix)
			if !ours {
				continue
			}
			if runtime.GOOS == "windows" {
				name = strings.TrimSuffix(name, filepath.Ext(name))
			}
			if _, err := exec.LookPath(filepath.Join(folder, prefix+name)); err == nil && CheckName(name) == nil {
				names = append(names, name)
			}
		}
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// find is the path of a program. Folders of PATH that depend on the current directory are passed over: a repository must not bring the program along.
func find(program string, env []string) (string, error) {
	all, passed := folders(env)
	for _, folder := range all {
		if path, err := exec.LookPath(filepath.Join(folder, program)); err == nil {
			return path, nil
		}
	}
	if passed > 0 {
		return "", fmt.Errorf("%s: %w: no such program on PATH, of which only absolute folders count", program, providers.ErrUnavailable)
	}
	return "", fmt.Errorf("%s: %w: no such program on PATH", program, providers.ErrUnavailable)
}

// folders are those of PATH that are absolute, and how many are not.
func folders(env []string) (all []string, passed int) {
	if env == nil {
		env = os.Environ()
	}
	path := ""
	for _, entry := range env {
		name, value, _ := strings.Cut(entry, "=")
		if name == "PATH" || runtime.GOOS == "windows" && strings.EqualFold(name, "PATH") {
			path = value
		}
	}
	for _, folder := range filepath.SplitList(path) {
		if filepath.IsAbs(folder) {
			all = append(all, folder)
		} else {
			passed++
		}
	}
	return all, passed
}
