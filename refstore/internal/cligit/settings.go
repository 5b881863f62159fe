package cligit

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/git-worklease/git-worklease/internal/gitexec"
)

// setting is a line of git's configuration.
type setting struct{ key, value string }

// foreign are the sections that speak of the user's repository rather than of a connection. They stay there. URL rules do too: the URL was
// rewritten already.
var foreign = [...]string{
	"alias.", "branch.", "commit.", "core.", "extensions.", "fetch.", "gc.", "hook.", "include.", "includeif.", "maintenance.", "push.",
	"receive.", "remote.", "safe.", "submodule.", "transfer.", "url.", "worktree.",
}

// familiar are the exceptions.
var familiar = [...]string{"core.askpass", "core.gitproxy", "core.sshcommand"}

// handover are the user's settings that matter to a connection and that git does not find by itself when it runs in a repository of ours.
// native are those that it finds.
func handover(user, native []gitexec.Setting) []setting {
	found := make(map[setting]int)
	for _, s := range native {
		found[setting{s.Key, s.Value}]++
	}
	var some []setting
	for _, s := range user {
		line := setting{s.Key, s.Value}
		switch {
		case hasPrefix(s.Key, foreign[:]) && !slices.Contains(familiar[:], s.Key):
		case found[line] > 0:
			found[line]--
		default:
			some = append(some, line)
		}
	}
	return some
}

func hasPrefix(s string, prefixes []string) bool {
	return slices.ContainsFunc(prefixes, func(p string) bool { return strings.HasPrefix(s, p) })
}

// fixed are the settings that hold whatever the user's say: exactly the refs asked for are pushed and fetched, nothing else happens.
var fixed = [...]setting{
	{"core.hooksPath", "/dev/null"}, {"advice.graftFileDeprecated", "false"}, {"gc.auto", "0"}, {"maintenance.auto", "false"},
	{"push.followTags", "false"}, {"push.recurseSubmodules", "no"}, {"push.gpgSign", "false"}, {"push.useForceIfIncludes", "false"},
	{"push.negotiate", "false"}, {"push.pushOption", ""},
	{"fetch.fsckObjects", "false"}, {"transfer.fsckObjects", "false"}, {"fetch.prune", "false"}, {"fetch.recurseSubmodules", "no"},
	{"fetch.writeCommitGraph", "false"}, {"submodule.recurse", "false"},
}

// command is git in a repository of ours with the user's settings. Words come untranslated.
func (t *transport) command(ctx context.Context, gitDir string, args ...string) (*gitexec.Git, []string, error) {
	settings, err := t.gather(ctx, gitDir)
	if err != nil {
		return nil, nil, err
	}
	g := t.unbound()
	g.Env = append(g.Env, fmt.Sprintf("GIT_CONFIG_COUNT=%d", len(settings)))
	for i, s := range settings {
		g.Env = append(g.Env, fmt.Sprintf("GIT_CONFIG_KEY_%d=%s", i, s.key), fmt.Sprintf("GIT_CONFIG_VALUE_%d=%s", i, s.value))
	}
	return g, append([]string{"--git-dir=" + gitDir}, args...), nil
}

// unbound is the user's git without ties to a repository, and without settings, which are handed over in another way.
func (t *transport) unbound() *gitexec.Git {
	g := *t.o.Git
	g.Env = gitexec.Unbound(g.Environ(), "GIT_TRACE", "GIT_TRACE_BARE", "GIT_TRACE_PACKET", "LC_ALL", "LANGUAGE")
	g.Env = append(g.Env, "LC_ALL=C")
	return &g
}

// gather makes the settings of every command, once.
func (t *transport) gather(ctx context.Context, gitDir string) ([]setting, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.settings != nil {
		return t.settings, nil
	}
	user := t.o.Config
	if user == nil {
		var err error
		if user, err = gitexec.ReadConfig(ctx, t.o.Git); err != nil {
			return nil, err
		}
	}
	native, err := t.native(ctx, user, gitDir)
	if err != nil {
		return nil, err
	}
	settings := append(handover(user.WithPrefix(""), native), fixed[:]...)
	settings = append(settings, hooksOff(native)...)
	// The longest rule wins, so this one keeps those in the global configuration from rewriting the URL again.
	settings = append(settings, setting{"url." + t.o.URL + ".insteadOf", t.o.URL}, setting{"url." + t.o.URL + ".pushInsteadOf", t.o.URL})
	t.settings = settings
	return settings, nil
}

// hooksOff turns off the hooks that git runs from its configuration, whatever core.hooksPath is. A git before 2.54 knows none.
func hooksOff(native []gitexec.Setting) []setting {
	var off []setting
	for _, s := range native {
		name, ok := strings.CutSuffix(strings.TrimPrefix(s.Key, "hook."), ".event")
		if one := (setting{"hook." + name + ".enabled", "false"}); ok && strings.HasPrefix(s.Key, "hook.") && !slices.Contains(off, one) {
			off = append(off, one)
		}
	}
	return off
}

// native are the settings that hold in our repository too: the global ones, of which a part may hold in the user's repository alone.
func (t *transport) native(ctx context.Context, user *gitexec.Config, gitDir string) ([]gitexec.Setting, error) {
	if len(user.WithPrefix("includeif.")) == 0 {
		return slices.DeleteFunc(user.WithPrefix(""), func(s gitexec.Setting) bool { return s.Scope != "global" && s.Scope != "system" }), nil
	}
	g := t.unbound()
	g.Env = append(g.Env, "GIT_DIR="+gitDir)
	ours, err := gitexec.ReadConfig(ctx, g)
	if err != nil {
		return nil, err
	}
	return ours.WithPrefix(""), nil
}
