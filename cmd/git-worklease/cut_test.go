package main

import (
	"testing"

	"github.com/git-worklease/git-worklease/internal/gitserver"
)

// cutStep is how many bytes lie between two cuts.
const cutStep = 97

// TestCutAtEveryByte: the connection breaks in the middle of the request or of the reply, wherever that is. Where only the first connection
// breaks, the verb ends well. Where each one does, it may end in doubt, and the next commands clear that up.
func TestCutAtEveryByte(t *testing.T) {
	for _, verb := range []string{"claim", "renew", "release"} {
		for _, conn := range []int64{0, 1} {
			name := verb + ", the first connection"
			if conn == 0 {
				name = verb + ", each connection"
			}
			t.Run(name, func(t *testing.T) {
				t.Parallel()
				s := httpSite(t, gitserver.HTTPOptions{})
				alice, bob := s.worker(t, "alice"), s.worker(t, "bob")
				proxy := gitserver.TestProxy(t, s.http.Addr(), gitserver.ProxyOptions{})
				url, err := proxy.Through(s.url)
				if err != nil {
					t.Fatal(err)
				}
				elsewhere(url)(newScene(t, s, alice, bob))
				bob.must(t, 0, "claim", "task:first")
				alice.must(t, 0, "claim", "task:second")
				whole := traffic(t, proxy, newScene(t, s, alice, bob), verb)
				for cut := range cuts(whole, verb, conn) {
					at := newScene(t, s, alice, bob)
					at.prepare(verb)
					proxy.Inject(cut)
					r := alice.do(t, at.args(verb)...)
					proxy.Heal()
					if r.Code != 0 && (r.Code != 2 || conn == 1) {
						t.Fatalf("cut at %d, direction %d: exit %d\n%s", cut.After, cut.Direction, r.Code, r.Stdout)
					}
					at.aftermath(verb, false)
				}
				s.sound(t)
			})
		}
	}
}

// traffic is what goes over the wire when all goes well.
func traffic(t *testing.T, proxy *gitserver.Proxy, at *scene, verb string) gitserver.Traffic {
	t.Helper()
	at.prepare(verb)
	before := proxy.Traffic()
	at.alice.must(t, 0, at.args(verb)...)
	return proxy.Traffic().Sub(before)
}

// cuts are at every so many bytes of each direction. Where there is not much time, those that cost the most retries are thinned out.
func cuts(whole gitserver.Traffic, verb string, conn int64) func(yield func(gitserver.Cut) bool) {
	step := int64(cutStep)
	switch {
	case thorough():
	case verb != "claim":
		step *= 9
	case conn == 1:
		step *= 4
	}
	return func(yield func(gitserver.Cut) bool) {
		for direction, size := range map[gitserver.Direction]int64{gitserver.Up: whole.Up, gitserver.Down: whole.Down} {
			for at := int64(0); at < size; at += step {
				if !yield(gitserver.Cut{Conn: conn, Direction: direction, After: at}) {
					return
				}
			}
		}
	}
}
