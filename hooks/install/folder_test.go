package install

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestFolders: hooks go where git looks for them, whatever core.hooksPath is, unless that is not for this clone alone to change.
func TestFolders(t *testing.T) {
	for name, test := range map[string]struct {
		set  []string // of git config
		make string   // a folder
		want State    // after an installation
		why  string
	}{
		"default":                    {want: Active},
		"relative, in git's folder":  {set: []string{"core.hooksPath", ".git/mine"}, want: Active},
		"relative, beside the clone": {set: []string{"core.hooksPath", "../mine"}, want: Active},
		"absolute, dangling":         {set: []string{"core.hooksPath", "@/elsewhere/hooks"}, want: Active},
		"absolute":                   {set: []string{"core.hooksPath", "@/elsewhere/hooks"}, make: "@/elsewhere/hooks", want: Active},
		"home":                       {set: []string{"core.hooksPath", "~/hooks"}, make: "@/home/hooks", want: Active},
		"committed":                  {set: []string{"core.hooksPath", ".githooks"}, make: "@/work/.githooks", want: Inert, why: "part of the work tree"},
		"committed, dangling":        {set: []string{"core.hooksPath", "tools/hooks"}, want: Inert, why: "no folder is"},
		"husky, not set up":          {set: []string{"core.hooksPath", ".husky/_"}, want: Inert, why: "no folder is"},
		"all of the user's":          {set: []string{"--global", "core.hooksPath", "@/home/hooks"}, make: "@/home/hooks", want: Inert, why: "all repositories"},
		"off":                        {set: []string{"core.hooksPath", "/dev/null"}, want: Inert, why: "turns hook files off"},
		"empty":                      {set: []string{"core.hooksPath", ""}, want: Inert, why: "turns hook files off"},
	} {
		t.Run(name, func(t *testing.T) {
			s := newSite(t)
			dir := filepath.Dir(s.Dir)
			at := func(path string) string { return strings.ReplaceAll(path, "@", dir) }
			if test.make != "" {
				if err := os.MkdirAll(at(test.make), 0o755); err != nil {
					t.Fatal(err)
				}
			}
			if len(test.set) > 0 {
				args := append([]string{"config"}, test.set...)
				args[len(args)-1] = at(args[len(args)-1])
				s.git(args...)
			}
			before := treeOf(t, dir)
			status := s.install()
			s.wantStates(status, test.want)
			if name != "empty" { // git has no answer
				s.agrees(status)
			}
			s.plausible(status, test.want, test.why)
			s.uninstall()
			if d := before.differs(treeOf(t, dir)); len(withoutLog(d)) > 0 {
				t.Errorf("after uninstall, %v differ", d)
			}
		})
	}
}

// withoutLog leaves out what the test itself has written.
func withoutLog(paths []string) []string {
	var left []string
	for _, path := range paths {
		if filepath.Base(path) != "log" && !strings.Contains(path, "/objects/") && !strings.Contains(path, "/logs/") && filepath.Base(path) != "COMMIT_EDITMSG" &&
			filepath.Base(path) != "index" && !strings.Contains(path, "/refs/") {
			left = append(left, path)
		}
	}
	return left
}

// agrees compares the folder with git's answer.
func (s *site) agrees(status *Status) {
	s.t.Helper()
	if out := s.git("rev-parse", "--path-format=absolute", "--git-path", "hooks"); filepath.Clean(out) != status.Folder.Path {
		s.t.Errorf("git looks for hooks in %q, not in %q", out, status.Folder.Path)
	}
}

// plausible checks what is said against what happens at a commit.
func (s *site) plausible(status *Status, want State, why string) {
	s.t.Helper()
	spot := status.Hooks[0]
	if !strings.Contains(spot.Why, why) || (want == Active) != (spot.Why == "") {
		s.t.Errorf("%+v", spot)
	}
	if r := s.commit(); r.Code != 0 {
		s.t.Errorf("%+v", r)
	}
	if called := strings.HasPrefix(s.calls(), "git-worklease: hooks run pre-commit"); called != (want == Active) {
		s.t.Errorf("called: %v, and it is %s", called, want)
	}
}

// TestSnippets: who adds to a committed hook what is printed has the hook.
func TestSnippets(t *testing.T) {
	s := newSite(t)
	s.git("config", "core.hooksPath", ".githooks")
	s.Env = append(s.Env, "PATH="+filepath.Dir(s.program)+string(os.PathListSeparator)+os.Getenv("PATH"))
	for _, spot := range s.install().Hooks {
		if spot.State != Inert || spot.SnippetFile != filepath.Join(s.Dir, ".githooks", string(spot.Hook)) {
			t.Errorf("%+v", spot)
		}
		s.write(spot.SnippetFile, "#!/bin/sh\n"+spot.Snippet+"\necho more >&2\n")
	}
	s.wantStates(s.look(), Active)
	if r, calls := s.commit(), s.calls(); r.Code != 0 || strings.Count(calls, "git-worklease: hooks run") != 3 || !strings.Contains(r.Stderr, "more") {
		t.Errorf("%+v after\n%s", r, calls)
	}
	if r := s.Run(t.Context(), "git", "push", "--quiet", "origin", "HEAD:refs/heads/x"); r.Code != 0 || !strings.Contains(s.calls(), "\n< HEAD ") {
		t.Errorf("%+v", r)
	}
	s.ends("git-worklease", "6")
	if r := s.commit(); r.Code == 0 || strings.Contains(r.Stderr, "more") {
		t.Errorf("%+v", r)
	}
	if r := s.Run(t.Context(), "git", "push", "--quiet", "origin", "HEAD:refs/heads/y"); r.Code == 0 {
		t.Errorf("%+v", r)
	}
	if done := s.uninstall(); len(done.Asked) != 4 {
		t.Errorf("%+v", done)
	}
	if err := os.Remove(s.program); err != nil {
		t.Fatal(err)
	}
	if r := s.commit(); r.Code != 0 || strings.Count(r.Stderr, "git-worklease") != 1 {
		t.Errorf("without the program: %+v", r)
	}
	if r := s.Run(t.Context(), "git", "push", "--quiet", "origin", "HEAD:refs/heads/z"); r.Code == 0 || !strings.Contains(r.Stderr, "not installed") {
		t.Errorf("without the program: %+v", r)
	}
}

// TestOwnNames: a hook that asks under which name it runs is not moved.
func TestOwnNames(t *testing.T) {
	s := newSite(t)
	s.write(".git/hooks/pre-commit", "#!/bin/sh\ncase $(basename \"$0\") in pre-commit) ;; *) exit 1 ;; esac\n")
	before := s.private()
	status := s.install()
	s.wantStates(status, Inert, Active, Active, Active)
	if status.Hooks[0].Snippet == "" || !strings.Contains(status.Hooks[0].Why, "its own name") {
		t.Errorf("%+v", status.Hooks[0])
	}
	if r := s.commit(); r.Code != 0 {
		t.Errorf("%+v", r)
	}
	s.uninstall()
	for _, path := range before.differs(s.private()) {
		t.Errorf("after uninstall, %s differs", path)
	}
}

// TestCase24DanglingInWorktrees is CASES row 24: where core.hooksPath leads nowhere in one worktree, the hooks there are said to be inert, and those of others are not.
func TestCase24DanglingInWorktrees(t *testing.T) {
	s := newSite(t)
	linked := filepath.Join(filepath.Dir(s.Dir), "linked")
	s.git("worktree", "add", "--quiet", linked)
	s.wantStates(s.install(), Active)
	there := func() *Status {
		t.Helper()
		status, err := s.at(linked).Look(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		return status
	}
	s.wantStates(there(), Active)
	commit := func() string {
		t.Helper()
		if r := s.Run(t.Context(), "git", "-C", linked, "commit", "--quiet", "--allow-empty", "-m", "x"); r.Code != 0 {
			t.Fatalf("%+v", r)
		}
		return s.calls()
	}
	if calls := commit(); !strings.HasPrefix(calls, "git-worklease: ") {
		t.Errorf("in the linked worktree: %q", calls)
	}

	s.git("config", "extensions.worktreeConfig", "true")
	s.git("-C", linked, "config", "--worktree", "core.hooksPath", "../nowhere")
	s.wantStates(there(), Inert)
	if spots, err := s.at(linked).Inert(t.Context()); err != nil || len(spots) != 4 || !strings.Contains(spots[0].Why, "where no folder is") {
		t.Errorf("%+v, %v", spots, err)
	}
	if calls := commit(); calls != "" {
		t.Errorf("they run all the same: %q", calls)
	}
	s.wantStates(s.look(), Active)

	// An installation there leaves where it was installed before.
	status, err := s.at(linked).Install(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	s.wantStates(status, Active)
	s.wantStates(s.look(), Inert)
	if calls := commit(); !strings.HasPrefix(calls, "git-worklease: ") {
		t.Errorf("in the linked worktree: %q", calls)
	}
	s.uninstall()
	s.wantStates(there(), Absent)
}

// TestUnwritable: where hooks can't be written, that is said, and what is there stays.
func TestUnwritable(t *testing.T) {
	s := newSite(t)
	s.write(".git/mine", "no folder")
	s.git("config", "core.hooksPath", ".git/mine/hooks")
	if _, err := s.at(s.Dir).Install(t.Context()); !errors.Is(err, ErrUnwritable) {
		t.Errorf("%v", err)
	}
	s.uninstall()
}

// TestBareRepository: hooks of a bare repository run in its worktrees.
func TestBareRepository(t *testing.T) {
	s := newSite(t)
	s.git("push", "--quiet", "origin", "HEAD:refs/heads/main")
	bare, linked := s.git("config", "remote.origin.url"), filepath.Join(filepath.Dir(s.Dir), "linked")
	s.git("-C", bare, "worktree", "add", "--quiet", "-b", "topic", linked, "main")
	before := treeOf(t, filepath.Join(bare, "hooks"))
	status, err := s.at(bare).Install(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	s.wantStates(status, Active)
	r := s.Run(t.Context(), "git", "-C", linked, "commit", "--quiet", "--allow-empty", "-m", "x")
	if calls := s.calls(); r.Code != 0 || strings.Count(calls, "git-worklease: hooks run") != 3 {
		t.Errorf("%+v after\n%s", r, calls)
	}
	if _, err := s.at(linked).Uninstall(t.Context()); err != nil {
		t.Error(err)
	}
	if d := before.differs(treeOf(t, filepath.Join(bare, "hooks"))); len(d) > 0 {
		t.Errorf("after uninstall, %v differ", d)
	}
}

// TestSubmodule: a submodule's hooks are its own.
func TestSubmodule(t *testing.T) {
	s := newSite(t)
	s.git("push", "--quiet", "origin", "HEAD:refs/heads/main")
	s.git("-c", "protocol.file.allow=always", "submodule", "--quiet", "add", s.git("config", "remote.origin.url"), "sub")
	status, err := s.at(filepath.Join(s.Dir, "sub")).Install(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	s.wantStates(status, Active)
	if want := filepath.Join(s.Dir, ".git", "modules", "sub", "hooks"); status.Folder.Path != want {
		t.Errorf("in %s", status.Folder.Path)
	}
	s.wantStates(s.look(), Absent)
	r := s.Run(t.Context(), "git", "-C", "sub", "commit", "--quiet", "--allow-empty", "-m", "x")
	if calls := s.calls(); r.Code != 0 || strings.Count(calls, "git-worklease: hooks run") != 3 {
		t.Errorf("%+v after\n%s", r, calls)
	}
}
