package backlogmd

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/git-worklease/git-worklease/providers"
)

// The folders of a project, in its own folder.
const (
	tasksFolder         = "tasks"
	completedFolder     = "completed"
	draftsFolder        = "drafts"
	archiveFolder       = "archive/tasks"
	archiveDraftsFolder = "archive/drafts"
)

// place is where a project is. Its paths are relative to the top of the work tree, with slashes.
type place struct {
	// home is where the backlog program runs: "." or a folder.
	home string
	// dir has the folders of tasks.
	dir string
	// config is the file with the project's configuration.
	config string
}

// has says whether folder is one of those with tasks.
func (p *place) has(folder string) bool {
	below, found := strings.CutPrefix(folder, p.dir+"/")
	return found && slices.Contains([]string{tasksFolder, completedFolder, draftsFolder, archiveFolder, archiveDraftsFolder}, below)
}

// errNoProject is for a folder without a project. It is [providers.ErrUnavailable]: another branch may have one.
var errNoProject = fmt.Errorf("%w: there is no project of Backlog.md", providers.ErrUnavailable)

// find looks for the project where the backlog program does: the configuration at the root, if it names the project, says where the tasks are; else they are in
// the first of "backlog" and ".backlog" that has a configuration.
func find(top *os.Root, home string) (place, *config, error) {
	at := place{home: home, config: path.Join(home, "backlog.config.yml")}
	conf, err := readConfig(top, at.config)
	switch {
	case err == nil && conf.project != "":
		at.dir = projectFolder(top, home, conf.directory)
		if at.dir == "" {
			return place{}, nil, fmt.Errorf("%s: %w: %s names a project whose folder is missing", home, providers.ErrUnavailable, at.config)
		}
		return at, conf, nil
	case err != nil && !errors.Is(err, fs.ErrNotExist):
		return place{}, nil, err
	}
	for _, dir := range builtIn {
		for _, name := range []string{"config.yml", "config.yaml"} {
			at.dir = path.Join(home, dir)
			at.config = path.Join(at.dir, name)
			conf, err := readConfig(top, at.config)
			if err == nil || !errors.Is(err, fs.ErrNotExist) {
				return at, conf, err
			}
		}
	}
	return place{}, nil, fmt.Errorf("%s: %w", home, errNoProject)
}

// builtIn are the folders that a project may have without saying so.
var builtIn = [...]string{"backlog", ".backlog"}

// projectFolder is the folder that a configuration at the root names, or else the built-in one that has a configuration of its own, or the first that is there;
// empty where none is.
func projectFolder(top *os.Root, home, named string) string {
	if named != "" {
		return path.Join(home, named)
	}
	first := ""
	for _, dir := range builtIn {
		dir = path.Join(home, dir)
		if info, err := top.Stat(filepath.FromSlash(dir)); err != nil || !info.IsDir() {
			continue
		}
		if first == "" {
			first = dir
		}
		for _, name := range []string{"config.yml", "config.yaml"} {
			if info, err := top.Stat(filepath.FromSlash(path.Join(dir, name))); err == nil && info.Mode().IsRegular() {
				return dir
			}
		}
	}
	return first
}

// Detect says whether the work tree whose top is dir has a project of Backlog.md there. A configuration that can't be read is one as well.
func Detect(dir string) bool {
	top, err := os.OpenRoot(dir)
	if err != nil {
		return false
	}
	defer top.Close() //nolint:errcheck // nothing was written
	_, _, err = find(top, ".")
	return !errors.Is(err, providers.ErrUnavailable)
}
