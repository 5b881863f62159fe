package github_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/git-worklease/git-worklease/internal/gitexec"
	"github.com/git-worklease/git-worklease/providers"
	"github.com/git-worklease/git-worklease/providers/github"
)

// program writes a shell script.
func program(t *testing.T, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "program")
	if err := os.WriteFile(path, []byte("#!/bin/sh\n"+text), 0o700); err != nil {
		t.Fatal(err)
	}
	return path
}

// tokens are found with an environment, a gh that knows one host, and a helper of git's that knows another.
func tokens(t *testing.T, env map[string]string) github.Tokens {
	t.Helper()
	gh := program(t, `[ "$*" = "auth token --hostname=gh.example.com" ] && [ "$GH_PROMPT_DISABLED" = 1 ] && echo from-gh || { echo "no token" >&2; exit 1; }`)
	helper := program(t, `[ "$1" = get ] || exit 0; asked=$(cat); case $asked in *"host=git.example.com"*) echo username=x; echo password=from-git ;; esac`)
	git := &gitexec.Git{Dir: t.TempDir(), Env: append(gitexec.Unbound(os.Environ()), "GIT_CONFIG_GLOBAL="+os.DevNull, "GIT_CONFIG_SYSTEM="+os.DevNull,
		"GIT_CONFIG_COUNT=1", "GIT_CONFIG_KEY_0=credential.helper", "GIT_CONFIG_VALUE_0="+helper)}
	git.Interactive = true // which is not for this
	return github.Tokens{Getenv: func(name string) string { return env[name] }, Git: git, GH: gh}
}

// TestTokens: a token of the environment is for the hosts that the environment names, whatever a policy says.
func TestTokens(t *testing.T) {
	all := map[string]string{"GITHUB_TOKEN": "a", "GH_TOKEN": "b", "GH_ENTERPRISE_TOKEN": "c", "GITHUB_ENTERPRISE_TOKEN": "d"}
	with := func(name, value string) map[string]string {
		env := map[string]string{name: value}
		for k, v := range all {
			env[k] = v
		}
		return env
	}
	for _, test := range []struct {
		repo string
		env  map[string]string
		want string
	}{
		{"acme/app", all, "a"},
		{"acme/app", map[string]string{"GH_TOKEN": " b\n"}, "b"},
		{"acme/app", nil, ""},
		{"evil.example.com/acme/app", all, ""},
		{"evil.ghe.com/acme/app", all, ""},
		{"ours.ghe.com/acme/app", with("GH_HOST", "ours.ghe.com"), "b"},
		{"ghe.example.com/acme/app", with("GH_HOST", "GHE.example.com"), "c"},
		{"evil.example.com/acme/app", with("GH_HOST", "ghe.example.com"), ""},
		{"ghe.example.com/acme/app", with("GITHUB_SERVER_URL", "https://ghe.example.com"), "a"},
		{"acme/app", with("GITHUB_SERVER_URL", "https://ghe.example.com"), "b"},
		{"gh.example.com/acme/app", all, "from-gh"},
		{"git.example.com/acme/app", all, "from-git"},
	} {
		repo, ok := github.ParseRepository(test.repo)
		if !ok {
			t.Fatal(test.repo)
		}
		if got, err := tokens(t, test.env).For(repo)(t.Context()); got != test.want || err != nil {
			t.Errorf("%s, %v: %q, %v; want %q", test.repo, test.env, got, err, test.want)
		}
	}
	if hosts := tokens(t, map[string]string{"GH_HOST": "a.example.com", "GITHUB_SERVER_URL": "https://b.example.com"}).Hosts(); strings.Join(hosts, " ") != "a.example.com b.example.com" {
		t.Errorf("%q", hosts)
	}
}

// TestTokenIsSent with each request, asked for once, and never shown.
func TestTokenIsSent(t *testing.T) {
	s := newSite(t, thing{number: 1})
	asked := 0
	o := s.options("")
	o.Token = func(ctx) (string, error) { asked++; return "secret\n", nil }
	p := s.open(o)
	if asked != 0 {
		t.Error("it was asked for before it was needed")
	}
	for range 2 {
		if _, err := p.List(t.Context(), nil); err != nil {
			t.Fatal(err)
		}
	}
	if asked != 1 || len(s.tokens) != 1 || s.tokens["Bearer secret"] != 2 {
		t.Errorf("asked %d times, sent %v", asked, s.tokens)
	}
	o.Token = token("a\nb")
	if _, err := s.open(o).List(t.Context(), nil); !errors.Is(err, providers.ErrUnauthorised) || strings.Contains(err.Error(), "a\nb") {
		t.Errorf("%v", err)
	}
	o.Token = func(ctx) (string, error) { return "", errors.Join(providers.ErrUnauthorised) }
	if _, err := s.open(o).List(t.Context(), nil); !errors.Is(err, providers.ErrUnauthorised) {
		t.Errorf("%v", err)
	}
}

// TestOpen: settings that make no sense, or would send a token in clear, are refused before anybody is asked.
func TestOpen(t *testing.T) {
	repo, _ := github.ParseRepository("acme/app")
	for api, fault := range map[string]string{
		"http://ghe.example.com/api/v3": `the API's address: "http://ghe.example.com/api/v3" is not https, so it gets no token`,
		"http://127.0.0.1.example.com":  `the API's address: "http://127.0.0.1.example.com" is not https, so it gets no token`,
		"ftp://ghe.example.com":         `the API's address: "ftp://ghe.example.com" is not https, so it gets no token`,
		"https://u:secret@h/":           `the API's address: "https://h/" is no address`,
		"x":                             `the API's address: "x" is no address`,
	} {
		if _, err := github.Open(github.Options{Repository: repo, API: api}); !errors.Is(err, providers.ErrBroken) || err.Error() != fault {
			t.Errorf("%s: %v", api, err)
		}
	}
	for _, api := range []string{"", "https://ghe.example.com/api/v3", "http://localhost:1/", "http://[::1]:1", "http://127.0.0.1:1/x/"} {
		if _, err := github.Open(github.Options{Repository: repo, API: api}); err != nil {
			t.Errorf("%q: %v", api, err)
		}
	}
	for _, r := range []github.Repository{{}, {Host: "github.com", Owner: "..", Name: "app"}, {Host: "github.com", Owner: "a", Name: ".."}, {Host: "GitHub.com", Owner: "a", Name: "b"}, {Owner: "a", Name: "b"}} {
		if _, err := github.Open(github.Options{Repository: r}); !errors.Is(err, providers.ErrBroken) || !strings.HasPrefix(err.Error(), "providers.github.repo: ") {
			t.Errorf("%+v: %v", r, err)
		}
	}
}
