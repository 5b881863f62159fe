package session

import (
	"crypto/rand"
	"encoding/json"
	"errors"
	"slices"

	"github.com/git-worklease/git-worklease/internal/lockfile"
	"github.com/git-worklease/git-worklease/lease"
)

// Adopted is what became usable here of one session.
type Adopted struct {
	Session string
	// From is the clone that the state was copied from, which has the same keys; zero where the claims were made here.
	From Home
	// Claims are those that have not ended, as they are now.
	Claims []lease.Hold
	// Intents counts the writes of unknown outcome that came with the copy.
	Intents int
}

// newPlace is a place that no claim was ever at.
func newPlace() string { return rand.Text() }

// Adopt makes state that was copied from elsewhere usable in this clone: that of this session, or of all sessions. Claims get a place of their own and
// the given host, which their next renewal makes known. Claims of this session that were made in an earlier worktree of the present one's ID become
// its own. Nothing is returned for a session that needs none of it.
func (s *State) Adopt(host string, all bool) ([]Adopted, error) {
	names, err := s.adoptable(all)
	if err != nil {
		return nil, err
	}
	place := newPlace()
	var adopted []Adopted
	for _, name := range names {
		a, err := s.adopt(name, host, place)
		if err != nil {
			return adopted, err
		}
		adopted = append(adopted, a)
	}
	return s.adoptIntents(adopted, host, place, all)
}

// adoptable are the sessions with something to adopt in their file.
func (s *State) adoptable(all bool) ([]string, error) {
	sessions, err := s.Sessions()
	if err != nil {
		return nil, err
	}
	var names []string
	for _, sum := range sessions {
		own := sum.Name == s.o.Session
		switch {
		case !all && !own && sum.Name != "": // another's
		case errors.Is(sum.Err, ErrCopied):
			names = append(names, sum.Name)
		case sum.Err != nil:
			return nil, sum.Err
		case own && s.hasFormer(sum.Name):
			names = append(names, sum.Name)
		}
	}
	return names, nil
}

func (s *State) hasFormer(name string) bool {
	f, err := s.loadSession(name)
	return err == nil && slices.ContainsFunc(f.Holds, func(h lease.Hold) bool { return h.End == nil && s.former(f.Made[h.Claim]) })
}

// adopt rewrites a session's file.
func (s *State) adopt(name, host, place string) (Adopted, error) {
	a := Adopted{Session: name}
	load := func(name string) (sessionFile, error) {
		f, err := s.loadSession(name)
		var copied *CopiedError
		if err == nil && errors.As(s.checkHome(s.sessionPath(name), f.Home), &copied) {
			a.From = copied.Was
		}
		return f, err
	}
	err := s.changeSession(name, load, func(f *sessionFile) error {
		if f.Made == nil {
			f.Made = map[lease.ClaimID]Maker{}
		}
		for i := range f.Holds {
			h := &f.Holds[i]
			by := f.Made[h.Claim]
			switch {
			case h.End != nil:
				continue
			case a.From != (Home{}):
				*h = h.MoveTo(place, at(h.Holder, host))
				f.Made[h.Claim] = s.heir(by)
			case s.former(by):
				f.Made[h.Claim] = s.self()
			default:
				continue
			}
			a.Claims = append(a.Claims, *h)
		}
		return nil
	})
	return a, err
}

func at(h lease.Holder, host string) lease.Holder {
	h.Host = host
	return h
}

// heir is who has a claim from now on that was made elsewhere: we, if it was made in a worktree of our ID; otherwise whoever asks there first.
func (s *State) heir(by Maker) Maker {
	if by.Worktree == s.o.Place.Worktree {
		return s.self()
	}
	return Maker{Worktree: by.Worktree}
}

// adoptIntents rewrites what was copied of writes with an unknown outcome, so that the next command settles them here.
func (s *State) adoptIntents(adopted []Adopted, host, place string, all bool) ([]Adopted, error) {
	ids, err := s.pendingIDs()
	if err != nil || len(ids) == 0 {
		return adopted, err
	}
	err = withLock(s.path("pending.lock"), func() error {
		for _, id := range ids {
			f, err := s.loadIntent(id)
			switch {
			case absent(err), errors.Is(err, errUnfinished):
				continue
			case err != nil:
				return err
			}
			var copied *CopiedError
			if err := s.checkHome(s.intentPath(id), f.Home); !errors.As(err, &copied) || !all && f.Intent.Session != s.o.Session {
				continue
			}
			if err := s.adoptIntent(f, host, place); err != nil {
				return err
			}
			adopted = count(adopted, f.Intent.Session, copied.Was)
		}
		return nil
	})
	return adopted, err
}

func (s *State) adoptIntent(f *intentFile, host, place string) error {
	unlock, err := lockfile.TryLock(s.intentLock(f.Intent.ID))
	switch {
	case errors.Is(err, lockfile.ErrLocked):
		return lease.ErrIntentBusy
	case err != nil:
		return writeError(s.intentLock(f.Intent.ID), err)
	}
	if f.Home, err = s.homeNow(); err == nil {
		f.Made = s.heir(f.Made)
		f.Intent.Hold = f.Intent.Hold.MoveTo(place, at(f.Intent.Hold.Holder, host))
		err = s.replaceIntent(f)
	}
	return errors.Join(err, unlock())
}

func (s *State) replaceIntent(f *intentFile) error {
	data, err := json.Marshal(f)
	if err != nil {
		return err
	}
	return writeFile(s.intentPath(f.Intent.ID), append(data, intentEnd...), whole)
}

// count adds an intent to what was adopted of its session.
func count(adopted []Adopted, session string, from Home) []Adopted {
	i := slices.IndexFunc(adopted, func(a Adopted) bool { return a.Session == session })
	if i < 0 {
		i, adopted = len(adopted), append(adopted, Adopted{Session: session, From: from})
	}
	adopted[i].Intents++
	return adopted
}
