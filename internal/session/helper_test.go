package session_test

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/git-worklease/git-worklease/internal/session"
	"github.com/git-worklease/git-worklease/lease"
)

// The test binary plays other processes of the same clone: helperEnv names the part, the rest of the arguments go with it.
const helperEnv = "SESSION_TEST_PART"

func TestMain(m *testing.M) {
	part := os.Getenv(helperEnv)
	if part == "" {
		os.Exit(m.Run())
	}
	if err := play(part, os.Args[1:]); err != nil {
		fmt.Println("error:", err)
		os.Exit(1)
	}
	fmt.Println("done")
	if os.Getenv("SESSION_TEST_STAY") != "" {
		_, _ = io.Copy(io.Discard, os.Stdin) // until killed
	}
}

// play does one part. The clone is the first argument.
func play(part string, args []string) error {
	owner := args[0]
	switch part {
	case "crash":
		return playCrash(owner, args[1])
	case "writer":
		return playWriter(owner, args[1])
	case "claim":
		return playClaim(owner, args[1])
	default:
		return playSystem(part, args)
	}
}

func helper(t *testing.T, part string, args ...string) *exec.Cmd {
	t.Helper()
	exe, err := os.Executable()
	must(t, err)
	cmd := exec.Command(exe, args...) //nolint:gosec // this test
	cmd.Env = append(os.Environ(), helperEnv+"="+part)
	return cmd
}

// playCrash claims up to a step: begun, saved or ended.
func playCrash(owner, step string) error {
	s, err := session.Open(options(owner, "a"))
	if err != nil {
		return err
	}
	i := intent("a", "task:1")
	if err := s.Begin(i); err != nil || step == "begun" {
		return err
	}
	if err := s.SaveHold(i.Hold); err != nil || step == "saved" {
		return err
	}
	return s.End(i)
}

// killed runs a part up to its end and kills the process there.
func killed(t *testing.T, part string, args ...string) {
	t.Helper()
	cmd := helper(t, part, args...)
	cmd.Env = append(cmd.Env, "SESSION_TEST_STAY=1")
	stdin, err := cmd.StdinPipe()
	must(t, err)
	defer stdin.Close() //nolint:errcheck // a pipe
	stdout, err := cmd.StdoutPipe()
	must(t, err)
	must(t, cmd.Start())
	line, err := bufio.NewReader(stdout).ReadString('\n')
	if err != nil || line != "done\n" {
		t.Errorf("helper said %q, %v", line, err)
	}
	must(t, cmd.Process.Kill())
	_ = cmd.Wait()
}

func TestKilledBetweenSteps(t *testing.T) {
	for step, want := range map[string]struct{ pending, holds int }{
		"begun": {1, 0}, "saved": {1, 1}, "ended": {0, 1},
	} {
		t.Run(step, func(t *testing.T) {
			owner := clone(t)
			killed(t, "crash", owner, step)
			s := openState(t, owner, "a")
			holds, err := s.Holds()
			if err != nil || len(holds) != want.holds {
				t.Errorf("holds: %d, %v; want %d", len(holds), err, want.holds)
			}
			left, busy, err := s.Pending()
			if err != nil || len(left) != want.pending || len(busy) != 0 {
				t.Fatalf("pending: %d, busy %d, %v; want %d", len(left), len(busy), err, want.pending)
			}
			for _, i := range left {
				if i.Hold.Claim != intent("a", "task:1").Hold.Claim || len(i.Hold.Key) == 0 {
					t.Errorf("the key was lost: %+v", i)
				}
				must(t, s.SaveHold(i.Hold))
				must(t, s.End(i))
			}
			must(t, s.Begin(intent("a", "task:1")))
		})
	}
}

const writes = 20

// playWriter saves claims into one session, and sightings of resources that others write too.
func playWriter(owner, me string) error {
	s, err := session.Open(options(owner, "shared"))
	if err != nil {
		return err
	}
	for n := range writes {
		if err := s.SaveHold(hold("shared", lease.Resource(fmt.Sprintf("task:%s-%d", me, n)))); err != nil {
			return err
		}
		own := sighting(lease.Resource(fmt.Sprintf("own:%s-%d", me, n)), 1, 1)
		if err := s.See(own, sighting("common", 1, uint64(n+1))); err != nil { //nolint:gosec // small
			return err
		}
	}
	return nil
}

// together runs n processes of a part at once, and fails for each that fails.
func together(t *testing.T, n int, part, owner string) {
	t.Helper()
	cmds := make([]*exec.Cmd, n)
	outs := make([]strings.Builder, n)
	for i := range cmds {
		cmds[i] = helper(t, part, owner, strconv.Itoa(i))
		cmds[i].Stdout = &outs[i]
		must(t, cmds[i].Start())
	}
	for i, cmd := range cmds {
		if err := cmd.Wait(); err != nil || outs[i].String() != "done\n" {
			t.Errorf("process %d: %v, %q", i, err, outs[i].String())
		}
	}
}

func TestEightWritersLoseNothing(t *testing.T) {
	owner := clone(t)
	together(t, 8, "writer", owner)
	s := openState(t, owner, "shared")
	holds, err := s.Holds()
	if err != nil || len(holds) != 8*writes {
		t.Errorf("%d claims, %v; want %d", len(holds), err, 8*writes)
	}
	resources := []lease.Resource{"common"}
	for me := range 8 {
		for n := range writes {
			resources = append(resources, lease.Resource(fmt.Sprintf("own:%d-%d", me, n)))
		}
	}
	seen, err := s.Seen(resources...)
	if err != nil || len(seen) != len(resources) || seen["common"].Revision != writes {
		t.Errorf("%d of %d seen, common %+v, %v", len(seen), len(resources), seen["common"], err)
	}
}

// playClaim is all that a first claim asks of the state.
func playClaim(owner, me string) error {
	s, err := session.Open(options(owner, "agent-"+me))
	if err != nil {
		return err
	}
	i := intent("agent-"+me, lease.Resource("task:"+me))
	_, err = s.Holds()
	_, _, err2 := s.Pending(i.Resources...)
	if err := errors.Join(err, err2); err != nil {
		return err
	}
	steps := []func() error{
		func() error { return s.SeeMeta(lease.MetaSighting{Authority: authority}) },
		func() error { return s.Begin(i) },
		func() error { return s.SaveHold(i.Hold) },
		func() error { return s.End(i) },
		func() error { return s.See(sighting(i.Resources[0], 1, 1)) },
	}
	for _, step := range steps {
		if err := step(); err != nil {
			return err
		}
	}
	return nil
}

func TestThirtyProcessesStartAtOnce(t *testing.T) {
	owner := clone(t)
	together(t, 30, "claim", owner)
	for me := range 30 {
		s := openState(t, owner, fmt.Sprintf("agent-%d", me))
		if holds, err := s.Holds(); err != nil || len(holds) != 1 {
			t.Errorf("agent %d: %d claims, %v", me, len(holds), err)
		}
	}
	s := openState(t, owner, "x")
	if left, busy, err := s.Pending(); err != nil || len(left)+len(busy) != 0 {
		t.Errorf("pending: %d, %d, %v", len(left), len(busy), err)
	}
	if entries, err := os.ReadDir(filepath.Join(s.Dir(), "pending")); err != nil || len(entries) != 0 {
		t.Errorf("left on disk: %v, %v", entries, err)
	}
}
