package lease

import (
	"errors"
	"time"

	"github.com/git-worklease/git-worklease/refstore"
)

// The rhythm of whoever waits for others: each pause is an eighth to the whole of a span that doubles. Thirty who wait for one resource then ask
// three or four times a second in all, and some twenty times in the worst second where they have begun together.
const (
	firstSpan = 2500 * time.Millisecond
	lastSpan  = 15 * time.Second
	// wakeSpread parts those who wait for the same moment: whoever comes after the first finds the resource taken, and sends nothing.
	wakeSpread = 3 * time.Second
)

// rests are the pauses of one wait, and its end.
type rests struct {
	*Authority
	began moment
	// total is how long the wait may take; 0: there is no end.
	total time.Duration
	count int
}

func (a *Authority) rests(total time.Duration) *rests {
	return &rests{Authority: a, began: a.moment(), total: total}
}

// over says whether the time is up.
func (r *rests) over() bool { return r.total > 0 && r.left() <= 0 }

// left is what is left of the time, by the clock that runs through suspend, or by the wall clock where there is no other.
func (r *rests) left() time.Duration {
	now := r.moment()
	if now.at.Boot != "" && now.at.Boot == r.began.at.Boot {
		return r.total - (now.at.Since - r.began.at.Since)
	}
	return r.total - now.wall.Sub(r.began.wall)
}

// rest waits until it is worth looking again: at the latest shortly after wake, unless that is zero, and when the time is up. It returns the error
// of ctx.
func (r *rests) rest(ctx Context, wake time.Time) error {
	span := min(firstSpan<<min(r.count, 10), lastSpan)
	r.count++
	more, err := r.jitter(span - span/8)
	if err != nil {
		return err
	}
	d := span/8 + more
	if !wake.IsZero() {
		spread, err := r.jitter(wakeSpread)
		if err != nil {
			return err
		}
		d = min(d, max(0, wake.Sub(r.clock.Now()))+spread)
	}
	if r.total > 0 {
		d = min(d, max(0, r.left()))
	}
	return r.clock.Sleep(ctx, d)
}

// passes says whether what a look or a try failed with may be over by the next one: another's claim, a write under way, a remote that does not
// answer. Nobody waits for what somebody has to put right.
func passes(err error) bool {
	var u *refstore.UnavailableError
	if errors.As(err, &u) {
		switch u.Trouble {
		case refstore.TroubleNetwork, refstore.TroubleDeadline, refstore.TroubleBusy, refstore.TroubleGarbage:
		default:
			return false
		}
		return !errors.Is(err, ErrNotAtomic)
	}
	return errors.Is(err, ErrHeld) || errors.Is(err, ErrPending) || errors.Is(err, refstore.ErrConflict)
}
