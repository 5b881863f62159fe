//go:build unix

package session_test

import (
	"errors"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/git-worklease/git-worklease/internal/session"
	"github.com/git-worklease/git-worklease/lease"
)

// playSystem does the parts that this kind of system has.
func playSystem(part string, args []string) error {
	switch part {
	case "user":
		return playUser(args[0], args[1])
	case "limit":
		return playLimit(args[0])
	default:
		return errors.New("no such part")
	}
}

// nobody is the user that the parts play whom modes must stop: root ignores them.
const nobody = 65534

// playUser gives up root's rights and does one thing, the error of which it prints as its kind.
func playUser(owner, what string) error {
	if os.Geteuid() == 0 {
		if err := errors.Join(syscall.Setgroups(nil), syscall.Setgid(nobody), syscall.Setuid(nobody)); err != nil {
			return err
		}
	}
	s, err := session.Open(options(owner, "a"))
	if err != nil {
		return kind(err)
	}
	switch what {
	case "save":
		return kind(s.SaveHold(hold("a", "task:2")))
	case "begin":
		return kind(s.Begin(intent("a", "task:2")))
	case "see":
		return kind(s.See(sighting("task:2", 1, 1)))
	case "meta":
		return kind(s.SeeMeta(lease.MetaSighting{Authority: authority}))
	case "server":
		return kind(s.SaveServer("u", known))
	case "read":
		_, err1 := s.Holds()
		_, _, err2 := s.Pending()
		_, err3 := s.Seen("task:1")
		_, err4 := s.Meta()
		return kind(errors.Join(err1, err2, err3, err4))
	default:
		return errors.New("no such thing")
	}
}

func kind(err error) error {
	for _, k := range []error{session.ErrReadOnly, session.ErrLoose, session.ErrState, session.ErrFull} {
		if errors.Is(err, k) {
			return k
		}
	}
	return err
}

// openClone is a clone that anybody may enter, with the state of one claim, all of nobody's.
func openClone(t *testing.T) string {
	t.Helper()
	base, err := os.MkdirTemp("", "session")
	must(t, err)
	t.Cleanup(func() {
		_ = filepath.Walk(base, func(path string, info os.FileInfo, _ error) error {
			if info != nil && info.IsDir() {
				return os.Chmod(path, 0o700) //nolint:gosec // a folder
			}
			return nil
		})
		_ = os.RemoveAll(base)
	})
	must(t, os.Chmod(base, 0o755)) //nolint:gosec // a test
	owner := filepath.Join(base, ".git")
	must(t, os.Mkdir(owner, 0o755)) //nolint:gosec // a test
	s := openState(t, owner, "a")
	must(t, s.SaveHold(hold("a", "task:1")))
	must(t, s.See(sighting("task:1", 1, 1)))
	return owner
}

func give(t *testing.T, path string) {
	t.Helper()
	if os.Geteuid() != 0 {
		return
	}
	must(t, filepath.Walk(path, func(path string, _ os.FileInfo, err error) error {
		if err != nil {
			return err
		}
		return os.Lchown(path, nobody, nobody)
	}))
}

func asNobody(t *testing.T, owner, what string) string {
	t.Helper()
	out, err := helper(t, "user", owner, what).Output()
	if err != nil && len(out) == 0 {
		t.Fatal(err)
	}
	return strings.TrimSpace(string(out))
}

func TestReadOnlyFolder(t *testing.T) {
	owner := openClone(t)
	give(t, owner)
	root := filepath.Join(owner, "worklease")
	for _, dir := range []string{filepath.Join(root, "sessions"), root, owner} {
		must(t, os.Chmod(dir, 0o500)) //nolint:gosec // a folder
	}
	want := "error: " + session.ErrReadOnly.Error()
	for _, what := range []string{"save", "begin", "meta", "server"} {
		if got := asNobody(t, owner, what); got != want {
			t.Errorf("%s: %s", what, got)
		}
	}
	if got := asNobody(t, owner, "read"); got != "done" {
		t.Errorf("read: %s", got)
	}
}

func TestReadOnlyGitDirectory(t *testing.T) {
	owner := openClone(t)
	must(t, os.RemoveAll(filepath.Join(owner, "worklease")))
	must(t, os.Chmod(owner, 0o500)) //nolint:gosec // a folder
	give(t, owner)
	for what, want := range map[string]string{
		"save": "error: " + session.ErrReadOnly.Error(), "see": "error: " + session.ErrReadOnly.Error(), "read": "done",
	} {
		if got := asNobody(t, owner, what); got != want {
			t.Errorf("%s: %s", what, got)
		}
	}
}

// TestOfSomebodyElse: what we may not look into is not "nothing".
func TestOfSomebodyElse(t *testing.T) {
	owner := openClone(t)
	if os.Geteuid() == 0 {
		if got := asNobody(t, owner, "read"); got != "error: "+session.ErrState.Error() {
			t.Errorf("folder: %s", got)
		}
	}
	give(t, owner)
	must(t, os.Chmod(filepath.Join(owner, "worklease", "sessions", "a.json"), 0))
	if got := asNobody(t, owner, "read"); got != "error: "+session.ErrState.Error() {
		t.Errorf("file: %s", got)
	}
}

func TestModes(t *testing.T) {
	old := syscall.Umask(0)
	defer syscall.Umask(old)
	owner := clone(t)
	s := openState(t, owner, "a")
	i := intent("a", "task:1")
	must(t, s.SaveHold(hold("a", "task:1")))
	must(t, s.See(sighting("task:1", 1, 1)))
	must(t, s.SeeMeta(lease.MetaSighting{Authority: authority}))
	must(t, s.SaveServer("u", known))
	must(t, s.Begin(i))
	must(t, filepath.Walk(s.Dir(), func(path string, info os.FileInfo, err error) error {
		want := os.FileMode(0o600)
		if info.IsDir() {
			want = 0o700
		}
		if got := info.Mode().Perm(); got != want {
			t.Errorf("%s: mode %o", path, got)
		}
		return err
	}))
}

func TestLoosePermissions(t *testing.T) {
	s := openState(t, clone(t), "a")
	i := intent("a", "task:1")
	must(t, s.SaveHold(hold("a", "task:1")))
	must(t, s.Begin(i))
	must(t, s.Leave(i))
	for path, read := range map[string]func() error{
		"sessions/a.json":           func() error { _, err := s.Holds(); return err },
		"pending/" + i.ID + ".json": func() error { _, _, err := s.Pending(); return err },
	} {
		path = filepath.Join(s.Dir(), path)
		for _, mode := range []os.FileMode{0o640, 0o604, 0o620} {
			must(t, os.Chmod(path, mode))
			err := read()
			var loose *session.LooseError
			if !errors.As(err, &loose) || !errors.Is(err, session.ErrLoose) || strings.Join(loose.Fix(), " ") != "chmod 600 "+path {
				t.Errorf("%s, mode %o: %v", path, mode, err)
			}
		}
		must(t, os.Chmod(path, 0o600))
	}
}

func TestSymlinksAreRefused(t *testing.T) {
	use := map[string]func(s *session.State) error{
		".":                    func(s *session.State) error { _, err := s.Holds(); return err },
		"sessions":             func(s *session.State) error { _, err := s.Holds(); return err },
		"sessions/a.json":      func(s *session.State) error { return s.SaveHold(hold("a", "task:2")) },
		"sessions/a.json.lock": func(s *session.State) error { return s.SaveHold(hold("a", "task:2")) },
		"pending":              func(s *session.State) error { _, _, err := s.Pending(); return err },
		"pending.lock":         func(s *session.State) error { return s.Begin(intent("a", "task:2")) },
		"seen":                 func(s *session.State) error { return s.See(sighting("task:2", 1, 1)) },
		"meta.json":            func(s *session.State) error { _, err := s.Meta(); return err },
		"remotes":              func(s *session.State) error { return s.SaveServer("u", known) },
	}
	for name, do := range use {
		t.Run(name, func(t *testing.T) {
			owner := clone(t)
			s := openState(t, owner, "a")
			must(t, s.SaveHold(hold("a", "task:1")))
			must(t, s.See(sighting("task:1", 1, 1)))
			must(t, s.SeeMeta(lease.MetaSighting{Authority: authority}))
			path, moved := filepath.Join(s.Dir(), name), filepath.Join(owner, "moved")
			if err := os.Rename(path, moved); err != nil {
				must(t, os.Mkdir(moved, 0o700))
			}
			must(t, os.Symlink(moved, path))
			again, err := session.Open(options(owner, "a"))
			if err == nil {
				err = do(again)
			}
			if !errors.Is(err, session.ErrState) || !errors.Is(err, session.ErrSymlink) {
				t.Errorf("got %v", err)
			}
		})
	}
}

// TestPipeInAFilesPlace must not hang.
func TestPipeInAFilesPlace(t *testing.T) {
	s := openState(t, clone(t), "a")
	must(t, os.MkdirAll(filepath.Join(s.Dir(), "sessions"), 0o700))
	must(t, syscall.Mkfifo(filepath.Join(s.Dir(), "sessions", "a.json"), 0o600))
	must(t, syscall.Mkfifo(filepath.Join(s.Dir(), "meta.json"), 0o600))
	if _, err := s.Holds(); !errors.Is(err, session.ErrState) {
		t.Errorf("holds: %v", err)
	}
	if _, err := s.Meta(); !errors.Is(err, session.ErrState) {
		t.Errorf("meta: %v", err)
	}
}

// playLimit writes with a limit on the size of files that no write can keep, as on a full disk, and prints nothing but what went
// wrong with that.
func playLimit(owner string) error {
	signal.Ignore(syscall.SIGXFSZ)
	s, err := session.Open(options(owner, "a"))
	if err != nil {
		return err
	}
	if err := syscall.Setrlimit(syscall.RLIMIT_FSIZE, &syscall.Rlimit{Cur: 150, Max: 150}); err != nil {
		return err
	}
	for what, err := range map[string]error{
		"save": s.SaveHold(hold("a", "task:2")), "begin": s.Begin(intent("a", "task:2")), "see": s.See(sighting("task:2", 1, 1)),
	} {
		if !errors.Is(err, session.ErrState) {
			return fmt.Errorf("%s: %w", what, err)
		}
	}
	return nil
}

func TestFailedWritesLoseNothing(t *testing.T) {
	owner := clone(t)
	s := openState(t, owner, "a")
	must(t, s.SaveHold(hold("a", "task:1")))
	must(t, s.See(sighting("task:1", 1, 1)))
	out, err := helper(t, "limit", owner).Output()
	if err != nil || string(out) != "done\n" {
		t.Fatalf("%s, %v", out, err)
	}
	if holds, err := s.Holds(); err != nil || len(holds) != 1 {
		t.Errorf("holds: %v, %v", holds, err)
	}
	if seen, err := s.Seen("task:1", "task:2"); err != nil || len(seen) != 1 {
		t.Errorf("seen: %v, %v", seen, err)
	}
	if left, busy, err := s.Pending(); err != nil || len(left)+len(busy) != 0 {
		t.Errorf("pending: %v, %d, %v", left, len(busy), err)
	}
	must(t, s.Begin(intent("a", "task:2")))
	must(t, filepath.Walk(s.Dir(), func(path string, _ os.FileInfo, err error) error {
		if strings.HasSuffix(path, ".tmp") {
			t.Errorf("left %s", path)
		}
		return err
	}))
}
