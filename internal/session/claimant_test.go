package session_test

import (
	"os"
	"testing"

	"github.com/git-worklease/git-worklease/internal/session"
)

// table is a table of processes: the first is PID 1, each the child of the one before.
type table []session.Process

func (t table) Lookup(pid int) (session.Process, bool) {
	if pid < 1 || pid > len(t) || t[pid-1].Start == "" {
		return session.Process{}, false
	}
	p := t[pid-1]
	p.PID, p.Parent = pid, pid-1
	return p, true
}

func run(args ...string) session.Process {
	return session.Process{Start: "s", Args: args, Name: args[0]}
}

func TestFindClaimant(t *testing.T) {
	cases := []struct {
		name  string
		table table
		want  string
	}{
		{"agent", table{run("/sbin/init"), run("/usr/bin/node", "agent.js"), run("/bin/bash", "-lc", "x"), run("git", "worklease", "claim")}, "node"},
		{"interactive shell", table{run("systemd"), run("sshd"), run("-bash"), run("git", "worklease")}, "bash"},
		{"interactive shell with options", table{run("systemd"), run("zsh", "-i", "-l"), run("git")}, "zsh"},
		{"bash with an rc file", table{run("systemd"), run("bash", "--rcfile", "x", "-O", "extglob"), run("git")}, "bash"},
		{"script", table{run("systemd"), run("tmux"), run("bash", "./work.sh"), run("sh", "-ec", "x"), run("git")}, "tmux"},
		{"hook of git", table{run("systemd"), run("vim"), run("git", "commit"), run("/bin/sh", ".git/hooks/pre-commit"), run("git-worklease")}, "vim"},
		{"programs that run another", table{run("systemd"), run("agent"), run("make", "deploy"), run("/bin/sh", "-c", "x"), run("timeout", "60", "git"), run("git", "worklease")}, "agent"},
		{"exec path of git", table{run("systemd"), run("agent"), run("/usr/lib/git-core/git-remote-https")}, "agent"},
		{"orphan", table{run("systemd"), run("sh", "-c", "x")}, ""},
		{"agent as the first process", table{run("claude"), run("sh", "-c", "x")}, "claude"},
		{"shell whose line is hidden", table{run("launchd"), run("agent"), {Start: "s", Name: "bash"}}, "agent"},
		{"cmd", table{run("explorer.exe"), run(`cmd.exe`, "/d", "/s", "/c", "x"), run("git.exe")}, "explorer"},
		{"cmd that stays", table{run("explorer.exe"), run(`cmd.exe`), run("git.exe")}, "cmd"},
		{"powershell", table{run("Code.exe"), run("pwsh", "-NoProfile", "-Command", "x"), run("git.exe")}, "code"},
		{"powershell that stays", table{run("Code.exe"), run("pwsh", "-NoLogo"), run("git.exe")}, "pwsh"},
		{"busybox", table{run("init"), run("agent"), run("busybox", "sh", "-c", "x")}, "agent"},
		{"fish", table{run("init"), run("agent"), run("fish", "--command=x")}, "agent"},
		{"end of what is seen", table{{}, run("sh", "-c", "x")}, ""},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			if got := session.FindClaimant(c.table, len(c.table)); got.Name != c.want {
				t.Errorf("got %+v, want %q", got, c.want)
			}
		})
	}
}

type loop struct{}

func (loop) Lookup(pid int) (session.Process, bool) {
	return session.Process{PID: pid, Parent: pid, Start: "s", Args: []string{"git"}}, true
}

func TestFindClaimantEnds(t *testing.T) {
	if got := session.FindClaimant(loop{}, 7); got != (session.Claimant{}) {
		t.Errorf("got %+v", got)
	}
}

func TestAmbiguous(t *testing.T) {
	living := table{run("a"), run("b")}
	one, two := session.Claimant{PID: 1, Start: "s"}, session.Claimant{PID: 2, Start: "s"}
	cases := []struct {
		name        string
		stored, now session.Claimant
		want        bool
	}{
		{"the same", one, one, false},
		{"another, and the first lives", one, two, true},
		{"another, and the first is gone", session.Claimant{PID: 9, Start: "s"}, two, false},
		{"its PID was used again", session.Claimant{PID: 1, Start: "older"}, two, false},
		{"same PID, another process", session.Claimant{PID: 2, Start: "older"}, two, false},
		{"nothing stored", session.Claimant{}, two, false},
		{"nothing found", one, session.Claimant{}, false},
	}
	for _, c := range cases {
		if got := session.Ambiguous(living, c.stored, c.now); got != c.want {
			t.Errorf("%s: got %v", c.name, got)
		}
	}
}

// TestSystemProcesses finds this test and its parent in the real table.
func TestSystemProcesses(t *testing.T) {
	me, ok := session.SystemProcesses{}.Lookup(os.Getpid())
	if !ok || me.PID != os.Getpid() || me.Parent != os.Getppid() || me.Start == "" {
		t.Fatalf("got %+v, %v", me, ok)
	}
	if again, _ := (session.SystemProcesses{}).Lookup(os.Getpid()); again.Start != me.Start {
		t.Errorf("start was %s, then %s", me.Start, again.Start)
	}
	if _, ok := (session.SystemProcesses{}).Lookup(1 << 30); ok {
		t.Error("found a process that can't be")
	}
}
