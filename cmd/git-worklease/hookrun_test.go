package main

import (
	"bytes"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/git-worklease/git-worklease/internal/gitserver"
	"github.com/git-worklease/git-worklease/lease"
)

// TestCase58HooksNameTheUpgrade: a policy that requires a later version lets commits pass with that word, and refuses pushes with it.
func TestCase58HooksNameTheUpgrade(t *testing.T) {
	u, err := gitserver.NewUser(filepath.Join(t.TempDir(), "alice"))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := u.Git(t.Context(), "init", "--quiet"); err != nil {
		t.Fatal(err)
	}
	policy := "version = 1\nrequires = \">= 99\"\n[enforce]\ncommit = \"block\"\n"
	if err := os.WriteFile(filepath.Join(u.Dir, ".worklease.toml"), []byte(policy), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := u.Git(t.Context(), "commit", "--quiet", "--allow-empty", "-m", "x"); err != nil {
		t.Fatal(err)
	}
	head, err := u.Git(t.Context(), "rev-parse", "HEAD")
	if err != nil {
		t.Fatal(err)
	}
	line := "refs/heads/x " + strings.TrimSpace(head) + " refs/heads/x " + strings.Repeat("0", 40) + "\n"
	for _, c := range []struct {
		exit  int
		stdin string
		args  []string
	}{
		{0, "", []string{"hooks", "run", "pre-commit"}},
		{2, line, []string{"hooks", "run", "pre-push", "origin", "https://example.com/x"}},
	} {
		var out, stderr bytes.Buffer
		e := &env{args: c.args, in: strings.NewReader(c.stdin), out: &out, err: &stderr, environ: u.Env, dir: u.Dir, clock: &lease.SystemClock{}, version: "0.2.0"}
		code := execute(t.Context(), e)
		said := stderr.String()
		if code != c.exit || !strings.Contains(said, "can't be told whether the") || !strings.Contains(said, `requires ">= 99", this is 0.2.0`) || !strings.Contains(said, "hint: install the version that the policy asks for") {
			t.Errorf("%v: exit %d\n%s", c.args, code, said)
		}
	}
}

func TestSameURL(t *testing.T) {
	same := []string{"https://example.com/acme/app", "https://example.com/Acme/App", "https://alice@example.com/acme/app.git", "ssh://git@Example.com:2222/acme/app.git/", "git@example.com:acme/app", "git://example.com/acme/app"}
	for _, a := range same {
		for _, b := range append(same[1:], same[0]) {
			if !sameURL(a, b) {
				t.Errorf("%s and %s differ", a, b)
			}
		}
		for _, b := range []string{"", "https://example.com/acme/other", "https://example.org/acme/app", "/acme/app"} {
			if sameURL(a, b) || sameURL(b, a) {
				t.Errorf("%s and %s are the same", a, b)
			}
		}
	}
	if !sameURL("/srv/app.git", "/srv/app/") || !sameURL("/srv/app.git", "file:///srv/app") || sameURL("", "") {
		t.Error("paths")
	}
	dir := t.TempDir()
	if err := os.Mkdir(filepath.Join(dir, "app.git"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("app.git", filepath.Join(dir, "link")); err != nil {
		t.Fatal(err)
	}
	for _, other := range []string{"app", "link", "link/"} {
		if !sameURL(filepath.Join(dir, "app.git"), filepath.ToSlash(dir)+"/"+other) {
			t.Errorf("%s is another", other)
		}
	}
}

func TestParseBatch(t *testing.T) {
	id := strings.Repeat("1", 40)
	out := id + " commit 3\na\nb\nrefs/x:y missing\nsymlink 4\n/etc\n" + id + " blob 0\n\n" + id + " blob 2\nxy\n"
	got := parseBatch(out, 6)
	want := []object{{"commit", "a\nb"}, {}, {}, {"blob", ""}, {"blob", "xy"}, {}}
	if !slices.Equal(got, want) {
		t.Errorf("got %q", got)
	}
	for _, bad := range []string{"", "x", id + " blob 9\nxy\n", id + " blob -1\nx\n"} {
		if got := parseBatch(bad, 1); got[0] != (object{}) {
			t.Errorf("%q is %q", bad, got)
		}
	}
}
