package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/git-worklease/git-worklease/lease"
)

// TestMain makes the test binary stand for the program as well: started as git-worklease, which is on PATH while the tests run, it is the
// program, with a clock that tests can put forward.
func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){"git-worklease": func() { os.Exit(run(testClock())) }})
}

// clockFile names the file that says by how much the clock is put forward. Only the test binary knows it.
const clockFile = "GIT_WORKLEASE_TEST_CLOCK"

func testClock() lease.Clock {
	return &fileClock{path: os.Getenv(clockFile)}
}

// fileClock is the machine's clock, put forward as a file says, also while somebody waits for it.
type fileClock struct {
	lease.SystemClock
	path string
}

func (c *fileClock) Now() time.Time { return c.SystemClock.Now().Add(readOffset(c.path)) }

func (c *fileClock) Instant() lease.Instant {
	i := c.SystemClock.Instant()
	i.Since += readOffset(c.path)
	return i
}

func (c *fileClock) Sleep(ctx context.Context, d time.Duration) error {
	for end := c.Now().Add(d); c.Now().Before(end); {
		if err := c.SystemClock.Sleep(ctx, min(end.Sub(c.Now()), 20*time.Millisecond)); err != nil {
			return err
		}
	}
	return ctx.Err()
}

// writeOffset replaces a clock file as a whole, since somebody may be reading it.
func writeOffset(path string, offset time.Duration) error {
	if err := os.WriteFile(path+".new", []byte(offset.String()), 0o644); err != nil { // other users of a script read it
		return err
	}
	return os.Rename(path+".new", path)
}

// readOffset is what a clock file says; none: nothing.
func readOffset(path string) time.Duration {
	text, err := os.ReadFile(path) //nolint:gosec // a test's own file
	if err != nil {
		return 0
	}
	offset, err := time.ParseDuration(strings.TrimSpace(string(text)))
	if err != nil {
		panic(fmt.Sprintf("%s: %v", path, err))
	}
	return offset
}

// TestScript runs the scripts in testdata/script, each in a world of its own. scriptcmds_test.go has their commands.
func TestScript(t *testing.T) {
	testscript.Run(t, testscript.Params{
		Dir:                 filepath.Join("testdata", "script"),
		Setup:               setUpWorld,
		Cmds:                scriptCommands(),
		RequireExplicitExec: true,
		RequireUniqueNames:  true,
	})
}
