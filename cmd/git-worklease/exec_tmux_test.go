//go:build unix

package main

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/git-worklease/git-worklease/internal/gitserver"
)

// pane is a terminal of tmux with an interactive shell of a worker's.
type pane struct {
	t      *testing.T
	w      *worker
	socket string
	output *os.File
	shown  string
}

const tmuxConfig = "set -g default-terminal dumb\nset -g status off\nset -g history-limit 100\n"

// tmux opens one.
func (w *worker) tmux(t *testing.T) *pane {
	t.Helper()
	dir, err := os.MkdirTemp("", "tmux") // a socket's path is short
	if err != nil {
		t.Fatal(err)
	}
	p := &pane{t: t, w: w, socket: filepath.Join(dir, "socket")}
	config, fifo := filepath.Join(dir, "config"), filepath.Join(dir, "output")
	if err := os.WriteFile(config, []byte(tmuxConfig), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := unix.Mkfifo(fifo, 0o600); err != nil {
		t.Fatal(err)
	}
	if p.output, err = os.OpenFile(fifo, os.O_RDWR|unix.O_NONBLOCK, 0); err != nil {
		t.Fatal(err)
	}
	p.tmux("-f", config, "new-session", "-d", "-x", "200", "-y", "50", "exec bash --norc --noprofile -i")
	t.Cleanup(func() {
		p.tmux("kill-server")
		_ = p.output.Close()
		_ = os.RemoveAll(dir)
	})
	p.tmux("pipe-pane", "-O", fmt.Sprintf("exec cat >'%s'", fifo))
	p.line(`PS1='% '; HISTFILE=`)
	p.expect(`% $`)
	return p
}

func (p *pane) tmux(args ...string) {
	p.t.Helper()
	r := p.w.Run(p.t.Context(), "tmux", append([]string{"-S", p.socket}, args...)...)
	if r.Code != 0 && args[0] != "kill-server" {
		p.t.Fatalf("tmux %v: %s", args, r.Stderr)
	}
}

// line types a line, and key presses a key by tmux's name for it.
func (p *pane) line(text string) {
	p.t.Helper()
	p.tmux("send-keys", "-l", text+"\n")
}

func (p *pane) key(name string) {
	p.t.Helper()
	p.tmux("send-keys", name)
}

// expect waits until a pattern is shown, and forgets what was shown up to its end.
func (p *pane) expect(pattern string) string {
	p.t.Helper()
	re := regexp.MustCompile(pattern)
	if err := p.output.SetReadDeadline(time.Now().Add(2 * time.Minute)); err != nil {
		p.t.Fatal(err)
	}
	buf := make([]byte, 4096)
	for {
		if at := re.FindStringIndex(p.shown); at != nil {
			text := p.shown[:at[1]]
			p.shown = p.shown[at[1]:]
			return text
		}
		n, err := p.output.Read(buf)
		p.shown += strings.ReplaceAll(string(buf[:n]), "\r", "")
		if err != nil {
			p.t.Fatalf("waiting for %q: %v; shown:\n%s", pattern, err, p.shown)
		}
	}
}

// do types a line for the shell, and waits for what follows its echo.
func (p *pane) do(line, pattern string) string {
	p.t.Helper()
	p.line(line)
	p.expect(`\n`)
	return p.expect(pattern)
}

// answers is a command that answers each line.
const answers = "sed -u s/x*/got-/"

// TestExecInTmux: with exec the terminal is as without it.
func TestExecInTmux(t *testing.T) {
	p := httpSite(t, gitserver.HTTPOptions{}).worker(t, "alice").tmux(t)
	before := p.do("stty -a", `% $`)

	// A shell as the command takes input and has job control of its own.
	p.do(`PS1='inner> ' git worklease exec --claim task:x -- bash --norc --noprofile -i`, `inner> $`)
	p.do(`echo "=$WORKLEASE_RESOURCE"`, `=task:x\ninner> $`)
	p.do("git worklease verify", `held task:x[^\n]*\ninner> $`)
	p.line(answers)
	p.line("one")
	p.expect(`got-one\n`)
	p.key("C-c")
	p.expect(`inner> $`)
	p.do("exit 3", `% $`)
	p.do(`echo "=$?"`, `=3\n% $`)

	// A plain command is stopped by the key, and goes on in front.
	p.line("git worklease exec --claim task:x -- " + answers)
	for _, word := range []string{"two", "three"} {
		p.line(word)
		p.expect(`got-` + word + `\n`)
		p.key("C-z")
		p.expect(`Stopped +git worklease exec[^\n]*\n% $`)
		p.do("jobs", `\[1\]\+ +Stopped +git worklease exec[^\n]*\n% $`)
		p.do("fg", `git worklease exec[^\n]*\n`)
	}
	p.line("four")
	p.expect(`got-four\n`)
	p.key("C-c")
	p.expect(`% $`)
	p.do(`echo "=$?"`, `=130\n% $`)
	p.do("git worklease status", `this session holds nothing\n% $`)
	if after := p.do("stty -a", `% $`); after != before {
		t.Errorf("the terminal was\n%s\nand is\n%s", before, after)
	}
}

// TestCase60TerminalOfTheCommand: a command reads from the terminal under its name, wherever its standard input comes from.
func TestCase60TerminalOfTheCommand(t *testing.T) {
	p := httpSite(t, gitserver.HTTPOptions{}).worker(t, "alice").tmux(t)
	for _, redirection := range []string{"", "</dev/null", "| cat"} {
		p.line(`git worklease exec --claim task:x -- sh -c 'read x </dev/tty; echo "got-$x"' ` + redirection)
		p.line("word")
		p.expect(`got-word\n% $`)
	}
}
