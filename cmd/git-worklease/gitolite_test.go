package main

import (
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"strings"
	"testing"

	"github.com/git-worklease/git-worklease/internal/gitserver"
)

// gitolite is a server of gitolite's over ssh, with the repository testing, in which the users alice and bob may write everything.
type gitolite struct {
	t         *testing.T
	home, url string
	ssh       *gitserver.SSHServer
}

func startGitolite(t *testing.T) *gitolite {
	t.Helper()
	g := &gitolite{t: t, home: t.TempDir()}
	keys := filepath.Join(g.home, ".ssh", "authorized_keys")
	dir := t.TempDir()
	var err error
	g.ssh, err = gitserver.StartSSH(t.Context(), dir, gitserver.SSHOptions{
		Repos:  gitserver.TestRepos(t),
		Config: []string{"AuthorizedKeysFile " + keys},
		Env:    []string{"HOME=" + g.home, "XDG_CONFIG_HOME=" + g.home},
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := g.ssh.Close(); err != nil {
			t.Error(err)
		}
	})
	me, err := user.Current()
	if err != nil {
		t.Fatal(err)
	}
	g.url = "ssh://" + me.Username + "@" + g.ssh.Addr() + "/testing"
	g.run("ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-C", "bob", "-f", filepath.Join(g.home, "bob"))
	public, err := os.ReadFile(filepath.Join(dir, "user_key.pub"))
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(g.home, "alice.pub"), public, 0o600); err != nil {
		t.Fatal(err)
	}
	g.run("gitolite", "setup", "-pk", filepath.Join(g.home, "alice.pub"))
	g.allowPercent()
	if err := os.Rename(filepath.Join(g.home, "bob.pub"), filepath.Join(g.home, ".gitolite", "keydir", "bob.pub")); err != nil {
		t.Fatal(err)
	}
	g.run("gitolite", "compile")
	g.run("gitolite", "trigger", "POST_COMPILE")
	return g
}

// allowPercent lets names of refs have a percent sign in them, which gitolite does not by itself.
func (g *gitolite) allowPercent() {
	g.t.Helper()
	path := filepath.Join(g.home, ".gitolite.rc")
	rc, err := os.ReadFile(path)
	if err != nil {
		g.t.Fatal(err)
	}
	rc = append([]byte(`$REF_OR_FILENAME_PATT = qr(^[0-9a-zA-Z][-0-9a-zA-Z._\@/+ :,%]*$);`+"\n"), rc...)
	if err := os.WriteFile(path, rc, 0o600); err != nil {
		g.t.Fatal(err)
	}
}

// run runs a program as the server's account.
func (g *gitolite) run(program string, args ...string) {
	g.t.Helper()
	cmd := exec.CommandContext(g.t.Context(), program, args...)
	cmd.Dir, cmd.Env = g.home, append(os.Environ(), "HOME="+g.home, "XDG_CONFIG_HOME="+g.home, "GIT_CONFIG_NOSYSTEM=1", "LC_ALL=C")
	if out, err := cmd.CombinedOutput(); err != nil {
		g.t.Fatalf("%s %s: %v\n%s", program, strings.Join(args, " "), err, out)
	}
}

// user is somebody with a clone.
func (g *gitolite) user(name string) *gitserver.Checkout {
	g.t.Helper()
	config, err := os.ReadFile(g.ssh.ClientConfig)
	if err != nil {
		g.t.Fatal(err)
	}
	text := string(config)
	if name == "bob" {
		key := filepath.Join(filepath.Dir(g.ssh.ClientConfig), "user_key")
		text = strings.ReplaceAll(text, "IdentityFile "+key, "IdentityFile "+filepath.Join(g.home, "bob"))
	}
	path := filepath.Join(g.t.TempDir(), "ssh_config")
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		g.t.Fatal(err)
	}
	run, err := os.MkdirTemp("", "run") // a short name, for sockets
	if err != nil {
		g.t.Fatal(err)
	}
	g.t.Cleanup(func() { _ = os.RemoveAll(run) })
	return gitserver.Clone(g.t, g.url, "GIT_SSH_COMMAND=ssh -F "+path, "WORKLEASE_AGENT="+name, "WORKLEASE_HOST=box", "XDG_RUNTIME_DIR="+run, "WORKLEASE_SSHPERSIST=0s")
}

// TestServerHookGitolite: behind gitolite, whose own update hook stays, the server's hook knows users by gitolite's names.
func TestServerHookGitolite(t *testing.T) {
	g := startGitolite(t)
	repo := filepath.Join(g.home, "repositories", "testing.git")
	g.run("git", "-C", repo, "worklease", "hooks", "install", "--server")
	if err := os.WriteFile(filepath.Join(repo, "worklease-server.toml"), []byte("force = [\"alice\"]\n[resources]\nbob = [\"task:\"]\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	alice, bob := g.user("alice"), g.user("bob")
	for _, step := range []struct {
		who  *gitserver.Checkout
		exit int
		says string
		args []string
	}{
		{alice, 0, "claimed task:a", []string{"claim", "task:a", "port:1"}},
		{alice, 0, "renewed task:a", []string{"renew"}},
		{bob, 3, "", []string{"claim", "task:a"}},
		{bob, 6, "task:a: alice/@main has it, and you are not listed as one who may release by force", []string{"release", "--force", "task:a", "-m", "mine"}},
		{bob, 6, "port:2: user bob may not claim it here", []string{"claim", "port:2"}},
		{bob, 0, "claimed task:b", []string{"claim", "task:b"}},
		{alice, 0, "", []string{"release", "--force", "task:b", "-m", "bob is ill"}},
		{bob, 4, "", []string{"renew"}},
		{alice, 0, "", []string{"release"}},
	} {
		r := step.who.Run(t.Context(), "git-worklease", step.args...)
		if r.Code != step.exit || !strings.Contains(r.Stdout+r.Stderr, step.says) {
			t.Fatalf("%v: exit %d instead of %d\n%s%s", step.args, r.Code, step.exit, r.Stdout, r.Stderr)
		}
	}
	out, err := bob.Git(t.Context(), "push", "origin", ":refs/worklease/meta")
	if err == nil || !strings.Contains(out+err.Error(), "it has to stay") {
		t.Errorf("%v\n%s", err, out)
	}
	if info, err := os.Readlink(filepath.Join(repo, "hooks", "update")); err != nil || !strings.Contains(info, "gitolite") {
		t.Errorf("gitolite's own hook: %s, %v", info, err)
	}
}
