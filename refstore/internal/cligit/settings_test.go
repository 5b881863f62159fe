package cligit_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/git-worklease/git-worklease/internal/gitserver"
)

func later() time.Time { return time.Now().Add(48 * time.Hour) }

// TestCredentials come from a helper that is set in the user's repository, or in a file that the global configuration includes for it.
func TestCredentials(t *testing.T) {
	server := gitserver.TestHTTP(t, gitserver.HTTPOptions{Users: map[string]string{"ann": "secret"}})
	if _, err := server.Repos.NewRepo(t.Context(), "r"); err != nil {
		t.Fatal(err)
	}
	for name, configure := range map[string]func(c *client, helper string){
		"repository": func(c *client, helper string) { c.git(t, "config", "credential.helper", helper) },
		"global":     func(c *client, helper string) { c.git(t, "config", "--global", "credential.helper", helper) },
		"command line": func(c *client, helper string) {
			c.Env = append(c.Env, "GIT_CONFIG_COUNT=1", "GIT_CONFIG_KEY_0=credential.helper", "GIT_CONFIG_VALUE_0="+helper)
		},
		"conditional": func(c *client, helper string) {
			file := filepath.Join(c.Home, "work.inc")
			c.git(t, "config", "--file", file, "credential.helper", helper)
			c.git(t, "config", "--global", "includeIf.gitdir:"+c.Dir+"/.git.path", file)
		},
	} {
		t.Run(name, func(t *testing.T) {
			c := newClient(t, server.URL("r"))
			c.git(t, "config", "--global", "alias.x", "status")
			configure(c, "!f() { echo username=ann; echo password=secret; }; f")
			if _, err := c.open().List(t.Context(), ref); err != nil {
				t.Fatal(err)
			}
		})
	}
}

// TestNotRewrittenTwice: the URL that we get is the last word, and git's rules would lead elsewhere.
func TestNotRewrittenTwice(t *testing.T) {
	repo := newRepo(t)
	for _, rule := range []string{"insteadOf", "pushInsteadOf"} {
		for _, scope := range []string{"--global", "--local"} {
			c := newClient(t, "file://"+repo.Dir)
			c.git(t, "config", scope, "url.file:///nowhere/."+rule, "file://"+filepath.Dir(repo.Dir)+"/")
			if _, err := swap(t, c.open(), change("refs/worklease/claims/"+strings.ToLower(rule+scope), "", "one")); err != nil {
				t.Errorf("%s %s: %v", rule, scope, err)
			}
		}
	}
}

// TestSettingsThatMustNotMatter: what users have set for their own pushes and fetches.
func TestSettingsThatMustNotMatter(t *testing.T) {
	server := gitserver.TestHTTP(t, gitserver.HTTPOptions{})
	repo, err := server.Repos.NewRepo(t.Context(), "r")
	if err != nil {
		t.Fatal(err)
	}
	c := newClient(t, server.URL("r"))
	hooks := filepath.Join(t.TempDir(), "hooks")
	for _, hook := range []string{"pre-push", "reference-transaction"} {
		script := filepath.Join(hooks, hook)
		if err := os.MkdirAll(hooks, 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(script, []byte("#!/bin/sh\nexit 1\n"), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	for _, setting := range []string{
		"push.followTags=true", "push.gpgSign=true", "push.pushOption=ci.skip", "push.useForceIfIncludes=true", "push.recurseSubmodules=on-demand",
		"push.negotiate=true", "push.default=nothing", "fetch.prune=true", "fetch.fsckObjects=true", "core.hooksPath=" + hooks, "remote.pushDefault=x",
		"branch.main.pushRemote=x", "submodule.recurse=true", "transfer.hideRefs=refs/worklease",
	} {
		key, value, _ := strings.Cut(setting, "=")
		c.git(t, "config", "--global", key, value)
	}
	tip, err := swap(t, newClient(t, server.URL("r")).open(), change(ref, "", "one"))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := swap(t, c.open(), change(ref, tip, "two"), change(other, "", "one")); err != nil {
		t.Fatal(err)
	}
	c.git(t, "config", "--global", "--unset", "core.hooksPath")
	c.untouched(t, repo)
}

// TestInsideAHook: the variables that git sets for hooks must not lead into the user's repository.
func TestInsideAHook(t *testing.T) {
	repo := newRepo(t)
	c := newClient(t, repo.Dir)
	plain := c.Env
	c.Env = append(c.Env, "GIT_DIR="+filepath.Join(c.Dir, ".git"), "GIT_INDEX_FILE="+filepath.Join(c.Dir, "x"), "GIT_PREFIX=x/",
		"GIT_OBJECT_DIRECTORY="+filepath.Join(c.Dir, ".git", "objects"), "GIT_QUARANTINE_PATH="+c.Dir)
	tip, err := swap(t, c.open(), change(ref, "", "one"))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := swap(t, c.open(), change(ref, tip, "two")); err != nil {
		t.Fatal(err)
	}
	c.Env = plain
	c.untouched(t, repo)
}
