package pathgit

import (
	"context"
	"errors"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/git-worklease/git-worklease/internal/gitexec"
	"github.com/git-worklease/git-worklease/refstore"
)

const (
	refA = "refs/worklease/claims/a"
	refB = "refs/worklease/claims/b"
)

var when = time.Date(2026, 11, 29, 15, 0, 0, 0, time.UTC)

func testGit(env ...string) *gitexec.Git {
	base := append(os.Environ(), "GIT_CONFIG_GLOBAL="+os.DevNull, "GIT_CONFIG_NOSYSTEM=1")
	return &gitexec.Git{Env: append(base, env...)}
}

func git(t *testing.T, args ...string) string {
	t.Helper()
	out, err := testGit().Output(t.Context(), args...)
	if err != nil {
		t.Fatal(err)
	}
	return strings.TrimSpace(string(out))
}

func newRepo(t *testing.T, args ...string) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "bare.git")
	git(t, append([]string{"init", "--quiet", "--bare"}, append(args, dir)...)...)
	return dir
}

func open(url string, known refstore.Server, env ...string) refstore.Transport {
	return New(Options{URL: url, Git: testGit(env...), Known: known, Now: func() time.Time { return when }})
}

var known = refstore.Server{Known: when, Atomic: true, Format: refstore.SHA1}

func change(ref string, old refstore.OID, message string) refstore.Update {
	u := refstore.Update{Change: refstore.Change{Ref: ref, Old: old, When: when}}
	if message != "" {
		u.Message = []byte(message)
		u.New = refstore.SHA1.Hash("commit", refstore.EncodeCommit(refstore.SHA1, old, when, u.Message))
	}
	return u
}

func txOf(updates ...refstore.Update) *refstore.Tx {
	return &refstore.Tx{Format: refstore.SHA1, Updates: updates}
}

func push(t *testing.T, tr refstore.Transport, updates ...refstore.Update) *refstore.Report {
	t.Helper()
	report, err := tr.Push(t.Context(), txOf(updates...))
	if err != nil {
		t.Fatal(err)
	}
	return report
}

func refs(t *testing.T, tr refstore.Transport) map[string]refstore.OID {
	t.Helper()
	got, err := tr.Refs(t.Context(), []string{"refs/worklease/"})
	if err != nil {
		t.Fatal(err)
	}
	return got
}

// The same changes, with and without knowledge of the repository.
func TestPushAndRead(t *testing.T) {
	for name, server := range map[string]refstore.Server{"blind": known, "asked": {}} {
		t.Run(name, func(t *testing.T) {
			tr := open("file://"+newRepo(t), server)
			one := change(refA, "", "one")
			two := change(refA, one.New, "two")
			if report := push(t, tr, one); !report.OK() {
				t.Fatalf("create: %+v", report)
			}
			if report := push(t, tr, two, change(refB, "", "b")); !report.OK() {
				t.Fatalf("two at once: %+v", report)
			}
			objects, err := tr.Commits(t.Context(), []refstore.OID{two.New}, 2)
			if err != nil || len(objects) != 2 {
				t.Errorf("%d commits, %v", len(objects), err)
			}
			if report := push(t, tr, change(refA, one.New, "stale"), change(refB, "", "stale")); report.OK() {
				t.Errorf("stale: %+v", report)
			}
			if want := map[string]refstore.OID{refA: two.New, refB: change(refB, "", "b").New}; !maps.Equal(refs(t, tr), want) {
				t.Errorf("refs %v, want %v", refs(t, tr), want)
			}
			if report := push(t, tr, change(refA, two.New, "")); !report.OK() || len(refs(t, tr)) != 1 {
				t.Errorf("delete: %+v", report)
			}
			if _, ok := tr.Skew(); ok || tr.Close() != nil {
				t.Error("a skew without a clock, or no end")
			}
		})
	}
}

func TestPushLearns(t *testing.T) {
	tr := open(newRepo(t), refstore.Server{})
	one := change(refA, "", "one")
	if report := push(t, tr, one); report.Stale || report.Advertised == nil {
		t.Errorf("report %+v", report)
	}
	s := tr.Server()
	if !s.Known.Equal(when) || !s.Atomic || s.Format != refstore.SHA1 || !strings.HasPrefix(s.Agent, "git/") {
		t.Errorf("learned %+v", s)
	}
	if report := push(t, tr, change(refB, "", "two")); report.Advertised != nil {
		t.Error("asked again")
	}
}

func TestStaleByAdvertisement(t *testing.T) {
	dir := newRepo(t)
	one := change(refA, "", "one")
	push(t, open(dir, known), one)
	report := push(t, open(dir, refstore.Server{}), change(refA, "", "two"))
	if want := map[string]refstore.OID{refA: one.New}; !report.Stale || report.OK() || !maps.Equal(report.Advertised, want) {
		t.Errorf("report %+v", report)
	}
}

func TestHooksRunAndSpeak(t *testing.T) {
	dir := newRepo(t)
	writeHook(t, dir, "update", "echo \"no $1\" >&2; exit 1")
	report := push(t, open(dir, known), change(refA, "", "one"))
	if report.OK() || !strings.Contains(report.Words, "no "+refA) || report.Refused[refA] == "" {
		t.Errorf("report %+v", report)
	}
}

func writeHook(t *testing.T, dir, name, body string) {
	t.Helper()
	if err := os.WriteFile(filepath.Join(dir, "hooks", name), []byte("#!/bin/sh\n"+body+"\n"), 0o700); err != nil { //nolint:gosec // a hook is a program
		t.Fatal(err)
	}
}

func TestUnsupported(t *testing.T) {
	plain, sha256, notAtomic := newRepo(t), newRepo(t, "--object-format=sha256"), newRepo(t)
	git(t, "-C", notAtomic, "config", "receive.advertiseAtomic", "false")
	push256 := txOf(change(refA, "", "one"))
	push256.Format = refstore.SHA256
	two := txOf(change(refA, "", "one"), change(refB, "", "two"))
	cases := map[string]struct {
		dir  string
		call func(context.Context, refstore.Transport) error
		want refstore.Feature
	}{
		"read SHA-256": {sha256, func(ctx context.Context, tr refstore.Transport) error {
			_, err := tr.Refs(ctx, []string{"refs/"})
			return err
		}, refstore.FeatureFormat},
		"push to SHA-256": {sha256, func(ctx context.Context, tr refstore.Transport) error {
			_, err := tr.Push(ctx, txOf(change(refA, "", "one")))
			return err
		}, refstore.FeatureFormat},
		"push SHA-256": {plain, func(ctx context.Context, tr refstore.Transport) error { _, err := tr.Push(ctx, push256); return err }, refstore.FeatureFormat},
		"two refs":     {notAtomic, func(ctx context.Context, tr refstore.Transport) error { _, err := tr.Push(ctx, two); return err }, refstore.FeatureAtomic},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			var unsupported *refstore.UnsupportedError
			if err := c.call(t.Context(), open(c.dir, refstore.Server{})); !errors.As(err, &unsupported) || unsupported.Feature != c.want {
				t.Errorf("error %v, want %s", err, c.want)
			}
		})
	}
	if got := git(t, "-C", notAtomic, "for-each-ref"); got != "" {
		t.Errorf("refs %s", got)
	}
}

func TestUnavailable(t *testing.T) {
	good, notRepo := newRepo(t), t.TempDir()
	broken := newRepo(t)
	if err := os.WriteFile(filepath.Join(broken, "config"), []byte("[core\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	cases := map[string]struct {
		url  string
		env  []string
		want refstore.Trouble
	}{
		"absent":          {filepath.Join(notRepo, "nothing"), nil, refstore.TroubleNotFound},
		"no repository":   {notRepo, nil, refstore.TroubleNotFound},
		"another's":       {good, []string{"GIT_TEST_ASSUME_DIFFERENT_OWNER=1"}, refstore.TroubleDenied},
		"a broken config": {broken, nil, refstore.TroubleLocal},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			for _, server := range []refstore.Server{{}, known} {
				tr := open(c.url, server, c.env...)
				_, err := tr.Refs(t.Context(), []string{"refs/"})
				checkUnavailable(t, err, c.want, false)
				_, err = tr.Push(t.Context(), txOf(change(refA, "", "one")))
				checkUnavailable(t, err, c.want, c.want == refstore.TroubleLocal && !server.Known.IsZero())
			}
		})
	}
}

func checkUnavailable(t *testing.T, err error, trouble refstore.Trouble, sent bool) {
	t.Helper()
	var u *refstore.UnavailableError
	if !errors.As(err, &u) || u.Trouble != trouble || u.Sent != sent {
		t.Errorf("error %#v: %v; want %s, sent %v", err, err, trouble, sent)
	}
}

func TestGitNotThere(t *testing.T) {
	tr := New(Options{URL: newRepo(t), Git: &gitexec.Git{Program: filepath.Join(t.TempDir(), "git")}, Now: time.Now})
	_, err := tr.Refs(t.Context(), []string{"refs/"})
	checkUnavailable(t, err, refstore.TroubleLocal, false)
	_, err = tr.Push(t.Context(), txOf(change(refA, "", "one")))
	checkUnavailable(t, err, refstore.TroubleLocal, false)
}

func TestContextEnded(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	tr := open(newRepo(t), refstore.Server{})
	_, err := tr.Refs(ctx, []string{"refs/"})
	checkUnavailable(t, err, refstore.TroubleDeadline, false)
	_, err = tr.Push(ctx, txOf(change(refA, "", "one")))
	checkUnavailable(t, err, refstore.TroubleDeadline, false)
}

// The caller's own repository must not be written to instead.
func TestEnvironmentOfTheCaller(t *testing.T) {
	own, remote := newRepo(t), newRepo(t)
	tr := open(remote, known, "GIT_DIR="+own, "GIT_WORK_TREE=/", "GIT_OBJECT_DIRECTORY="+own+"/objects", "GIT_QUARANTINE_PATH="+own)
	push(t, tr, change(refA, "", "one"))
	if len(refs(t, tr)) != 1 || git(t, "-C", own, "for-each-ref") != "" {
		t.Error("the wrong repository was written to")
	}
}

func TestNonBareAndRelative(t *testing.T) {
	dir := t.TempDir()
	git(t, "init", "--quiet", filepath.Join(dir, "-work tree"))
	g := testGit()
	g.Dir = dir
	tr := New(Options{URL: "-work tree", Git: g, Now: time.Now})
	if report := push(t, tr, change(refA, "", "one")); !report.OK() || len(refs(t, tr)) != 1 {
		t.Errorf("report %+v", report)
	}
	tr = New(Options{URL: "file://localhost" + dir + "/%2Dwork%20tree", Git: g, Now: time.Now})
	if len(refs(t, tr)) != 1 {
		t.Error("the URL was not decoded")
	}
	tr = New(Options{URL: "other", Git: g, Now: time.Now})
	_, err := tr.Refs(t.Context(), []string{"refs/"})
	checkUnavailable(t, err, refstore.TroubleNotFound, false)
}

func TestCommitsOfNothing(t *testing.T) {
	objects, err := open("/nowhere", known).Commits(t.Context(), nil, 1)
	if err != nil || objects != nil {
		t.Errorf("%v, %v", objects, err)
	}
}
