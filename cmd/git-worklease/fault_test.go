package main

import (
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"testing"

	"github.com/git-worklease/git-worklease/internal/gitserver"
	"github.com/git-worklease/git-worklease/lease"
)

// trouble is something that is wrong with a server, or with the way to it, while a verb runs.
type trouble struct {
	name string
	// begin makes it so, and returns what puts it right.
	begin func(c *scene) (heal func())
	// want is the exit status and the reason of each verb; "" stands for those that are not named.
	want map[string]string
	// verbs are those that meet it; nil: all.
	verbs []string
	// flags are added to the command line.
	flags []string
	// says is what must be handed on of the server's words.
	says string
}

// inject is a trouble that the http server makes.
func inject(faults ...gitserver.Fault) func(*scene) func() {
	return func(c *scene) func() {
		c.http.Inject(faults...)
		return c.http.Heal
	}
}

// always is a fault of every request that is picked.
func always(when gitserver.Match, do gitserver.Action) gitserver.Fault {
	return gitserver.Fault{When: when, Do: do}
}

// once is a fault of the first request that is picked.
func once(when gitserver.Match, do gitserver.Action) gitserver.Fault {
	return gitserver.Fault{When: when, Nth: 1, Do: do}
}

// set is a trouble that a setting of the server's repository makes.
func set(setting string) func(*scene) func() {
	return func(c *scene) func() {
		key, value, _ := strings.Cut(setting, "=")
		c.git(c.t, "config", "--add", key, value)
		return func() { c.git(c.t, "config", "--unset", "--fixed-value", key, value) }
	}
}

// elsewhere is a trouble with the URL.
func elsewhere(url string) func(*scene) func() {
	return func(c *scene) func() {
		right, err := c.alice.Git(c.t.Context(), "remote", "get-url", "origin")
		if err != nil {
			c.t.Fatal(err)
		}
		move := func(url string) {
			if _, err := c.alice.Git(c.t.Context(), "remote", "set-url", "origin", url); err != nil {
				c.t.Fatal(err)
			}
		}
		move(url)
		return func() { move(right) }
	}
}

// hook is a trouble that a hook of the server's repository makes.
func hook(name, script string) func(*scene) func() {
	return func(c *scene) func() {
		if err := c.repo.Hook(name, script); err != nil {
			c.t.Fatal(err)
		}
		return func() {
			if err := c.repo.Hook(name, "#!/bin/sh\nexit 0\n"); err != nil {
				c.t.Fatal(err)
			}
		}
	}
}

// refuse is a hook that refuses what it is about, and says so.
const refuse = "#!/bin/sh\necho 'no claims on Sundays' >&2\nexit 1\n"

func troubles() []trouble {
	all := func(want string) map[string]string { return map[string]string{"": want} }
	push := func(want string) map[string]string {
		return map[string]string{"": want, "status": "0", "first claim": strings.Replace(want, "pending", "undecided", 1)}
	}
	// A claim of what is new is pushed without a look; the other verbs read first, and get no answer to that.
	unread := func(want string) map[string]string { return map[string]string{"": want, "claim": "2 pending"} }
	answer := func(status int) gitserver.Action { return gitserver.Answer(status, "text/plain", "no\n") }
	return []trouble{
		{name: "unreachable", begin: elsewhere("http://127.0.0.1:1/app.git"), want: all("2 unreachable")},
		{name: "a web page", begin: inject(always(nil, gitserver.HTMLPage())), want: unread("2 not-git")},
		{name: "no repository", begin: inject(always(nil, answer(http.StatusNotFound))), want: all("2 repository-not-found")},
		{name: "too many requests, once", begin: inject(once(nil, gitserver.TooMany())), want: all("0")},
		{name: "too many requests", begin: inject(always(nil, gitserver.TooMany())), want: all("2 remote-busy")},
		{name: "out of service, once", begin: inject(once(nil, answer(http.StatusServiceUnavailable))), want: all("0")},
		{name: "out of service", begin: inject(always(nil, answer(http.StatusServiceUnavailable))), want: unread("2 remote-busy")},
		{name: "pushes answered by a web page", begin: inject(always(gitserver.Push, gitserver.HTMLPage())), want: push("2 pending")},
		{name: "pushes cut off", begin: inject(always(gitserver.Push, gitserver.RefuseConnection)), want: push("2 pending")},
		{name: "pushes out of service", begin: inject(always(gitserver.Push, answer(http.StatusBadGateway))), want: push("2 pending")},
		{name: "pushes land, and a gateway gives up", begin: inject(always(gitserver.Push, badGateway)), want: all("0")},
		{name: "pushes forbidden", begin: inject(always(gitserver.Push, answer(http.StatusForbidden))), want: push("6 read-only")},
		{name: "pushes slower than the deadline", flags: []string{"--timeout", "1s"}, verbs: []string{"claim", "release"},
			begin: inject(always(gitserver.Push, silence)), want: push("2 pending")},
		{name: "slower than the deadline", flags: []string{"--timeout", "1s"}, verbs: []string{"renew", "first claim"},
			begin: inject(always(nil, silence)), want: all("2 timeout")},
		{name: "the repository is not for pushing", begin: set("http.receivepack=false"), want: push("6 read-only")},
		{name: "a hook refuses", begin: hook("pre-receive", refuse), want: push("6 refused-by-server"), says: "no claims on Sundays"},
		{name: "a hook refuses one of the refs", begin: hook("update", "#!/bin/sh\ncase $1 in *port*|*meta) echo 'no ports' >&2; exit 1;; esac\n"),
			want: push("6 refused-by-server"), says: "no ports"},
		{name: "hidden refs", begin: set("transfer.hideRefs=refs/worklease"), says: "hidden", want: map[string]string{
			"": "2 authority-gone", "claim": "6 refused-by-server", "first claim": "6 refused-by-server",
		}},
		{name: "refs hidden from pushes", begin: set("receive.hideRefs=refs/worklease"), want: push("6 refused-by-server"), says: "hidden"},
		{name: "not atomic", begin: set("receive.advertiseAtomic=false"), want: map[string]string{"": "0", "first claim": "6 not-atomic"}},
	}
}

// badGateway lets the backend finish, and says that it did not.
func badGateway(w http.ResponseWriter, r *http.Request, backend http.Handler, _ <-chan struct{}) {
	backend.ServeHTTP(httptest.NewRecorder(), r)
	w.WriteHeader(http.StatusBadGateway)
}

// silence never answers.
func silence(_ http.ResponseWriter, r *http.Request, _ http.Handler, done <-chan struct{}) {
	select {
	case <-r.Context().Done():
	case <-done:
	}
}

// expects is how a verb must end: its exit status and reason.
func (f *trouble) expects(verb string) (code int, reason string) {
	want, ok := f.want[verb]
	if !ok {
		want = f.want[""]
	}
	number, reason, _ := strings.Cut(want, " ")
	code, err := strconv.Atoi(number)
	if err != nil {
		panic(want)
	}
	return code, reason
}

// TestProofFaults: each verb meets each trouble over real http. It says in one line what is wrong, and in another what to do; and once all is
// well again, the next commands find out how things stand and go on.
func TestProofFaults(t *testing.T) {
	for _, f := range troubles() {
		t.Run(f.name, func(t *testing.T) {
			t.Parallel()
			s := httpSite(t, gitserver.HTTPOptions{})
			alice, bob := s.worker(t, "alice"), s.worker(t, "bob")
			bob.must(t, 0, "claim", "task:first")
			alice.must(t, 0, "claim", "task:second")
			book := s.account(t, "troubles", f.name)
			for _, verb := range f.affected() {
				at := newScene(t, s, alice, bob)
				words := at.prepare(verb)
				heal := f.begin(at)
				r := alice.do(t, append(at.args(words), f.flags...)...)
				if verb == "first claim" {
					f.told(t, verb, alice.plain(t, append(at.args(words), f.flags...)...))
				}
				heal()
				book.struck(r.Code)
				code, reason := f.expects(verb)
				if r.Code != code || r.doc.Error.Reason != reason {
					t.Fatalf("%s: exit %d %q, want %d %q\n%s", verb, r.Code, r.doc.Error.Reason, code, reason, r.Stdout)
				}
				if code != 0 {
					f.explained(t, verb, r)
				}
				at.aftermath(words, false)
			}
			s.sound(t)
		})
	}
}

// affected are the verbs that meet the trouble.
func (f *trouble) affected() []string {
	switch {
	case f.verbs != nil:
		return f.verbs
	case len(f.want) == 1 && !thorough():
		return []string{"renew", "first claim"} // they all end alike
	case !thorough():
		return []string{"claim", "release", "first claim"}
	}
	return []string{"claim", "renew", "release", "status", "first claim"}
}

// prepare makes what a verb needs, and returns the verb's name.
func (c *scene) prepare(verb string) string {
	c.t.Helper()
	switch verb {
	case "claim":
	case "first claim":
		c.forget(c.t, []*worker{c.alice, c.bob})
		return "claim"
	default:
		c.alice.must(c.t, 0, c.args("claim")...)
	}
	return verb
}

// explained checks that a failure has one line that says what happened, and a hint.
func (f *trouble) explained(t *testing.T, verb string, r *ran) {
	t.Helper()
	e := r.doc.Error
	if e.Message == "" || strings.ContainsAny(e.Message, "\n\t") || e.Hint == "" || strings.TrimSpace(e.Message) != e.Message {
		t.Errorf("%s: message %q, hint %q", verb, e.Message, e.Hint)
	}
	if e.Reason == "refused-by-server" && !strings.Contains(r.Stdout, f.says) {
		t.Errorf("%s: not a word of %q:\n%s", verb, f.says, r.Stdout)
	}
}

// told checks the form of what people read: what happened, perhaps the server's words, and a hint.
func (f *trouble) told(t *testing.T, verb string, r *ran) {
	t.Helper()
	lines := strings.Split(strings.TrimSuffix(r.Stderr, "\n"), "\n")
	switch {
	case r.Code == 0:
		return
	case len(lines) < 2 || !strings.HasPrefix(lines[0], "git-worklease: ") || !strings.HasPrefix(lines[len(lines)-1], "hint: "):
		t.Errorf("%s: people are told\n%s", verb, r.Stderr)
	}
	for _, line := range lines[1 : len(lines)-1] {
		if !strings.HasPrefix(line, "  ") {
			t.Errorf("%s: people are told\n%s", verb, r.Stderr)
		}
	}
	if r.Stdout != "" {
		t.Errorf("%s: on the standard output is\n%s", verb, r.Stdout)
	}
}

// TestCredentialsRefused: a password that is wrong, or missing, while nobody is there to be asked.
func TestCredentialsRefused(t *testing.T) {
	s := httpSite(t, gitserver.HTTPOptions{Users: map[string]string{"alice": "secret", "bob": "word"}})
	right := s.url
	s.url = strings.Replace(right, "http://", "http://bob:word@", 1)
	bob := s.worker(t, "bob")
	s.url = strings.Replace(right, "http://", "http://alice:secret@", 1)
	alice := s.worker(t, "alice")
	bob.must(t, 0, "claim", "task:first")
	for _, url := range []string{strings.Replace(right, "http://", "http://alice:wrong@", 1), right} {
		f := &trouble{begin: elsewhere(url)}
		for _, verb := range []string{"claim", "renew", "release", "status"} {
			at := newScene(t, s, alice, bob)
			at.prepare(verb)
			heal := f.begin(at)
			r := alice.must(t, 2, at.args(verb)...)
			f.explained(t, verb, r)
			f.told(t, verb, alice.plain(t, at.args("claim")...))
			heal()
			if r.doc.Error.Reason != "auth-failed" {
				t.Errorf("%s: reason %s", verb, r.doc.Error.Reason)
			}
			if strings.Contains(r.Stdout, "wrong") || strings.Contains(r.Stdout, "secret") {
				t.Errorf("%s: a password is printed:\n%s", verb, r.Stdout)
			}
			at.aftermath(verb, false)
		}
	}
}

// TestAtomicNoMore: a server that was atomic when it was met is not any more, and grants a half of a bundle whose other half is taken. The half
// is given back.
func TestAtomicNoMore(t *testing.T) {
	s := httpSite(t, gitserver.HTTPOptions{})
	alice, bob := s.worker(t, "alice"), s.worker(t, "bob")
	bob.must(t, 0, "claim", "task:first")
	alice.must(t, 0, "claim", "task:second")
	s.git(t, "config", "receive.advertiseAtomic", "false")
	bob.must(t, 0, "claim", "port:2")
	r := alice.must(t, 6, "claim", "port:1", "port:2", "port:3")
	if r.doc.Error.Reason != "not-atomic" {
		t.Errorf("reason %s", r.doc.Error.Reason)
	}
	for _, v := range alice.must(t, 0, "status", "port:1", "port:3").views(t) {
		if v.State != lease.StandingReleased {
			t.Errorf("a half is %s", v.State)
		}
	}
	bob.must(t, 0, "verify", "port:2")
	bob.must(t, 0, "claim", "port:1")
	alice.must(t, 0, "verify", "task:second")
	alice.must(t, 3, "claim", "port:1")
}

// TestUnreadable: a server takes claims and shows them to nobody. Nobody gets one, and nothing is ever said to be free there.
func TestUnreadable(t *testing.T) {
	s := httpSite(t, gitserver.HTTPOptions{}, "uploadpack.hideRefs=refs/worklease")
	alice, bob := s.worker(t, "alice"), s.worker(t, "bob")
	alice.must(t, 6, "claim", "task:demo")
	alice.must(t, 2, "claim", "task:demo")
	alice.must(t, 2, "status", "task:demo")
	bob.must(t, 6, "claim", "task:demo")
	if refs := s.git(t, "for-each-ref", "refs/worklease/claims"); refs != "" {
		t.Errorf("claimed: %s", refs)
	}
}
