package main

import (
	"fmt"
	"testing"
	"time"

	"github.com/git-worklease/git-worklease/lease"
)

// crime is a verb that is killed, what goes before it, and the two resources that it is about.
type crime struct {
	name string
	verb string
	// words stand between the verb and the resources.
	words []string
	// like is the verb that it does the same as; "": none.
	like string
	// push is which of its pushes is about the resources, or matters otherwise.
	push   int
	before func(c *scene)
	// after is what must hold afterwards; nil: [scene.aftermath].
	after func(c *scene)
	// code is its exit status where it is not killed.
	code int
}

// line is the command line.
func (c *crime) line(at *scene) []string {
	if c.verb == "exec" {
		return []string{c.verb, "--claim", at.keys[0], "--claim", at.keys[1], "--", "true"}
	}
	return at.args(append([]string{c.verb}, c.words...)...)
}

// aftermath is what must hold once the verb was killed.
func (c *crime) aftermath(at *scene, rival bool) {
	at.t.Helper()
	switch {
	case c.after != nil:
		c.after(at)
	case c.like != "":
		at.aftermath(c.like, rival)
	default:
		at.aftermath(c.verb, rival)
	}
}

func crimes() []crime {
	nothing := func(*scene) {}
	claimed := func(c *scene) { c.alice.must(c.t, 0, c.args("claim")...) }
	return []crime{
		{name: "first claim", verb: "claim", push: 2, before: func(c *scene) { c.forget(c.t, []*worker{c.alice, c.bob}) }},
		{name: "claim", verb: "claim", push: 1, before: nothing},
		{name: "claim what was released", verb: "claim", push: 1, before: func(c *scene) {
			claimed(c)
			c.alice.must(c.t, 0, c.args("release")...)
		}},
		{name: "take-over", verb: "claim", push: 1, before: func(c *scene) {
			c.bob.must(c.t, 0, "claim", c.keys[1], "--ttl", "10s")
			c.clock.advance(time.Hour)
		}},
		{name: "renew", verb: "renew", push: 1, before: claimed},
		{name: "release", verb: "release", push: 1, before: claimed},
	}
}

// moreCrimes are the verbs that do more than take, renew and give back.
func moreCrimes() []crime {
	claimed := func(c *scene) { c.alice.must(c.t, 0, c.args("claim")...) }
	paths := func(c *scene) { c.about(c.keys[1], fmt.Sprintf("path:src/%d/a", c.scenes)) }
	return []crime{
		{name: "claim of a path", verb: "claim", before: paths},
		{name: "claim of a path, the rival's is above", verb: "claim", before: func(c *scene) {
			paths(c)
			c.wants = fmt.Sprintf("path:src/%d", c.scenes)
		}},
		{name: "checkpoint", verb: "checkpoint", words: []string{`{"phase":"tests"}`}, like: "renew", before: claimed},
		{name: "heartbeat", verb: "heartbeat", like: "renew", before: claimed},
		{name: "exec", verb: "exec", before: func(*scene) {}},
		{name: "release for another", verb: "release", words: []string{"--to", "bob", "--note", "yours"}, before: claimed, after: reserved},
		{name: "force", verb: "release", words: []string{"--force", "-m", "gone"}, after: forced, before: func(c *scene) {
			c.bob.must(c.t, 0, c.args("claim")...)
		}},
		{name: "loss", verb: "renew", after: robbed, code: 4, before: func(c *scene) {
			c.alice.must(c.t, 0, append(c.args("claim"), "--ttl", "10s")...)
			c.clock.advance(time.Hour)
			c.bob.must(c.t, 0, "claim", c.wants)
		}},
	}
}

// reserved: the holder hands over, and the other agent gets it, nobody else.
func reserved(c *scene) {
	c.t.Helper()
	c.truthful("release")
	c.alice.must(c.t, 0, c.args("release", "--to", "bob")...)
	c.alice.must(c.t, 3, c.args("claim")...)
	c.bob.must(c.t, 0, c.args("claim")...)
	c.bob.must(c.t, 0, c.args("release")...)
}

// forced: the claims end with the next try, their holder learns it, and whoever wants them has them.
func forced(c *scene) {
	c.t.Helper()
	if r := c.alice.do(c.t, c.args("release", "--force", "-m", "gone")...); r.Code != 0 && r.Code != 5 {
		c.t.Fatalf("forced again: exit %d\n%s", r.Code, r.Stdout)
	}
	c.bob.must(c.t, 4, "renew", c.keys[0])
	c.alice.must(c.t, 0, c.args("claim")...)
	c.alice.must(c.t, 0, c.args("release")...)
}

// robbed: the rest of what was lost is given back, and the other keeps what it took.
func robbed(c *scene) {
	c.t.Helper()
	c.alice.must(c.t, 4, "renew", c.keys[0])
	if rec := c.record(c.t, lease.Resource(c.keys[0])); !rec.Released() {
		c.t.Fatalf("%s is still %s", c.keys[0], brief(rec))
	}
	c.bob.must(c.t, 0, "verify", c.wants)
	c.bob.must(c.t, 0, "release", c.wants)
	c.bob.must(c.t, 0, c.args("claim")...)
}

// TestProofKilledAtEveryStep: SIGKILL at each step of each verb, with a rival who claims one of the resources right afterwards, and without. Where there
// is little time it is at every fourth step.
func TestProofKilledAtEveryStep(t *testing.T) {
	everywhere(t, []string{"path", "http", "ssh", "local"}, func(t *testing.T, kind string) {
		s := sites[kind](t)
		alice, bob := s.worker(t, "alice"), s.worker(t, "bob")
		bob.must(t, 0, "claim", "task:first")
		alice.must(t, 0, "status", "task:first")
		all := crimes()
		if kind == "path" || kind == "http" {
			all = append(all, moreCrimes()...) // what they do beside the same writes is the same at every kind of server
		}
		for i, c := range all {
			first, stride := 1+i%4, 4
			if thorough() {
				first, stride = 1, 1
			}
			t.Run(c.name, func(t *testing.T) { s.killAtEveryStep(t, &c, alice, bob, first, stride) })
		}
		s.sound(t)
	})
}

// killAtEveryStep kills a verb at its first step, and then at one after the other until it comes to its end; or at every so many of them.
func (s *site) killAtEveryStep(t *testing.T, c *crime, alice, bob *worker, first, stride int) {
	t.Helper()
	book := s.account(t, "kill points", "SIGKILL in "+c.name)
	step, kills := first, 0
	for died := true; died; step += stride {
		for _, rival := range rivals(kills) {
			at := newScene(t, s, alice, bob)
			c.before(at)
			if died = dies(t, alice.process(t, fmt.Sprintf("step=%d reads=%t", step, thorough()), c.line(at)...), c.code); died {
				book.struck(-1)
				kills++
			}
			c.aftermath(at, rival)
		}
	}
	t.Logf("%d kills at %d steps", kills, step-stride)
	if step < 8 {
		t.Errorf("only %d steps", step)
	}
}
