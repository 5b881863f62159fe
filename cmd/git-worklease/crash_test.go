package main

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/git-worklease/git-worklease/internal/gitserver"
	"github.com/git-worklease/git-worklease/lease"
)

// killed waits for a command in a process that may be killed, and says whether it was. Otherwise it must end with status 0, or one of codes.
func killed(t *testing.T, cmd *exec.Cmd, out fmt.Stringer, codes ...int) bool {
	t.Helper()
	_ = cmd.Wait() // its status tells
	code := cmd.ProcessState.ExitCode()
	if code > 0 && !slices.Contains(codes, code) {
		t.Fatalf("%v: exit %d\n%s", cmd.Args[1:], code, out)
	}
	return code < 0
}

// dies starts a command that may be killed, and waits for its end.
func dies(t *testing.T, cmd *exec.Cmd, codes ...int) bool {
	t.Helper()
	out := start(t, cmd)
	return killed(t, cmd, out, codes...)
}

func start(t *testing.T, cmd *exec.Cmd) *strings.Builder {
	t.Helper()
	out := &strings.Builder{}
	cmd.Stdout, cmd.Stderr = out, out
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	return out
}

// scene is where a verb is killed.
type scene struct {
	*site
	t          *testing.T
	alice, bob *worker
	keys       []string
	// wants is what a rival claims.
	wants string
	// restless: what a dead process had sent may land any moment.
	restless bool
}

// newScene is a scene with resources of its own.
func newScene(t *testing.T, s *site, alice, bob *worker) *scene {
	t.Helper()
	s.scenes++
	c := &scene{site: s, t: t, alice: alice, bob: bob}
	c.about(fmt.Sprintf("port:%d", s.scenes), fmt.Sprintf("task:%d", s.scenes))
	return c
}

// about sets the resources, the second of which a rival wants.
func (c *scene) about(first, second string) { c.keys, c.wants = []string{first, second}, second }

// args is the verb's command line, which may begin with more than one word.
func (c *scene) args(verb ...string) []string { return slices.Concat(verb, c.keys) }

// TestKilledAtEveryCall: SIGKILL at the n-th time that a thread makes a system call that leaves a trace, by strace. It takes minutes, and
// strace; with little time the processes are killed after some milliseconds instead, wherever they are then.
func TestKilledAtEveryCall(t *testing.T) {
	for _, c := range crimes() {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			s := httpSite(t, gitserver.HTTPOptions{})
			alice, bob := s.worker(t, "alice"), s.worker(t, "bob")
			bob.must(t, 0, "claim", "task:first")
			alice.must(t, 0, "status", "task:first")
			kills := timedKills
			if thorough() {
				needStrace(t)
				kills = tracedKills("renameat", "unlinkat", "fsync", "flock", "mkdirat", "connect", "write", "pwrite64", "clone", "execve")
			}
			n := 0
			kills(func(kill func(cmd *exec.Cmd) (died bool)) (died bool) {
				n++
				at := newScene(t, s, alice, bob)
				at.restless = true
				c.before(at)
				died = kill(alice.process(t, "", c.line(at)...))
				at.aftermath(c.verb, n%2 == 0)
				return died
			})
			s.sound(t)
		})
	}
}

// timedKills kills a process after a while, which grows.
func timedKills(try func(kill func(*exec.Cmd) bool) bool) {
	for after := 20 * time.Millisecond; after < 100*time.Millisecond; after += 25 * time.Millisecond {
		try(func(cmd *exec.Cmd) bool {
			if cmd.Start() != nil {
				return false
			}
			timer := time.AfterFunc(after, func() { _ = cmd.Process.Kill() })
			defer timer.Stop()
			return cmd.Wait() != nil
		})
	}
}

// tracedKills kills a process at each of its system calls of some kinds, kind by kind, until it has ended by itself several times in a row: the
// calls are counted thread by thread, and those of git are among them.
func tracedKills(calls ...string) func(try func(kill func(*exec.Cmd) bool) bool) {
	return func(try func(kill func(*exec.Cmd) bool) bool) {
		for _, call := range calls {
			for n, alive := 1, 0; alive < 4 && n < 200; n++ {
				alive++
				if try(func(cmd *exec.Cmd) bool {
					return traced(cmd, fmt.Sprintf("%s:signal=SIGKILL:when=%d", call, n)).Run() != nil
				}) {
					alive = 0
				}
			}
		}
	}
}

// traced makes strace run a command and inject something into it.
func traced(cmd *exec.Cmd, inject string) *exec.Cmd {
	call, what, _ := strings.Cut(inject, ":")
	args := []string{"strace", "-f", "-qq", "-o", filepath.Join(cmd.Dir, "..", "trace"), "-e", "trace=" + call, "-e", "inject=" + inject}
	if !strings.HasPrefix(what, "signal") { // it can't kill then
		args = append(args, "--seccomp-bpf") // leaves other calls alone, which makes it quick
	}
	cmd.Args = slices.Concat(args, []string{cmd.Path}, cmd.Args[1:])
	cmd.Path, cmd.Err = exec.LookPath("strace")
	return cmd
}

// needStrace makes sure that strace is there, and may do its work.
func needStrace(t *testing.T) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "true")
	cmd.Dir = t.TempDir()
	if out, err := traced(cmd, "fsync:error=EIO").CombinedOutput(); err != nil {
		t.Fatalf("strace: %v: %s", err, out)
	}
}

// rivals says with and without whom the n-th place is tried: by turns, or both where there is time.
func rivals(n int) []bool {
	if thorough() {
		return []bool{false, true}
	}
	return []bool{n%3 == 1}
}

// aftermath is what must hold after a verb was killed: status tells the truth or says that it can't, the session's next claim is granted, or
// refused where the rival was granted something, and in the end nothing is held by nobody.
func (c *scene) aftermath(verb string, rival bool) {
	c.t.Helper()
	theirs := false
	if rival {
		r := c.bob.do(c.t, "claim", c.wants)
		if theirs = r.Code == 0; !theirs && r.Code != 3 {
			c.t.Fatalf("the rival: exit %d\n%s", r.Code, r.Stdout)
		}
	}
	if !theirs || c.wants == c.keys[1] {
		c.truthful(verb)
	}
	want := 0
	if theirs {
		want = 3
	}
	c.alice.must(c.t, want, c.args("claim")...)
	if theirs {
		if rec := c.record(c.t, lease.Resource(c.keys[0])); rec != nil && !rec.Released() {
			c.t.Fatalf("%s is held by %s, who was refused", c.keys[0], rec.Holder)
		}
		c.bob.must(c.t, 0, "release", c.wants)
	} else {
		c.alice.must(c.t, 0, c.args("verify")...)
		c.alice.must(c.t, 0, c.args("release")...)
	}
	c.bob.must(c.t, 0, c.args("claim")...)
}

// truthful compares what status says with what stands at the server. Where a dead process's request may still be on its way, the server
// may move between the two looks, so a few are allowed.
func (c *scene) truthful(verb string) {
	c.t.Helper()
	looks := 1
	if c.restless {
		looks = 10
	}
	wrong := ""
	for range looks {
		if wrong = c.untruth(verb); wrong == "" {
			return
		}
	}
	c.t.Fatal(wrong)
}

// untruth is what is wrong with what status says; "" for nothing.
func (c *scene) untruth(verb string) string {
	c.t.Helper()
	r := c.alice.do(c.t, c.args("status")...)
	if r.Code != 0 && (r.Code != 2 || r.doc.Error.Reason != "pending") {
		return fmt.Sprintf("status: exit %d\n%s", r.Code, r.Stdout)
	}
	for i, v := range r.views(c.t) {
		rec := c.record(c.t, lease.Resource(c.keys[i]))
		held := rec != nil && !rec.Released()
		ok := false
		switch v.State {
		case lease.StandingPending:
			// It may be under way only while the server still has what the verb found there.
			ok = r.Code == 2 && verb != "renew" && (verb == "exec" || held == (verb == "release") || rec.Holder.Agent == "bob")
		case lease.StandingHeld:
			ok = held && v.Mine == (rec.Holder.Agent == "alice") && v.Record.Claim == rec.Claim
		case lease.StandingFree, lease.StandingReleased, lease.StandingReserved:
			ok = !held
		}
		if !ok {
			return fmt.Sprintf("status says that %s is %s (exit %d), and at the server stands %s", c.keys[i], v.State, r.Code, brief(rec))
		}
	}
	return ""
}

// brief is a record in a few words.
func brief(rec *lease.Record) string {
	if rec == nil {
		return "nothing"
	}
	return fmt.Sprintf("%s by %s, generation %d.%d, claim %s", rec.State, rec.Holder, rec.Generation, rec.Revision, rec.Claim)
}

// TestKilledAtTheServer: the client dies while the server is at its push. The push lands at once, or late, or never.
func TestKilledAtTheServer(t *testing.T) {
	creation := crimes()[0]
	creation.name, creation.push = "creation of the authority", 1
	for i, c := range append(crimes(), creation) {
		for j, lands := range []string{"at once", "late", "never"} {
			n := i + j
			t.Run(c.name+", lands "+lands, func(t *testing.T) {
				t.Parallel()
				s := httpSite(t, gitserver.HTTPOptions{})
				alice, bob := s.worker(t, "alice"), s.worker(t, "bob")
				bob.must(t, 0, "claim", "task:first")
				alice.must(t, 0, "status", "task:first")
				for _, rival := range rivals(n) {
					at := newScene(t, s, alice, bob)
					c.before(at)
					at.killedWhile(c.verb, c.push, lands)
					at.aftermath(c.verb, rival)
				}
			})
		}
	}
}

// killedWhile kills the verb while the server has its n-th push. One that lands late does so after the dead client's clone was asked.
func (c *scene) killedWhile(verb string, n int, lands string) {
	c.t.Helper()
	arrived, release, landed := make(chan bool), make(chan bool), make(chan bool)
	c.http.Inject(gitserver.Fault{When: gitserver.Push, Nth: n, Do: func(_ http.ResponseWriter, r *http.Request, backend http.Handler, _ <-chan struct{}) {
		if lands == "at once" {
			backend.ServeHTTP(httptest.NewRecorder(), r)
		}
		close(arrived)
		<-release
		if lands == "late" {
			backend.ServeHTTP(httptest.NewRecorder(), r)
		}
		close(landed)
	}})
	cmd := c.alice.process(c.t, "", c.args(verb)...)
	out := start(c.t, cmd)
	<-arrived
	_ = cmd.Process.Kill()
	if !killed(c.t, cmd, out) {
		c.t.Fatal("it was not killed")
	}
	c.http.Heal()
	c.truthful(verb)
	close(release)
	<-landed
	c.truthful(verb)
}
