package main

import (
	"fmt"
	"os"
	"testing"

	"github.com/git-worklease/git-worklease/internal/gitserver"
	"github.com/git-worklease/git-worklease/lease"
)

// sshSite is a new repository behind a stock sshd. The workers' shared connections are in a folder of this test, and end with it.
func sshSite(t *testing.T, config ...string) *site {
	t.Helper()
	server := gitserver.TestSSH(t, gitserver.SSHOptions{})
	repo := gitserver.TestRepo(t, server.Repos, "app", config...)
	return &site{
		kind: "ssh", repo: repo, url: server.URL("app"), clock: &worldClock{Clock: &lease.SystemClock{}},
		environ: append(server.Env(), "XDG_RUNTIME_DIR="+shortDir(t)),
	}
}

// shortDir is a folder for sockets, whose names must be short.
func shortDir(t *testing.T) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "gw")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	return dir
}

// TestCase54ManyOverSSH: thirty cold claims of different resources at once over ssh to a stock sshd, as on one machine, where they share one
// connection, and as on thirty, where each makes its own; and twenty over a shared connection that stands. All are granted.
func TestCase54ManyOverSSH(t *testing.T) {
	s := sshSite(t)
	workers := s.crowd(t, 5)
	before := cleanlinessOf(t, workers)
	shared := shortDir(t)
	for _, wave := range []struct {
		name    string
		n       int
		machine func() string
	}{
		{"cold", 30, func() string { return shared }},
		{"warm", 20, func() string { return shared }},
		{"apart", 30, func() string { return shortDir(t) }},
	} {
		racers := make([]*racer, wave.n)
		for i := range racers {
			name := fmt.Sprintf("%s-%d", wave.name, i)
			racers[i] = &racer{
				worker: workers[i%len(workers)], args: []string{"claim", "task:" + name, "--session", name},
				environ: []string{"XDG_RUNTIME_DIR=" + wave.machine()},
			}
		}
		race(t, racers)
		for _, r := range racers {
			if r.Code != 0 {
				t.Errorf("%v: exit %d\n%s%s", r.args, r.Code, r.Stdout, r.Stderr)
			}
			if rec := s.record(t, lease.Resource(r.args[1])); rec == nil || rec.Holder.Session != r.args[3] {
				t.Errorf("%s: at the server stands %s", r.args[1], brief(rec))
			}
		}
	}
	before.unchanged(t, workers)
	s.sound(t)
}

// TestRaceOverSSH: one winner.
func TestRaceOverSSH(t *testing.T) {
	s := sshSite(t)
	workers := s.crowd(t, 8)
	for range 2 {
		racers := claims(workers, "task:demo")
		race(t, racers)
		s.oneWinner(t, "task:demo", racers).must(t, 0, "release")
	}
	s.sound(t)
}
