package main

import (
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/git-worklease/git-worklease/internal/gitserver"
)

// nobody is whom tests of permissions run as where they are run by root, whom no mode stops.
const nobody = "65534"

// plainUser is a clone of a user whom modes stop.
type plainUser struct {
	*gitserver.Checkout
	t *testing.T
	// as is the command that becomes the user; empty where that is us.
	as      []string
	program string
}

func newPlainUser(t *testing.T) *plainUser {
	t.Helper()
	dir, err := os.MkdirTemp("", "worklease-permissions-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := os.RemoveAll(dir); err != nil {
			t.Error(err)
		}
	})
	repos, err := gitserver.NewRepos(filepath.Join(dir, "server"))
	if err != nil {
		t.Fatal(err)
	}
	repo := gitserver.TestRepo(t, repos, "app")
	c, err := gitserver.NewClone(t.Context(), filepath.Join(dir, "alice"), repo.Dir, "WORKLEASE_AGENT=alice", "GORACE=atexit_sleep_ms=0", "GIT_CEILING_DIRECTORIES="+dir)
	if err != nil {
		t.Fatal(err)
	}
	u := &plainUser{Checkout: c, t: t, program: filepath.Join(dir, "git-worklease")}
	u.copyProgram()
	if os.Geteuid() == 0 {
		u.become(dir)
	}
	return u
}

// become makes u somebody else than root, or root without what lets it pass by modes where nobody else can work: git needs /dev/null, which a container
// may keep from all others.
func (u *plainUser) become(dir string) {
	u.t.Helper()
	other := []string{"setpriv", "--reuid", nobody, "--regid", nobody, "--clear-groups"}
	if u.works(other) {
		u.as = other
		u.own(dir, "server", "alice")
		return
	}
	u.as = []string{"setpriv", "--bounding-set", "-dac_override,-dac_read_search", "--inh-caps", "-dac_override,-dac_read_search"}
	if !u.works(u.as) {
		u.t.Fatal("nobody whom modes stop can open /dev/null")
	}
}

// works says whether git can do its work for whoever a command becomes.
func (u *plainUser) works(as []string) bool {
	r := u.Run(u.t.Context(), as[0], append(as[1:len(as):len(as)], "sh", "-c", ": <>/dev/null")...)
	return r.Code == 0
}

// copyProgram puts the program where everybody can run it.
func (u *plainUser) copyProgram() {
	u.t.Helper()
	from, err := exec.LookPath("git-worklease")
	if err != nil {
		u.t.Fatal(err)
	}
	data, err := os.ReadFile(from) //nolint:gosec // this program
	if err != nil {
		u.t.Fatal(err)
	}
	if err := os.WriteFile(u.program, data, 0o755); err != nil { //nolint:gosec // others run it
		u.t.Fatal(err)
	}
}

// own gives folders of dir to the user.
func (u *plainUser) own(dir string, names ...string) {
	u.t.Helper()
	u.mode(dir, 0o755)
	for _, name := range names {
		if out, err := exec.CommandContext(u.t.Context(), "chown", "-R", nobody+":"+nobody, filepath.Join(dir, name)).CombinedOutput(); err != nil { //nolint:gosec // a test's folder
			u.t.Fatalf("chown: %v: %s", err, out)
		}
	}
}

func (u *plainUser) mode(path string, mode fs.FileMode) {
	u.t.Helper()
	if err := os.Chmod(path, mode); err != nil {
		u.t.Fatal(err)
	}
}

// closeTree takes away the right to write to all folders of a tree, until open is called.
func (u *plainUser) closeTree(root string) (open func()) {
	u.t.Helper()
	var folders []string
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err == nil && d.IsDir() {
			folders = append(folders, path)
		}
		return err
	})
	if err != nil {
		u.t.Fatal(err)
	}
	for _, folder := range folders {
		u.mode(folder, 0o555)
	}
	return func() {
		for _, folder := range folders {
			u.mode(folder, 0o755)
		}
	}
}

// run runs the program, which must end with the status and print the words.
func (u *plainUser) run(exit int, words string, args ...string) {
	u.t.Helper()
	command := append(append([]string{}, u.as...), u.program)
	command = append(command, args...)
	r := u.Run(u.t.Context(), command[0], command[1:]...)
	if out := r.Stdout + r.Stderr; r.Code != exit || !strings.Contains(out, words) {
		u.t.Errorf("%s: exit %d instead of %d, or without %q:\n%s", strings.Join(args, " "), r.Code, exit, words, out)
	}
}

// TestStateReadOnly: a git directory that can't be written is said to be so, nothing is claimed, and reading goes on.
func TestStateReadOnly(t *testing.T) {
	u := newPlainUser(t)
	git := filepath.Join(u.Dir, ".git")
	u.mode(git, 0o555)
	u.run(2, `"reason":"state-read-only"`, "--json", "claim", "task:a")
	u.run(2, "git config worklease.stateDir PATH", "claim", "task:a")
	u.run(0, "free", "status", "task:a")
	u.run(0, "no claims", "list")

	elsewhere := filepath.Join(u.Home, "state")
	u.Env = append(u.Env, "WORKLEASE_STATE_DIR="+elsewhere)
	u.run(0, "claimed task:a", "claim", "task:a")
	u.run(0, "renewed task:a", "renew")
	open := u.closeTree(elsewhere)
	u.run(0, "held task:a", "verify")
	u.run(2, "state-read-only", "--json", "renew")
	u.run(2, "state-read-only", "--json", "release")
	open()
	u.run(0, "released task:a", "release")
	u.mode(git, 0o755)
}

// TestStateUnreadable: claims that can't be read are not taken for none.
func TestStateUnreadable(t *testing.T) {
	u := newPlainUser(t)
	u.run(0, "claimed task:a", "claim", "task:a")
	sessions := filepath.Join(u.Dir, ".git", "worklease", "sessions")
	u.mode(sessions, 0)
	for _, verb := range []string{"status", "renew", "release", "verify"} {
		u.run(2, `"reason":"state-unreadable"`, "--json", verb)
	}
	u.run(2, "permission denied", "claim", "task:b")
	u.mode(sessions, 0o700)
	u.run(0, "held task:a", "verify")
}

// TestRemoteReadOnly: a repository that may be read and not written is exit 6 for what writes.
func TestRemoteReadOnly(t *testing.T) {
	u := newPlainUser(t)
	u.run(0, "claimed task:a", "claim", "task:a")
	repo := filepath.Join(filepath.Dir(filepath.Dir(u.Dir)), "server", "app.git")
	open := u.closeTree(repo)
	u.run(0, "yours", "status", "task:a")
	u.run(6, "", "claim", "task:b")
	u.run(6, "", "renew")
	open()
	u.run(0, "renewed task:a", "renew")
}
