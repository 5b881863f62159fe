package gitserver_test

import (
	"context"
	"errors"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/git-worklease/git-worklease/internal/gitexec"
	"github.com/git-worklease/git-worklease/internal/gitserver"
)

// commit makes a commit in the clone that no other call makes.
func commit(t *testing.T, c *gitserver.Checkout, message string) string {
	t.Helper()
	git(t, c, "commit", "--quiet", "--allow-empty", "-m", message)
	return git(t, c, "rev-parse", "HEAD")
}

func git(t *testing.T, c *gitserver.Checkout, args ...string) string {
	t.Helper()
	out, err := c.Git(t.Context(), args...)
	if err != nil {
		t.Fatalf("git %.80s: %v", strings.Join(args, " "), stderrOf(err))
	}
	return out
}

func stderrOf(err error) string {
	var failed *gitexec.Error
	if errors.As(err, &failed) {
		return failed.Stderr
	}
	return err.Error()
}

// pushFails pushes HEAD to ref and returns git's words on the failure.
func pushFails(t *testing.T, c *gitserver.Checkout, ref string) string {
	t.Helper()
	out, err := c.Git(t.Context(), "push", "origin", "HEAD:"+ref)
	if err == nil {
		t.Fatalf("the push succeeded: %s", out)
	}
	return stderrOf(err)
}

func tip(t *testing.T, r *gitserver.Repo, ref string) string {
	t.Helper()
	refs, err := r.Refs(t.Context(), ref)
	if err != nil {
		t.Fatal(err)
	}
	return refs[ref]
}

// httpClone serves a repository and clones it.
func httpClone(t *testing.T, opts gitserver.HTTPOptions) (*gitserver.HTTPServer, *gitserver.Repo, *gitserver.Checkout) {
	t.Helper()
	s := gitserver.TestHTTP(t, opts)
	repo := gitserver.TestRepo(t, s.Repos, "app")
	return s, repo, gitserver.Clone(t, s.URL("app"))
}

func TestHTTPServesGit(t *testing.T) {
	s, repo, c := httpClone(t, gitserver.HTTPOptions{})
	oid := commit(t, c, "one")
	git(t, c, "push", "--atomic", "origin", "HEAD:refs/worklease/claims/a", "HEAD:refs/worklease/claims/b")
	if got := tip(t, repo, "refs/worklease/claims/b"); got != oid {
		t.Errorf("the server has %q, want %s", got, oid)
	}
	if !slices.ContainsFunc(s.Requests(), func(r gitserver.Request) bool { return r.Protocol == "version=2" }) {
		t.Errorf("no request asked for protocol v2: %+v", s.Requests())
	}
	if traffic := s.Traffic(); traffic.Conns < 2 || traffic.Up == 0 || traffic.Down == 0 {
		t.Errorf("traffic %+v", traffic)
	}
}

func TestHTTPTakesChunkedBodies(t *testing.T) {
	_, repo, c := httpClone(t, gitserver.HTTPOptions{})
	oid := commit(t, c, strings.Repeat("a long message, ", 5_000))
	git(t, c, "-c", "http.postBuffer=64", "-c", "core.compression=0", "push", "origin", "HEAD:refs/heads/long")
	if got := tip(t, repo, "refs/heads/long"); got != oid {
		t.Errorf("the server has %q, want %s", got, oid)
	}
}

func TestHTTPAsksForPasswords(t *testing.T) {
	s := gitserver.TestHTTP(t, gitserver.HTTPOptions{Users: map[string]string{"ann": "secret"}})
	repo := gitserver.TestRepo(t, s.Repos, "app")
	if err := repo.Hook("pre-receive", "#!/bin/sh\necho \"hello $REMOTE_USER\" >&2\n"); err != nil {
		t.Fatal(err)
	}
	url := strings.Replace(s.URL("app"), "http://", "http://ann:secret@", 1)
	c := gitserver.Clone(t, url)
	commit(t, c, "one")
	pushed := c.Run(t.Context(), "git", "push", "origin", "HEAD:refs/heads/one")
	if pushed.Code != 0 || !strings.Contains(pushed.Stderr, "remote: hello ann") {
		t.Errorf("push as ann: %+v", pushed)
	}
	git(t, c, "remote", "set-url", "origin", strings.Replace(url, "secret", "wrong", 1))
	if words := pushFails(t, c, "refs/heads/two"); !strings.Contains(words, "Authentication failed") {
		t.Errorf("with a wrong password: %s", words)
	}
}

func TestHTTPDate(t *testing.T) {
	early := time.Date(2020, 2, 3, 4, 5, 6, 0, time.UTC)
	tests := map[string]struct {
		opts gitserver.HTTPOptions
		want string
	}{
		"shifted": {gitserver.HTTPOptions{Date: func() time.Time { return early }}, "Mon, 03 Feb 2020 04:05:06 GMT"},
		"none":    {gitserver.HTTPOptions{NoDate: true}, ""},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			s, _, _ := httpClone(t, test.opts)
			if got := dateOf(t, s.URL("app")+"/info/refs?service=git-upload-pack"); got != test.want {
				t.Errorf("Date %q, want %q", got, test.want)
			}
		})
	}
}

// dateOf is the Date header of the reply to a request.
func dateOf(t *testing.T, url string) string {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, url, http.NoBody)
	if err != nil {
		t.Fatal(err)
	}
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	if err := res.Body.Close(); err != nil {
		t.Fatal(err)
	}
	return res.Header.Get("Date")
}

func TestHTTPCloseEndsWhatIsHeld(t *testing.T) {
	s, repo, c := httpClone(t, gitserver.HTTPOptions{})
	hold := gitserver.NewHold()
	s.Inject(gitserver.Fault{When: gitserver.Push, Do: hold.Do})
	commit(t, c, "one")
	ended := make(chan error, 1)
	go func() {
		_, err := c.Git(context.WithoutCancel(t.Context()), "push", "origin", "HEAD:refs/heads/one")
		ended <- err
	}()
	<-hold.Arrived()
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	if err := <-ended; err == nil {
		t.Error("the push was told that it landed")
	}
	if got := tip(t, repo, "refs/heads/one"); got != "" {
		t.Errorf("the push landed: %s", got)
	}
}
