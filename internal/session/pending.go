package session

import (
	"bytes"
	"crypto/ed25519"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/git-worklease/git-worklease/internal/lockfile"
	"github.com/git-worklease/git-worklease/lease"
)

// intentFile is the file of one intent.
type intentFile struct {
	V      int          `json:"v"`
	Home   Home         `json:"home"`
	Made   Maker        `json:"made"`
	Intent lease.Intent `json:"intent"`
}

func (s *State) intentPath(id string) string { return s.path("pending", id+".json") }
func (s *State) intentLock(id string) string { return s.path("pending", id+".lock") }

// Begin saves an intent and locks it. When it returns nil, the intent survives a loss of power. It returns
// [lease.ErrIntentBusy] also where this very process is in the middle of a write for one of the resources.
func (s *State) Begin(i *lease.Intent) error {
	if err := checkIntent(i); err != nil {
		return err
	}
	if err := s.checkAuthorities([]lease.Hold{i.Hold}); err != nil {
		return err
	}
	if err := makeDir(s.path("pending")); err != nil {
		return err
	}
	home, err := s.homeNow()
	if err != nil {
		return err
	}
	if err := s.prepareMove(i); err != nil {
		return err
	}
	s.learn()
	err = withLock(s.path("pending.lock"), func() error {
		if err := s.checkFree(i.Resources); err != nil {
			return err
		}
		return s.save(i, home)
	})
	if err != nil {
		return err
	}
	return s.settleOnDisk(i)
}

// settleOnDisk sees to it that an intent survives a loss of power. That takes longest, and nobody else waits for it: the lock of all intents is free by then.
// In local mode nothing is done, because the clone's own refs do not outlive a loss of power any better.
func (s *State) settleOnDisk(i *lease.Intent) error {
	if s.o.Kind == Local {
		return nil
	}
	path := s.intentPath(i.ID)
	err := syncFile(path)
	if err == nil {
		err = syncDir(filepath.Dir(path))
	}
	if err != nil {
		return errors.Join(writeError(path, err), s.End(i))
	}
	return nil
}

// checkFree refuses where an intent for one of resources is there already.
func (s *State) checkFree(resources []lease.Resource) error {
	others, err := s.intents(resources)
	if err != nil {
		return err
	}
	var open *lease.OpenIntentError
	for _, f := range others {
		unlock, err := lockfile.TryLock(s.intentLock(f.Intent.ID))
		switch {
		case errors.Is(err, lockfile.ErrLocked):
			return lease.ErrIntentBusy
		case err != nil:
			return writeError(s.intentLock(f.Intent.ID), err)
		}
		open = &lease.OpenIntentError{Intent: &f.Intent}
		if err := unlock(); err != nil {
			return err
		}
	}
	if open != nil {
		return open
	}
	return nil
}

// save writes and locks an intent, under the lock of all intents.
func (s *State) save(i *lease.Intent, home Home) error {
	unlock, err := lockfile.TryLock(s.intentLock(i.ID))
	if err != nil {
		return writeError(s.intentLock(i.ID), err)
	}
	f := intentFile{V: version, Home: home, Made: s.maker(i.Hold.Claim), Intent: *i}
	if err := s.saveIntent(&f); err != nil {
		return errors.Join(err, os.Remove(s.intentLock(i.ID)), unlock())
	}
	s.hold(i.ID, unlock)
	return nil
}

// saveIntent writes a new file in one go, without a name of its own until it is whole: nobody reads it before, because all who do hold the lock of all
// intents, and one that does not end as it should was never sent. Where a rename would give the disk two things to do, this gives it one.
func (s *State) saveIntent(f *intentFile) error {
	path := s.intentPath(f.Intent.ID)
	data, err := json.Marshal(f)
	if err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	if err = writeNew(path, append(data, intentEnd...), fleeting); err != nil {
		_ = os.Remove(path)
	}
	return writeError(path, err)
}

// intentEnd is what the file of an intent ends with.
const intentEnd = "\n"

func (s *State) hold(id string, unlock func() error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.held[id] = unlock
}

// drop hands back the lock of an intent that we hold.
func (s *State) drop(id string) (unlock func() error, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	unlock, ok := s.held[id]
	if !ok {
		return nil, fmt.Errorf("%w: %s", ErrNotBegun, id)
	}
	delete(s.held, id)
	return unlock, nil
}

// End forgets an intent and unlocks it. Where it can't be forgotten it is left for others to settle.
func (s *State) End(i *lease.Intent) error {
	unlock, err := s.drop(i.ID)
	if err != nil {
		return err
	}
	if err := os.Remove(s.intentPath(i.ID)); err != nil && !absent(err) {
		return errors.Join(writeError(s.intentPath(i.ID), err), unlock())
	}
	// The lock is of no use any more. Should it stay, the next who looks sweeps it away.
	_ = os.Remove(s.intentLock(i.ID))
	return unlock()
}

// Leave unlocks an intent and keeps it as it was saved.
func (s *State) Leave(i *lease.Intent) error {
	unlock, err := s.drop(i.ID)
	if err != nil {
		return err
	}
	return unlock()
}

// Pending are the intents that touch any of resources, oldest first: those that were left behind, each locked for the caller, and those that living writers
// are at.
func (s *State) Pending(resources ...lease.Resource) (left, busy []*lease.Intent, err error) {
	if names, err := s.pendingNames(); err != nil || len(names) == 0 {
		return nil, nil, err
	}
	s.learn()
	err = withLock(s.path("pending.lock"), func() error {
		files, err := s.intents(resources)
		if err != nil {
			return err
		}
		for _, f := range files {
			unlock, err := lockfile.TryLock(s.intentLock(f.Intent.ID))
			switch {
			case errors.Is(err, lockfile.ErrLocked):
				busy = append(busy, &f.Intent)
				continue
			case err != nil:
				return writeError(s.intentLock(f.Intent.ID), err)
			}
			if _, err := os.Lstat(s.intentPath(f.Intent.ID)); absent(err) { // ended while we looked
				_ = os.Remove(s.intentLock(f.Intent.ID))
				_ = unlock()
				continue
			}
			s.hold(f.Intent.ID, unlock)
			s.inherit(f)
			left = append(left, &f.Intent)
		}
		return s.sweep()
	})
	if err != nil {
		for _, i := range left {
			err = errors.Join(err, s.Leave(i))
		}
		return nil, nil, err
	}
	return left, busy, nil
}

// inherit remembers on whose behalf an intent was begun that we may finish.
func (s *State) inherit(f *intentFile) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.made[f.Intent.Hold.Claim] = f.Made
}

func (s *State) pendingNames() ([]string, error) {
	dir := s.path("pending")
	if err := checkDir(dir); err != nil {
		return nil, err
	}
	entries, err := os.ReadDir(dir)
	if err != nil && !absent(err) {
		return nil, &StateError{dir, err}
	}
	names := make([]string, len(entries))
	for i, entry := range entries {
		names[i] = entry.Name()
	}
	return names, nil
}

// pendingIDs are the IDs of the intents that there are.
func (s *State) pendingIDs() ([]string, error) {
	names, err := s.pendingNames()
	var ids []string
	for _, name := range names {
		if id, ok := strings.CutSuffix(name, ".json"); ok {
			ids = append(ids, id)
		}
	}
	return ids, err
}

// intents reads, under the lock of all intents, those that touch any of resources; with none given, all. They are sorted by the time of their claim's last
// write, then by ID.
func (s *State) intents(resources []lease.Resource) ([]*intentFile, error) {
	ids, err := s.pendingIDs()
	if err != nil {
		return nil, err
	}
	var files []*intentFile
	for _, id := range ids {
		if s.isElsewhere(id, resources) {
			continue
		}
		f, err := s.readIntent(id)
		switch {
		case absent(err): // ended while we looked
		case errors.Is(err, errUnfinished):
			if err := os.Remove(s.intentPath(id)); err != nil {
				return nil, writeError(s.intentPath(id), err)
			}
		case err != nil:
			return nil, err
		case touches(f.Intent.Resources, resources):
			files = append(files, f)
		}
	}
	slices.SortFunc(files, func(a, b *intentFile) int {
		if order := a.Intent.Hold.RenewedAt.Compare(b.Intent.Hold.RenewedAt); order != 0 {
			return order
		}
		return strings.Compare(a.Intent.ID, b.Intent.ID)
	})
	return files, nil
}

func touches(some, wanted []lease.Resource) bool {
	return len(wanted) == 0 || slices.ContainsFunc(some, func(r lease.Resource) bool { return slices.Contains(wanted, r) })
}

// errUnfinished is an intent whose writer did not get to the end of it, and so never sent it.
var errUnfinished = errors.New("unfinished")

func (s *State) readIntent(id string) (*intentFile, error) {
	f, err := s.loadIntent(id)
	if err != nil {
		return nil, err
	}
	// Its authority is not compared: one that a first claim meant to create may have been created by somebody else meanwhile, and
	// settling the intent finds that out.
	return f, s.checkHome(s.intentPath(id), f.Home)
}

// loadIntent reads an intent wherever it was written.
func (s *State) loadIntent(id string) (*intentFile, error) {
	path := s.intentPath(id)
	data, err := readFile(path, secret)
	switch {
	case err != nil:
		return nil, err
	case !bytes.HasSuffix(data, []byte(intentEnd)):
		return nil, errUnfinished
	}
	var f intentFile
	if err := decodeJSON(path, data, &f); err != nil {
		return nil, err
	}
	return &f, f.check(path, id)
}

func (f *intentFile) check(path, id string) error {
	if err := checkIntent(&f.Intent); err != nil {
		return &StateError{path, err}
	}
	if f.Intent.ID != id {
		return &StateError{path, fmt.Errorf("it is intent %q", f.Intent.ID)}
	}
	return nil
}

// checkIntent refuses an intent that can't be kept, or whose use would panic.
func checkIntent(i *lease.Intent) error {
	const safe = "0123456789abcdefghijklmnopqrstuvwxyz_-"
	switch {
	case i.ID == "" || len(i.ID) > 128 || strings.Trim(i.ID, safe) != "":
		return fmt.Errorf("intent %q: not a file name", i.ID)
	case i.Tx == nil || len(i.Resources) == 0:
		return fmt.Errorf("intent %s: no transaction or no resources", i.ID)
	case len(i.Hold.Key) != 0 && len(i.Hold.Key) != ed25519.PrivateKeySize:
		return fmt.Errorf("intent %s: a key of %d bytes", i.ID, len(i.Hold.Key))
	}
	return nil
}

// sweep removes what killed processes left beside their intents: locks whose intent is gone, and files half written, which
// were never sent. It runs under the lock of all intents, so that none is being begun.
func (s *State) sweep() error {
	names, err := s.pendingNames()
	if err != nil {
		return err
	}
	for _, name := range names {
		path := s.path("pending", name)
		id, isLock := strings.CutSuffix(name, ".lock")
		if isLock && !slices.Contains(names, id+".json") {
			sweepLock(path)
		}
		if strings.HasSuffix(name, ".tmp") {
			_ = os.Remove(filepath.Clean(path))
		}
	}
	return nil
}

func sweepLock(path string) {
	unlock, err := lockfile.TryLock(path)
	if err != nil {
		return
	}
	_ = os.Remove(path)
	_ = unlock()
}
