package main

import (
	"path/filepath"
	"sync"
	"testing"

	"github.com/git-worklease/git-worklease/internal/gitserver"
	"github.com/git-worklease/git-worklease/internal/proof/tally"
	"github.com/git-worklease/git-worklease/lease"
)

// sites are the kinds of places where claims are kept, by name. config is for the server's repository.
var sites = map[string]func(t *testing.T, config ...string) *site{
	"http": func(t *testing.T, config ...string) *site {
		t.Helper()
		return httpSite(t, gitserver.HTTPOptions{}, config...)
	},
	"ssh":   sshSite,
	"path":  pathSite,
	"git":   gitSite,
	"local": func(t *testing.T, _ ...string) *site { t.Helper(); return localSite(t) },
}

// everywhere runs a test at each kind of site that is named, or where there is little time at the first of them alone.
func everywhere(t *testing.T, kinds []string, test func(t *testing.T, kind string)) {
	t.Helper()
	if !thorough() {
		kinds = kinds[:1]
	}
	for _, kind := range kinds {
		t.Run(kind, func(t *testing.T) {
			t.Parallel()
			test(t, kind)
		})
	}
}

// gitSite is served over http, and reached through the system's git.
func gitSite(t *testing.T, config ...string) *site {
	t.Helper()
	s := httpSite(t, gitserver.HTTPOptions{}, config...)
	s.kind, s.environ = "git", append(s.environ, "WORKLEASE_TRANSPORT=git")
	return s
}

// localSite is a clone without a remote, whose workers are sessions.
func localSite(t *testing.T) *site {
	t.Helper()
	clone, err := gitserver.NewUser(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	if _, err := clone.Git(t.Context(), "init", "--quiet"); err != nil {
		t.Fatal(err)
	}
	repos := &gitserver.Repos{Root: filepath.Join(clone.Dir, ".git", "worklease")}
	s := &site{kind: "local", repo: repos.Repo("local"), clock: &worldClock{Clock: &lease.SystemClock{}}, clone: clone}
	founder := s.worker(t, "founder")
	founder.must(t, 0, "claim", "task:founded") // makes the repository
	founder.must(t, 0, "release", "task:founded")
	return s
}

// ledger counts what is done at one kind of server under one kind of fault.
type ledger struct {
	mu  sync.Mutex
	row tally.Row
}

// account opens a ledger, whose row is added at the test's end. A test that fails has found a broken promise.
func (s *site) account(t *testing.T, part, fault string) *ledger {
	t.Helper()
	l := &ledger{row: tally.Row{Part: part, Server: s.kind, Fault: fault}}
	t.Cleanup(func() {
		if t.Failed() {
			l.row.Violations++
		}
		tally.Add(t, l.row)
	})
	return l
}

// struck counts a command that met a fault.
func (l *ledger) struck(code int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.row.Faults++
	l.count(code)
}

// fault counts something that was done to the server.
func (l *ledger) fault() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.row.Faults++
}

// done counts a command that met none.
func (l *ledger) done(code int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.count(code)
}

func (l *ledger) count(code int) {
	l.row.Operations++
	if code == 2 {
		l.row.Unknown++
	}
}

// noticed counts a command that said what had been done to the server.
func (l *ledger) noticed() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.row.Noticed++
}
