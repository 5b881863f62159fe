package session

import (
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"sync"

	"github.com/git-worklease/git-worklease/internal/config"
	"github.com/git-worklease/git-worklease/lease"
)

// Kind tells the two authorities of a clone apart.
type Kind int

const (
	// Remote is state of claims at a remote.
	Remote Kind = iota
	// Local is state of claims that the clone itself decides.
	Local
)

// Options are what a [State] is opened with.
type Options struct {
	Place Place
	Kind  Kind
	// Where says where the claims are, URL and prefix. What was read of the authority at one place is not taken for read at another.
	Where string
	// Session is the name of the session whose claims are seen.
	Session string
	// HostName is the machine's own name, not the one that claims show.
	HostName string
	// Process is the long-lived process on whose behalf claims are made; zero where none was found.
	Process Claimant
}

// State is what one clone remembers, as one session sees it. It is safe for use by several goroutines, and several processes may
// have the same state open.
type State struct {
	o   Options
	dir string

	mu   sync.Mutex
	held map[string]func() error // locks of intents, by ID
	made map[lease.ClaimID]Maker // who decided on the claims of the intents that were left behind
	// resources are those that intents are about which this process has read, by ID.
	resources map[string][]lease.Resource
	home      Home // once known

	read lastRead
}

var _ lease.Local = (*State)(nil)

// ErrSessionName is returned for a session's name that isn't one.
var ErrSessionName = errors.New("not a session name")

// Open opens the state of a place for one session. It makes nothing: the first write does.
func Open(o Options) (*State, error) {
	if !config.ValidName(o.Session) {
		return nil, fmt.Errorf("%w: %q", ErrSessionName, o.Session)
	}
	dir := o.Place.Root
	if err := checkDir(dir); err != nil {
		return nil, err
	}
	if o.Kind == Local {
		dir, o.Where = filepath.Join(dir, "local"), ""
		if err := checkDir(dir); err != nil {
			return nil, err
		}
	}
	return &State{o: o, dir: dir, held: map[string]func() error{}, made: map[lease.ClaimID]Maker{}, resources: map[string][]lease.Resource{}}, nil
}

// Dir is the folder of the state. It may not exist yet.
func (s *State) Dir() string { return s.dir }

func (s *State) path(names ...string) string {
	return filepath.Join(append([]string{s.dir}, names...)...)
}

// homeNow is the identity of this clone. Outside a repository it is known once the folder exists.
func (s *State) homeNow() (Home, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.home != (Home{}) {
		return s.home, nil
	}
	home, err := homeOf(s.o.HostName, s.o.Place.Owner)
	if err == nil {
		s.home = home
	}
	return home, err
}

// checkHome refuses a file that was written elsewhere. A clone that was only moved is still the same.
func (s *State) checkHome(path string, was Home) error {
	now, err := s.homeNow()
	if err == nil && was != now && !moved(was, now) {
		err = &CopiedError{Path: path, Was: was, Now: now}
	}
	return err
}

// absent says whether err is that of a file that isn't there.
func absent(err error) bool { return errors.Is(err, fs.ErrNotExist) }
