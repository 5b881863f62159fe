package proof

import (
	"context"
	"errors"
	"maps"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/git-worklease/git-worklease/refstore"
)

// trouble is which faults a wire has, each with its probability in a thousand exchanges.
type trouble struct {
	// lostRequest never reaches the server, and the client can't know; lostReply did. late arrives only later. refused is the server's own will.
	lostRequest, lostReply, late, refused int
	// unreachable says so.
	unreachable int
	// kill ends the process, before or after its request was done, or with it still on its way.
	kill int
	// torn shows one part of a listing earlier than the other.
	torn int
	// outage takes the server away from everybody, for a while.
	outage int
}

// killed is what a process that is killed panics with.
type killed struct{}

// errBroken is a connection that broke with the request sent.
func errBroken() error {
	return &refstore.UnavailableError{URL: "memory", Trouble: refstore.TroubleNetwork, Sent: true, Err: errors.New("connection reset")}
}

func errUnreachable() error {
	return &refstore.UnavailableError{URL: "memory", Trouble: refstore.TroubleNetwork, Err: errors.New("connection refused")}
}

// sea is what all wires of a run share.
type sea struct {
	turns  *turns
	random *rand.Rand
	trouble
	// outUntil is when the server is back.
	outUntil time.Duration
	// latest is how late a request may land.
	latest time.Duration
	faults int
}

func (s *sea) meets(perMille int) bool {
	if s.random.IntN(1000) >= perMille {
		return false
	}
	s.faults++
	return true
}

// pause is how long a way takes: mostly little, so that exchanges of several workers mix.
func (s *sea) pause() time.Duration {
	if s.random.IntN(20) == 0 {
		return time.Duration(s.random.Int64N(int64(5 * time.Second)))
	}
	return time.Duration(s.random.Int64N(int64(200 * time.Millisecond)))
}

// out says whether the server can't be reached, and may begin an outage.
func (s *sea) out() bool {
	if s.turns.passed >= s.outUntil && s.meets(s.outage) {
		s.outUntil = s.turns.passed + time.Duration(s.random.Int64N(int64(2*time.Minute)))
	}
	return s.turns.passed < s.outUntil
}

// wire is one process's way to the repository.
type wire struct {
	refstore.Transport
	sea  *sea
	task *task
}

func (w *wire) Refs(ctx context.Context, prefixes []string) (map[string]refstore.OID, error) {
	w.task.wait(w.sea.pause())
	if w.sea.out() || w.sea.meets(w.sea.unreachable) {
		return nil, errUnreachable()
	}
	refs, err := w.Transport.Refs(ctx, prefixes)
	if err != nil || !w.sea.meets(w.sea.torn) {
		w.task.wait(w.sea.pause())
		return refs, err
	}
	w.task.wait(w.sea.pause())
	later, err := w.Transport.Refs(ctx, prefixes)
	if err != nil {
		return nil, err
	}
	return w.tear(refs, later), nil
}

// tear is a listing of which each ref was read at one of two times.
func (w *wire) tear(first, second map[string]refstore.OID) map[string]refstore.OID {
	torn := map[string]refstore.OID{}
	all := maps.Clone(first)
	maps.Copy(all, second)
	for _, name := range slices.Sorted(maps.Keys(all)) { // in the same order each time
		from := first
		if w.sea.random.IntN(2) == 0 {
			from = second
		}
		if oid, ok := from[name]; ok {
			torn[name] = oid
		}
	}
	return torn
}

func (w *wire) Commits(ctx context.Context, wants []refstore.OID, depth int) ([]refstore.Object, error) {
	w.task.wait(w.sea.pause())
	if w.sea.out() {
		return nil, errUnreachable()
	}
	return w.Transport.Commits(ctx, wants, depth)
}

func (w *wire) Push(ctx context.Context, tx *refstore.Tx) (*refstore.Report, error) {
	s := w.sea
	w.task.wait(s.pause())
	switch {
	case s.out() || s.meets(s.unreachable):
		return nil, errUnreachable()
	case s.meets(s.kill):
		if s.random.IntN(2) == 0 {
			w.land(tx)
		}
		panic(killed{})
	case s.meets(s.late):
		w.land(tx)
		return nil, errBroken()
	case s.meets(s.lostRequest):
		return nil, errBroken()
	case s.meets(s.refused):
		report := &refstore.Report{Unpack: "ok", Refused: map[string]string{}}
		for i := range tx.Updates {
			report.Refused[tx.Updates[i].Ref] = "hook declined"
		}
		return report, nil
	}
	report, err := w.Transport.Push(ctx, tx)
	switch {
	case err != nil:
		return report, err
	case s.meets(s.kill):
		panic(killed{})
	case s.meets(s.lostReply):
		return nil, errBroken()
	}
	w.task.wait(s.pause())
	return report, nil
}

// land lets a request arrive later.
func (w *wire) land(tx *refstore.Tx) {
	server := w.Transport
	w.sea.turns.begin(time.Duration(w.sea.random.Int64N(int64(w.sea.latest))), func(*task) {
		_, _ = server.Push(context.Background(), tx) // whatever comes of it, nobody hears
	})
}
