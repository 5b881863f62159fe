package install

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/git-worklease/git-worklease/internal/gitexec"
)

// State is how a hook stands.
type State string

// The states.
const (
	Active State = "active" // git calls us
	Inert  State = "inert"  // it was installed, and git does not call us
	Absent State = "absent" // it was not installed
)

// Way is how git comes to call us.
type Way string

// The ways.
const (
	ByFile    Way = "file"    // a hook file of ours
	ByConfig  Way = "config"  // git's configuration
	ByManager Way = "manager" // a manager of hooks, or a script of others
)

// Spot is how one hook stands.
type Spot struct {
	Hook  Hook  `json:"hook"`
	State State `json:"state"`
	// Way is set where the state is active.
	Way Way `json:"way,omitempty"`
	// Manager is who else writes this hook; empty where nobody is known to.
	Manager Manager `json:"manager,omitempty"`
	// Path is our file, or what there is in its place; empty for a hook in git's configuration.
	Path string `json:"path,omitempty"`
	// Chained is what was there before, and is run first.
	Chained string `json:"chained,omitempty"`
	// Why says why it is not active.
	Why string `json:"why,omitempty"`
	// Snippet is what has to be added to SnippetFile by its owner; both are empty where `hooks install` does all.
	Snippet     string `json:"snippet,omitempty"`
	SnippetFile string `json:"snippet_file,omitempty"`
}

// Status is how all hooks stand in one worktree.
type Status struct {
	// Installed says that hooks were installed in the clone, and not uninstalled since.
	Installed bool   `json:"installed"`
	Folder    Folder `json:"folder"`
	Hooks     []Spot `json:"hooks"`
}

// Inert are the hooks that were installed and don't run.
func (s *Status) Inert() []Spot {
	return slices.DeleteFunc(slices.Clone(s.Hooks), func(spot Spot) bool { return spot.State != Inert })
}

// Runs says that hooks were installed and that git runs all of them.
func (s *Status) Runs() bool {
	return s.Installed && !slices.ContainsFunc(s.Hooks, func(spot Spot) bool { return spot.State != Active })
}

// Err is an [*InertError] where hooks were installed that don't run.
func (s *Status) Err() error {
	if inert := s.Inert(); len(inert) > 0 {
		return &InertError{Spots: inert, Folder: s.Folder}
	}
	return nil
}

// Look says how the hooks stand. Nothing is changed.
func (c *Clone) Look(ctx context.Context) (*Status, error) {
	rec, err := c.readRecord()
	if err != nil {
		return nil, err
	}
	return c.look(ctx, rec)
}

func (c *Clone) look(ctx context.Context, rec *record) (*Status, error) {
	f, err := c.folder(ctx)
	if err != nil {
		return nil, err
	}
	s := &Status{Installed: rec != nil, Folder: f}
	for _, h := range Hooks() {
		spot := c.spot(f, h)
		if spot.State != Active && rec != nil && slices.Contains(rec.Hooks, h) {
			spot.State = Inert
		}
		s.Hooks = append(s.Hooks, spot)
	}
	return s, nil
}

// Inert are the hooks that were installed and don't run, for commands that have other things to do: it starts no process, unless core.hooksPath needs git
// to be read. Git is taken to be the one that hooks were installed with.
func (c *Clone) Inert(ctx context.Context) ([]Spot, error) {
	rec, err := c.readRecord()
	if err != nil || rec == nil {
		return nil, err
	}
	there := *c
	there.Version = rec.Git
	s, err := there.look(ctx, rec)
	if err != nil {
		return nil, err
	}
	return s.Inert(), nil
}

// spot says whether git calls us for a hook, and otherwise what is in the way.
func (c *Clone) spot(f Folder, h Hook) Spot {
	s := Spot{Hook: h, State: Absent}
	off, configured := c.inConfig(h)
	if configured && off == "" {
		s.State, s.Way = Active, ByConfig
		return s
	}
	c.inFiles(f, &s)
	if s.State != Active && off != "" {
		s.Why = off
	}
	return s
}

// inConfig says whether git's configuration has the hook, and why it has no effect.
func (c *Clone) inConfig(h Hook) (off string, found bool) {
	config := c.Repo.Config
	if config.Value(section(h)+".command") == "" || !slices.Contains(config.All(section(h)+".event"), string(h)) {
		return "", false
	}
	for _, key := range []string{section(h) + ".enabled", "hook." + string(h) + ".enabled"} {
		if s, ok := config.Get(key); ok && isFalse(s) {
			return key + " turns it off", true
		}
	}
	if c.Version.Before(configured) {
		return "it is in git's configuration, where git " + c.Version.String() + " looks for none", true
	}
	return "", true
}

// isFalse reads a boolean as git does.
func isFalse(s gitexec.Setting) bool {
	return slices.Contains([]string{"false", "no", "off", "0", ""}, strings.ToLower(s.Value))
}

// inFiles looks for the hook where git looks for files.
func (c *Clone) inFiles(f Folder, s *Spot) {
	path := filepath.Join(f.Path, string(s.Hook))
	data := read(path)
	s.Path, s.Manager = path, managerOf(data)
	if f.husky != "" {
		s.Manager = Husky
	}
	own, isOurs := parse(data)
	switch {
	case f.Off:
		s.Why = "core.hooksPath leads to " + f.Path + ", which turns hook files off"
	case isOurs:
		c.ownFile(s, path, own)
		return
	case f.husky != "":
		c.atHusky(f, s)
	case s.Manager == Lefthook:
		c.atLefthook(s)
	case s.Manager == PreCommitTool && f.others == "":
		if legacy, ok := ours(path + legacySuffix); ok {
			c.ownFile(s, path+legacySuffix, legacy)
			return
		}
	case calls(data, s.Hook):
		s.called(executable(path), "it is not executable")
	case f.others != "":
		s.Snippet, s.SnippetFile = line(s.Hook), path
	case ownName().Match(data):
		s.Snippet, s.SnippetFile, s.Why = line(s.Hook), path, "the hook there looks at its own name, and can't be run under another"
	}
	if s.State != Active && s.Why == "" {
		s.Why = c.inTheWay(f, s)
	}
}

// legacySuffix names what the program pre-commit runs before its own hook, replacedSuffix what lefthook puts aside and does not run.
const (
	legacySuffix   = ".legacy"
	replacedSuffix = ".old"
)

// ownFile judges a hook file of ours.
func (c *Clone) ownFile(s *Spot, path string, own written) {
	s.Path = path
	if own.chained != "" && present(filepath.Join(filepath.Dir(path), own.chained)) {
		s.Chained = filepath.Join(filepath.Dir(path), own.chained)
		s.Manager = managerOf(read(s.Chained))
	}
	if strings.HasSuffix(path, legacySuffix) {
		s.Manager = PreCommitTool
	}
	if !executable(path) {
		s.Why = "it is not executable"
		return
	}
	s.State, s.Way = Active, ByFile
}

// called says that a script of others calls us, if that runs.
func (s *Spot) called(runs bool, why string) {
	if !runs {
		s.Why = why
		return
	}
	s.State, s.Way = Active, ByManager
}

func (c *Clone) atHusky(f Folder, s *Spot) {
	file := filepath.Join(f.husky, string(s.Hook))
	if calls(read(file), s.Hook) {
		s.called(executable(s.Path), "husky has not set itself up in this worktree")
		return
	}
	s.Snippet, s.SnippetFile = line(s.Hook), file
}

func (c *Clone) atLefthook(s *Spot) {
	for _, file := range lefthookFiles(c.top()) {
		if calls(read(file), s.Hook) {
			s.called(executable(s.Path), "it is not executable")
			return
		}
	}
	s.Snippet, s.SnippetFile = lefthookPart(s.Hook), filepath.Join(c.top(), "lefthook-local.yml")
}

// inTheWay says why a hook is not active where nothing special is.
func (c *Clone) inTheWay(f Folder, s *Spot) string {
	switch {
	case !f.Exists && f.Scope != "":
		return "core.hooksPath leads to " + f.Path + ", where no folder is"
	case s.Manager != "":
		return string(s.Manager) + " has the hook, and does not call this program"
	case present(s.Path):
		return "another hook is in its place"
	case f.others != "":
		return "the folder is " + f.others
	}
	return "there is no hook file"
}

// ErrInert is returned where hooks were installed and don't run. See [InertError].
var ErrInert = errors.New("hooks are installed and don't run")

// InertError names them.
type InertError struct {
	Spots []Spot
	// Folder is where git looks for their files.
	Folder Folder
}

func (e *InertError) Error() string { return fmt.Sprintf("%v: %s", ErrInert, Names(e.Spots)) }

// Is links the type to [ErrInert].
func (e *InertError) Is(target error) bool { return target == ErrInert }

// Names are the hooks of spots, for people.
func Names(spots []Spot) string {
	names := make([]string, len(spots))
	for i, s := range spots {
		names[i] = string(s.Hook)
	}
	return strings.Join(names, ", ")
}
