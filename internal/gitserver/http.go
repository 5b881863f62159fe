package gitserver

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/cgi"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/git-worklease/git-worklease/internal/gitexec"
)

// headerTimeout bounds how long a client may take to send its request's head.
const headerTimeout = time.Minute

// HTTPOptions says how an [HTTPServer] behaves. The zero value asks nobody for a password.
type HTTPOptions struct {
	// Repos is what is served.
	Repos *Repos
	// Users maps names to passwords; if there are any, every request needs one of them (basic authentication).
	Users map[string]string
	// Date makes the replies' Date header; nil: the true time.
	Date func() time.Time
	// NoDate leaves the Date header out.
	NoDate bool
	// Env is added to the environment of git http-backend.
	Env []string
	// Stderr takes what git http-backend and its hooks write there; nil: nobody reads it.
	Stderr io.Writer
}

// HTTPServer is git http-backend on a port of loopback.
type HTTPServer struct {
	// Repos is what is served.
	Repos *Repos

	opts     HTTPOptions
	backend  string
	server   *http.Server
	listener net.Listener
	meter    meter
	done     chan struct{}
	busy     sync.WaitGroup

	mu     sync.Mutex
	closed bool
	faults []*injected
	log    []Request
}

// Request is what a server notes of a request as it comes in, refused ones included.
type Request struct {
	Method string
	// Path and Query are the URL's.
	Path, Query string
	// Protocol is the Git-Protocol header.
	Protocol string
	// User is who the request says it is from.
	User string
}

// StartHTTP serves opts.Repos on a free port of 127.0.0.1.
func StartHTTP(ctx context.Context, opts HTTPOptions) (*HTTPServer, error) {
	execPath, err := (&gitexec.Git{}).Output(ctx, "--exec-path")
	if err != nil {
		return nil, fmt.Errorf("http server: %w", err)
	}
	backend, err := exec.LookPath(filepath.Join(strings.TrimSpace(string(execPath)), "git-http-backend"))
	if err != nil {
		return nil, fmt.Errorf("http server: %w", err)
	}
	listener, err := listen(ctx)
	if err != nil {
		return nil, fmt.Errorf("http server: %w", err)
	}
	s := &HTTPServer{Repos: opts.Repos, opts: opts, backend: backend, listener: listener, done: make(chan struct{})}
	s.server = &http.Server{Handler: http.HandlerFunc(s.serve), ReadHeaderTimeout: headerTimeout}
	s.busy.Go(func() { _ = s.server.Serve(&meteredListener{listener, &s.meter}) })
	return s, nil
}

func listen(ctx context.Context) (net.Listener, error) {
	return (&net.ListenConfig{}).Listen(ctx, "tcp", "127.0.0.1:0")
}

// Addr is host:port.
func (s *HTTPServer) Addr() string { return s.listener.Addr().String() }

// URL is where the repository of that name is served.
func (s *HTTPServer) URL(name string) string {
	return "http://" + s.Addr() + "/" + s.Repos.Repo(name).Name
}

// Traffic is what went over the wire so far.
func (s *HTTPServer) Traffic() Traffic { return s.meter.read() }

// Requests are those that came so far, in order.
func (s *HTTPServer) Requests() []Request {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.log)
}

// Close stops the server, ends what is held, and returns when no backend runs any more.
func (s *HTTPServer) Close() error {
	s.mu.Lock()
	if !s.closed {
		s.closed = true
		close(s.done)
	}
	s.mu.Unlock()
	err := s.server.Close()
	s.busy.Wait()
	if errors.Is(err, net.ErrClosed) {
		return nil
	}
	return err
}

func (s *HTTPServer) serve(w http.ResponseWriter, r *http.Request) {
	if !s.note(r) {
		return
	}
	defer s.busy.Done()
	switch {
	case s.opts.NoDate:
		w.Header()["Date"] = nil
	case s.opts.Date != nil:
		w.Header().Set("Date", s.opts.Date().UTC().Format(http.TimeFormat))
	}
	if err := slurp(r); err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	s.authenticate(w, r)
}

// note logs a request that is to be served, and returns false once the server is closed.
func (s *HTTPServer) note(r *http.Request) bool {
	user, _, _ := r.BasicAuth()
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return false
	}
	s.busy.Add(1)
	s.log = append(s.log, Request{
		Method: r.Method, Path: r.URL.Path, Query: r.URL.RawQuery, Protocol: r.Header.Get("Git-Protocol"), User: user,
	})
	return true
}

// slurp reads the body into memory, as nginx does: CGI needs to know its length, git http-backend never ends when it gets
// less, and it has to be there after the client has gone.
func slurp(r *http.Request) error {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return fmt.Errorf("request body: %w", err)
	}
	r.Body, r.ContentLength, r.TransferEncoding = io.NopCloser(bytes.NewReader(body)), int64(len(body)), nil
	return nil
}

func (s *HTTPServer) authenticate(w http.ResponseWriter, r *http.Request) {
	user, password, given := r.BasicAuth()
	want, known := s.opts.Users[user]
	if len(s.opts.Users) > 0 && (!given || !known || want != password) {
		w.Header().Set("WWW-Authenticate", `Basic realm="git"`)
		http.Error(w, "who are you?", http.StatusUnauthorized)
		return
	}
	if len(s.opts.Users) == 0 {
		user = ""
	}
	s.chain(s.cgi(user)).ServeHTTP(w, r)
}

// cgi is git http-backend for requests of user, who may be nobody.
func (s *HTTPServer) cgi(user string) http.Handler {
	env := append(serverEnv(s.Repos.Root), "GIT_PROJECT_ROOT="+s.Repos.Root, "GIT_HTTP_EXPORT_ALL=1")
	if user != "" {
		env = append(env, "REMOTE_USER="+user)
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		env := append(slices.Clone(env), s.opts.Env...)
		if protocol := r.Header.Get("Git-Protocol"); protocol != "" {
			env = append(env, "GIT_PROTOCOL="+protocol)
		}
		stderr := s.opts.Stderr
		if stderr == nil {
			stderr = io.Discard
		}
		(&cgi.Handler{
			Path: s.backend, Dir: s.Repos.Root, Env: env, Stderr: stderr, Logger: log.New(stderr, "", 0),
		}).ServeHTTP(w, r)
	})
}
