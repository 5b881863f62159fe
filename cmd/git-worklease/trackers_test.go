package main

import (
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/git-worklease/git-worklease/internal/gitserver"
)

// TestCase39NoRequestWhileHeld is CASES row 39: a quota was eaten by polling. Whoever claims an item by its key, renews, proves, works and releases asks the
// tracker nothing, in the background neither.
func TestCase39NoRequestWhileHeld(t *testing.T) {
	var asked atomic.Int64
	tracker := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		asked.Add(1)
		w.WriteHeader(http.StatusInternalServerError)
	}))
	defer tracker.Close()
	s := httpSite(t, gitserver.HTTPOptions{})
	w := s.worker(t, "alice", "WORKLEASE_GITHUB_API="+tracker.URL+"/", "GITHUB_TOKEN=x")
	if err := os.WriteFile(filepath.Join(w.Dir, ".worklease.toml"), []byte("version = 1\n[providers.github]\nrepo = \"acme/app\"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, args := range [][]string{
		{"key", "#42"}, {"claim", "#42", "https://github.com/acme/app/issues/43"}, {"claim", "42", "43"}, {"renew"}, {"renew", "42"}, {"verify"}, {"status", "42"}, {"list"},
		{"checkpoint", `{"half":"done"}`, "42"}, {"history", "42"}, {"exec", "--claim", "44", "--", "git", "version"}, {"release", "--outcome", "review"},
	} {
		if r := w.plain(t, args...); r.Code != 0 {
			t.Errorf("%q: exit %d\n%s%s", args, r.Code, r.Stdout, r.Stderr)
		}
	}
	if n := asked.Load(); n != 0 {
		t.Errorf("the tracker was asked %d times", n)
	}
	if r := w.plain(t, "queue", "list"); r.Code != 2 || asked.Load() == 0 {
		t.Errorf("exit %d, and %d requests were counted\n%s", r.Code, asked.Load(), r.Stderr)
	}
}

// TestTokenRefused: a token that is refused is no fault of the provider that is checked, and no empty queue.
func TestTokenRefused(t *testing.T) {
	code := atomic.Int64{}
	tracker := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(int(code.Load())) }))
	defer tracker.Close()
	w := httpSite(t, gitserver.HTTPOptions{}).worker(t, "alice", "WORKLEASE_GITHUB_API="+tracker.URL+"/", "GITHUB_TOKEN=x")
	if err := os.WriteFile(filepath.Join(w.Dir, ".worklease.toml"), []byte("version = 1\n[providers.github]\nrepo = \"acme/app\"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, refusal := range []int64{http.StatusUnauthorized, http.StatusForbidden, http.StatusNotFound} {
		code.Store(refusal)
		for _, args := range [][]string{{"queue", "check-provider", "github"}, {"queue", "list"}, {"queue", "next", "--claim"}} {
			if r := w.plain(t, args...); r.Code != 6 || !strings.Contains(r.Stderr, "not authorised\nhint: set the token that the message names\n") {
				t.Errorf("%d: %q: exit %d\n%s%s", refusal, args, r.Code, r.Stdout, r.Stderr)
			}
		}
	}
}
