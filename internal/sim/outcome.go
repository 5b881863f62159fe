package sim

import (
	"errors"
	"slices"

	"github.com/git-worklease/git-worklease/lease"
	"github.com/git-worklease/git-worklease/refstore"
)

// outcome is what a worker makes of what a call returned.
type outcome int

const (
	done    outcome = iota
	refused         // another has it
	lost            // the claim is over, or proves nothing any more
	unknown         // it may have happened
	failed          // the remote kept it from happening, which may pass
	died            // the process is no more
	stopped         // the run is over
	broken          // what must not happen, or does not pass by itself
)

// passing are the troubles that may pass.
var passing = []refstore.Trouble{refstore.TroubleNetwork, refstore.TroubleDeadline, refstore.TroubleBusy, refstore.TroubleGarbage}

func judge(err error) outcome {
	var u *refstore.UnavailableError
	switch {
	case err == nil:
		return done
	case errors.Is(err, errDied):
		return died
	case errors.Is(err, lease.ErrPending), errors.Is(err, refstore.ErrUndecided):
		return unknown
	case errors.Is(err, lease.ErrHeld):
		return refused
	case overFor(err), errors.Is(err, lease.ErrExpired), errors.Is(err, lease.ErrMoving):
		return lost
	case errors.Is(err, refstore.ErrConflict), errors.As(err, &u) && slices.Contains(passing, u.Trouble):
		return failed
	}
	return broken
}

// overFor says whether an error means that the claim is another's, or nobody's, for good.
func overFor(err error) bool {
	return errors.Is(err, lease.ErrLost) || errors.Is(err, lease.ErrNotHeld) || errors.Is(err, lease.ErrKeyLost)
}
