package config_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/git-worklease/git-worklease/internal/config"
)

const example = `version   = 1
requires  = ">= 0.2"
remote    = "origin"        # or a URL
authority = "6f1c0123"

note = """
ttl = "not me"
"""

[lease]
ttl = "2h"
"grace" = '30s'
takeover = "stale"
expiry = "clock"

[enforce]
exempt  = ["dependabot[bot]", "refs/heads/release/*"]

[[rule]]
branch = "issue/{id}-*"
claim = "github:acme/app#{id}"
`

func TestExamplePolicy(t *testing.T) {
	for name, text := range map[string]string{
		"plain": example, "CRLF": strings.ReplaceAll(example, "\n", "\r\n"), "BOM": "\ufeff" + example,
	} {
		t.Run(name, func(t *testing.T) {
			p := policy(t, text)
			s, err := config.Load(config.Sources{Policy: p})
			if err != nil {
				t.Fatal(err)
			}
			got := []string{
				s.Remote.V, s.Remote.Origin.String(), s.Authority.V, s.TTL.Origin.String(), s.Grace.Origin.String(),
				p.Requires.V, p.Requires.Origin.String(), s.Unknown[0].Key, s.Unknown[0].Origin.String(),
			}
			want := []string{
				"origin", "policy .worklease.toml:3", "6f1c0123", "policy .worklease.toml:11", "policy .worklease.toml:12",
				">= 0.2", "policy .worklease.toml:2", "note", "policy .worklease.toml:6",
			}
			if strings.Join(got, "|") != strings.Join(want, "|") {
				t.Errorf("got  %q\nwant %q", got, want)
			}
		})
	}
}

func TestBadPolicy(t *testing.T) {
	cases := []struct{ name, text, want string }{
		{"no TOML", "version = 1\nttl\n", "policy .worklease.toml:2: want TOML: "},
		{"number for a duration", "[lease]\n\nttl = 30\n", `policy .worklease.toml:3: lease.ttl: "30": want whole seconds from 10s to 24h, with a unit, in quotes`},
		{"no table", "lease = 3\n", `policy .worklease.toml:1: lease: "3": want a table`},
		{"newer format", "\nversion = 2\n", `policy .worklease.toml:2: version: "2": want 1`},
		{"version as text", "version = '1'\n", `policy .worklease.toml:1: version`},
		{"requires as number", "requires = 0.2\n", `policy .worklease.toml:1: requires`},
		{"requires comes first", "version = 9\nrequires = 'x'\n", `policy .worklease.toml:2: requires`},
		{"deep array", "\na = " + strings.Repeat("[", 100000), "policy .worklease.toml:2: want tables and arrays at most"},
		{"deep key", strings.Repeat("a.", 100000) + "a = 1", "policy .worklease.toml:1: want tables and arrays at most"},
		{"deep after quotes within quotes", `a = ["""x"""", ` + strings.Repeat("[", 100000), "policy .worklease.toml:1: want tables and arrays at most"},
		{"deep after apostrophes", "a = ['''x'''', " + strings.Repeat("[", 100000), "policy .worklease.toml:1: want tables and arrays at most"},
		{"large", strings.Repeat("#", 1<<20+1), "policy .worklease.toml: want at most 1 MiB"},
		{"UTF-16", "\xff\xfev\x00", "policy .worklease.toml"},
		{"twice", "[lease]\nttl='1h'\nttl='2h'\n", "policy .worklease.toml:3: want TOML"},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			_, err := config.ParsePolicy([]byte(c.text))
			if !errors.Is(err, config.ErrConfig) || !strings.HasPrefix(err.Error(), c.want) || strings.Contains(err.Error(), "\n") {
				t.Errorf("got %v\nwant %s…", err, c.want)
			}
		})
	}
}

// TestBracketsInStrings: what merely looks deep is accepted.
func TestBracketsInStrings(t *testing.T) {
	policy(t, "# "+strings.Repeat("[", 99)+"\na = '"+strings.Repeat("[", 99)+"'\nb = \"\\\""+strings.Repeat("{", 99)+"\"\n"+
		"c = '''\n"+strings.Repeat("[.\n", 99)+"'''\nd = [1.0, "+strings.Repeat("2.0, ", 99)+"]\n")
}

func TestReadPolicy(t *testing.T) {
	cases := []struct {
		name  string
		make  func(t *testing.T, root string)
		found bool
		bad   string
	}{
		{name: "none", make: func(*testing.T, string) {}},
		{name: "file", make: writes(config.PolicyFile, "version = 1\n"), found: true},
		{name: "empty", make: writes(config.PolicyFile, ""), found: true},
		{name: "link within", make: links("policy/real.toml"), found: true},
		{name: "link out", make: links("../outside.toml"), bad: "leads out of the work tree"},
		{name: "link into .git", make: links(".git/x"), bad: "leads out of the work tree"},
		{name: "link to nothing", make: links("gone"), bad: "leads nowhere"},
		{name: "folder", make: func(t *testing.T, root string) { mkdir(t, filepath.Join(root, config.PolicyFile)) }, bad: "not a regular file"},
		{name: "large", make: writes(config.PolicyFile, strings.Repeat("#", 1<<20+1)), bad: "too large"},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			root := filepath.Join(t.TempDir(), "tree")
			mkdir(t, root)
			for _, name := range []string{"policy/real.toml", "../outside.toml", ".git/x"} {
				writes(name, "version = 1\n")(t, root)
			}
			c.make(t, root)
			p, err := config.ReadPolicy(root)
			if c.bad != "" {
				if !errors.Is(err, config.ErrConfig) || !strings.Contains(err.Error(), c.bad) {
					t.Errorf("got %v, want %q", err, c.bad)
				}
				return
			}
			if err != nil || p.Found != c.found {
				t.Errorf("found %v, %v; want %v", p, err, c.found)
			}
		})
	}
}

func TestNoPolicyWithoutWorkTree(t *testing.T) {
	p, err := config.ReadPolicy("")
	if err != nil || p.Found {
		t.Errorf("got %v, %v", p, err)
	}
}

func mkdir(t *testing.T, path string) {
	t.Helper()
	if err := os.MkdirAll(path, 0o700); err != nil {
		t.Fatal(err)
	}
}

func writes(name, text string) func(*testing.T, string) {
	return func(t *testing.T, root string) {
		t.Helper()
		path := filepath.Join(root, filepath.FromSlash(name))
		mkdir(t, filepath.Dir(path))
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
}

func links(target string) func(*testing.T, string) {
	return func(t *testing.T, root string) {
		t.Helper()
		if err := os.Symlink(target, filepath.Join(root, config.PolicyFile)); err != nil {
			t.Fatal(err)
		}
	}
}

// TestFlawedPolicy: settings can be used beside rules that can't, and never beside settings that can't.
func TestFlawedPolicy(t *testing.T) {
	for text, usable := range map[string]bool{
		"remote = 'origin'\n[[rule]]\nbranch = 'a'": true,
		"remote = 'origin'\n[enforce]\npush = 1":    true,
		"remote = 'origin'\n[pools]\ngpu = 0":       true,
		"remote = 'origin'\n[lease]\nttl = 3":       false,
		"remote = 'origin'\nrule = [{branch = 'a'}": false,
		"version = 2\nremote = 'origin'\nrule = 1":  false,
	} {
		p, err := config.ParsePolicy([]byte(text))
		if !errors.Is(err, config.ErrConfig) || (p != nil) != usable {
			t.Errorf("%q: %v, %v", text, p, err)
		}
		if !usable {
			continue
		}
		if s, err := config.Load(config.Sources{Policy: p}); err != nil || s.Remote.V != "origin" {
			t.Errorf("%q: remote %q, %v", text, s.Remote.V, err)
		}
	}
}
