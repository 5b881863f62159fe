package main

import (
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
	return &logicalClock{Clock: &lease.SystemClock{}, offset: readOffset(os.Getenv(clockFile))}
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
