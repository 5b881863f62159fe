package child

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// asWrapper in the environment of this test binary makes it run its arguments as a job.
const asWrapper = "CHILD_TEST_WRAPPER"

func TestMain(m *testing.M) {
	if os.Getenv(asWrapper) != "" {
		os.Exit(wrap(os.Args[1:]))
	}
	os.Exit(m.Run())
}

func wrap(args []string) int {
	proceed := func() bool { return os.Getenv("CHILD_TEST_LATE") == "" }
	signals := Catch()
	j, err := Start(Command{Args: args, Stdin: os.Stdin, Stdout: os.Stdout, Stderr: os.Stderr, Proceed: proceed}, signals)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 125
	}
	return j.Wait().Exit()
}

// console is a terminal with an interactive shell on it.
type console struct {
	t      *testing.T
	master *os.File
	shown  string
}

// newConsole starts the shell; "job" in it runs what follows as a job.
func newConsole(t *testing.T) *console {
	t.Helper()
	master, err := os.OpenFile("/dev/ptmx", os.O_RDWR|unix.O_NONBLOCK|unix.O_NOCTTY, 0)
	if err != nil {
		t.Fatal(err)
	}
	c := &console{t: t, master: master}
	number := 0
	c.control(func(fd int) error {
		if err := unix.IoctlSetPointerInt(fd, unix.TIOCSPTLCK, 0); err != nil {
			return err
		}
		number, err = unix.IoctlGetInt(fd, unix.TIOCGPTN)
		return err
	})
	slave, err := os.OpenFile(fmt.Sprintf("/dev/pts/%d", number), os.O_RDWR|unix.O_NOCTTY, 0)
	if err != nil {
		t.Fatal(err)
	}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	sh := exec.CommandContext(t.Context(), "bash", "--norc", "--noprofile", "-i")
	sh.Stdin, sh.Stdout, sh.Stderr = slave, slave, slave
	bin := t.TempDir()
	script := fmt.Sprintf("#!/bin/sh\n%s=1 exec '%s' \"$@\"\n", asWrapper, self)
	if err := os.WriteFile(filepath.Join(bin, "job"), []byte(script), 0o700); err != nil {
		t.Fatal(err)
	}
	sh.Env = append(os.Environ(), "PATH="+bin+":"+os.Getenv("PATH"), "PS1=% ", "TERM=dumb", "HISTFILE=", "GORACE=atexit_sleep_ms=0", "LC_ALL=C")
	sh.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true}
	if err := sh.Start(); err != nil {
		t.Fatal(err)
	}
	if err := slave.Close(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = master.Close() // hangs up
		_ = sh.Wait()
	})
	c.expect(`% $`)
	return c
}

func (c *console) control(f func(fd int) error) {
	c.t.Helper()
	raw, err := c.master.SyscallConn()
	if err != nil {
		c.t.Fatal(err)
	}
	cerr := raw.Control(func(fd uintptr) { err = f(int(fd)) })
	if err != nil || cerr != nil {
		c.t.Fatal(err, cerr)
	}
}

// patience is how long a console may take to show what is expected.
const patience = 30 * time.Second

// expect reads until a pattern is shown, and forgets what was shown before its end.
func (c *console) expect(pattern string) string {
	c.t.Helper()
	re := regexp.MustCompile(pattern)
	if err := c.master.SetReadDeadline(time.Now().Add(patience)); err != nil {
		c.t.Fatal(err)
	}
	buf := make([]byte, 4096)
	for {
		if at := re.FindStringIndex(c.shown); at != nil {
			text := c.shown[:at[1]]
			c.shown = c.shown[at[1]:]
			return text
		}
		n, err := c.master.Read(buf)
		c.shown += strings.ReplaceAll(string(buf[:n]), "\r", "")
		if err != nil {
			c.t.Fatalf("waiting for %q: %v; shown:\n%s", pattern, err, c.shown)
		}
	}
}

// press types keys.
func (c *console) press(keys string) {
	c.t.Helper()
	if _, err := c.master.WriteString(keys); err != nil {
		c.t.Fatal(err)
	}
}

// do types a line for the shell, and waits for what follows its echo.
func (c *console) do(line, pattern string) string {
	c.t.Helper()
	c.press(line + "\n")
	c.expect(`\n`)
	return c.expect(pattern)
}

// say types a line for the command. Whether it is echoed depends on how soon the command is there.
func (c *console) say(line, pattern string) {
	c.t.Helper()
	c.press(line + "\n")
	c.expect(pattern)
}

// echoes is a command that answers each line.
const echoes = "sed -u s/x*/got-/"

// stopped and continued are what the shell shows of a job.
var (
	stopped   = `Stopped[^\n]*` + regexp.QuoteMeta(echoes) + `\n% $`
	continued = `job ` + regexp.QuoteMeta(echoes) + `\n`
)

const (
	interrupt = "\x03"
	stop      = "\x1a"
	endOfFile = "\x04"
)

// TestTerminalInput: the command reads from the terminal, also by its name, and in a pipeline.
func TestTerminalInput(t *testing.T) {
	c := newConsole(t)
	c.do("job "+echoes, ``)
	c.say("hello", `got-hello\n`)
	c.press(endOfFile)
	c.expect(`% $`)
	c.do(`job sh -c 'read x </dev/tty; echo "got-$x"' </dev/null`, ``)
	c.say("me", `got-me\n% $`)
	c.do(`job sh -c 'read x; echo "got-$x"' | cat`, ``)
	c.say("you", `got-you\n% $`)
	c.do(`job sh -c 'read x; exit $x'; echo "=$?"`, ``)
	c.say("9", `=9\n% $`)
}

// TestInterrupt: the key is for the command, and what that leaves is a sane terminal.
func TestInterrupt(t *testing.T) {
	c := newConsole(t)
	before := c.do("stty -a", `% $`)
	c.do(`job sh -c 'stty -echo raw isig; echo ready; exec sleep 1000'; echo "=$?"`, `ready`)
	c.press(interrupt)
	c.expect(`=130\s+% $`)
	if after := c.do("stty -a", `% $`); after != before {
		t.Errorf("the terminal was\n%s\nand is\n%s", before, after)
	}
	c.do(`job sh -c 'echo ready; exec sleep 1000' | cat`, `ready\n`)
	c.press(interrupt) // to us, in front with the rest of the pipeline
	c.expect(`% $`)
	c.do(`echo "=${PIPESTATUS[0]}"`, `=130\n% $`)
}

// TestStopAndContinue: the whole job stops, the shell has the terminal, and fg lets it go on.
func TestStopAndContinue(t *testing.T) {
	c := newConsole(t)
	before := c.do("stty -a", `% $`)
	c.do("job "+echoes, ``)
	c.say("one", `got-one\n`)
	c.press(stop)
	c.expect(stopped)
	c.do("jobs", `\[1\]\+ +`+stopped)
	c.do("fg", continued)
	c.say("two", `got-two\n`)
	c.press(stop)
	c.expect(stopped)
	c.do("bg; wait %1", stopped) // it wants to read
	c.do("fg", continued)
	c.say("three", `got-three\n`)
	c.press(interrupt)
	c.expect(`% $`)
	c.do(`echo "=$?"`, `=130\n% $`)
	if after := c.do("stty -a", `% $`); after != before {
		t.Errorf("the terminal was\n%s\nand is\n%s", before, after)
	}
}

// TestStopInPipeline: the key is for us, who are in front with the rest of the pipeline.
func TestStopInPipeline(t *testing.T) {
	c := newConsole(t)
	c.do(`job sh -c 'trap "echo on" CONT; sleep 1000 & echo ready; while :; do wait; done' | cat`, `ready\n`)
	for range 2 {
		c.press(stop)
		c.expect(`Stopped[^\n]*\n% $`)
		c.do("fg", `\non\n`)
	}
	c.press(interrupt)
	c.expect(`% $`)
}

// TestBackground: a command that is started in the background leaves the terminal alone until it is called to the front.
func TestBackground(t *testing.T) {
	c := newConsole(t)
	c.do("job "+echoes+" &", `% $`)
	c.do(`echo mine`, `mine\n`)
	c.do("wait %1", `Stopped[^\n]*\n% $`)
	c.do("fg", continued)
	c.say("it", `got-it\n`)
	c.press(endOfFile)
	c.expect(`% $`)
}

// TestInteractiveShell: a shell as the command has job control of its own.
func TestInteractiveShell(t *testing.T) {
	c := newConsole(t)
	c.do(`PS1='inner> ' job bash --norc --noprofile -i`, `inner> $`)
	c.do(echoes, ``)
	c.say("text", `got-text\n`)
	c.press(interrupt)
	c.expect(`inner> $`)
	c.do(echoes, ``)
	c.say("more", `got-more\n`)
	c.press(stop)
	c.expect(`Stopped[^\n]*\ninner> $`)
	c.do("fg", regexp.QuoteMeta(echoes)+`\n`)
	c.say("again", `got-again\n`)
	c.press(interrupt)
	c.expect(`inner> $`)
	c.do("exit 4", `% $`)
	c.do(`echo "=$?"`, `=4\n% $`)
}

// TestTooLateToGoOn: a command that may not go on after a stop is killed instead.
func TestTooLateToGoOn(t *testing.T) {
	c := newConsole(t)
	c.do("CHILD_TEST_LATE=1 job "+echoes, ``)
	c.say("one", `got-one\n`)
	c.press(stop)
	c.expect(stopped)
	c.do("fg", continued)
	c.expect(`% $`)
	c.do(`echo "=$?"`, `=137\n% $`)
}
