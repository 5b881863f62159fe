package session

import (
	"errors"
	"fmt"
	"os"
	"slices"

	"github.com/git-worklease/git-worklease/internal/lockfile"
	"github.com/git-worklease/git-worklease/lease"
)

// Turn takes the turn to renew claims: of all, or of none.
func (s *State) Turn(claims ...lease.ClaimID) (done func(), err error) {
	if err := makeDir(s.path("turns")); err != nil {
		return nil, err
	}
	var taken []func()
	done = func() {
		for _, end := range slices.Backward(taken) {
			end()
		}
	}
	for _, c := range claims {
		end, err := takeTurn(s.path("turns", lease.EncodeName(string(c))+".lock"))
		if err != nil {
			done()
			return nil, err
		}
		taken = append(taken, end)
	}
	return done, nil
}

func takeTurn(path string) (end func(), err error) {
	unlock, err := lockfile.TryLock(path)
	switch {
	case errors.Is(err, lockfile.ErrLocked):
		return nil, fmt.Errorf("%w: %w", lease.ErrIntentBusy, err)
	case err != nil:
		return nil, writeError(path, err)
	}
	return func() {
		_ = os.Remove(path) // what stays is taken again
		_ = unlock()        // it ends with the process at the latest
	}, nil
}
