package server

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/git-worklease/git-worklease/lease"
)

func settingsOf(t *testing.T, text string) (Settings, error) {
	t.Helper()
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, SettingsFile), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return ReadSettings(dir)
}

func TestReadSettings(t *testing.T) {
	t.Parallel()
	if s, err := ReadSettings(t.TempDir()); err != nil || s.Prefix != lease.DefaultPrefix {
		t.Errorf("no file: %+v, %v", s, err)
	}
	if s, err := settingsOf(t, `prefix = "refs/heads/locks/"`); err != nil || s.Prefix != "refs/heads/locks/" {
		t.Errorf("%+v, %v", s, err)
	}
	for _, bad := range []string{`farce = []`, `force = "alice"`, `force = [`, `prefix = "refs/heads/"`, `prefix = ""`, "[resources]\nbob = \"task:\""} {
		if _, err := settingsOf(t, bad); !errors.Is(err, ErrSettings) {
			t.Errorf("%s: %v", bad, err)
		}
	}
}

func TestWhoMay(t *testing.T) {
	t.Parallel()
	open, err := settingsOf(t, `force = ["alice"]`)
	if err != nil {
		t.Fatal(err)
	}
	some, err := settingsOf(t, "[resources]\nci = [\"task:ci-\", \"port:\"]\nnobody = []")
	if err != nil {
		t.Fatal(err)
	}
	all, err := settingsOf(t, "[resources]\nci = [\"port:\"]\n\"*\" = [\"task:\"]")
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		s    Settings
		user string
		r    lease.Resource
		want bool
	}{
		{open, "bob", "task:a", true}, {open, "", "task:a", true},
		{some, "ci", "task:ci-1", true}, {some, "ci", "task:c", false}, {some, "ci", "port:1", true}, {some, "nobody", "port:1", false}, {some, "bob", "task:a", true},
		{all, "ci", "port:1", true}, {all, "ci", "task:a", false}, {all, "bob", "task:a", true}, {all, "bob", "port:1", false}, {all, "", "port:1", false}, {all, "", "task:a", true},
	} {
		if got := c.s.may(c.user, c.r); got != c.want {
			t.Errorf("%v: %q may claim %s: %v", c.s.Resources, c.user, c.r, got)
		}
	}
	if !open.mayForce("alice") || open.mayForce("bob") || open.mayForce("") || some.mayForce("ci") {
		t.Error("force")
	}
	if s := (Settings{Force: []string{""}}); s.mayForce("") {
		t.Error("nobody may force")
	}
}

func TestUser(t *testing.T) {
	t.Parallel()
	for want, env := range map[string]map[string]string{
		"account": {},
		"carol":   {"GL_USER": "carol", "REMOTE_USER": "web"},
		"dave":    {"GITEA_PUSHER_NAME": "dave"},
		"erin":    {"REMOTE_USER": "erin", "GIT_HTTP_EXPORT_ALL": "1"},
		"":        {"GATEWAY_INTERFACE": "CGI/1.1"},
	} {
		if got := User(func(name string) string { return env[name] }, func() string { return "account" }); got != want {
			t.Errorf("%v: %q instead of %q", env, got, want)
		}
	}
}
