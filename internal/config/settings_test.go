package config_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/git-worklease/git-worklease/internal/config"
	"github.com/git-worklease/git-worklease/internal/gitexec"
)

// gitConfig makes a configuration of "scope origin key=value" entries.
func gitConfig(entries ...string) *gitexec.Config {
	var b strings.Builder
	for _, e := range entries {
		f := strings.SplitN(e, " ", 3)
		b.WriteString(f[0] + "\x00" + f[1] + "\x00" + strings.Replace(f[2], "=", "\n", 1) + "\x00")
	}
	return gitexec.ParseConfig([]byte(b.String()))
}

func env(pairs ...string) func(string) string {
	return func(name string) string {
		for _, p := range pairs {
			if value, ok := strings.CutPrefix(p, name+"="); ok {
				return value
			}
		}
		return ""
	}
}

func policy(t *testing.T, text string) *config.Policy {
	t.Helper()
	p, err := config.ParsePolicy([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func TestDefaults(t *testing.T) {
	s, err := config.Load(config.Sources{})
	if err != nil {
		t.Fatal(err)
	}
	if s.TTL.V != 2*time.Hour || s.Timeout.V != 30*time.Second || s.SSHPersist.V != 10*time.Minute || s.Retention.V != 90*24*time.Hour ||
		s.Takeover.V != config.TakeoverStale || s.Expiry.V != config.ExpiryClock || s.Transport.V != config.TransportAuto ||
		s.Prefix.V != "refs/worklease/" || s.Grace.V != 0 || s.Remote.V != "" {
		t.Errorf("defaults: %+v", s)
	}
	if !s.TTL.Origin.IsDefault() || !s.Grace.Origin.IsDefault() || s.TTL.Origin.String() != "default" {
		t.Errorf("origins: %v, %v", s.TTL.Origin, s.Grace.Origin)
	}
}

// TestPrecedence takes the strongest source away, one by one.
func TestPrecedence(t *testing.T) {
	all := config.Sources{
		Flags:  map[string]string{"ttl": "1h"},
		Getenv: env("WORKLEASE_TTL=2h"),
		Git:    gitConfig("system file:/s worklease.ttl=9h", "global file:/home/a/.gitconfig worklease.ttl=3h"),
		Policy: policy(t, "version = 1\n\n[lease]\nttl = \"4h\"\n"),
	}
	steps := []struct {
		want   time.Duration
		origin string
		drop   func()
	}{
		{time.Hour, "flag --ttl", func() { all.Flags = nil }},
		{2 * time.Hour, "env WORKLEASE_TTL", func() { all.Getenv = env("WORKLEASE_TTL=") }},
		{3 * time.Hour, "git config (global) file:/home/a/.gitconfig", func() { all.Git = nil }},
		{4 * time.Hour, "policy .worklease.toml:4", func() { all.Policy = nil }},
		{2 * time.Hour, "default", func() {}},
	}
	for _, step := range steps {
		s, err := config.Load(all)
		if err != nil {
			t.Fatal(err)
		}
		if s.TTL.V != step.want || s.TTL.Origin.String() != step.origin {
			t.Errorf("got %v from %v, want %v from %v", s.TTL.V, s.TTL.Origin, step.want, step.origin)
		}
		step.drop()
	}
}

func TestBadValuesNameTheirPlace(t *testing.T) {
	cases := []struct {
		name string
		from config.Sources
		want string
	}{
		{"flag", config.Sources{Flags: map[string]string{"ttl": "9999h"}}, `flag --ttl: "9999h": want whole seconds from 10s to 24h`},
		{"empty flag", config.Sources{Flags: map[string]string{"session": ""}}, `flag --session: "": want 1 to 128`},
		{"no unit", config.Sources{Getenv: env("WORKLEASE_TTL=90")}, `env WORKLEASE_TTL: "90": want whole seconds from 10s to 24h, with a unit`},
		{"zero", config.Sources{Flags: map[string]string{"ttl": "0"}}, `flag --ttl: "0"`},
		{"below", config.Sources{Flags: map[string]string{"ttl": "9s"}}, `flag --ttl`},
		{"fraction", config.Sources{Flags: map[string]string{"ttl": "10.5s"}}, `flag --ttl`},
		{
			"git", config.Sources{Git: gitConfig("local file:.git/config worklease.takeover=never")},
			`git config (local) file:.git/config: worklease.takeover: "never": want stale or dead`,
		},
		{"policy", config.Sources{Policy: policy(t, "[lease]\ngrace = '2h'\n")}, `policy .worklease.toml:2: lease.grace: "2h": want whole seconds from 0s to 1h`},
		{"control character", config.Sources{Getenv: env("WORKLEASE_AGENT=a\x1b[1m")}, "env WORKLEASE_AGENT"},
		{"not UTF-8", config.Sources{Getenv: env("WORKLEASE_AGENT=a\xff")}, "env WORKLEASE_AGENT"},
		{"long", config.Sources{Getenv: env("WORKLEASE_SESSION=" + strings.Repeat("a", 129))}, "env WORKLEASE_SESSION"},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			_, err := config.Load(c.from)
			var bad *config.Error
			if !errors.As(err, &bad) || !errors.Is(err, config.ErrConfig) || !strings.HasPrefix(err.Error(), c.want) {
				t.Errorf("got %v\nwant %s…", err, c.want)
			}
		})
	}
}

// TestHiddenBadValue: a bad value in a file can be overridden from the command line.
func TestHiddenBadValue(t *testing.T) {
	s, err := config.Load(config.Sources{Flags: map[string]string{"ttl": "1h"}, Getenv: env("WORKLEASE_TTL=x")})
	if err != nil || s.TTL.V != time.Hour {
		t.Errorf("got %v, %v", s, err)
	}
}

func TestValues(t *testing.T) {
	s, err := config.Load(config.Sources{Git: gitConfig(
		"local f worklease.sshpersist=off", "local f worklease.statedir=/x", "local f worklease.prefix=refs/heads/worklease/",
		"local f worklease.authority=6f1c0a2b", "local f worklease.remote=../r", "local f worklease.grace=0s",
	)})
	if err != nil {
		t.Fatal(err)
	}
	if s.SSHPersist.V != 0 || s.StateDir.V != "/x" || s.Prefix.V != "refs/heads/worklease/" || s.Authority.V != "6f1c0a2b" ||
		s.Remote.V != "../r" || s.Grace.V != 0 || s.Grace.Origin.IsDefault() {
		t.Errorf("got %+v", s)
	}
}

func TestUnknownKeys(t *testing.T) {
	s, err := config.Load(config.Sources{
		Git:    gitConfig("local f worklease.tll=1h", "local f worklease.a.ttl=1h", "local f worklease.ttl=1h", "local f other.key=x"),
		Policy: policy(t, "[lease]\nttl='1h'\nttll='1h'\n[enforce]\ncommit='warn'\n[[rule]]\nbranch='a'\nclaim='any'\n[pools]\ngpu=2\n[providers.github]\nrepo='a/b'\n[views.Ready]\n[enforced]\n"),
	})
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, u := range s.Unknown {
		got = append(got, u.Key+" "+u.Origin.String())
	}
	want := "worklease.tll git config (local) f; worklease.a.ttl git config (local) f; " +
		"enforced policy .worklease.toml:14; lease.ttll policy .worklease.toml:3"
	if strings.Join(got, "; ") != want {
		t.Errorf("got %q", got)
	}
}

// TestTable checks what the table promises: every default is valid, no name is used twice, and each spec is shown.
func TestTable(t *testing.T) {
	seen := map[string]bool{}
	for _, spec := range config.Specs() {
		for _, key := range []string{"f " + spec.Flag, "e " + spec.Env, "g " + spec.Git, "p " + spec.Policy, "n " + string(spec.Name)} {
			if len(key) > 2 && seen[key] {
				t.Errorf("%s is used twice", key)
			}
			seen[key] = true
		}
		lasting := spec.Name == config.Force // which is decided for a repository, not for a run
		if spec.Help == "" || spec.Want == "" || strings.HasPrefix(spec.Env, "WORKLEASE_") == lasting {
			t.Errorf("%s lacks help, expectation or variable", spec.Name)
		}
		if spec.Default == "" {
			continue
		}
		if _, err := config.Load(config.Sources{Getenv: env(spec.Env + "=" + spec.Default)}); err != nil {
			t.Errorf("default of %s: %v", spec.Name, err)
		}
	}
	s, err := config.Load(config.Sources{})
	if err != nil {
		t.Fatal(err)
	}
	all := s.All()
	for i, spec := range config.Specs() {
		if all[i].Name != spec.Name {
			t.Errorf("%s is shown where %s should be", all[i].Name, spec.Name)
		}
	}
	for _, shown := range all[len(config.Specs()):] {
		if !strings.HasPrefix(string(shown.Name), "enforce.") || !shown.Origin.IsDefault() {
			t.Errorf("without a policy there is %+v", shown)
		}
	}
}
