package install

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/git-worklease/git-worklease/internal/gitexec"
)

// TestHookFiles: each hook of ours is called with git's arguments and standard input, after what was there before, and either can refuse.
func TestHookFiles(t *testing.T) {
	s := newSite(t)
	for _, h := range Hooks() {
		s.hook(".git/hooks/"+string(h), "was-"+string(h))
	}
	before := s.private()
	s.wantStates(s.install(), Active)
	if again := s.install(); again.Hooks[0].Chained == "" {
		t.Errorf("installed twice, it has forgotten what was there: %+v", again.Hooks[0])
	}

	if r := s.commit(); r.Code != 0 {
		t.Fatalf("%+v", r)
	}
	want := "was-pre-commit: \ngit-worklease: hooks run pre-commit\n" +
		"was-commit-msg: .git/COMMIT_EDITMSG\ngit-worklease: hooks run commit-msg .git/COMMIT_EDITMSG\n" +
		"was-post-commit: \ngit-worklease: hooks run post-commit"
	if got := s.calls(); got != want {
		t.Errorf("a commit calls\n%s\nnot\n%s", got, want)
	}

	remote, tip := s.git("config", "remote.origin.url"), s.git("rev-parse", "HEAD")
	s.git("push", "--quiet", "origin", "HEAD:refs/heads/one", "HEAD:refs/heads/two")
	line := func(branch string) string {
		return "< HEAD " + tip + " refs/heads/" + branch + " " + strings.Repeat("0", 40)
	}
	refs := line("one") + "\n" + line("two")
	want = "was-pre-push: origin " + remote + "\n" + refs + "\ngit-worklease: hooks run pre-push origin " + remote + "\n" + refs
	if got := s.calls(); got != want {
		t.Errorf("a push calls\n%s\nnot\n%s", got, want)
	}
	s.git("push", "--quiet", "origin", "HEAD:refs/heads/one")
	if got := s.calls(); got != "was-pre-push: origin "+remote+"\ngit-worklease: hooks run pre-push origin "+remote {
		t.Errorf("a push of nothing calls\n%s", got)
	}

	s.uninstall()
	if d := before.differs(s.private()); len(d) > 0 {
		t.Errorf("after uninstall, %v differ", d)
	}
}

// TestHookFilesRefuse: the status of either hook is the hook's.
func TestHookFilesRefuse(t *testing.T) {
	s := newSite(t)
	s.hook(".git/hooks/pre-commit", "was-pre-commit")
	s.hook(".git/hooks/pre-push", "was-pre-push")
	s.install()
	s.ends("was-pre-commit", "7")
	if r, calls := s.commit(), s.calls(); r.Code == 0 || calls != "was-pre-commit: " {
		t.Errorf("%+v after\n%s", r, calls)
	}
	s.ends("was-pre-commit", "0")
	s.ends("git-worklease", "6")
	if r, calls := s.commit(), s.calls(); r.Code == 0 || !strings.HasSuffix(calls, "git-worklease: hooks run pre-commit") {
		t.Errorf("%+v after\n%s", r, calls)
	}
	s.ends("git-worklease", "0")
	s.ends("was-pre-push", "1")
	push := func() (int, string) {
		return s.Run(t.Context(), "git", "push", "origin", "HEAD:refs/heads/x").Code, s.calls()
	}
	if code, calls := push(); code == 0 || strings.Contains(calls, "git-worklease") {
		t.Errorf("%d after\n%s", code, calls)
	}
	s.ends("was-pre-push", "0")
	s.ends("git-worklease", "6")
	if code, calls := push(); code == 0 || !strings.Contains(calls, "git-worklease") {
		t.Errorf("%d after\n%s", code, calls)
	}
}

// TestHooksThatDontRun are passed over by git, and so by us.
func TestHooksThatDontRun(t *testing.T) {
	s := newSite(t)
	s.hook(".git/hooks/pre-commit", "was-pre-commit")
	if err := os.Chmod(filepath.Join(s.Dir, ".git/hooks/pre-commit"), 0o644); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("nowhere", filepath.Join(s.Dir, ".git/hooks/commit-msg")); err != nil {
		t.Fatal(err)
	}
	before := s.private()
	s.wantStates(s.install(), Active)
	if r, calls := s.commit(), s.calls(); r.Code != 0 || strings.Contains(calls, "was-") || strings.Count(calls, "git-worklease") != 3 {
		t.Errorf("%+v after\n%s", r, calls)
	}
	s.uninstall()
	if d := before.differs(s.private()); len(d) > 0 {
		t.Errorf("after uninstall, %v differ", d)
	}
}

// TestAppendedLines: what tools append to a hook runs, and has git's words on standard input. It is kept by an installation, and not thrown away.
func TestAppendedLines(t *testing.T) {
	s := newSite(t)
	s.install()
	path := filepath.Join(s.Dir, ".git/hooks/pre-push")
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	s.write(path, string(data)+"sed 's/^/appended /' >&2\n")
	s.program += " moved"
	s.write(s.program, recorder)
	s.wantStates(s.install(), Active)
	r := s.Run(t.Context(), "git", "push", "origin", "HEAD:refs/heads/x")
	if r.Code != 0 || !strings.Contains(r.Stderr, "appended HEAD "+s.git("rev-parse", "HEAD")) || !strings.Contains(s.calls(), "git-worklease moved: hooks run pre-push") {
		t.Errorf("%+v", r)
	}
	_, err = s.at(s.Dir).Uninstall(t.Context())
	var changed *ChangedError
	if !errors.As(err, &changed) || len(changed.Paths) != 1 || changed.Paths[0] != path {
		t.Errorf("got %v", err)
	}
	s.wantStates(s.look(), Absent, Absent, Absent, Active)
	s.write(path, string(data))
	s.uninstall()
	s.wantStates(s.look(), Absent)
}

// TestOthersWroteOver: another program that writes its own hook over ours, or removes ours, is found out; what it wrote counts from then on, and what
// was there before is not lost.
func TestOthersWroteOver(t *testing.T) {
	s := newSite(t)
	s.hook(".git/hooks/pre-commit", "first")
	s.hook(".git/hooks/pre-push", "push")
	s.install()
	s.hook(".git/hooks/pre-commit", "second")
	if err := os.Remove(filepath.Join(s.Dir, ".git/hooks/pre-push")); err != nil {
		t.Fatal(err)
	}
	s.wantStates(s.look(), Inert, Active, Active, Inert)
	if spots, err := s.at(s.Dir).Inert(t.Context()); err != nil || len(spots) != 2 || spots[0].Why != "another hook is in its place" || spots[1].Why != "there is no hook file" {
		t.Errorf("%+v, %v", spots, err)
	}
	s.wantStates(s.install(), Active)
	if r, calls := s.commit(), s.calls(); r.Code != 0 || !strings.HasPrefix(calls, "second: \ngit-worklease: ") {
		t.Errorf("%+v after\n%s", r, calls)
	}
	if done := s.uninstall(); len(done.Kept) != 1 || filepath.Base(done.Kept[0]) != "pre-commit.before-worklease" {
		t.Errorf("%+v", done)
	}
	hooks := treeOf(t, filepath.Join(s.Dir, ".git/hooks"))
	for name, want := range map[string]string{"pre-commit": "second", "pre-commit.before-worklease": "first", "pre-push": "push"} {
		if got := hooks[filepath.Join(s.Dir, ".git/hooks", name)]; !strings.Contains(got, want+"'") {
			t.Errorf("%s is %q", name, got)
		}
	}
	if s.uninstall().Was {
		t.Error("uninstalled twice, it was installed")
	}
}

// TestCase57UninstalledToolBlocksNoCommit is CASES row 57: without the program commits pass with one line, and a push names the command that removes the hook.
func TestCase57UninstalledToolBlocksNoCommit(t *testing.T) {
	for _, chained := range []bool{false, true} {
		s := newSite(t)
		if chained {
			s.hook(".git/hooks/pre-commit", "was-pre-commit")
			s.hook(".git/hooks/pre-push", "was-pre-push")
		}
		s.install()
		if err := os.Rename(s.program, s.program+".gone"); err != nil {
			t.Fatal(err)
		}
		r := s.commit()
		if r.Code != 0 || strings.Count(r.Stderr, "\n") != 1 || !strings.Contains(r.Stderr, "this commit was not checked") {
			t.Fatalf("%+v", r)
		}
		s.removeAsTold(r.Stderr)
		if r := s.commit(); r.Code != 0 || r.Stderr != "" || strings.HasPrefix(s.calls(), "was-pre-commit") != chained {
			t.Errorf("without the hook: %+v", r)
		}
		r = s.Run(t.Context(), "git", "push", "--quiet", "origin", "HEAD:refs/heads/x")
		if r.Code == 0 || !strings.Contains(r.Stderr, "no push is let through") {
			t.Fatalf("%+v", r)
		}
		s.removeAsTold(r.Stderr)
		s.calls()
		if r := s.Run(t.Context(), "git", "push", "--quiet", "origin", "HEAD:refs/heads/x"); r.Code != 0 || strings.HasPrefix(s.calls(), "was-pre-push") != chained {
			t.Errorf("without the hook: %+v", r)
		}
	}
}

// removeAsTold runs the command that a hook names.
func (s *site) removeAsTold(words string) {
	s.t.Helper()
	first, _, _ := strings.Cut(words, "\n")
	_, cmd, ok := strings.Cut(first, "to remove its hook: ")
	if !ok {
		s.t.Fatalf("no command in %q", words)
	}
	if r := s.Run(s.t.Context(), "sh", "-c", cmd); r.Code != 0 {
		s.t.Fatalf("%s: %+v", cmd, r)
	}
}

// TestProgramOnPath: a program that has moved is found on PATH.
func TestProgramOnPath(t *testing.T) {
	s := newSite(t)
	s.install()
	moved := filepath.Join(s.Home, "git-worklease")
	s.write(moved, recorder)
	if err := os.Remove(s.program); err != nil {
		t.Fatal(err)
	}
	s.Env = append(s.Env, "PATH="+s.Home+string(os.PathListSeparator)+os.Getenv("PATH"))
	if r := s.commit(); r.Code != 0 || r.Stderr != "" {
		t.Errorf("%+v", r)
	}
	data, err := os.ReadFile(filepath.Join(s.Home, "log"))
	if err != nil || !strings.HasPrefix(string(data), "git-worklease: hooks run pre-commit") {
		t.Errorf("%q, %v", data, err)
	}
}

// TestConfiguration: where git runs hooks from its configuration, no file is touched, and the configuration is as before afterwards. Where the git here is an older one, what it would run is
// run as it would.
func TestConfiguration(t *testing.T) {
	s := newSite(t)
	s.hook(".git/hooks/pre-commit", "was-pre-commit")
	before := s.private()
	s.install() // by files, as an older git did
	s.version = configured
	s.wantStates(s.install(), Active)
	during := s.private()
	for _, path := range before.differs(during) {
		if name := filepath.Base(path); name != "config" && name != "hooks.json" && name != "hooks.lock" {
			t.Errorf("%s was touched", path)
		}
	}
	real, _, _, err := s.at(s.Dir).Git.Version(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if real.Before(configured) {
		s.runConfigured()
	} else {
		s.runByGit()
	}
	s.git("config", "hook.worklease-pre-push.enabled", "no")
	s.wantStates(s.look(), Active, Active, Active, Inert)
	s.uninstall()
	if d := before.differs(s.private()); len(d) > 0 {
		t.Errorf("after uninstall, %v differ", d)
	}

	s.install()
	s.version = chainingGit
	s.wantStates(s.look(), Inert)
	s.wantStates(s.install(), Active)
	s.uninstall()
	if d := before.differs(s.private()); len(d) > 0 {
		t.Errorf("after uninstall by an older git, %v differ", d)
	}
}

// runConfigured runs the commands as git does: by the shell, with the arguments behind them.
func (s *site) runConfigured() {
	s.t.Helper()
	for _, h := range Hooks() {
		command := s.git("config", "hook.worklease-"+string(h)+".command")
		if event := s.git("config", "--get-all", "hook.worklease-"+string(h)+".event"); event != string(h) {
			s.t.Errorf("%s is run at %q", h, event)
		}
		r := s.Run(s.t.Context(), "sh", "-c", command+` "$@"`, command, "one", "two words")
		if calls := s.calls(); r.Code != 0 || calls != "git-worklease: hooks run "+string(h)+" one two words" {
			s.t.Errorf("%s: %+v after\n%s", h, r, calls)
		}
		if err := os.Rename(s.program, s.program+".gone"); err != nil {
			s.t.Fatal(err)
		}
		r = s.Run(s.t.Context(), "sh", "-c", command+` "$@"`, command)
		if lines := strings.Count(r.Stderr, "\n"); (r.Code != 0) != (h == PrePush) || (lines == 1) != (h == PrePush || h == PreCommit) {
			s.t.Errorf("%s without the program: %+v", h, r)
		}
		if err := os.Rename(s.program+".gone", s.program); err != nil {
			s.t.Fatal(err)
		}
	}
}

// runByGit lets git run them.
func (s *site) runByGit() {
	s.t.Helper()
	if r := s.commit(); r.Code != 0 {
		s.t.Errorf("%+v", r)
	}
	want := "git-worklease: hooks run pre-commit\nwas-pre-commit: \ngit-worklease: hooks run commit-msg .git/COMMIT_EDITMSG\ngit-worklease: hooks run post-commit"
	if got := s.calls(); got != want {
		s.t.Errorf("a commit calls\n%s\nnot\n%s", got, want)
	}
	s.git("push", "--quiet", "origin", "HEAD:refs/heads/x")
	if got := s.calls(); !strings.HasPrefix(got, "git-worklease: hooks run pre-push origin ") || !strings.Contains(got, "\n< HEAD ") {
		s.t.Errorf("a push calls\n%s", got)
	}
	s.ends("git-worklease", "6")
	if r := s.commit(); r.Code == 0 {
		s.t.Error("it is not refused")
	}
	s.ends("git-worklease", "0")
	s.calls()
}

func TestParse(t *testing.T) {
	for _, h := range Hooks() {
		for _, program := range []string{"/usr/bin/git-worklease", "/it's/a b/$(x)`y`\"", `C:/Program Files/git-worklease.exe`} {
			for _, chained := range []string{"", "pre-push.before-worklease"} {
				got, ok := parse(render(h, program, chained))
				if want := (written{hook: h, program: program, chained: chained}); !ok || got != want {
					t.Errorf("%+v, %v instead of %+v", got, ok, want)
				}
			}
		}
	}
	for _, text := range []string{"", "#!/bin/sh\n", "#!/bin/sh\necho\n" + marker + "pre-push\n"} {
		if got, ok := parse([]byte(text)); ok {
			t.Errorf("%q is read as %+v", text, got)
		}
	}
	if got, ok := parse([]byte("#!/bin/sh\n" + marker + "pre-push\n")); !ok || !got.changed {
		t.Errorf("%+v, %v", got, ok)
	}
}

func TestCalls(t *testing.T) {
	for text, want := range map[string]bool{
		"git worklease hooks run pre-push \"$@\"":                                     true,
		"# git worklease hooks run pre-push":                                          false,
		"# git worklease hooks run pre-push\n\tx && git-worklease hooks run pre-push": true,
		"git-worklease hooks run pre-commit":                                          false,
		"":                                                                            false,
	} {
		if calls([]byte(text), PrePush) != want {
			t.Errorf("%q: %v", text, !want)
		}
	}
	for _, h := range Hooks() {
		if !calls([]byte(line(h)), h) || !calls([]byte(lefthookPart(h)), h) {
			t.Errorf("the snippet for %s is not found again", h)
		}
	}
}

func TestVersions(t *testing.T) {
	if !(gitexec.Version{2, 53}).Before(configured) || (gitexec.Version{2, 54}).Before(configured) {
		t.Error("git runs hooks from its configuration since 2.54")
	}
}
