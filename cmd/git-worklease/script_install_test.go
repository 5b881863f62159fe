package main

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/git-worklease/git-worklease/internal/gitserver"
)

// TestCase61HelpOpensTheManPage is CASES row 61: after make install, git worklease --help opens the man page. It also looks at what else is installed.
func TestCase61HelpOpensTheManPage(t *testing.T) {
	prefix := filepath.Join(t.TempDir(), "usr")
	makeInstall(t, prefix)
	user, err := gitserver.NewUser(t.TempDir(), "MANPATH="+filepath.Join(prefix, "share", "man"), "MANPAGER=cat", "MANROFFOPT=-c", "MANWIDTH=200")
	if err != nil {
		t.Fatal(err)
	}
	user.Env = append(user.Env, "PATH="+filepath.Join(prefix, "bin")+string(os.PathListSeparator)+os.Getenv("PATH"))
	for command, want := range map[string]string{
		"man -w git-worklease":    filepath.Join(prefix, "share", "man", "man1", "git-worklease.1"),
		"git worklease --help":    "Everybody else",
		"git help worklease":      "Everybody else",
		"man git-worklease-claim": "--ttl",
		"git worklease version":   "git-worklease version ",
		"git worklease claim -h":  "git worklease claim [KEY...]",
		"git help -a":             "worklease",
	} {
		words := strings.Fields(command)
		r := user.Run(t.Context(), words[0], words[1:]...)
		if r.Code != 0 || !strings.Contains(r.Stdout, want) {
			t.Errorf("%s: exit %d, without %q:\n%s%s", command, r.Code, want, r.Stdout, r.Stderr)
		}
	}
	for _, file := range []string{
		"bash-completion/completions/git-worklease", "zsh/site-functions/_git-worklease", "fish/vendor_completions.d/git-worklease.fish",
	} {
		if info, err := os.Stat(filepath.Join(prefix, "share", filepath.FromSlash(file))); err != nil || info.Size() == 0 {
			t.Errorf("%s: %v", file, err)
		}
	}
	releasedBinaryHasNoClock(t, filepath.Join(prefix, "bin", "git-worklease"))
}

// makeInstall runs make install as from a fresh clone's top.
func makeInstall(t *testing.T, prefix string) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "make", "--no-print-directory", "-C", filepath.Join("..", ".."), "install", "PREFIX="+prefix) //nolint:gosec // a test's own folder
	cmd.Env = append(os.Environ(), "MAKEFLAGS=", "MFLAGS=")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("make install: %v\n%s", err, out)
	}
}

// releasedBinaryHasNoClock: what puts the clock of the test binary forward is not in the released one.
func releasedBinaryHasNoClock(t *testing.T, path string) {
	t.Helper()
	binary, err := os.ReadFile(path) //nolint:gosec // just installed
	if err != nil {
		t.Fatal(err)
	}
	if bytes.Contains(binary, []byte(clockFile)) {
		t.Errorf("the released binary knows %s", clockFile)
	}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	if own, err := os.ReadFile(self); err != nil || !bytes.Contains(own, []byte(clockFile)) { //nolint:gosec // this test
		t.Errorf("the search would not find it: %v", err)
	}
}
