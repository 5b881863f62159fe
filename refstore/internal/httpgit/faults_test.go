package httpgit

import (
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"

	"github.com/git-worklease/git-worklease/refstore"
)

func answer(status int, kind, body string) func(http.ResponseWriter, *http.Request) bool {
	return func(w http.ResponseWriter, r *http.Request) bool {
		_, _ = io.Copy(io.Discard, r.Body)
		w.Header().Set("Content-Type", kind)
		w.WriteHeader(status)
		_, _ = io.WriteString(w, body)
		return true
	}
}

func TestStatus(t *testing.T) {
	s := startServer(t)
	const html = "<html>Sign in</html>"
	cases := map[string]struct {
		before  func(http.ResponseWriter, *http.Request) bool
		trouble refstore.Trouble
		sent    bool
	}{
		"html":        {answer(200, "text/html", html), refstore.TroubleGarbage, true},
		"fake type":   {answer(200, "application/x-git-receive-pack-result", html), refstore.TroubleGarbage, true},
		"400":         {answer(400, "text/html", html), refstore.TroubleGarbage, false},
		"403":         {answer(403, "text/html", html), refstore.TroubleDenied, false},
		"404":         {answer(404, "text/html", html), refstore.TroubleNotFound, false},
		"429":         {answer(429, "text/html", html), refstore.TroubleBusy, false},
		"503":         {answer(503, "text/html", html), refstore.TroubleBusy, true},
		"no body":     {answer(200, "application/x-git-receive-pack-result", ""), refstore.TroubleNetwork, true},
		"server dies": {answer(200, "application/x-git-receive-pack-result", "000eERR no way"), refstore.TroubleDenied, true},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			s.intercept(c.before)
			_, err := s.open(known).Push(t.Context(), txOf(change(refA, "", "one")))
			checkUnavailable(t, err, c.trouble, c.sent)
			if name == "html" && !strings.Contains(err.Error(), "text/html") {
				t.Errorf("error %v", err)
			}
			_, err = s.open(refstore.Server{}).Push(t.Context(), txOf(change(refA, "", "one")))
			if name == "fake type" || name == "no body" || name == "server dies" {
				return // the type is that of a push alone
			}
			checkUnavailable(t, err, c.trouble, false)
			for _, server := range []refstore.Server{{}, known} {
				_, err = s.open(server).Refs(t.Context(), []string{prefix})
				checkUnavailable(t, err, c.trouble, c.sent)
			}
		})
	}
}

// A push whose reply is lost is in doubt, although it landed.
func TestReplyCut(t *testing.T) {
	s := startServer(t)
	cut := func(w http.ResponseWriter, r *http.Request) bool {
		if !strings.HasSuffix(r.URL.Path, receivePack) {
			return false
		}
		s.backend(&discarder{header: make(http.Header)}, r)
		conn, _, err := w.(http.Hijacker).Hijack()
		if err == nil {
			_ = conn.Close()
		}
		return true
	}
	s.intercept(cut)
	tr := s.open(known)
	one := change(refA, "", "one")
	_, err := tr.Push(t.Context(), txOf(one))
	checkUnavailable(t, err, refstore.TroubleNetwork, true)
	if got := refs(t, tr); got[refA] != one.New {
		t.Errorf("refs %v", got)
	}
	s.seen()
	_, err = tr.Push(t.Context(), txOf(change(refB, "", "two"))) // over a connection that was used
	checkUnavailable(t, err, refstore.TroubleNetwork, true)
	if got := s.seen(); got != "POST /git-receive-pack " {
		t.Errorf("requests %s", got)
	}
}

type discarder struct{ header http.Header }

func (d *discarder) Header() http.Header         { return d.header }
func (d *discarder) Write(b []byte) (int, error) { return len(b), nil }
func (d *discarder) WriteHeader(int)             {}

// A reply that stops in the middle of the report.
func TestHalfAReply(t *testing.T) {
	s := startServer(t)
	s.intercept(func(w http.ResponseWriter, r *http.Request) bool {
		_, _ = io.Copy(io.Discard, r.Body)
		w.Header().Set("Content-Type", "application/x-git-receive-pack-result")
		w.Header().Set("Content-Length", "100")
		_, _ = io.WriteString(w, "0030\x01000eunpack ok\n")
		return true
	})
	_, err := s.open(known).Push(t.Context(), txOf(change(refA, "", "one")))
	checkUnavailable(t, err, refstore.TroubleNetwork, true)
}

func TestNobodyThere(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	url := "http://" + l.Addr().String() + "/repo.git"
	_ = l.Close()
	tr := open(t, Options{URL: url, Known: known})
	_, err = tr.Push(t.Context(), txOf(change(refA, "", "one")))
	checkUnavailable(t, err, refstore.TroubleNetwork, false)
	_, err = tr.Refs(t.Context(), []string{prefix})
	checkUnavailable(t, err, refstore.TroubleNetwork, false)
}

func TestDeadline(t *testing.T) {
	s := startServer(t)
	for sent, server := range map[bool]refstore.Server{true: known, false: {}} {
		t.Run(fmt.Sprintf("sent %v", sent), func(t *testing.T) {
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			s.intercept(func(_ http.ResponseWriter, r *http.Request) bool {
				_, _ = io.Copy(io.Discard, r.Body)
				cancel()
				<-r.Context().Done()
				return true
			})
			_, err := s.open(server).Push(ctx, txOf(change(refA, "", "one")))
			checkUnavailable(t, err, refstore.TroubleDeadline, sent)
		})
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err := s.open(known).Push(ctx, txOf(change(refA, "", "one")))
	checkUnavailable(t, err, refstore.TroubleDeadline, false)
}

func redirectTo(url func(*http.Request) string, when func(*http.Request) bool) func(http.ResponseWriter, *http.Request) bool {
	return func(w http.ResponseWriter, r *http.Request) bool {
		if !when(r) {
			return false
		}
		_, _ = io.Copy(io.Discard, r.Body)
		http.Redirect(w, r, url(r), http.StatusTemporaryRedirect)
		return true
	}
}

// A repository that has moved is found by its advertisement, and everything after goes to its new place.
func TestRepositoryMoved(t *testing.T) {
	s, old := startServer(t), startServer(t)
	old.intercept(redirectTo(func(r *http.Request) string { return s.URL + r.URL.RequestURI() }, func(*http.Request) bool { return true }))
	for name, server := range map[string]refstore.Server{"known": known, "unknown": {}} {
		t.Run(name, func(t *testing.T) {
			lifeOfRefs(t, old.open(server))
			tr := old.open(server)
			push(t, tr, change("refs/worklease/"+name, "", "x"))
			s.git("-C", s.repo(), "update-ref", "-d", "refs/worklease/"+name)
			s.git("-C", s.repo(), "update-ref", "-d", refB)
		})
	}
}

func TestRedirectsNotFollowed(t *testing.T) {
	s := startServer(t)
	posts := func(r *http.Request) bool { return r.Method == http.MethodPost }
	all := func(*http.Request) bool { return true }
	elsewhere := func(r *http.Request) string {
		return "/other.git" + strings.TrimPrefix(r.URL.RequestURI(), "/repo.git")
	}
	cases := map[string]struct {
		before func(http.ResponseWriter, *http.Request) bool
		config []string
	}{
		"a request only":     {redirectTo(elsewhere, posts), nil},
		"to a login page":    {redirectTo(func(*http.Request) string { return "/login" }, all), nil},
		"another scheme":     {redirectTo(func(r *http.Request) string { return "ftp://127.0.0.1" + r.URL.RequestURI() }, all), nil},
		"by the user's will": {redirectTo(elsewhere, all), []string{"http.followredirects=false"}},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			s.intercept(c.before)
			for _, server := range []refstore.Server{known, {}} {
				tr := open(t, Options{URL: s.url(), Known: server, Config: config(c.config...)})
				_, err := tr.Push(t.Context(), txOf(change(refA, "", "one")))
				checkUnsupported(t, err, refstore.FeatureConfig, "redirect")
				_, err = tr.Refs(t.Context(), []string{prefix})
				checkUnsupported(t, err, refstore.FeatureConfig, "redirect")
				_, err = tr.Commits(t.Context(), []refstore.OID{"1"}, 1)
				checkUnsupported(t, err, refstore.FeatureConfig, "redirect")
			}
		})
	}
	s.intercept(redirectTo(func(r *http.Request) string { return r.URL.RequestURI() }, all))
	_, err := s.open(refstore.Server{}).Refs(t.Context(), []string{prefix})
	checkUnavailable(t, err, refstore.TroubleGarbage, false)
}

func TestNotAURL(t *testing.T) {
	tr := open(t, Options{URL: "http://u:secret@[::1/x", Known: known})
	_, err := tr.Push(t.Context(), txOf(change(refA, "", "one")))
	if err == nil || strings.Contains(err.Error(), "secret") {
		t.Errorf("error %v", err)
	}
}
