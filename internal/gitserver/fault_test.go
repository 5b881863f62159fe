package gitserver_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/git-worklease/git-worklease/internal/gitserver"
)

func TestFaultsOfAPush(t *testing.T) {
	tests := map[string]struct {
		do gitserver.Action
		// words are in git's message. git itself sends a request again whose connection, used before, ended without a reply.
		words  string
		landed bool
	}{
		"429":         {gitserver.TooMany(), "429", false},
		"500":         {gitserver.Answer(http.StatusInternalServerError, "text/plain", "oops"), "500", false},
		"html":        {gitserver.HTMLPage(), "protocol error", false},
		"refused":     {gitserver.RefuseConnection, "hung up", false},
		"lost reply":  {gitserver.LoseReply, "hung up", true},
		"cut reply":   {gitserver.CutReply(20), "hung up", true},
		"cut at head": {gitserver.CutReply(0), "hung up", true},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			s, repo, c := httpClone(t, gitserver.HTTPOptions{})
			s.Inject(gitserver.Fault{When: gitserver.Push, Do: test.do})
			oid := commit(t, c, "one")
			if words := pushFails(t, c, "refs/heads/one"); !strings.Contains(words, test.words) {
				t.Errorf("git says %q, want %q in it", words, test.words)
			}
			if landed := tip(t, repo, "refs/heads/one") == oid; landed != test.landed {
				t.Errorf("landed: %v, want %v", landed, test.landed)
			}
			s.Heal()
			git(t, c, "push", "origin", "HEAD:refs/heads/two")
		})
	}
}

func TestFaultsCountWhatTheyPick(t *testing.T) {
	s, _, c := httpClone(t, gitserver.HTTPOptions{})
	s.Inject(gitserver.Fault{When: gitserver.AdvertisePush, Nth: 2, Do: gitserver.TooMany()})
	commit(t, c, "one")
	git(t, c, "push", "origin", "HEAD:refs/heads/one")
	git(t, c, "fetch", "origin")
	pushFails(t, c, "refs/heads/two")
	s.Inject(gitserver.Fault{When: gitserver.Fetch, Do: gitserver.TooMany()})
	if _, err := c.Git(t.Context(), "fetch", "origin"); err == nil {
		t.Error("a fetch did not meet the fault")
	}
	s.Heal()
	git(t, c, "fetch", "origin")
}

func TestHoldLandsLate(t *testing.T) {
	s, repo, c := httpClone(t, gitserver.HTTPOptions{})
	hold := gitserver.NewHold()
	s.Inject(gitserver.Fault{When: gitserver.Push, Nth: 1, Do: hold.Do})
	oid := commit(t, c, "one")
	push := c.Command(t.Context(), "git", "push", "origin", "HEAD:refs/heads/one")
	if err := push.Start(); err != nil {
		t.Fatal(err)
	}
	<-hold.Arrived()
	if err := push.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	if err := push.Wait(); err == nil {
		t.Fatal("the push ended by itself")
	}
	if got := tip(t, repo, "refs/heads/one"); got != "" {
		t.Fatalf("it landed before its release: %s", got)
	}
	hold.Release()
	<-hold.Landed()
	if got := tip(t, repo, "refs/heads/one"); got != oid {
		t.Errorf("after its release the server has %q, want %s", got, oid)
	}
}

func TestRedirectIsFollowed(t *testing.T) {
	old := gitserver.TestHTTP(t, gitserver.HTTPOptions{})
	s, repo, c := httpClone(t, gitserver.HTTPOptions{})
	old.Inject(gitserver.Fault{Do: gitserver.Redirect(http.StatusMovedPermanently, "http://"+s.Addr())})
	git(t, c, "remote", "set-url", "origin", old.URL("app"))
	oid := commit(t, c, "one")
	git(t, c, "push", "origin", "HEAD:refs/heads/one")
	if got := tip(t, repo, "refs/heads/one"); got != oid {
		t.Errorf("behind the redirect is %q, want %s", got, oid)
	}
}
