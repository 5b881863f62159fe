package install

import (
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// tool is a manager of hooks that has pre-commit and pre-push in its configuration.
type tool struct {
	manager Manager
	// files are its configuration, in which PROGRAM stands for what its hooks run.
	files map[string]string
	// install is the command that sets it up, again after others.
	install []string
	// insist is the command that sets it up where another hook is in its place; nil: install does.
	insist []string
	// asks says that its users have to add to its configuration.
	asks bool
	// displaces says that it leaves none of our hooks where it is set up.
	displaces bool
}

func tools() []tool {
	return []tool{
		{
			manager: Husky, install: []string{"husky"}, asks: true,
			files: map[string]string{".husky/pre-commit": "PROGRAM pre-commit\n", ".husky/pre-push": "PROGRAM pre-push\n", ".gitignore": ".husky/_\n"},
		},
		{
			manager: Lefthook, install: []string{"lefthook", "install"}, asks: true,
			files: map[string]string{"lefthook.yml": "pre-commit:\n  commands:\n    a:\n      run: PROGRAM pre-commit\n" +
				"pre-push:\n  commands:\n    a:\n      run: PROGRAM pre-push\n      use_stdin: true\n"},
		},
		{
			manager: SimpleGitHooks, install: []string{"simple-git-hooks"}, displaces: true,
			files: map[string]string{".simple-git-hooks.json": `{"pre-commit": "PROGRAM pre-commit", "pre-push": "PROGRAM pre-push"}`},
		},
		{
			manager: PreCommitTool, install: []string{"pre-commit", "install"},
			files: map[string]string{".pre-commit-config.yaml": "default_install_hook_types: [pre-commit, pre-push]\nrepos:\n- repo: local\n  hooks:\n" +
				preCommitEntry("pre-commit") + preCommitEntry("pre-push")},
		},
		{
			manager: GitLFS, install: []string{"git", "lfs", "install", "--local"}, insist: []string{"git", "lfs", "install", "--local", "--force"},
			files: map[string]string{".gitattributes": "*.bin filter=lfs diff=lfs merge=lfs -text\n"},
		},
	}
}

func preCommitEntry(hook string) string {
	return "  - id: " + hook + "\n    name: " + hook + "\n    entry: PROGRAM " + hook + "\n    language: system\n    always_run: true\n    pass_filenames: false\n" +
		"    stages: [" + strings.TrimPrefix(hook, "pre-") + "]\n"
}

// newToolSite is a site whose users have a manager.
func newToolSite(t *testing.T, m tool) *site {
	t.Helper()
	npm, err := filepath.Abs("../../.tools/hook-managers/node_modules/.bin")
	if err != nil {
		t.Fatal(err)
	}
	s := newSite(t)
	path := npm + string(os.PathListSeparator) + filepath.Dir(s.program) + string(os.PathListSeparator) + os.Getenv("PATH")
	s.Env = append(s.Env, "PATH="+path, "NO_COLOR=1")
	if _, err := os.Stat(filepath.Join(npm, m.install[0])); err != nil {
		if _, err := exec.LookPath(strings.Replace(strings.Join(m.install[:2:2], "-"), "-install", "", 1)); err != nil {
			t.Fatalf("%s is not installed: make deps", m.manager)
		}
	}
	managed := filepath.Join(s.Home, "managed")
	s.write(managed, "#!/bin/sh\necho \"managed: $*\" >> '"+strings.ReplaceAll(s.log, "'", `'\''`)+"'\n")
	for name, text := range m.files {
		s.write(name, strings.ReplaceAll(text, "PROGRAM", managed))
	}
	s.git("add", "--all")
	s.git("commit", "--quiet", "-m", "configure "+string(m.manager))
	return s
}

// setUp sets the manager up.
func (s *site) setUp(command []string) (worked bool) {
	s.t.Helper()
	return s.Run(s.t.Context(), "env", command...).Code == 0 // which finds it on the user's PATH
}

func (s *site) mustSetUp(m tool) {
	s.t.Helper()
	if !s.setUp(m.install) && (m.insist == nil || !s.setUp(m.insist)) {
		s.t.Fatalf("%s can't be set up", m.manager)
	}
}

// strip takes the manager's set-up away. config is the clone's as it was without.
func (s *site) strip(config []byte) {
	s.t.Helper()
	for _, path := range []string{".git/hooks", ".husky/_", ".git/lfs"} {
		if err := os.RemoveAll(filepath.Join(s.Dir, path)); err != nil {
			s.t.Fatal(err)
		}
	}
	if err := os.WriteFile(filepath.Join(s.Dir, ".git/config"), config, 0o644); err != nil {
		s.t.Fatal(err)
	}
}

// belongings are all files of the manager: its hooks, its configuration, its settings.
func (s *site) belongings() tree {
	s.t.Helper()
	all := tree{}
	for _, name := range []string{".git/hooks", ".husky", "lefthook.yml", ".simple-git-hooks.json", ".pre-commit-config.yaml", ".git/config"} {
		if path := filepath.Join(s.Dir, name); present(path) {
			maps.Copy(all, treeOf(s.t, path))
		}
	}
	config := filepath.Join(s.Dir, ".git/config")
	lines := strings.Split(all[config], "\n")
	slices.Sort(lines) // git-lfs writes its settings in any order
	all[config] = strings.Join(lines, "\n")
	return all
}

// keeps fails unless each file of the manager is as it was, in its place or where our hook runs it.
func (s *site) keeps(before tree) {
	s.t.Helper()
	now := s.belongings()
	for path, what := range before {
		if now[path] == what || strings.HasSuffix(path, ".git/config") {
			continue
		}
		if own, ok := ours(path); !ok || now[filepath.Join(filepath.Dir(path), own.chained)] != what {
			s.t.Errorf("%s is\n%s\ninstead of\n%s", path, now[path], what)
		}
	}
}

// runsBoth makes a commit and a push, at which both must be called.
func (s *site) runsBoth(m tool) {
	s.t.Helper()
	s.wantStates(s.look(), Active)
	s.write("data.bin", s.git("rev-parse", "HEAD"))
	s.git("add", "--all")
	s.calls()
	if r := s.commit(); r.Code != 0 {
		s.t.Fatalf("%+v", r)
	}
	if calls := s.calls(); strings.Count(calls, "git-worklease: hooks run") != 3 || strings.Contains(calls, "managed: pre-commit") != (m.manager != GitLFS) {
		s.t.Errorf("a commit calls\n%s", calls)
	}
	r := s.Run(s.t.Context(), "git", "push", "--quiet", "origin", "HEAD:refs/heads/main")
	if r.Code != 0 {
		s.t.Fatalf("%+v", r)
	}
	calls := s.calls()
	if !strings.Contains(calls, "git-worklease: hooks run pre-push origin") || !strings.Contains(calls, "\n< HEAD "+s.git("rev-parse", "HEAD")) {
		s.t.Errorf("a push calls\n%s", calls)
	}
	if m.manager != GitLFS && !strings.Contains(calls, "managed: pre-push") {
		s.t.Errorf("a push calls\n%s", calls)
	}
	if m.manager == GitLFS {
		s.uploaded()
	}
}

// uploaded fails unless git-lfs has uploaded what the last commit needs.
func (s *site) uploaded() {
	s.t.Helper()
	_, id, _ := strings.Cut(s.git("show", "HEAD:data.bin"), "oid sha256:")
	id, _, _ = strings.Cut(id, "\n")
	if len(id) != 64 || !present(filepath.Join(filepath.Dir(s.Dir), "remote.git", "lfs", "objects", id[:2], id[2:4], id)) {
		s.t.Errorf("git-lfs has not uploaded %q", id)
	}
}

// obey adds the snippets where they are asked for.
func (s *site) obey(status *Status) {
	s.t.Helper()
	for _, spot := range status.Inert() {
		if spot.Snippet == "" {
			s.t.Fatalf("%+v", spot)
		}
		old := read(spot.SnippetFile)
		s.write(spot.SnippetFile, string(old)+spot.Snippet+"\n")
	}
}

// TestCase25ManagersFirst is CASES row 25, where the manager was there first: installed, again, and uninstalled, ours changes nothing of it, and both run.
func TestCase25ManagersFirst(t *testing.T) {
	for _, m := range tools() {
		t.Run(string(m.manager), func(t *testing.T) {
			t.Parallel()
			s := newToolSite(t, m)
			s.mustSetUp(m)
			alone := s.belongings()
			status := s.install()
			s.keeps(alone)
			s.named(m, status)
			s.install()
			s.keeps(alone)
			s.uninstall()
			if d := alone.differs(s.belongings()); len(d) > 0 {
				t.Errorf("after uninstall, %v differ", d)
			}

			s.obey(s.install())
			if m.manager == Lefthook { // which takes up new hooks when it is set up
				s.mustSetUp(m)
			}
			s.runsBoth(m)
			s.again(m)
		})
	}
}

// named fails unless the manager is recognised.
func (s *site) named(m tool, status *Status) {
	s.t.Helper()
	spot := status.Hooks[0]
	if m.manager == GitLFS { // it has no pre-commit hook
		spot = status.Hooks[3]
	}
	if want := map[bool]State{true: Inert, false: Active}[m.asks]; spot.Manager != m.manager || spot.State != want || (spot.Snippet != "") != m.asks {
		s.t.Errorf("%+v", spot)
	}
}

// again sets the manager up once more beside ours.
func (s *site) again(m tool) {
	s.t.Helper()
	s.setUp(m.install)
	switch inert := len(s.look().Inert()) > 0; {
	case inert != m.displaces:
		s.t.Errorf("%+v", s.look().Hooks)
	case inert:
		s.install()
	}
	s.runsBoth(m)
}

// TestCase25ManagersAfterUs is CASES row 25, where the manager comes later: it is found out where it makes ours inert; ours can be installed again, and both
// run; and whether that was done or not, after ours is uninstalled the manager's files are as if ours had never been.
func TestCase25ManagersAfterUs(t *testing.T) {
	for _, m := range tools() {
		t.Run(string(m.manager), func(t *testing.T) {
			t.Parallel()
			s := newToolSite(t, m)
			bare := read(filepath.Join(s.Dir, ".git/config"))
			s.mustSetUp(m)
			alone := s.belongings()
			for _, again := range []bool{false, true} {
				s.strip(bare)
				s.install()
				s.mustSetUp(m)
				if inert := len(s.look().Inert()) > 0; inert != (m.asks || m.displaces || m.manager == GitLFS) {
					t.Errorf("%+v", s.look().Hooks)
				}
				if again {
					s.install()
				}
				s.keeps(alone)
				s.uninstall()
				if d := alone.differs(s.belongings()); len(d) > 0 {
					t.Errorf("after uninstall, %v differ (installed again: %v)", d, again)
				}
			}
			s.strip(bare)
			s.install()
			s.mustSetUp(m)
			s.obey(s.install())
			if m.manager == Lefthook {
				s.mustSetUp(m)
			}
			s.runsBoth(m)
		})
	}
}

// TestPreCommitWithOlderHook: pre-commit runs an older hook of the user's before its own; ours comes between, and gets out of it again.
func TestPreCommitWithOlderHook(t *testing.T) {
	m := tools()[3]
	s := newToolSite(t, m)
	s.hook(".git/hooks/pre-commit", "older")
	s.mustSetUp(m)
	alone := s.belongings()
	s.wantStates(s.install(), Active)
	if r, calls := s.commit(), s.calls(); r.Code != 0 || !strings.HasPrefix(calls, "older: \ngit-worklease: hooks run pre-commit\nmanaged: pre-commit\n") {
		t.Errorf("%+v after\n%s", r, calls)
	}
	s.uninstall()
	if d := alone.differs(s.belongings()); len(d) > 0 {
		t.Errorf("after uninstall, %v differ", d)
	}

	// pre-commit goes while ours stays.
	s.install()
	if !s.setUp([]string{"pre-commit", "uninstall"}) {
		t.Fatal("pre-commit uninstall")
	}
	s.wantStates(s.look(), Active)
	if r, calls := s.commit(), s.calls(); r.Code != 0 || !strings.HasPrefix(calls, "older: \ngit-worklease: hooks run pre-commit\n") || strings.Contains(calls, "managed") {
		t.Errorf("%+v after\n%s", r, calls)
	}
	s.uninstall()
	if r, calls := s.commit(), s.calls(); r.Code != 0 || calls != "older: " {
		t.Errorf("%+v after\n%s", r, calls)
	}
}

// TestLefthookReadsNothing: lefthook loses git's lines once a command that asked for them ends without having read more than a pipe holds; ours has read
// them by then.
func TestLefthookReadsNothing(t *testing.T) {
	t.Parallel()
	m := tools()[1]
	s := newToolSite(t, m)
	s.mustSetUp(m)
	s.obey(s.install())
	s.mustSetUp(m)
	const refs = 140 // 80 kB of lines
	var tags strings.Builder
	for i := range refs {
		fmt.Fprintf(&tags, "create refs/tags/v%0240d HEAD\n", i)
	}
	s.write("tags", tags.String())
	if r := s.Run(s.t.Context(), "sh", "-c", "git update-ref --stdin <tags"); r.Code != 0 {
		t.Fatalf("%+v", r)
	}
	s.calls()
	if r := s.Run(t.Context(), "git", "push", "--quiet", "--tags", "origin"); r.Code != 0 {
		t.Fatalf("%+v", r)
	}
	if calls := s.calls(); strings.Count(calls, "\n< refs/tags/v") != refs || !strings.Contains(calls, "managed: pre-push") {
		t.Errorf("of %d lines, ours was given %d (%.200s)", refs, strings.Count(calls, "\n< refs/tags/v"), calls)
	}
}

// TestLFSRefuses: git-lfs does not overwrite our hooks unless it is told to, and what it writes then is chained.
func TestLFSRefuses(t *testing.T) {
	m := tools()[4]
	s := newToolSite(t, m)
	s.install()
	before := s.private()
	if s.setUp(m.install) {
		t.Error("git-lfs has installed its hooks")
	}
	after := s.private()
	for h := range map[Hook]bool{PostCommit: true, PrePush: true} {
		if path := filepath.Join(s.Dir, ".git/hooks", string(h)); before[path] != after[path] {
			t.Errorf("%s was changed", h)
		}
	}
}
