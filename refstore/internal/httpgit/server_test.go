package httpgit

import (
	"bytes"
	"context"
	"errors"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/cgi"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/git-worklease/git-worklease/internal/gitexec"
	"github.com/git-worklease/git-worklease/refstore"
)

const (
	refA   = "refs/worklease/claims/a"
	refB   = "refs/worklease/claims/b"
	prefix = "refs/worklease/"
)

var (
	when  = time.Date(2026, 11, 29, 15, 0, 0, 0, time.UTC)
	known = refstore.Server{Known: when, Atomic: true, Format: refstore.SHA1, ReadV2: true}
)

// server is git http-backend with one bare repository, /repo.git.
type server struct {
	*httptest.Server
	t     *testing.T
	dir   string
	cgi   *cgi.Handler
	up    atomic.Int64 // bytes received
	down  atomic.Int64 // bytes sent
	mu    sync.Mutex
	calls []string
	// before may answer a request itself, and then returns true.
	before func(http.ResponseWriter, *http.Request) bool
}

func newServer(t *testing.T, initArgs ...string) *server {
	t.Helper()
	s := &server{t: t, dir: t.TempDir()}
	s.git(append([]string{"init", "--quiet", "--bare"}, append(initArgs, s.repo())...)...)
	s.git("-C", s.repo(), "config", "http.receivepack", "true")
	s.cgi = &cgi.Handler{
		Path:       filepath.Join(s.git("--exec-path"), "git-http-backend"),
		Env:        []string{"GIT_PROJECT_ROOT=" + s.dir, "GIT_HTTP_EXPORT_ALL=1", "GIT_CONFIG_GLOBAL=" + os.DevNull, "GIT_CONFIG_NOSYSTEM=1"},
		InheritEnv: []string{"PATH"},
		Stderr:     io.Discard,
		Logger:     log.New(io.Discard, "", 0),
	}
	s.Server = httptest.NewUnstartedServer(http.HandlerFunc(s.serve))
	s.Listener = &countingListener{s.Listener, s}
	s.Config.ErrorLog = log.New(io.Discard, "", 0)
	return s
}

func startServer(t *testing.T, initArgs ...string) *server {
	t.Helper()
	s := newServer(t, initArgs...)
	s.Start()
	t.Cleanup(s.Close)
	return s
}

func (s *server) repo() string { return filepath.Join(s.dir, "repo.git") }
func (s *server) url() string  { return s.URL + "/repo.git" }

func (s *server) serve(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	s.calls = append(s.calls, r.Method+" "+strings.TrimPrefix(r.URL.Path, "/repo.git")+" "+r.Header.Get("Git-Protocol"))
	before := s.before
	s.mu.Unlock()
	if before != nil && before(w, r) {
		return
	}
	s.backend(w, r)
}

func (s *server) backend(w http.ResponseWriter, r *http.Request) {
	h := *s.cgi
	if user, _, ok := r.BasicAuth(); ok {
		h.Env = append(h.Env[:len(h.Env):len(h.Env)], "REMOTE_USER="+user)
	}
	h.ServeHTTP(w, r)
}

// intercept sets before.
func (s *server) intercept(before func(http.ResponseWriter, *http.Request) bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.before = before
}

// seen returns the requests since the last call.
func (s *server) seen() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	calls := strings.Join(s.calls, ", ")
	s.calls = nil
	return calls
}

func (s *server) git(args ...string) string {
	s.t.Helper()
	out, err := testGit().Output(context.Background(), args...)
	if err != nil {
		s.t.Fatal(err)
	}
	return strings.TrimSpace(string(out))
}

func (s *server) setting(key, value string) { s.git("-C", s.repo(), "config", key, value) }

func testGit(env ...string) *gitexec.Git {
	var clean []string
	for _, entry := range os.Environ() {
		name, _, _ := strings.Cut(strings.ToLower(entry), "=")
		if !strings.HasSuffix(name, "_proxy") && !strings.HasPrefix(name, "git_") {
			clean = append(clean, entry)
		}
	}
	clean = append(clean, "GIT_CONFIG_GLOBAL="+os.DevNull, "GIT_CONFIG_NOSYSTEM=1")
	return &gitexec.Git{Env: append(clean, env...)}
}

// config makes a configuration of "key=value" texts.
func config(pairs ...string) *gitexec.Config {
	var b bytes.Buffer
	for _, p := range pairs {
		key, value, _ := strings.Cut(p, "=")
		b.WriteString("local\x00file:config\x00" + key + "\n" + value + "\x00")
	}
	return gitexec.ParseConfig(b.Bytes())
}

func open(t *testing.T, o Options) refstore.Transport {
	t.Helper()
	if o.Git == nil {
		o.Git = testGit()
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	tr := New(o)
	t.Cleanup(func() { _ = tr.Close() })
	return tr
}

func (s *server) open(known refstore.Server) refstore.Transport {
	s.t.Helper()
	return open(s.t, Options{URL: s.url(), Known: known})
}

func change(ref string, old refstore.OID, message string) refstore.Update {
	u := refstore.Update{Change: refstore.Change{Ref: ref, Old: old, When: when}}
	if message != "" {
		u.Message = []byte(message)
		u.New = refstore.SHA1.Hash("commit", u.Content(refstore.SHA1))
	}
	return u
}

func txOf(updates ...refstore.Update) *refstore.Tx {
	return &refstore.Tx{Format: refstore.SHA1, Updates: updates}
}

func push(t *testing.T, tr refstore.Transport, updates ...refstore.Update) *refstore.Report {
	t.Helper()
	report, err := tr.Push(t.Context(), txOf(updates...))
	if err != nil {
		t.Fatal(err)
	}
	return report
}

func refs(t *testing.T, tr refstore.Transport) map[string]refstore.OID {
	t.Helper()
	got, err := tr.Refs(t.Context(), []string{prefix})
	if err != nil {
		t.Fatal(err)
	}
	return got
}

func checkUnavailable(t *testing.T, err error, trouble refstore.Trouble, sent bool) {
	t.Helper()
	var u *refstore.UnavailableError
	if !errors.As(err, &u) || u.Trouble != trouble || u.Sent != sent {
		t.Errorf("error %#v: %v; want %s, sent %v", err, err, trouble, sent)
	}
}

func checkUnsupported(t *testing.T, err error, feature refstore.Feature, detail string) {
	t.Helper()
	var u *refstore.UnsupportedError
	if !errors.As(err, &u) || u.Feature != feature || u.Detail != detail {
		t.Errorf("error %#v: %v; want %s %s", err, err, feature, detail)
	}
}

type countingListener struct {
	net.Listener
	s *server
}

func (l *countingListener) Accept() (net.Conn, error) {
	c, err := l.Listener.Accept()
	if err != nil {
		return nil, err
	}
	return &countingConn{c, l.s}, nil
}

type countingConn struct {
	net.Conn
	s *server
}

func (c *countingConn) Read(b []byte) (int, error) {
	n, err := c.Conn.Read(b)
	c.s.up.Add(int64(n))
	return n, err
}

func (c *countingConn) Write(b []byte) (int, error) {
	n, err := c.Conn.Write(b)
	c.s.down.Add(int64(n))
	return n, err
}
