package sshgit_test

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/git-worklease/git-worklease/internal/gitexec"
	"github.com/git-worklease/git-worklease/internal/gitserver"
	"github.com/git-worklease/git-worklease/refstore"
	"github.com/git-worklease/git-worklease/refstore/internal/sshgit"
)

func TestTroubles(t *testing.T) {
	s := newSite(t, gitserver.SSHOptions{})
	noKey := filepath.Join(t.TempDir(), "config")
	content, err := os.ReadFile(s.ClientConfig)
	if err == nil {
		err = os.WriteFile(noKey, []byte(strings.ReplaceAll(string(content), "user_key", "host_key")), 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
	with := func(command string) []string { return append(os.Environ(), "GIT_SSH_COMMAND="+command) }
	for name, test := range map[string]struct {
		url     string
		env     []string
		trouble refstore.Trouble
		words   string
	}{
		"no repository":  {s.URL("gone"), nil, refstore.TroubleNotFound, "does not appear to be a git repository"},
		"refused key":    {s.o.URL, with("ssh -F " + noKey), refstore.TroubleAuth, "Permission denied"},
		"strange host":   {s.o.URL, with("ssh -F " + s.ClientConfig + " -o UserKnownHostsFile=/dev/null"), refstore.TroubleAuth, "Host key verification failed"},
		"nobody listens": {"ssh://127.0.0.1:1/r", nil, refstore.TroubleNetwork, "refused"},
		"no such host":   {"nowhere.invalid:r", nil, refstore.TroubleNetwork, "nowhere.invalid"},
		"no such ssh":    {s.o.URL, with("/nowhere/ssh"), refstore.TroubleLocal, "not found"},
		"talkative":      {s.o.URL, append(with("echo Welcome; echo"), "GIT_SSH_VARIANT=ssh"), refstore.TroubleGarbage, "Welc"},
	} {
		t.Run(name, func(t *testing.T) {
			o := s.o
			o.URL = test.url
			if test.env != nil {
				o.Git = &gitexec.Git{Env: test.env}
			}
			tx, err := refstore.BuildTx(refstore.SHA1, change(ref, "", "one"))
			if err != nil {
				t.Fatal(err)
			}
			_, pushErr := sshgit.New(o).Push(t.Context(), tx)
			_, readErr := sshgit.New(o).Refs(t.Context(), []string{ref})
			for _, err := range []error{pushErr, readErr} {
				var u *refstore.UnavailableError
				if !errors.As(err, &u) || u.Sent || u.Trouble != test.trouble || !strings.Contains(err.Error(), test.words) {
					t.Errorf("got %v, want %s with %q", err, test.trouble, test.words)
				}
			}
		})
	}
}

func TestUnsupported(t *testing.T) {
	s := newSite(t, gitserver.SSHOptions{Protocol: true})
	if _, err := s.Repos.NewSHA256Repo(t.Context(), "r256"); err != nil {
		t.Fatal(err)
	}
	if err := s.repo.Set(t.Context(), "receive.advertiseAtomic=false"); err != nil {
		t.Fatal(err)
	}
	one, two := change(ref, "", "one"), change(ref+"2", "", "two")
	for name, test := range map[string]struct {
		url     string
		env     string
		changes []refstore.Change
		feature refstore.Feature
	}{
		"object format":    {s.URL("r256"), "", []refstore.Change{one}, refstore.FeatureFormat},
		"atomic":           {s.o.URL, "", []refstore.Change{one, two}, refstore.FeatureAtomic},
		"host as option":   {"ssh://-oProxyCommand=x/r", "", []refstore.Change{one}, refstore.FeatureScheme},
		"user as option":   {"-oProxyCommand=x@h:r", "", []refstore.Change{one}, refstore.FeatureScheme},
		"path as option":   {"h:-r", "", []refstore.Change{one}, refstore.FeatureScheme},
		"port, no options": {s.o.URL, "GIT_SSH_VARIANT=simple", []refstore.Change{one}, refstore.FeatureConfig},
	} {
		t.Run(name, func(t *testing.T) {
			o := s.o
			o.URL, o.Git = test.url, &gitexec.Git{Env: append(s.o.Git.Env, test.env)}
			tx, err := refstore.BuildTx(refstore.SHA1, test.changes...)
			if err != nil {
				t.Fatal(err)
			}
			_, err = sshgit.New(o).Push(t.Context(), tx)
			var u *refstore.UnsupportedError
			if !errors.As(err, &u) || u.Feature != test.feature {
				t.Errorf("got %v, want unsupported: %s", err, test.feature)
			}
		})
	}
	if refs, err := s.repo.Refs(t.Context(), "refs/worklease/"); err != nil || len(refs) != 0 {
		t.Errorf("something was pushed: %v, %v", refs, err)
	}
}

// TestDeadline ends calls that wait for a server that never says a word, or for the end of a push.
func TestDeadline(t *testing.T) {
	s := newSite(t, gitserver.SSHOptions{Protocol: true})
	started, hold := filepath.Join(t.TempDir(), "started"), filepath.Join(t.TempDir(), "hold")
	for _, fifo := range []string{started, hold} {
		if out, err := exec.Command("mkfifo", fifo).CombinedOutput(); err != nil {
			t.Fatalf("%v: %s", err, out)
		}
	}
	script := "#!/bin/sh\n: > " + started + "\nread line < " + hold + "\n"
	if err := s.repo.Hook("pre-receive", script); err != nil {
		t.Fatal(err)
	}
	silent := filepath.Join(t.TempDir(), "silent")
	if err := os.WriteFile(silent, []byte(script), 0o700); err != nil {
		t.Fatal(err)
	}
	tx, err := refstore.BuildTx(refstore.SHA1, change(ref, "", "one"))
	if err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct {
		program string
		sent    bool
	}{{silent, false}, {"git-receive-pack", true}} {
		ctx, cancel := context.WithCancel(t.Context())
		go func() {
			_, _ = os.ReadFile(started) // until somebody has opened it
			cancel()
		}()
		o := s.o
		o.ReceivePack = test.program
		_, err := sshgit.New(o).Push(ctx, tx)
		var u *refstore.UnavailableError
		if !errors.As(err, &u) || u.Trouble != refstore.TroubleDeadline || u.Sent != test.sent {
			t.Errorf("%s: got %#v", test.program, err)
		}
		release(t, hold)
	}
}

// release lets whoever reads the pipe go on.
func release(t *testing.T, fifo string) {
	t.Helper()
	if err := os.WriteFile(fifo, []byte("go\n"), 0o600); err != nil {
		t.Error(err)
	}
}

func TestHookWords(t *testing.T) {
	s := newSite(t, gitserver.SSHOptions{})
	if err := s.repo.Hook("pre-receive", "#!/bin/sh\necho 'no claims on Fridays' >&2\nexit 1\n"); err != nil {
		t.Fatal(err)
	}
	_, err := swap(t, s.open(t), change(ref, "", "one"))
	var refused *refstore.RefusedError
	if !errors.As(err, &refused) || refused.Words != "no claims on Fridays\n" {
		t.Fatalf("got %#v, want the hook's words", err)
	}
}
