//go:build unix

package pathgit

import (
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/git-worklease/git-worklease/internal/gitexec"
	"github.com/git-worklease/git-worklease/refstore"
)

// A push that landed before its repository went away, with a share that was unmounted say, is in doubt: it has not failed.
func TestRepositoryGoesAwayAfterThePush(t *testing.T) {
	dir, away := newRepo(t), filepath.Join(t.TempDir(), "away")
	program, err := exec.LookPath("git")
	if err != nil {
		t.Fatal(err)
	}
	wrapper := filepath.Join(t.TempDir(), "git")
	script := "#!/bin/sh\n" + program + " \"$@\" >/dev/null\nmv " + dir + " " + away + "\nexit 1\n"
	if err := os.WriteFile(wrapper, []byte(script), 0o700); err != nil { //nolint:gosec // it must be executable
		t.Fatal(err)
	}
	git := testGit()
	tr := New(Options{URL: dir, Git: &gitexec.Git{Program: wrapper, Env: git.Env}, Known: known, Now: time.Now})
	_, err = tr.Push(t.Context(), txOf(change(refA, "", "one")))
	checkUnavailable(t, err, refstore.TroubleNotFound, true)
	if len(refs(t, open(away, refstore.Server{}))) != 1 {
		t.Error("it did not land")
	}
}

// An interrupt typed at the terminal goes to all of the foreground's processes. It must not end a push between two refs.
func TestPushIsOutOfTheTerminalsReach(t *testing.T) {
	dir := newRepo(t)
	writeHook(t, dir, "pre-receive", "ps -o pgid= -p $$ >group")
	push(t, open(dir, known), change(refA, "", "one"))
	text, err := os.ReadFile(filepath.Join(dir, "group"))
	if err != nil {
		t.Fatal(err)
	}
	group, err := strconv.Atoi(strings.TrimSpace(string(text)))
	if err != nil || group == syscall.Getpgrp() {
		t.Errorf("the push is of our process group: %q, %v", text, err)
	}
}
