package main

import (
	"testing"

	"github.com/git-worklease/git-worklease/internal/config"
)

func TestGitHub(t *testing.T) {
	for url, want := range map[string]string{
		"git@github.com:Acme/App.git":             "acme/app",
		"https://u:p@github.com/acme/app":         "acme/app",
		"ssh://git@ssh.github.com:443/acme/a.git": "acme/a",
		"https://gitlab.com/acme/app.git":         "",
		"https://github.com.example/acme/app":     "",
		"/srv/git/github.com/acme/app.git":        "",
		"":                                        "",
	} {
		if got := gitHub(url); got != want {
			t.Errorf("%q is %q", url, got)
		}
	}
}

// TestWithAuthority: the ID goes where it is no table's, whatever the policy looks like.
func TestWithAuthority(t *testing.T) {
	for text, want := range map[string]string{
		"":                                   "authority = \"abc\"\n",
		"version = 1\n":                      "version = 1\nauthority = \"abc\"\n",
		"# ours\nversion=1 # one\n[lease]\n": "# ours\nversion=1 # one\nauthority = \"abc\"\n[lease]\n",
		"version = 1":                        "authority = \"abc\"\nversion = 1",
		"[lease]\nttl = '1h'\n":              "authority = \"abc\"\n[lease]\nttl = '1h'\n",
		"[x]\nversion = 1\n":                 "authority = \"abc\"\n[x]\nversion = 1\n",
		"version = 1\r\n[lease]\r\nttl = '1h'\r\n": "version = 1\r\nauthority = \"abc\"\n[lease]\r\nttl = '1h'\r\n",
	} {
		got := withAuthority(text, "abc")
		if got != want {
			t.Errorf("%q became %q", text, got)
		}
		policy, err := config.ParsePolicy([]byte(got))
		if err != nil || !namesAuthority(policy) {
			t.Errorf("%q: %v", got, err)
		}
	}
}

func TestParagraph(t *testing.T) {
	for text, want := range map[string]string{
		"":                                    agentsText,
		"Be good.":                            "Be good.\n\n" + agentsText,
		"Be good.\n\n\n":                      "Be good.\n\n" + agentsText,
		"a\n" + agentsText + "b\n":            "a\n" + agentsText + "b\n",
		"a\n" + agentsBegin + "x" + agentsEnd: "a\n" + agentsText,
	} {
		got := withParagraph(text)
		if got != want || withParagraph(got) != got {
			t.Errorf("%q became %q", text, got)
		}
	}
}
