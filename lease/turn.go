package lease

import (
	"errors"
	"time"
)

// The pauses of who waits for a turn.
const (
	firstTurnPause = 5 * time.Millisecond
	lastTurnPause  = 80 * time.Millisecond
)

// turn waits for the turn to renew claims and takes it. Where another process still has it when ctx ends, the error is a [*PendingError].
func (a *Authority) turn(ctx Context, holds ...Hold) (done func(), err error) {
	for pause := firstTurnPause; ; pause = min(2*pause, lastTurnPause) {
		done, err := a.tryTurn(holds...)
		if !errors.Is(err, ErrIntentBusy) {
			return done, err
		}
		more, err := a.jitter(pause)
		if err == nil {
			err = a.clock.Sleep(ctx, pause/2+more)
		}
		if err != nil {
			return nil, &PendingError{Verb: VerbRenew, Session: a.o.Holder.Session, Resources: resourcesOf(holds), Busy: true, Err: err}
		}
	}
}

// tryTurn is turn without waiting.
func (a *Authority) tryTurn(holds ...Hold) (done func(), err error) {
	claims := make([]ClaimID, len(holds))
	for i := range holds {
		claims[i] = holds[i].Claim
	}
	return a.local.Turn(claims...)
}

func resourcesOf(holds []Hold) []Resource {
	var all []Resource
	for i := range holds {
		all = append(all, holds[i].resources()...)
	}
	return all
}
