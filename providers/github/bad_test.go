package github_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/git-worklease/git-worklease/providers"
)

// answered answers all requests alike.
func answered(status int, body string, headers ...string) func(http.ResponseWriter, *http.Request) bool {
	return func(w http.ResponseWriter, _ *http.Request) bool {
		for i := 0; i < len(headers); i += 2 {
			w.Header().Set(headers[i], headers[i+1])
		}
		w.WriteHeader(status)
		_, _ = io.WriteString(w, body)
		return true
	}
}

const list, one = "/repos/acme/app/issues", "/repos/acme/app/issues/1"

// TestBadAnswers: each is told apart, names the request, and is no item.
func TestBadAnswers(t *testing.T) {
	for name, test := range map[string]struct {
		fault func(http.ResponseWriter, *http.Request) bool
		want  error
		list  string
		read  string
	}{
		"401": {answered(401, `{"message":"Bad credentials"}`), providers.ErrUnauthorised, ": 401 Bad credentials: the token is refused: not authorised", ""},
		"403 without a scope": {answered(403, `{"message":"Resource not accessible"}`, "X-Accepted-GitHub-Permissions", "issues=read"), providers.ErrUnauthorised,
			": 403 Resource not accessible: the token lacks issues=read: not authorised", ""},
		"500":          {answered(500, `oops`), providers.ErrUnavailable, ": 500: the tracker is unavailable", ""},
		"502 HTML":     {answered(502, `<html>`), providers.ErrUnavailable, ": 502: the tracker is unavailable", ""},
		"422":          {answered(422, `{"message":"Validation\u001b[31m\nFailed"}`), providers.ErrUnsupported, ": 422 Validation [31m Failed: not supported by the tracker", ""},
		"418":          {answered(418, ``), providers.ErrBroken, ": its answer is status 418", ""},
		"304 unasked":  {answered(304, ``), providers.ErrBroken, ": its answer is status 304", ""},
		"HTML":         {answered(200, `<html>sign in</html>`, "Content-Type", "text/html"), providers.ErrBroken, ": the answer is no JSON of GitHub's: invalid character '<' looking for beginning of value", ""},
		"empty":        {answered(200, ``), providers.ErrBroken, ": the answer is no JSON of GitHub's: it is empty", ""},
		"null":         {answered(200, `"x"`), providers.ErrBroken, ": the answer is no JSON of GitHub's: json: cannot unmarshal string into Go value of type []json.RawMessage", ": the answer is no JSON of GitHub's: json: cannot unmarshal string into Go value of type github.issue"},
		"no list":      {answered(200, `null`), providers.ErrBroken, ": the answer is no list", ": the answer is no JSON of GitHub's: an issue without a number"},
		"cut":          {answered(200, `[{"number":1,"sta`), providers.ErrBroken, ": the answer is no JSON of GitHub's: it ends in the middle", ""},
		"100 MB":       {flood, providers.ErrBroken, ": the answer is larger than 16 MiB", ""},
		"circles":      {redirected("?again"), providers.ErrBroken, ": it redirects in circles", ""},
		"another host": {redirected("https://example.com/x"), providers.ErrBroken, ": it redirects to another host", ""},
		"another port": {redirected("http://127.0.0.1:1/x"), providers.ErrBroken, ": it redirects to another host", ""},
		"no https":     {redirected("http://github.com/x"), providers.ErrBroken, ": it redirects to another host", ""},
	} {
		t.Run(name, func(t *testing.T) {
			s := newSite(t, thing{number: 1})
			s.fail(test.fault)
			p := s.open(s.options(t.TempDir()))
			l, err := p.List(t.Context(), nil)
			if want := "GET " + s.server.URL + list + test.list; l != nil || !errors.Is(err, test.want) || err.Error() != want {
				t.Errorf("%+v, %v\nwant %s", l, err, want)
			}
			item, err := p.Read(t.Context(), "github:acme/app#1")
			words := test.list
			if test.read != "" {
				words = test.read
			}
			if want := "GET " + s.server.URL + one + words; item != nil || !errors.Is(err, test.want) || err.Error() != want {
				t.Errorf("%+v, %v\nwant %s", item, err, want)
			}
		})
	}
}

func flood(w http.ResponseWriter, _ *http.Request) bool {
	block := strings.Repeat(" ", 1<<20)
	for range 100 {
		if _, err := io.WriteString(w, block); err != nil {
			break
		}
	}
	return true
}

func redirected(to string) func(http.ResponseWriter, *http.Request) bool {
	return func(w http.ResponseWriter, req *http.Request) bool {
		http.Redirect(w, req, to, http.StatusFound)
		return true
	}
}

// TestRedirectsKeepTheToken: a host that a redirect leads to hears nothing, least of all the token.
func TestRedirectsKeepTheToken(t *testing.T) {
	var heard atomic.Int32
	other := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { heard.Add(1) }))
	defer other.Close()
	s := newSite(t, thing{number: 1})
	s.fail(redirected(other.URL + "/repos/acme/app/issues"))
	if _, err := s.open(s.options("")).List(t.Context(), nil); !errors.Is(err, providers.ErrBroken) || strings.Contains(err.Error(), "secret") {
		t.Errorf("%v", err)
	}
	if heard.Load() != 0 || s.tokens["Bearer secret"] != 1 {
		t.Errorf("the other host was asked %d times; tokens: %v", heard.Load(), s.tokens)
	}
}

// TestRenamed: a repository that was renamed answers by its old name, at the same host; a change is not sent on.
func TestRenamed(t *testing.T) {
	s := newSite(t, thing{number: 1}, thing{repo: "acme/new", number: 1, title: "Found"}, thing{repo: "acme/new", number: 9})
	s.fail(func(w http.ResponseWriter, req *http.Request) bool {
		to, old := strings.CutPrefix(req.URL.Path, "/repos/acme/app/")
		if old {
			to = strings.Replace("/repos/acme/new/"+to, "/issues/7", "/issues/9", 1)
			http.Redirect(w, req, to, http.StatusMovedPermanently)
		}
		return old
	})
	p := s.open(s.options(t.TempDir()))
	for range 2 {
		if item, err := p.Read(t.Context(), "github:acme/app#1"); err != nil || item.Title != "Found" || item.Key != "github:acme/app#1" {
			t.Fatalf("%+v, %v", item, err)
		}
	}
	if item, err := p.Read(t.Context(), "github:acme/app#7"); !errors.Is(err, providers.ErrNotFound) || !strings.Contains(err.Error(), "it is https://github.com/acme/new/issues/9 now") {
		t.Errorf("one that was moved: %+v, %v", item, err)
	}
	mark, err := p.Start(t.Context(), "github:acme/app#1", providers.Worker{})
	if !mark.IsZero() || !errors.Is(err, providers.ErrBroken) || !strings.Contains(err.Error(), "/issues/1/labels: it redirects a change") {
		t.Errorf("%+v, %v", mark, err)
	}
}

// TestNobodyAnswers: a connection that is closed, or never made, is a tracker that can't be reached.
func TestNobodyAnswers(t *testing.T) {
	s := newSite(t, thing{number: 1})
	s.fail(func(w http.ResponseWriter, _ *http.Request) bool {
		conn, _, err := w.(http.Hijacker).Hijack()
		if err == nil {
			_ = conn.Close()
		}
		return true
	})
	p := s.open(s.options(t.TempDir()))
	for range 2 {
		if _, err := p.List(t.Context(), nil); !errors.Is(err, providers.ErrUnavailable) || !strings.HasPrefix(err.Error(), "GET "+s.server.URL+list+": ") {
			t.Errorf("%v", err)
		}
		if _, err := p.Start(t.Context(), "github:acme/app#1", providers.Worker{}); !errors.Is(err, providers.ErrUnavailable) {
			t.Errorf("%v", err)
		}
		s.server.Close()
	}
}

// TestNotThere: a repository that is not there is told apart from one without issues, and from one that wants a token.
func TestNotThere(t *testing.T) {
	s := newSite(t)
	p := s.open(s.options(""))
	s.fail(answered(404, `{"message":"Not Found"}`))
	if _, err := p.List(t.Context(), nil); !errors.Is(err, providers.ErrUnauthorised) || !strings.HasPrefix(err.Error(), "github.com/acme/app is not there, or not for this token: ") {
		t.Errorf("%v", err)
	}
	s.fail(answered(410, `{"message":"Issues are disabled for this repo"}`))
	if _, err := p.List(t.Context(), nil); !errors.Is(err, providers.ErrUnsupported) || err.Error() != "github.com/acme/app has no issues: not supported by the tracker" {
		t.Errorf("%v", err)
	}
	if _, err := p.Read(t.Context(), "github:acme/app#1"); !errors.Is(err, providers.ErrNotFound) {
		t.Errorf("%v", err)
	}
	o := s.options("")
	o.Token = nil
	s.fail(answered(404, `{}`))
	if _, err := s.open(o).List(t.Context(), nil); !errors.Is(err, providers.ErrUnauthorised) || !strings.HasPrefix(err.Error(), "github.com/acme/app is not there, or not for anybody without a token: ") {
		t.Errorf("%v", err)
	}
	s.fail(answered(401, `{"message":"Requires authentication"}`))
	if _, err := s.open(o).List(t.Context(), nil); !errors.Is(err, providers.ErrUnauthorised) || !strings.Contains(err.Error(), "there is no token in GITHUB_TOKEN or GH_TOKEN") {
		t.Errorf("%v", err)
	}
	if s.tokens[""] != 2 {
		t.Errorf("tokens: %v", s.tokens)
	}
}

// TestBrokenItems: what is no issue is named, and the rest is listed.
func TestBrokenItems(t *testing.T) {
	s := newSite(t)
	s.fail(answered(200, `[null,{"number":null,"state":null,"title":null,"body":null,"labels":null,"assignees":null},7,{"number":2,"state":"open","title":null,"body":null,"labels":null,
		"assignees":null,"milestone":null,"user":null,"created_at":null,"updated_at":null,"html_url":null,"sub_issues_summary":null,"issue_dependencies_summary":null,"pull_request":null},
		{"number":3,"state":"ajar"},{"number":4,"state":"open","labels":7},{"number":5,"state":"open","updated_at":"yesterday"},{"number":2,"state":"open","title":"again"},
		{"number":6,"state":"open","labels":["P0",{"name":null}],"html_url":"https://example.com/x"}]`))
	l, err := s.open(s.options(t.TempDir())).List(t.Context(), nil)
	if err != nil || len(l.Items) != 2 || len(l.Troubles) != 6 {
		t.Fatalf("%+v, %v", l, err)
	}
	if first, second := l.Items[0], l.Items[1]; first.Key != "github:acme/app#6" || first.Priority != providers.Urgent || first.URL != "https://github.com/acme/app/issues/6" || second.ID != "#2" {
		t.Errorf("%+v", l.Items)
	}
	for i, what := range []string{"entry 1 of a page: an issue without a number", "entry 2 of a page: an issue without a number", "entry 3 of a page: json: ", "entry 5 of a page: #3: a state that is neither",
		"entry 6 of a page: json: ", "entry 7 of a page: parsing time"} {
		if want := "GET " + s.server.URL + list + ": " + what; !errors.Is(l.Troubles[i], providers.ErrBroken) || !strings.HasPrefix(l.Troubles[i].Error(), want) {
			t.Errorf("%v, want %s", l.Troubles[i], want)
		}
	}
}

// TestEndlessPages: a listing ends, whatever its links say, and says that it is not whole.
func TestEndlessPages(t *testing.T) {
	link := func(query, rel string) string {
		return fmt.Sprintf(`<https://api.github.com/x?%s>; rel=%q`, query, rel)
	}
	for name, test := range map[string]struct {
		link func(n int) string
		item func(n int) int
		want string
	}{
		"the same page": {func(int) string { return link("page=2", "next") }, func(n int) int { return n }, "a page names one as the next that was read before"},
		"nothing new":   {func(n int) string { return link(fmt.Sprintf("after=c%d", n), "next") }, func(int) int { return 1 }, "a page has nothing new, and names a next one"},
		"a circle":      {func(n int) string { return link(fmt.Sprintf("after=c%d", n%3), "next") }, func(n int) int { return n }, "a page names one as the next that was read before"},
		"a long cursor": {func(int) string { return link("after="+strings.Repeat("c", 2000), "next") }, func(n int) int { return n }, "a page names one as the next that was read before"},
		"a far end":     {func(int) string { return link("page=2", "next") + ", " + link("page=999999999", "last") }, func(int) int { return 1 }, "a page has nothing new, and names a next one"},
		"no end":        {func(n int) string { return link(fmt.Sprintf("after=c%d&page=%d", n, n+1), "next") }, func(n int) int { return n }, "there are more pages than anybody has items"},
		"no last one":   {func(int) string { return link("page=2", "next") + ", " + link("page=999999999", "last") }, func(n int) int { return n }, "there are more pages than anybody has items"},
	} {
		t.Run(name, func(t *testing.T) {
			s := newSite(t)
			var count atomic.Int32
			s.fail(func(w http.ResponseWriter, _ *http.Request) bool {
				n := int(count.Add(1))
				w.Header().Set("Link", test.link(n))
				fmt.Fprintf(w, `[{"number":%d,"state":"open"}]`, test.item(n))
				return true
			})
			p := s.open(s.options(""))
			p.ReadPages(40)
			l, err := p.List(t.Context(), nil)
			if err != nil || len(l.Items) == 0 || len(l.Troubles) != 1 || !errors.Is(l.Troubles[0], providers.ErrBroken) || !strings.HasSuffix(l.Troubles[0].Error(), test.want) {
				t.Errorf("%d items, %v, %v", len(l.Items), l.Troubles, err)
			}
			if count.Load() > 40 {
				t.Errorf("%d pages were asked for", count.Load())
			}
		})
	}
}

// TestUnreadableNeeds: an item whose needs can't be read needs something that nobody can name.
func TestUnreadableNeeds(t *testing.T) {
	s := newSite(t, thing{number: 1}, thing{number: 2, blocked: []string{"acme/app#1"}}, thing{number: 3, body: "depends on #9"}, thing{number: 4, body: "depends on #8"})
	s.fail(func(w http.ResponseWriter, req *http.Request) bool {
		broken := strings.HasSuffix(req.URL.Path, "/blocked_by") || strings.HasSuffix(req.URL.Path, "/9")
		return broken && answered(500, "")(w, req)
	})
	p := s.open(s.options(t.TempDir()))
	l, err := p.List(t.Context(), nil)
	if err != nil || len(l.Items) != 4 || len(l.Troubles) != 2 || l.Complete() {
		t.Fatalf("%+v, %v", l, err)
	}
	if n := l.Items[1].Needs; len(n) != 1 || n[0].Key != "" || n[0].Text != "1 items that could not be read" {
		t.Errorf("%+v", n)
	}
	if n := l.Items[2].Needs; len(n) != 1 || n[0].Key != "github:acme/app#9" || n[0].State != "" {
		t.Errorf("%+v", n)
	}
	if item, err := p.Read(t.Context(), "github:acme/app#2"); item != nil || !errors.Is(err, providers.ErrUnavailable) {
		t.Errorf("%+v, %v", item, err)
	}
}

// TestInterrupted: who is interrupted in the middle of a listing gets none.
func TestInterrupted(t *testing.T) {
	s := newSite(t, project()...)
	c, cancel := context.WithCancel(t.Context())
	s.fail(func(http.ResponseWriter, *http.Request) bool { cancel(); return false })
	if l, err := s.open(s.options(t.TempDir())).List(c, nil); l != nil || !errors.Is(err, context.Canceled) {
		t.Errorf("%+v, %v", l, err)
	}
}

// TestLateHeaders: a server that sends nothing is given up on, by the time that the caller's client has.
func TestLateHeaders(t *testing.T) {
	s := newSite(t, thing{number: 1})
	s.fail(func(_ http.ResponseWriter, req *http.Request) bool { <-req.Context().Done(); return true })
	o := s.options("")
	client := *o.HTTP
	client.Timeout = 50 * time.Millisecond
	o.HTTP = &client
	if _, err := s.open(o).List(t.Context(), nil); !errors.Is(err, providers.ErrUnavailable) {
		t.Errorf("%v", err)
	}
}
