package config_test

import (
	"strings"
	"testing"
	"time"

	"github.com/git-worklease/git-worklease/internal/config"
)

func TestParseDuration(t *testing.T) {
	good := map[string]time.Duration{
		"90s": 90 * time.Second, "1h30m": 90 * time.Minute, "2d": 48 * time.Hour, "1d12h": 36 * time.Hour,
		"0s": 0, "0d": 0, "1.5h": 90 * time.Minute, "2w": 14 * 24 * time.Hour, "1w1d1h": 193 * time.Hour,
	}
	for s, want := range good {
		if got, ok := config.ParseDuration(s); !ok || got != want {
			t.Errorf("%q: got %v, %v; want %v", s, got, ok, want)
		}
	}
	bad := []string{
		"", "90", "0", "1.5", "-1h", "+1h", "1d-1h", "d", "1.5d", "-1d", "1h1d", "1d1d", "1x", " 1h", "h", "70000d", "9999999999h",
		"65535d2000000h", "1d5", "w", "1d1w", "1.5w", "-1w", "4096w", "1h1w", "1w1w",
	}
	for _, s := range bad {
		if got, ok := config.ParseDuration(s); ok {
			t.Errorf("%q: got %v, want a refusal", s, got)
		}
	}
}

func TestPrefix(t *testing.T) {
	good := []string{"refs/worklease/", "refs/heads/worklease/", "refs/x/y/z/"}
	bad := []string{
		"refs/worklease", "refs/", "refs/heads/", "refs/tags/", "heads/worklease/", "refs//x/", "refs/x/../y/", "refs/x.lock/",
		"refs/.x/", "refs/x /", "refs/x*/", "refs/@{/", "refs/x\n/", "refs/a:b/", "/refs/x/", "-refs/x/", "refs/x./", "refs/@/",
	}
	for want, list := range map[bool][]string{true: good, false: bad} {
		for _, prefix := range list {
			_, err := config.Load(config.Sources{Getenv: env("WORKLEASE_PREFIX=" + prefix)})
			if (err == nil) != want {
				t.Errorf("%q: %v", prefix, err)
			}
		}
	}
}

// TestPolicyRemote: what a policy may name, against what a person may configure.
func TestPolicyRemote(t *testing.T) {
	trusted := []string{
		"origin", "team/up", "https://example.com/a.git", "https://user@example.com:8443/a", "ssh://git@h/a.git", "file:///srv/a.git",
		"git@example.com:acme/a.git", "host:path", "HTTPS://h/a",
	}
	untrusted := []string{
		"ext::sh -c x", "ext::x", "http://example.com/a", "git://h/a", "ssh://-oProxyCommand=x/a", "ssh://-u@h/a", "https://-h/a",
		"-u@h:a", "git@-h:a", "git@h:-a", "-x", "../a", "/srv/a", "./a", "~/a", "C:/a", `\\h\a`, "fd::17", "https:///a", "file://",
		"ssh://h/-a", "https://h/a\nb", "@host:path", "a@b@-oProxyCommand=x:y", "a b", "x://h/a", "https://%zz",
	}
	for want, list := range map[bool][]string{true: trusted, false: untrusted} {
		for _, remote := range list {
			text := "remote = '''" + remote + "'''\n"
			p, err := config.ParsePolicy([]byte(text))
			if err == nil {
				_, err = config.Load(config.Sources{Policy: p})
			}
			if (err == nil) != want {
				t.Errorf("policy %q: %v", remote, err)
			}
		}
	}
	for _, remote := range []string{"../a", "/srv/a", "http://127.0.0.1/a", "origin"} {
		if _, err := config.Load(config.Sources{Flags: map[string]string{"remote": remote}}); err != nil {
			t.Errorf("flag %q: %v", remote, err)
		}
	}
	if _, err := config.Load(config.Sources{Flags: map[string]string{"remote": "--upload-pack=x"}}); err == nil {
		t.Error("a remote that is an option was accepted")
	}
}

func TestRequires(t *testing.T) {
	cases := []struct {
		constraint, running string
		ok                  bool
	}{
		{">= 0.2", "0.2.0", true},
		{">= 0.2", "v0.2", true},
		{">= 0.2", "0.10.1", true},
		{">= 0.2", "0.1.9", false},
		{">= 0.2, < 2", "2.0.0", false},
		{">=0.2,<2", "1.9", true},
		{"> 1", "1.0.0", false},
		{"<= 1", "1", true},
		{"= 1.2", "1.2.0", true},
		{"== 1.2", "1.3", false},
		{">= 0.2", "0.2.0-rc1+x", true},
		{">= 99", "devel", true},
	}
	for _, c := range cases {
		p := policy(t, "requires = '"+c.constraint+"'\n")
		err := p.Check(c.running)
		if (err == nil) != c.ok || err != nil && !strings.Contains(err.Error(), c.constraint) {
			t.Errorf("%q with %s: %v", c.constraint, c.running, err)
		}
	}
	for _, bad := range []string{"", "0.2", "~> 1", ">= x", ">= 1.2.3.4.5", ">=", ">= 1,", "=> 1"} {
		if _, err := config.ParsePolicy([]byte("requires = '" + bad + "'\n")); err == nil {
			t.Errorf("%q was accepted", bad)
		}
	}
}
