package main

import (
	"testing"
	"time"

	"github.com/git-worklease/git-worklease/internal/gitserver"
	"github.com/git-worklease/git-worklease/lease"
)

// delayed is a write that the server has, and does not do before it is told to, although its client has given up.
type delayed struct {
	*scene
	hold holdup
}

// holdup keeps the first push from then on back at the server.
type holdup interface {
	// Arrived is closed when it is there, Release lets it go on, and Landed is closed when the server is done with it.
	Arrived() <-chan struct{}
	Release()
	Landed() <-chan struct{}
}

// holdByServer keeps a push back in the http server.
func (s *site) holdByServer() holdup {
	hold := gitserver.NewHold()
	s.http.Inject(gitserver.Fault{When: gitserver.Push, Nth: 1, Do: hold.Do})
	return hold
}

// delay makes a verb of alice's end in doubt, with its push held back by hold.
func (s *site) delay(t *testing.T, verb string, hold func() holdup) *delayed {
	t.Helper()
	d := &delayed{scene: &scene{site: s, t: t, alice: s.worker(t, "alice"), bob: s.worker(t, "bob"), keys: []string{"task:demo"}}}
	d.bob.must(t, 0, "claim", "task:first")
	d.alice.must(t, 0, "claim", "task:second")
	if verb != "claim" {
		d.alice.must(t, 0, "claim", "task:demo", "--ttl", "10m")
	}
	d.hold = hold()
	book := s.account(t, "troubles", "lands late")
	r := d.alice.must(t, 2, verb, "task:demo", "--timeout", "1s")
	for r.doc.Error.Reason == "timeout" { // on a busy machine it may not have come to the push
		r = d.alice.must(t, 2, verb, "task:demo", "--timeout", "2s")
	}
	book.struck(r.Code)
	if r.doc.Error.Reason != "pending" {
		t.Fatalf("reason %s\n%s", r.doc.Error.Reason, r.Stdout)
	}
	<-d.hold.Arrived()
	return d
}

// land lets the write go on.
func (d *delayed) land() {
	d.hold.Release()
	<-d.hold.Landed()
}

// state is what status says of the resource to a worker.
func (d *delayed) state(w *worker, code int, flags ...string) view {
	d.t.Helper()
	r := w.must(d.t, code, append([]string{"status", "task:demo"}, flags...)...)
	return r.views(d.t)[0]
}

// is checks a state.
func (v view) is(t *testing.T, state lease.Standing, mine bool) {
	t.Helper()
	if v.State != state || v.Mine != mine {
		t.Fatalf("it is %s, mine: %t; want %s, mine: %t", v.State, v.Mine, state, mine)
	}
}

// lateEnding is a verb that is in doubt, and what happens then.
type lateEnding struct {
	verb string
	then func(t *testing.T, d *delayed)
}

// lateEndings are what may happen between the client's giving up and the landing.
var lateEndings = map[string]lateEnding{
	"status says pending until it lands": {"claim", func(t *testing.T, d *delayed) {
		d.state(d.alice, 2).is(t, lease.StandingPending, false)
		d.state(d.bob, 0).is(t, lease.StandingFree, false)
		d.land()
		d.state(d.alice, 0).is(t, lease.StandingHeld, true)
		d.bob.must(t, 3, "claim", "task:demo")
		d.alice.must(t, 0, "release")
		d.bob.must(t, 0, "claim", "task:demo")
	}},
	"the next claim sends it again": {"claim", func(t *testing.T, d *delayed) {
		d.alice.must(t, 0, "claim", "task:demo")
		d.land()
		d.alice.must(t, 0, "verify", "task:demo")
		if rec := d.record(t, "task:demo"); rec.Generation != 1 {
			t.Fatalf("%s", brief(rec))
		}
	}},
	"a rival is faster": {"claim", func(t *testing.T, d *delayed) {
		d.bob.must(t, 0, "claim", "task:demo")
		d.land()
		d.bob.must(t, 0, "verify", "task:demo")
		d.state(d.alice, 0).is(t, lease.StandingHeld, false)
		d.alice.must(t, 3, "claim", "task:demo")
	}},
	"a rival is slower": {"claim", func(t *testing.T, d *delayed) {
		d.land()
		d.bob.must(t, 3, "claim", "task:demo")
		d.alice.must(t, 0, "claim", "task:demo")
		d.alice.must(t, 0, "release")
	}},
	"another session of the clone may not jump the queue": {"claim", func(t *testing.T, d *delayed) {
		d.state(d.alice, 2, "--session", "other").is(t, lease.StandingPending, false)
		d.alice.must(t, 3, "claim", "task:demo", "--session", "other")
		d.land()
		d.state(d.alice, 0).is(t, lease.StandingHeld, true)
		d.state(d.alice, 0, "--session", "other").is(t, lease.StandingHeld, false)
	}},
	"it is forgotten when its lease would be over, and whoever comes may have it": {"claim", func(t *testing.T, d *delayed) {
		d.clock.advance(lease.DefaultTTL + lease.UndatedGrace + time.Minute)
		d.state(d.alice, 0).is(t, lease.StandingFree, false)
		d.land()
		d.state(d.alice, 0).is(t, lease.StandingHeld, false)
		d.bob.must(t, 0, "claim", "task:demo")
		d.alice.must(t, 3, "claim", "task:demo")
	}},
	"a release": {"release", func(t *testing.T, d *delayed) {
		d.state(d.alice, 2).is(t, lease.StandingPending, true)
		d.bob.must(t, 3, "claim", "task:demo")
		d.land()
		d.state(d.alice, 0).is(t, lease.StandingReleased, false)
		d.bob.must(t, 0, "claim", "task:demo")
		d.alice.must(t, 0, "release", "task:demo") // it did, whoever has it now
		d.bob.must(t, 0, "verify", "task:demo")
	}},
	"a release that is sent again": {"release", func(t *testing.T, d *delayed) {
		d.alice.must(t, 0, "release", "task:demo")
		d.bob.must(t, 0, "claim", "task:demo")
		d.land()
		d.bob.must(t, 0, "verify", "task:demo")
	}},
	"a renewal after its claim was released": {"renew", func(t *testing.T, d *delayed) {
		d.state(d.alice, 0).is(t, lease.StandingHeld, true)
		d.alice.must(t, 0, "release", "task:demo")
		d.land()
		d.state(d.alice, 0).is(t, lease.StandingReleased, false)
		d.bob.must(t, 0, "claim", "task:demo")
	}},
	"a renewal between two others": {"renew", func(t *testing.T, d *delayed) {
		d.land()
		d.alice.must(t, 0, "renew", "task:demo")
		if rec := d.record(t, "task:demo"); rec.Revision != 3 {
			t.Fatalf("%s", brief(rec))
		}
		d.alice.must(t, 0, "release", "task:demo")
	}},
}

// TestProofCase50LateLanding: the client gave up and read "unchanged", and its write lands afterwards.
func TestProofCase50LateLanding(t *testing.T) {
	everywhere(t, []string{"http", "git"}, func(t *testing.T, kind string) {
		for name, test := range lateEndings {
			t.Run(name, func(t *testing.T) {
				t.Parallel()
				s := sites[kind](t)
				d := s.delay(t, test.verb, s.holdByServer)
				test.then(t, d)
				d.sound(t)
			})
		}
	})
}
