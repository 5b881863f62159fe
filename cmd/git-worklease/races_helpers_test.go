package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/git-worklease/git-worklease/internal/gitserver"
	"github.com/git-worklease/git-worklease/internal/proof/tally"
	"github.com/git-worklease/git-worklease/lease"
	"github.com/git-worklease/git-worklease/refstore"
)

// thorough says that sweeps should leave nothing out, which takes minutes: WORKLEASE_LONG=1, and `make proof`.
func thorough() bool { return os.Getenv("WORKLEASE_LONG") != "" || tally.Full() }

// site is a server with one repository, "app".
type site struct {
	// kind is "http", "ssh", "path", "git" (the system's git, over http) or "local".
	kind string
	http *gitserver.HTTPServer
	repo *gitserver.Repo
	url  string
	// environ is what workers need to get there.
	environ []string
	// clone is the one in which all workers are sessions; nil: each has a clone.
	clone *gitserver.Checkout
	// clock is the time of the server and of the workers' commands in this process.
	clock *worldClock
	// scenes counts those that were played here.
	scenes int
}

// httpSite serves a new repository over http.
func httpSite(t *testing.T, opts gitserver.HTTPOptions, config ...string) *site {
	t.Helper()
	clock := &worldClock{Clock: &lease.SystemClock{}}
	opts.Repos, opts.Date = gitserver.TestRepos(t), clock.Now
	repo := gitserver.TestRepo(t, opts.Repos, "app", config...)
	s := gitserver.TestHTTP(t, opts)
	return &site{kind: "http", http: s, repo: repo, url: s.URL("app"), clock: clock}
}

// pathSite is a new repository that is reached by its path.
func pathSite(t *testing.T, config ...string) *site {
	t.Helper()
	repo := gitserver.TestRepo(t, gitserver.TestRepos(t), "app", config...)
	return &site{kind: "path", repo: repo, url: repo.Dir, clock: &worldClock{Clock: &lease.SystemClock{}}}
}

// git runs git on the server's repository.
func (s *site) git(t *testing.T, args ...string) string {
	t.Helper()
	out, err := s.repo.Git(t.Context(), args...)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// record is what stands at a resource's ref; nil where there is no ref.
func (s *site) record(t *testing.T, r lease.Resource) *lease.Record {
	t.Helper()
	if _, err := os.Stat(s.repo.Dir); err != nil {
		return nil // in local mode the first claim makes it
	}
	ref := lease.DefaultPrefix + "claims/" + lease.EncodeName(string(r))
	oid := s.git(t, "for-each-ref", "--format=%(objectname)", ref)
	if oid == "" {
		return nil
	}
	return s.recordAt(t, oid)
}

// recordAt is the record that an object is.
func (s *site) recordAt(t *testing.T, oid string) *lease.Record {
	t.Helper()
	content, err := s.repo.Pipe(t.Context(), []byte(oid+"\n"), "cat-file", "--batch=%(objecttype)")
	if err != nil {
		t.Fatal(err)
	}
	_, body, _ := strings.Cut(content, "\n")
	commit, err := refstore.DecodeCommit(refstore.SHA1, refstore.OID(oid), []byte(body+"\n"))
	if err != nil {
		t.Fatalf("%s: %v", oid, err)
	}
	if err := lease.CheckCommit(commit); err != nil {
		t.Fatalf("%s: %v", oid, err)
	}
	rec, err := lease.DecodeRecord(commit)
	if err != nil {
		t.Fatalf("%s: %v", oid, err)
	}
	return rec
}

// worker is somebody with a clone of their own.
type worker struct {
	*gitserver.Checkout
	name  string
	clock lease.Clock
	world *worldClock
}

// worker makes a clone, or in local mode a session. Its host and agent have the worker's name.
func (s *site) worker(t *testing.T, name string, env ...string) *worker {
	t.Helper()
	env = slices.Concat([]string{"WORKLEASE_AGENT=" + name, "WORKLEASE_HOST=" + name + "s-laptop", noExitPause}, s.environ, env)
	if s.clone == nil {
		return &worker{Checkout: gitserver.Clone(t, s.url, env...), name: name, clock: s.clock, world: s.clock}
	}
	session := *s.clone
	session.Env = slices.Concat(session.Env, env, []string{"WORKLEASE_SESSION=" + name})
	return &worker{Checkout: &session, name: name, clock: s.clock, world: s.clock}
}

// noExitPause spares programs with the race detector the second that they would wait before they end.
const noExitPause = "GORACE=atexit_sleep_ms=0"

// ran is how a command ended.
type ran struct {
	args []string
	gitserver.Result
	doc document
}

// document is what these tests read of the JSON that a command prints.
type document struct {
	OK     bool            `json:"ok"`
	Result json.RawMessage `json:"result"`
	Error  struct {
		Reason  string `json:"reason"`
		Message string `json:"message"`
		Hint    string `json:"hint"`
	} `json:"error"`
	Notices []string `json:"notices"`
}

// do runs a command in this process, with --json, and reads what it printed.
func (w *worker) do(t *testing.T, args ...string) *ran {
	t.Helper()
	r := w.plain(t, append(args[:len(args):len(args)], "--json")...)
	if err := json.Unmarshal([]byte(r.Stdout), &r.doc); err != nil {
		t.Fatalf("%s: %v: %v\n%s%s", w.name, args, err, r.Stdout, r.Stderr)
	}
	return r
}

// plain runs a command in this process.
func (w *worker) plain(t *testing.T, args ...string) *ran {
	t.Helper()
	return w.run(t, &env{args: args})
}

// run runs e, whose seams may be set, as this worker.
func (w *worker) run(t *testing.T, e *env) *ran {
	t.Helper()
	var stdout, stderr bytes.Buffer
	e.in, e.out, e.err = strings.NewReader(""), &stdout, &stderr
	e.environ, e.dir, e.clock, e.version = w.Env, w.Dir, w.clock, "test"
	e.runner = os.Getpid() // as that of the worker's processes is
	code := execute(t.Context(), e)
	return &ran{args: e.args, Result: gitserver.Result{Stdout: stdout.String(), Stderr: stderr.String(), Code: code}}
}

// must runs a command that has to end with the given status.
func (w *worker) must(t *testing.T, code int, args ...string) *ran {
	t.Helper()
	r := w.do(t, args...)
	if r.Code != code {
		t.Fatalf("%s: %s: exit %d, want %d\n%s%s", w.name, strings.Join(args, " "), r.Code, code, r.Stdout, r.Stderr)
	}
	return r
}

// view is what status says of one resource.
type view struct {
	State  lease.Standing `json:"state"`
	Mine   bool           `json:"mine"`
	Record *struct {
		Claim lease.ClaimID `json:"claim"`
	} `json:"record"`
}

// views reads the result of a status.
func (r *ran) views(t *testing.T) []view {
	t.Helper()
	var views []view
	if err := json.Unmarshal(r.doc.Result, &views); err != nil {
		t.Fatalf("%v: %v\n%s", r.args, err, r.Stdout)
	}
	return views
}

// claimed reads the result of a claim.
func (r *ran) claimed(t *testing.T) claimJSON {
	t.Helper()
	var c claimJSON
	if err := json.Unmarshal(r.doc.Result, &c); err != nil {
		t.Fatalf("%v: %v\n%s", r.args, err, r.Stdout)
	}
	return c
}

// asProgram in the environment of this test binary makes it run the program instead of tests. The value may say when it is to be killed.
const asProgram = "WORKLEASE_TEST_PROGRAM"

// init runs before any test: what these tests start many times, and kill, is a process like any other, race detector included.
func init() {
	if value, ok := os.LookupEnv(asProgram); ok {
		os.Exit(runProgram(value))
	}
}

// process is a command of the worker in a process of its own, not yet started. how says when it is to be killed, if at all: see [runProgram].
func (w *worker) process(t *testing.T, how string, args ...string) *exec.Cmd {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := w.Command(t.Context(), self, args...)
	cmd.Env = append(cmd.Env[:len(cmd.Env):len(cmd.Env)], fmt.Sprintf("%s=%s late=%s", asProgram, how, time.Duration(w.world.passed.Load())))
	return cmd
}

// forget throws away all that the clone remembers.
func (w *worker) forget(t *testing.T) {
	t.Helper()
	if err := os.RemoveAll(filepath.Join(w.Dir, ".git", "worklease")); err != nil {
		t.Fatal(err)
	}
}

// pushes is how many requests with a push the server was sent.
func (s *site) pushes() int {
	n := 0
	for _, r := range s.http.Requests() {
		if r.Method == http.MethodPost && strings.HasSuffix(r.Path, "/git-receive-pack") {
			n++
		}
	}
	return n
}

// worldClock is a clock that can be put forward, for everybody at once.
type worldClock struct {
	lease.Clock
	passed atomic.Int64
}

func (c *worldClock) advance(d time.Duration) { c.passed.Add(int64(d)) }

func (c *worldClock) Now() time.Time { return c.Clock.Now().Add(time.Duration(c.passed.Load())) }

func (c *worldClock) Instant() lease.Instant {
	i := c.Clock.Instant()
	i.Since += time.Duration(c.passed.Load())
	return i
}

// stoppedClock is a wall clock that stands still.
type stoppedClock struct {
	lease.Clock
	at time.Time
}

func (c *stoppedClock) Now() time.Time { return c.at }

// skewedClock is a wall clock that is wrong; the clock that runs through suspend is right.
type skewedClock struct {
	lease.Clock
	skew time.Duration
}

func (c *skewedClock) Now() time.Time { return c.Clock.Now().Add(c.skew) }
