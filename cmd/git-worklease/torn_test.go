package main

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strconv"
	"testing"
	"time"

	"github.com/git-worklease/git-worklease/internal/gitserver"
	"github.com/git-worklease/git-worklease/lease"
)

// tear delays the next listing between the two resources, and lets something happen meanwhile: what is listed of the first is from before, of the
// second from after it.
func (c *scene) tear(between func()) {
	listed := false
	c.http.Inject(gitserver.Fault{When: gitserver.Fetch, Do: func(w http.ResponseWriter, r *http.Request, backend http.Handler, _ <-chan struct{}) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			c.t.Error(err)
		}
		answer := func() *httptest.ResponseRecorder {
			r.Body = io.NopCloser(bytes.NewReader(body))
			kept := httptest.NewRecorder()
			backend.ServeHTTP(kept, r)
			return kept
		}
		kept := answer()
		if bytes.Contains(body, []byte("command=ls-refs")) && !listed {
			listed = true
			c.http.Heal()
			between()
			kept.Body = bytes.NewBuffer(spliced(kept.Body.Bytes(), answer().Body.Bytes(), []byte(lease.EncodeName(c.keys[1]))))
		}
		for name, values := range kept.Header() {
			w.Header()[name] = values
		}
		w.WriteHeader(kept.Code)
		_, _ = w.Write(kept.Body.Bytes())
	}})
}

// spliced is a listing whose lines before the one with a name are from before, and the others from after.
func spliced(before, after, name []byte) []byte {
	var out []byte
	for _, line := range packets(before) {
		if bytes.Contains(line, name) || len(line) == 4 {
			break
		}
		out = append(out, line...)
	}
	late := false
	for _, line := range packets(after) {
		if late = late || bytes.Contains(line, name) || len(line) == 4; late {
			out = append(out, line...)
		}
	}
	return out
}

// packets are git's packets, with their lengths before them.
func packets(data []byte) (all [][]byte) {
	for len(data) >= 4 {
		n, err := strconv.ParseUint(string(data[:4]), 16, 16)
		if err != nil || int(n) > len(data) {
			return all
		}
		n = max(n, 4)
		all, data = append(all, data[:n]), data[n:]
	}
	return all
}

// tears are what happens in the middle of a listing, and what must hold for whoever listed.
var tears = map[string]func(c *scene){
	"the holder's other process renews": func(c *scene) {
		c.alice.must(c.t, 0, c.args("claim")...)
		c.tear(func() { c.alice.must(c.t, 0, "renew", c.keys[0]) })
		c.alice.must(c.t, 0, "verify", c.keys[1])
		c.tear(func() { c.alice.must(c.t, 0, "renew", c.keys[0]) })
		c.alice.must(c.t, 0, c.args("verify")...)
		c.tear(func() { c.alice.must(c.t, 0, "renew", c.keys[0]) })
		c.bob.must(c.t, 3, c.args("claim")...)
		c.tear(func() { c.alice.must(c.t, 0, "renew", c.keys[0]) })
		c.truthful("renew")
	},
	"twice in a row": func(c *scene) {
		c.alice.must(c.t, 0, c.args("claim")...)
		renew := func() { c.alice.must(c.t, 0, "renew", c.keys[0]) }
		c.tear(func() {
			renew()
			c.tear(renew)
		})
		c.alice.must(c.t, 0, "verify", c.keys[1])
	},
	"the holder releases, a contender lists": func(c *scene) {
		c.alice.must(c.t, 0, c.args("claim")...)
		c.tear(func() { c.alice.must(c.t, 0, "release", c.keys[0]) })
		if r := c.bob.do(c.t, c.args("claim")...); r.Code != 3 {
			c.t.Fatalf("exit %d\n%s", r.Code, r.Stdout)
		}
		c.bob.must(c.t, 0, c.args("claim")...)
		c.bob.must(c.t, 0, c.args("release")...)
	},
	"the holder releases, its other process lists": func(c *scene) {
		c.alice.must(c.t, 0, c.args("claim")...)
		c.tear(func() { c.alice.must(c.t, 0, "release", c.keys[0]) })
		c.alice.must(c.t, 4, "renew", c.keys[0])
		c.bob.must(c.t, 0, c.args("claim")...)
		c.bob.must(c.t, 0, c.args("release")...)
	},
	"a claim comes": func(c *scene) {
		c.tear(func() { c.alice.must(c.t, 0, c.args("claim")...) })
		for i, v := range c.bob.must(c.t, 0, c.args("status")...).views(c.t) {
			if want := []lease.Standing{lease.StandingFree, lease.StandingHeld}[i]; v.State != want || v.Mine {
				c.t.Fatalf("%s is %s, mine: %t: not as it was torn", c.keys[i], v.State, v.Mine)
			}
		}
		c.bob.must(c.t, 3, c.args("claim")...)
	},
	"a claim comes, a contender lists": func(c *scene) {
		c.bob.forget(c.t) // so that it lists first
		c.tear(func() { c.alice.must(c.t, 0, c.args("claim")...) })
		c.bob.must(c.t, 3, c.args("claim")...)
	},
	"a take-over, the old holder lists": func(c *scene) {
		c.alice.must(c.t, 0, append(c.args("claim"), "--ttl", "10s")...)
		c.clock.advance(time.Hour)
		c.tear(func() { c.bob.must(c.t, 0, c.args("claim")...) })
		c.alice.must(c.t, 4, "renew", c.keys[0])
		c.bob.must(c.t, 0, c.args("verify")...)
		c.bob.must(c.t, 0, c.args("release")...)
	},
	"overlapping paths": func(c *scene) {
		above := fmt.Sprintf("path:lib/%d", c.scenes)
		c.about(above+"/a", above+"/b")
		c.tear(func() { c.bob.must(c.t, 0, "claim", above) })
		c.alice.must(c.t, 3, c.args("claim")...)
		c.bob.must(c.t, 0, "verify", above)
		c.bob.must(c.t, 0, "release", above)
	},
}

// TestProofTornView: a listing is delayed between two refs of a claim, and what is listed never stood there at one time. Nothing false is concluded.
func TestProofTornView(t *testing.T) {
	s := httpSite(t, gitserver.HTTPOptions{})
	alice, bob := s.worker(t, "alice"), s.worker(t, "bob")
	bob.must(t, 0, "claim", "task:first")
	alice.must(t, 0, "claim", "task:second")
	for name, tear := range tears {
		t.Run(name, func(t *testing.T) {
			book := s.account(t, "troubles", "listing delayed between two refs")
			c := newScene(t, s, alice, bob)
			tear(c)
			book.struck(0)
			s.http.Heal()
			c.alice.must(t, 0, c.args("claim")...)
			c.alice.must(t, 0, c.args("release")...)
		})
	}
	s.sound(t)
}
