package session

import (
	"crypto/ed25519"
	"errors"
	"fmt"
	"maps"
	"os"
	"slices"
	"sync"

	"github.com/git-worklease/git-worklease/lease"
)

// keptEnded is how many ended claims a session remembers.
const keptEnded = 100

// Maker is on whose behalf and where a claim was made.
type Maker struct {
	Process Claimant `json:"process,omitzero"`
	// Worktree is git's ID of a linked worktree, "" for the main one.
	Worktree string `json:"worktree,omitempty"`
	// Born is that of the worktree, see [Place].
	Born int64 `json:"born,omitempty"`
}

// sessionFile is the file of one session.
type sessionFile struct {
	V       int                     `json:"v"`
	Session string                  `json:"session"`
	Home    Home                    `json:"home"`
	Made    map[lease.ClaimID]Maker `json:"made,omitempty"`
	Holds   []lease.Hold            `json:"holds"`
}

func (s *State) sessionPath(session string) string {
	return s.path("sessions", lease.EncodeName(session)+".json")
}

// Holds are this session's claims, ended ones included, oldest first.
func (s *State) Holds() ([]lease.Hold, error) {
	f, err := s.readSession(s.o.Session)
	return f.Holds, err
}

// readSession reads a session's file; where there is none, the session holds nothing.
func (s *State) readSession(session string) (sessionFile, error) {
	path := s.sessionPath(session)
	before, statErr := os.Lstat(path)
	if f, ok := s.read.file(path, before); ok && statErr == nil {
		return f, nil
	}
	f, err := s.loadSession(session)
	if absent(err) {
		return sessionFile{}, nil
	}
	if err == nil {
		err = s.checkHome(path, f.Home)
	}
	if err == nil {
		err = s.checkAuthorities(f.Holds)
	}
	if err != nil {
		return sessionFile{}, err
	}
	if statErr == nil {
		s.read.keep(path, before, f)
	}
	return f, nil
}

// loadSession reads a session's file wherever it was written. One that isn't there is fs.ErrNotExist.
func (s *State) loadSession(session string) (sessionFile, error) {
	path := s.sessionPath(session)
	var f sessionFile
	err := checkDir(s.path("sessions"))
	if err == nil {
		err = readJSON(path, secret, &f)
	}
	if err == nil {
		err = f.check(path, session)
	}
	return f, err
}

// changeSession rewrites a session's file, under its lock.
func (s *State) changeSession(session string, load func(string) (sessionFile, error), change func(f *sessionFile) error) error {
	if err := makeDir(s.path("sessions")); err != nil {
		return err
	}
	path := s.sessionPath(session)
	return withLock(path+".lock", func() error {
		f, err := load(session)
		if err != nil {
			return err
		}
		home, err := s.homeNow()
		if err != nil {
			return err
		}
		f.V, f.Session, f.Home = version, session, home
		if err := change(&f); err != nil {
			return err
		}
		return writeJSON(path, &f, whole)
	})
}

func (s *State) checkAuthorities(holds []lease.Hold) error {
	meta, err := s.Meta()
	if err != nil || meta.Authority == "" {
		return err
	}
	for i := range holds {
		if got := holds[i].Authority; got != meta.Authority {
			return &OtherAuthorityError{Bound: meta.Authority, Got: got}
		}
	}
	return nil
}

func (f *sessionFile) check(path, session string) error {
	if f.Session != session {
		return &StateError{path, fmt.Errorf("it is of session %q", f.Session)}
	}
	for i := range f.Holds {
		if err := checkHold(&f.Holds[i]); err != nil {
			return &StateError{path, err}
		}
	}
	return nil
}

// checkHold refuses what would make its user panic or sign rubbish.
func checkHold(h *lease.Hold) error {
	switch {
	case h.Claim == "" || len(h.Members) == 0:
		return errors.New("a claim without ID or resources")
	case len(h.Key) != ed25519.PrivateKeySize && (h.End == nil || len(h.Key) != 0):
		return fmt.Errorf("claim %s: a key of %d bytes", h.Claim, len(h.Key))
	}
	return nil
}

// SaveHold stores a claim in the file of its own session, where [lease.Hold.Replaces] allows it. One that was confirmed stays confirmed.
func (s *State) SaveHold(h lease.Hold) error {
	if err := checkHold(&h); err != nil {
		return err
	}
	if err := s.checkAuthorities([]lease.Hold{h}); err != nil {
		return err
	}
	return s.changeSession(h.Holder.Session, s.readSession, func(f *sessionFile) error {
		f.put(h, s.maker(h.Claim))
		return nil
	})
}

// maker is who makes a claim: ourselves, unless we finish what another process had begun.
func (s *State) maker(claim lease.ClaimID) Maker {
	s.mu.Lock()
	defer s.mu.Unlock()
	if m, ok := s.made[claim]; ok {
		return m
	}
	return s.self()
}

// self is who makes claims here and now.
func (s *State) self() Maker {
	return Maker{Process: s.o.Process, Worktree: s.o.Place.Worktree, Born: s.o.Place.Born}
}

func (f *sessionFile) put(h lease.Hold, by Maker) {
	at := slices.IndexFunc(f.Holds, func(old lease.Hold) bool { return old.Claim == h.Claim })
	switch {
	case at < 0:
		f.add(h, by)
	case !h.Replaces(&f.Holds[at]):
	case f.Holds[at].End != nil && h.End == nil: // it has come back
		f.Holds = slices.Delete(f.Holds, at, at+1)
		f.add(h, by)
	default:
		h.Unconfirmed = h.Unconfirmed && f.Holds[at].Unconfirmed
		f.Holds[at] = h
	}
	f.trim()
}

// add puts a claim last, as the newest.
func (f *sessionFile) add(h lease.Hold, by Maker) {
	f.Holds = append(f.Holds, h)
	if f.Made == nil {
		f.Made = map[lease.ClaimID]Maker{}
	}
	f.Made[h.Claim] = by
}

// trim forgets the ended claims that ended before the newest hundred.
func (f *sessionFile) trim() {
	var ended []lease.Hold
	for _, h := range f.Holds {
		if h.End != nil {
			ended = append(ended, h)
		}
	}
	if len(ended) <= keptEnded {
		return
	}
	slices.SortStableFunc(ended, func(a, b lease.Hold) int { return a.End.At.Compare(b.End.At) })
	for _, old := range ended[:len(ended)-keptEnded] {
		delete(f.Made, old.Claim)
		f.Holds = slices.DeleteFunc(f.Holds, func(h lease.Hold) bool { return h.Claim == old.Claim })
	}
}

// lastRead is the session's file as this process has read it last. A file is never changed but replaced, so one that looks the same is the same.
type lastRead struct {
	mu   sync.Mutex
	path string
	info os.FileInfo
	f    sessionFile
}

func (l *lastRead) file(path string, now os.FileInfo) (sessionFile, bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.info == nil || now == nil || l.path != path || !os.SameFile(l.info, now) || l.info.Size() != now.Size() || !l.info.ModTime().Equal(now.ModTime()) {
		return sessionFile{}, false
	}
	return l.f.clone(), true
}

func (l *lastRead) keep(path string, info os.FileInfo, f sessionFile) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.path, l.info, l.f = path, info, f.clone()
}

func (f *sessionFile) clone() sessionFile {
	c := *f
	c.Holds, c.Made = slices.Clone(f.Holds), maps.Clone(f.Made)
	return c
}
