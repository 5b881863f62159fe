package github_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/git-worklease/git-worklease/providers"
	"github.com/git-worklease/git-worklease/providers/github"
)

var spellings = map[providers.Key][]string{
	"github:acme/app#42": {
		"42", "#42", "acme/app#42", "Acme/App#42", "ACME/APP#42", "github:42", "github:#42", "GitHub:Acme/App#42", "github:github.com/acme/app#42", "acme/app.git#42",
		"https://github.com/acme/app/issues/42", "http://github.com/acme/app/issues/42", "HTTPS://GitHub.com/Acme/App/Issues/42", "https://www.github.com/acme/app/issues/42",
		"https://github.com/acme/app/issues/42/", "https://github.com/acme/app/issues/42#issuecomment-7", "https://github.com/acme/app/issues/42?plain=1#top",
		"https://github.com/acme/app/pull/42", "https://github.com/acme/app/pull/42/files", "https://github.com/acme/app/pull/42/commits/abc", "https://github.com/acme/app/pull/42/?w=1",
		"https://github.com:443/acme/app/issues/42", "https://secret@github.com/acme/app/issues/42", "github.com/acme/app/issues/42", "github.com/acme/app#42",
		"https://github.com/acme/app#42", "https://github.com/acme/app.git#42", "https://github.com/acme/app.git/issues/42",
		"git@github.com:acme/app.git#42", "git@github.com:Acme/App#42", "github.com:acme/app#42", "ssh://git@github.com/acme/app.git#42", "ssh://git@ssh.github.com:443/acme/app/issues/42",
		"git+ssh://git@github.com/acme/app/pull/42", "https://api.github.com/repos/acme/app/issues/42", "https://api.github.com/repos/acme/app/pulls/42",
	},
	"github:acme/lib#1":               {"acme/lib#1", "https://github.com/ACME/lib/pull/1"},
	"github:other-org/.github#7":      {"other-org/.github#7", "https://github.com/other-org/.github/issues/7"},
	"github:a_b/c.d-e_f#2147483647":   {"a_b/c.d-e_f#2147483647"},
	"github:acme/app.git-tools#100":   {"acme/app.git-tools#100"},
	"github:acme/github.com#10000000": {"acme/github.com#10000000"},
}

var notKeys = []string{
	"", " ", "#", "0", "#0", "042", "#042", "acme/app#042", "https://github.com/acme/app/issues/042", "４２", "#４２", "٤٢", "acme/app#４２", "+42", "-42", "4 2", "42 ", " 42", "42abc",
	"#42abc", "2147483648", "99999999999999999999999", "acme/app", "acme/app#", "acme#42", "/app#42", "acme/#42", "a/b/c#42", "acme/..#42", "acme/.#42", "acme/.git#42", "-acme/app#42",
	"acme/app#42#43", "https://github.com/acme/app", "https://github.com/acme/app/issues", "https://github.com/acme/app/issues/new", "https://github.com/acme/app/discussions/42",
	"https://github.com/acme/app/pulls/42", "https://github.com/acme/app/issues/42/x", "https://github.com/acme/app/pull/42/..", "https://github.com/acme/app/pull/42/files/../../43",
	"https://github.com/acme%2fapp/issues/42", "https://github.com//acme/app/issues/42", "https://example.com/acme/app/issues/42", "https://github.com.example.com/acme/app/issues/42",
	"https://example.com/github.com/acme/app/issues/42", "ftp://github.com/acme/app/issues/42", "https://github.com\\@example.com/acme/app/issues/42", "ENG-123", "bd-a1b2", "task-7",
	"path:db/migrations", "src/main.go", "linear:ENG-1", "github:", "github:x", "github:ghe.example.com/acme/app#42", "\u212a/app#42", "acme/app#42\n", "acme/\x1bapp#42",
	"https://[::1]/acme/app/issues/42", "https://github.com:x/acme/app/issues/42", "github://acme/app#42", strings.Repeat("a", 200) + "/app#1", strings.Repeat("1", 5000),
}

func opened(t testing.TB, repo string) *github.Provider {
	t.Helper()
	r, ok := github.ParseRepository(repo)
	if !ok {
		t.Fatalf("%q is no repository", repo)
	}
	p, err := github.Open(github.Options{Repository: r})
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func TestKeysOfEnterprise(t *testing.T) {
	for _, remote := range []string{
		"ghe.example.com/acme/app", "https://ghe.example.com/Acme/App.git", "https://ghe.example.com:8443/acme/app", "git@GHE.example.com:acme/app.git", "ssh://git@ghe.example.com:2222/acme/app.git/",
	} {
		p := opened(t, remote)
		for text, want := range map[string]providers.Key{
			"42": "github:ghe.example.com/acme/app#42", "#42": "github:ghe.example.com/acme/app#42", "acme/app#42": "github:ghe.example.com/acme/app#42",
			"github:#42": "github:ghe.example.com/acme/app#42", "github:ghe.example.com/Acme/app#42": "github:ghe.example.com/acme/app#42",
			"ghe.example.com/acme/app#42": "github:ghe.example.com/acme/app#42", "https://ghe.example.com:8443/acme/app/pull/42": "github:ghe.example.com/acme/app#42",
			"git@ghe.example.com:acme/lib.git#1":                                "github:ghe.example.com/acme/lib#1",
			"https://ghe.example.com/api/v3/repos/acme/app/issues/42":           "github:ghe.example.com/acme/app#42",
			"https://github.com/acme/app/issues/42":                             "",
			"github:acme/app#42":                                                "", // which is of github.com
			"https://ghe.example.com/api/v3/repos/acme/app/issues/42/events/77": "",
		} {
			got, err := p.Parse(text)
			if got != want || (err == nil) != (want != "") || err != nil && !errors.Is(err, providers.ErrNotKey) {
				t.Errorf("%s: %q is %q, %v; want %q", remote, text, got, err, want)
			}
		}
	}
}

// TestNearlyKeys: what is nearly a key is told apart from what is none, with what is wrong.
func TestNearlyKeys(t *testing.T) {
	p := opened(t, "acme/app")
	for text, fault := range map[string]string{
		"042": "its number begins with 0", "４２": "its digits are not 0 to 9", "#": "it has no number", "0": "numbers begin at 1", "2147483648": "its number is too large",
		"acme/app#x": "its number is none", "https://github.com/acme/app/wiki/x": "it names no issue and no pull request", "https://github.com/acme/app/issues/1/x": "something follows the number",
		"https://github.com/acme/..#1": "it names no repository", "github:x": "there is no address in it", "github:ghe.example.com/acme/app#42": "it is of ghe.example.com, and the tracker here is github.com",
	} {
		var nearly *providers.KeyError
		if _, err := p.Parse(text); !errors.As(err, &nearly) || nearly.Fault != fault {
			t.Errorf("%q: %v", text, err)
		}
	}
	for _, text := range []string{"src/main.go", "ENG-123", "https://example.com/acme/app/issues/42", "path:x"} {
		if _, err := p.Parse(text); errors.As(err, new(*providers.KeyError)) || !errors.Is(err, providers.ErrNotKey) {
			t.Errorf("%q: %v", text, err)
		}
	}
	if _, err := p.Parse("https://user:secret@github.com/acme/app/wiki"); err == nil || strings.Contains(err.Error(), "secret") {
		t.Errorf("%v", err)
	}
}

func TestRepositories(t *testing.T) {
	for text, want := range map[string]string{
		"acme/app": "https://api.github.com/", "git@github.com:acme/app.git": "https://api.github.com/", "https://github.com/acme/app/": "https://api.github.com/",
		"https://acme.ghe.com/acme/app": "https://api.acme.ghe.com/", "ghe.example.com/acme/app": "https://ghe.example.com/api/v3/",
		"http://ghe.example.com/acme/app": "https://ghe.example.com/api/v3/", "https://ghe.example.com:8443/acme/app": "https://ghe.example.com:8443/api/v3/",
		"git@ghe.example.com:acme/app": "https://ghe.example.com/api/v3/", "ssh://git@ghe.example.com:7999/acme/app": "https://ghe.example.com/api/v3/",
	} {
		if r, ok := github.ParseRepository(text); !ok || r.API() != want || r.Owner != "acme" || r.Name != "app" {
			t.Errorf("%q is %+v at %q, %v", text, r, r.API(), ok)
		}
	}
	for _, text := range []string{"", "acme", "acme/app#1", "https://github.com/acme/app/issues/1", "/srv/git/app.git", "file:///srv/acme/app", "ext::sh -c x", "acme/..", "https://-x/acme/app"} {
		if r, ok := github.ParseRepository(text); ok {
			t.Errorf("%q is %+v", text, r)
		}
	}
}

func TestDetect(t *testing.T) {
	for _, test := range []struct {
		remotes, enterprise []string
		want                string
	}{
		{[]string{"/srv/a.git", "git@gitlab.com:acme/app.git", "git@github.com:Acme/App.git"}, nil, "acme/app"},
		{[]string{"https://github.com/acme/app", "https://github.com/me/app"}, nil, "acme/app"},
		{[]string{"https://acme.ghe.com/acme/app"}, nil, "acme.ghe.com/acme/app"},
		{[]string{"https://ghe.example.com/acme/app"}, nil, ""},
		{[]string{"https://ghe.example.com/acme/app"}, []string{"GHE.example.com"}, "ghe.example.com/acme/app"},
		{[]string{"acme/app", "../acme/app", "https://github.com.example.com/acme/app"}, []string{""}, ""},
		{nil, nil, ""},
	} {
		r, ok := github.Detect(test.remotes, test.enterprise...)
		if ok != (test.want != "") || ok && r.String() != test.want {
			t.Errorf("%v, %v: %v, %v", test.remotes, test.enterprise, r, ok)
		}
	}
}
