//go:build unix

package session_test

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/git-worklease/git-worklease/internal/session"
	"github.com/git-worklease/git-worklease/lease"
)

// TestCopied: the same files elsewhere are of no use, and neither is an intent among them.
func TestCopied(t *testing.T) {
	owner := clone(t)
	s := openState(t, owner, "a")
	i := intent("a", "task:2")
	must(t, s.SaveHold(hold("a", "task:1")))
	must(t, s.Begin(i))
	must(t, s.Leave(i))
	copied := clone(t)
	must(t, os.CopyFS(filepath.Join(copied, "worklease"), os.DirFS(s.Dir())))
	must(t, filepath.Walk(copied, func(path string, info os.FileInfo, err error) error {
		if err == nil && !info.IsDir() {
			err = os.Chmod(path, 0o600)
		}
		return err
	}))
	there := openState(t, copied, "a")
	_, holdsErr := there.Holds()
	_, _, pendingErr := there.Pending()
	for name, err := range map[string]error{
		"Holds": holdsErr, "Pending": pendingErr, "SaveHold": there.SaveHold(hold("a", "task:3")), "Begin": there.Begin(intent("a", "task:3")),
	} {
		var c *session.CopiedError
		if !errors.As(err, &c) || !errors.Is(err, session.ErrCopied) || c.Was.Path != owner || c.Now.Path != copied {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestOtherHostOrInode(t *testing.T) {
	owner := clone(t)
	s := openState(t, owner, "a")
	must(t, s.SaveHold(hold("a", "task:1")))
	o := options(owner, "a")
	o.HostName = "other"
	elsewhere, err := session.Open(o)
	must(t, err)
	if _, err := elsewhere.Holds(); !errors.Is(err, session.ErrCopied) {
		t.Errorf("other host: %v", err)
	}
	must(t, os.Rename(owner, owner+".old"))
	must(t, os.Mkdir(owner, 0o700))
	must(t, os.Rename(filepath.Join(owner+".old", "worklease"), filepath.Join(owner, "worklease")))
	if _, err := openState(t, owner, "a").Holds(); !errors.Is(err, session.ErrCopied) {
		t.Errorf("other inode: %v", err)
	}
}

// TestCorruptFiles: each file in turn is unreadable, and says so with its name; nothing is written over.
func TestCorruptFiles(t *testing.T) {
	use := map[string]func(s *session.State) []error{
		"sessions/a.json": func(s *session.State) []error {
			_, err := s.Holds()
			return []error{err, s.SaveHold(hold("a", "task:2"))}
		},
		"pending/" + intent("a", "task:1").ID + ".json": func(s *session.State) []error {
			_, _, err := s.Pending()
			return []error{err, s.Begin(intent("a", "task:2"))}
		},
		"meta.json": func(s *session.State) []error {
			_, err := s.Meta()
			_, err2 := s.Holds()
			return []error{err, err2, s.SeeMeta(lease.MetaSighting{Authority: authority})}
		},
	}
	for name, do := range use {
		for what, data := range map[string]string{
			"empty": "", "garbage": "\x00\x01", "half": `{"v":1,"session":"a","ho`, "no version": "{}", "other type": `{"v":1,"session":7,"intent":7,"meta":7}`,
			"newer": `{"v":2,"holds":"?"}`,
		} {
			if strings.HasPrefix(name, "pending/") {
				data += "\n" // without it, it is unfinished
			}
			t.Run(name+" "+what, func(t *testing.T) {
				s := openState(t, clone(t), "a")
				i := intent("a", "task:1")
				must(t, s.SaveHold(hold("a", "task:1")))
				must(t, s.SeeMeta(lease.MetaSighting{Authority: authority}))
				must(t, s.Begin(i))
				must(t, s.Leave(i))
				path := filepath.Join(s.Dir(), name)
				must(t, os.WriteFile(path, []byte(data), 0o600))
				want := session.ErrState
				if what == "newer" {
					want = session.ErrNewer
				}
				for _, err := range do(s) {
					if !errors.Is(err, want) || !strings.Contains(err.Error(), path) {
						t.Errorf("got %v", err)
					}
				}
				if got, err := os.ReadFile(path); err != nil || string(got) != data { //nolint:gosec // a test
					t.Errorf("written over: %q, %v", got, err)
				}
			})
		}
	}
}

// TestMisplacedFiles: well-formed files under another's name, and claims that no honest writer saves.
func TestMisplacedFiles(t *testing.T) {
	s := openState(t, clone(t), "a")
	must(t, s.SaveHold(hold("a", "task:1")))
	must(t, s.SaveHold(hold("b", "task:2")))
	sessions := filepath.Join(s.Dir(), "sessions")
	data, err := os.ReadFile(filepath.Join(sessions, "b.json")) //nolint:gosec // a test
	must(t, err)
	must(t, os.WriteFile(filepath.Join(sessions, "a.json"), data, 0o600))
	if _, err := s.Holds(); !errors.Is(err, session.ErrState) {
		t.Errorf("another session's file: %v", err)
	}
	var file map[string]any
	must(t, json.Unmarshal(data, &file))
	file["session"] = "a"
	file["holds"].([]any)[0].(map[string]any)["key"] = "c2hvcnQ=" //nolint:forcetypeassert // just written
	data, err = json.Marshal(file)
	must(t, err)
	must(t, os.WriteFile(filepath.Join(sessions, "a.json"), data, 0o600))
	if _, err := s.Holds(); !errors.Is(err, session.ErrState) {
		t.Errorf("a key that can't sign: %v", err)
	}
}
