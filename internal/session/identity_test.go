package session_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/git-worklease/git-worklease/internal/config"
	"github.com/git-worklease/git-worklease/internal/session"
)

func getenv(pairs ...string) func(string) string {
	return func(name string) string {
		for _, p := range pairs {
			if value, ok := strings.CutPrefix(p, name+"="); ok {
				return value
			}
		}
		return ""
	}
}

// TestResolveSession takes the strongest source away, one by one.
func TestResolveSession(t *testing.T) {
	flags := map[string]string{"session": "f"}
	env := []string{"WORKLEASE_SESSION=e", "CODEX_THREAD_ID=r"}
	bound, worktree := "b", "feature"
	steps := []struct {
		session string
		origin  session.Origin
		drop    func()
	}{
		{"f", session.OriginFlag, func() { flags = nil }},
		{"e", session.OriginEnv, func() { env = env[1:] }},
		{"r", session.OriginRuntime, func() { env = nil }},
		{"b", session.OriginBound, func() { bound = "" }},
		{"wt-feature", session.OriginWorktree, func() { worktree = "" }},
		{"@main", session.OriginWorktree, func() {}},
	}
	for _, step := range steps {
		settings, err := config.Load(config.Sources{Flags: flags, Getenv: getenv(env...)})
		if err != nil {
			t.Fatal(err)
		}
		got, err := session.Resolve(session.Surroundings{
			Settings: settings, Getenv: getenv(env...), Bound: bound, Worktree: worktree, Login: "alice", HostName: "box",
		})
		if err != nil || got.Session != step.session || got.Origin != step.origin {
			t.Errorf("got %+v, %v; want %s from %s", got, err, step.session, step.origin)
		}
		if (got.Runtime == "codex") != (len(env) > 0) {
			t.Errorf("runtime %q with %v", got.Runtime, env)
		}
		step.drop()
	}
}

func TestResolveNames(t *testing.T) {
	cases := []struct {
		name, login, host string
		env               []string
		agent, hostOut    string
	}{
		{"system's", "alice", "box", nil, "alice", "box"},
		{"environment's", "alice", "box", []string{"WORKLEASE_AGENT=bot", "WORKLEASE_HOST=h"}, "bot", "h"},
		{"none", "", "", nil, "unknown", "unknown"},
		{"unusable", "a\x00", strings.Repeat("h", 129), nil, "unknown", "unknown"},
	}
	for _, c := range cases {
		settings, err := config.Load(config.Sources{Getenv: getenv(c.env...)})
		if err != nil {
			t.Fatal(err)
		}
		got, err := session.Resolve(session.Surroundings{Settings: settings, Getenv: getenv(c.env...), Login: c.login, HostName: c.host})
		if err != nil || got.Agent != c.agent || got.Host != c.hostOut {
			t.Errorf("%s: got %+v, %v", c.name, got, err)
		}
	}
}

func TestResolveRuntimes(t *testing.T) {
	settings, err := config.Load(config.Sources{})
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range session.Runtimes() {
		got, err := session.Resolve(session.Surroundings{Settings: settings, Getenv: getenv(r.Env + "=run-1")})
		if err != nil || got.Session != "run-1" || got.Runtime != r.Name {
			t.Errorf("%s: got %+v, %v", r.Name, got, err)
		}
		_, err = session.Resolve(session.Surroundings{Settings: settings, Getenv: getenv(r.Env + "=run\x1b")})
		if !errors.Is(err, config.ErrConfig) || !strings.Contains(err.Error(), r.Env) {
			t.Errorf("%s: bad ID: %v", r.Name, err)
		}
	}
}

func TestBind(t *testing.T) {
	place := session.Place{Root: t.TempDir() + "/s", Worktree: "w"}
	other := session.Place{Root: place.Root}
	for _, name := range []string{"", "orch/7", "x", ""} {
		if err := place.Bind(name); err != nil {
			t.Fatal(err)
		}
		if got, err := place.Bound(); err != nil || got != name {
			t.Errorf("got %q, %v; want %q", got, err, name)
		}
		if got, err := other.Bound(); err != nil || got != "" {
			t.Errorf("another worktree: %q, %v", got, err)
		}
	}
	if err := place.Bind("a\nb"); !errors.Is(err, session.ErrSessionName) {
		t.Errorf("bad name: %v", err)
	}
}

// TestRuntimeVariables: the first of the table that is set counts, an empty one is none, and what can't be a name is refused, not passed over.
func TestRuntimeVariables(t *testing.T) {
	settings, err := config.Load(config.Sources{})
	if err != nil {
		t.Fatal(err)
	}
	resolve := func(env ...string) (session.Identity, error) {
		return session.Resolve(session.Surroundings{Settings: settings, Getenv: getenv(env...), Bound: "bound"})
	}
	table := session.Runtimes()
	for n, r := range table {
		var env []string
		for _, later := range table[n:] {
			env = append(env, later.Env+"=run-"+later.Name)
		}
		got, err := resolve(env...)
		if err != nil || got.Session != "run-"+r.Name || got.Origin != session.OriginRuntime || got.Env != r.Env || got.Source() != "env "+r.Env+" ("+r.Name+")" {
			t.Errorf("%s: %+v, %v", r.Name, got, err)
		}
		env[0] = r.Env + "="
		got, err = resolve(env...)
		if n == len(table)-1 && (got.Session != "bound" || got.Source() != "session use") || n < len(table)-1 && got.Runtime != table[n+1].Name || err != nil {
			t.Errorf("%s empty: %+v, %v", r.Name, got, err)
		}
		for _, bad := range []string{"\xff", "a\nb", "\x1b[2J", " ", strings.Repeat("x", 129)} {
			if got, err := resolve(r.Env + "=" + bad); !errors.Is(err, config.ErrConfig) {
				t.Errorf("%s=%q: %+v, %v", r.Env, bad, got, err)
			}
		}
	}
}

func TestSource(t *testing.T) {
	for _, c := range []struct {
		flags map[string]string
		env   []string
		want  string
	}{
		{map[string]string{"session": "f"}, nil, "flag --session"},
		{nil, []string{"WORKLEASE_SESSION=e"}, "env WORKLEASE_SESSION"},
		{nil, nil, "the worktree"},
	} {
		settings, err := config.Load(config.Sources{Flags: c.flags, Getenv: getenv(c.env...)})
		if err != nil {
			t.Fatal(err)
		}
		got, err := session.Resolve(session.Surroundings{Settings: settings, Getenv: getenv(c.env...)})
		if err != nil || got.Source() != c.want {
			t.Errorf("%q, %v; want %q", got.Source(), err, c.want)
		}
	}
}
