package config_test

import (
	"errors"
	"fmt"
	"reflect"
	"strings"
	"testing"

	"github.com/git-worklease/git-worklease/internal/config"
)

const ruled = `version = 1
[enforce]
commit = "block"
push = "off"
exempt = ["dependabot[bot]", "refs/heads/release/*"]

[[rule]]
branch = "refs/heads/issue/{id}-*"
claim = "github:acme/app#{id}"

[[rule]] # migrations
paths = [
  "db/migrations/**",
  "!db/migrations/README",
]
claim = "path"

[[rule]]
claim = "any"
paths = ["src/**"]
branch = "main"
`

func TestRules(t *testing.T) {
	p := policy(t, ruled)
	want := []config.Rule{
		{Line: 7, Branch: "issue/{id}-*", Claim: "github:acme/app#{id}"},
		{Line: 11, Paths: []string{"db/migrations/**", "!db/migrations/README"}, Claim: config.ClaimPath},
		{Line: 18, Branch: "main", Paths: []string{"src/**"}, Claim: config.ClaimAny},
	}
	if got := p.Rules(); !reflect.DeepEqual(got, want) {
		t.Errorf("got  %+v\nwant %+v", got, want)
	}
	if len(p.Unknown) != 0 {
		t.Errorf("unknown: %v", p.Unknown)
	}
	inline := policy(t, "rule = [{branch = 'a', claim = 'any'}]\n").Rules()
	if len(inline) != 1 || inline[0].Branch != "a" || inline[0].Line != 1 {
		t.Errorf("inline: %+v", inline)
	}
	p.Rules()[1].Paths[0] = "changed"
	if p.Rules()[1].Paths[0] != "db/migrations/**" {
		t.Error("the policy can be changed from outside")
	}
}

func TestEnforce(t *testing.T) {
	p := policy(t, ruled)
	want := config.Enforce{
		Commit: config.ModeBlock, Push: config.ModeOff, Offline: config.ModeWarn, Forks: config.ModeWarn, Override: config.ForcePeople,
		Exempt: []string{"dependabot[bot]", "refs/heads/release/*"},
	}
	if got := p.Enforce(); !reflect.DeepEqual(got, want) {
		t.Errorf("got  %+v\nwant %+v", got, want)
	}
	for _, text := range []string{"", "[enforce]\n"} {
		got := policy(t, text).Enforce()
		want := config.Enforce{Commit: config.ModeWarn, Push: config.ModeBlock, Offline: config.ModeWarn, Forks: config.ModeWarn, Override: config.ForcePeople}
		if !reflect.DeepEqual(got, want) {
			t.Errorf("default of %q: %+v", text, got)
		}
	}
	none, err := config.ReadPolicy("")
	if err != nil || none.Enforce().Push != config.ModeBlock || len(none.Rules()) != 0 {
		t.Errorf("without a file: %+v, %v", none, err)
	}
}

func TestExempts(t *testing.T) {
	e := policy(t, "[enforce]\nexempt = ['dependabot[bot]', 'refs/heads/release/*', 'refs/tags/**']\n").Enforce()
	cases := []struct {
		ref   string
		names []string
		want  bool
	}{
		{"refs/heads/release/1", nil, true},
		{"refs/heads/release/1/x", nil, false},
		{"refs/heads/releases", nil, false},
		{"refs/tags/a/b", nil, true},
		{"refs/heads/main", []string{"alice", "dependabot[bot]"}, true},
		{"refs/heads/main", []string{"dependabotb"}, false},
		{"refs/heads/dependabot[bot]", []string{""}, false},
		{"", nil, false},
	}
	for _, c := range cases {
		if got := e.Exempts(c.ref, c.names...); got != c.want {
			t.Errorf("%s by %v: %v", c.ref, c.names, got)
		}
	}
}

func TestUnknownKeysOfRules(t *testing.T) {
	p := policy(t, "[enforce]\nlater = 1\n[[rule]]\nbranch = 'a'\nclaim = 'any'\n[[rule]]\nbranch = 'b'\nclaim = 'any'\n\nnewer = true\n")
	want := "[{enforce.later policy .worklease.toml:2} {rule.newer policy .worklease.toml:10}]"
	if got := fmt.Sprint(p.Unknown); got != want {
		t.Errorf("got %s\nwant %s", got, want)
	}
}

func TestBadRules(t *testing.T) {
	many := strings.Repeat("[[rule]]\nbranch='a'\nclaim='any'\n", 1001)
	for text, want := range map[string]string{
		"rule = 1":                                           `policy .worklease.toml:1: rule: "1": want at most 1000 tables [[rule]]`,
		"rule = [1]":                                         `policy .worklease.toml:1: rule: `,
		"[rule]\nbranch = 'a'":                               `policy .worklease.toml:1: rule: `,
		many:                                                 `want at most 1000 tables`,
		"[[rule]]\nclaim = 'any'":                            `policy .worklease.toml:1: rule: "any": want branch or paths beside the claim`,
		"[[rule]]\nbranch = 'a'":                             `policy .worklease.toml:1: rule.claim: "": want "path", "any", or a whole key such as "github:acme/app#{id}"`,
		"[[rule]]\nbranch = 'a'\nclaim = 3":                  `policy .worklease.toml:3: rule.claim: "3": want "path", "any"`,
		"[[rule]]\nbranch = 1\nclaim = 'any'":                `policy .worklease.toml:2: rule.branch: "1": want a pattern of branches such as "issue/{id}-*", in quotes`,
		"[[rule]]\nbranch = 'a{'\nclaim = 'any'":             `policy .worklease.toml:2: rule.branch: "a{": want a pattern of branches such as "issue/{id}-*": a name in braces is made of`,
		"[[rule]]\nbranch = ''\nclaim = 'any'":               `policy .worklease.toml:2: rule.branch: "": want`,
		"\n[[rule]]\npaths = 'a'\nclaim = 'any'":             `policy .worklease.toml:3: rule.paths: "a": want a list of at most 100 patterns`,
		"[[rule]]\npaths = []\nclaim = 'any'":                `policy .worklease.toml:2: rule.paths: "[]": want a list`,
		"[[rule]]\npaths = ['a', 1]\nclaim = 'any'":          `rule.paths: "[a 1]": want a list`,
		"[[rule]]\npaths = ['a', 'b{c,d}']\nclaim = 'any'":   `rule.paths: "b{c,d}": want a list of at most 100 patterns such as "db/migrations/**": it has braces`,
		"[[rule]]\nbranch = 'a'\nclaim = 't:{id}'":           `rule.claim: "t:{id}": want names in braces that branch captures, and not {id}`,
		"[[rule]]\nbranch = '{id}'\nclaim = 'task:{id'":      `rule.claim: "task:{id": want "path", "any", or a whole key such as "github:acme/app#{id}": a name in braces`,
		"[[rule]]\nbranch = '{id}'\nclaim = 'github:#{id}'":  `rule.claim: "github:#{id}": want "path"`,
		"[[rule]]\nbranch = 'a'\nclaim = 'pool:gpu'":         `rule.claim: "pool:gpu": want "path"`,
		"[[rule]]\nbranch = 'a'\nclaim = 'https://x/y'":      `rule.claim: "https://x/y": want "path"`,
		"[[rule]]\nbranch = 'a'\nclaim = 'anything'":         `rule.claim: "anything": want "path"`,
		"[[rule]]\nbranch='a'\nclaim='any'\n[[rule]]\nx = 1": `policy .worklease.toml:4: rule.claim: "": want "path"`,
		"enforce = 1":                                        `policy .worklease.toml:1: enforce: "1": want a table`,
		"[enforce]\npush = 'never'":                          `policy .worklease.toml:2: enforce.push: "never": want off, warn or block, in quotes`,
		"[enforce]\npush = true":                             `policy .worklease.toml:2: enforce.push: "true": want off, warn or block, in quotes`,
		"[enforce]\noverride = 'all'":                        `policy .worklease.toml:2: enforce.override: "all": want people or agents, in quotes`,
		"[enforce]\nexempt = 'a'":                            `policy .worklease.toml:2: enforce.exempt: "a": want a list of names and of refs`,
		"[enforce]\nexempt = ['']":                           `enforce.exempt: "[]": want a list`,
		"[enforce]\nexempt = ['refs/heads/a[']":              `enforce.exempt: "[refs/heads/a[]": want a list`,
	} {
		_, err := config.ParsePolicy([]byte(text))
		var e *config.Error
		if !errors.As(err, &e) || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%q:\n got %v\nwant %s", text, err, want)
		}
	}
}
