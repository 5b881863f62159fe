package sim

import (
	"context"
	"time"

	"github.com/git-worklease/git-worklease/lease"
)

// kind is a way to work.
type kind struct {
	name   string
	script func(*life)
	// clocks says that the wall clocks of its workers are wrong.
	clocks bool
}

// kinds are all ways to work. Workers are of each in turn.
var kinds = []kind{
	{"polite", polite, false},
	{"crashing", crashing, false},
	{"slow", slow, false},
	{"skewed", skewed, true},
	{"hooked", hooked, false},
	{"handing", handing, false},
}

// polite renews in time, by hand or by a keeper, and releases.
func polite(l *life) {
	if !l.begin() {
		return
	}
	kept := l.rng.IntN(2) == 0
	if kept {
		l.keep()
	}
	for range 2 + l.rng.IntN(5) {
		if !kept && !l.renewIfDue() || !l.work(3*time.Second) {
			return
		}
	}
	l.release("")
}

// crashing dies: in the middle of nothing, of a renewal, of a release, or of its claim.
func crashing(l *life) {
	when := death(1 + l.rng.IntN(2))
	verb := [...]verb{verbVerify, verbRenew, verbRelease, verbClaim}[l.rng.IntN(4)]
	if verb == verbClaim {
		l.p.fate.arm(when)
	}
	if l.begin() {
		if l.rng.IntN(2) == 0 {
			l.keep()
		}
		l.work(4 * time.Second)
		l.unkeep()
		l.p.fate.arm(when)
		switch verb {
		case verbRenew:
			l.renew()
		case verbRelease:
			l.release("")
		}
	}
	l.die()
	l.comeBack(verb)
}

// comeBack is a new process of the session, early enough to go on or too late, unless it never comes. It repeats the command that was cut short.
func (l *life) comeBack(verb verb) {
	away := l.rest
	switch l.rng.IntN(4) {
	case 0:
		away(time.Second, 4*time.Second)
	case 1:
		away(l.ttl+l.grace, l.ttl+l.grace+8*time.Second)
	default:
		return
	}
	if l.over.Err() != nil || !l.start(l.session) {
		return
	}
	back := false
	switch {
	case verb == verbRelease:
		l.release("")
		return
	case l.hold.Claim == "":
		back = l.claim() == done
	default:
		if back = l.renew(); back {
			l.read = l.referee.read(l.hold.Claim)
		}
	}
	if back && l.work(3*time.Second) {
		l.release("")
	}
}

// slow does not renew, and writes what it has read before its time was up, if a late renewal says that nobody had the claim since.
func slow(l *life) {
	if !l.begin() || !l.rest(l.ttl, l.ttl+l.grace+8*time.Second) {
		return
	}
	if l.renew() && l.work(3*time.Second) {
		l.release("")
	}
}

// skewed is polite, or vanishes, so that others judge a stamp that is wrong.
func skewed(l *life) {
	if l.rng.IntN(3) > 0 {
		polite(l)
	} else if l.begin() {
		l.work(4 * time.Second)
	}
}

// hooked verifies before it writes, and sometimes takes long in between.
func hooked(l *life) {
	if !l.begin() {
		return
	}
	for range 2 + l.rng.IntN(4) {
		longest := 3 * time.Second
		if l.rng.IntN(5) == 0 {
			longest = l.ttl + l.grace + 5*time.Second
		}
		if !l.rest(longest/4, longest) || !l.verify() || !l.write() || !l.renewIfDue() {
			return
		}
	}
	l.release("")
}

// handing hands its claim over.
func handing(l *life) {
	if !l.begin() || !l.work(4*time.Second) {
		return
	}
	if l.rng.IntN(2) == 0 {
		l.move()
		return
	}
	to := l.partner(l.rng.IntN)
	if l.release(to.name) {
		select {
		case to.post <- l.want:
		default: // nobody has to take it
		}
	}
}

// move goes on in another session of the clone.
func (l *life) move() {
	l.referee.leaves(l.hold.Claim)
	next := l.session + "-next"
	var res []lease.MoveResult
	out := l.call(verbMove, func(ctx context.Context) (err error) {
		res, err = l.p.Move(ctx, lease.MoveRequest{Resources: l.want, To: next})
		return err
	})
	if out != done {
		return
	}
	l.end()
	if l.session = next; !l.start(next) || !l.verify() {
		return
	}
	l.believe(res[0].Hold)
	l.read = l.referee.read(l.hold.Claim)
	if l.work(3 * time.Second) {
		l.release("")
	}
}
