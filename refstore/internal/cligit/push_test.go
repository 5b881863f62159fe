package cligit_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/git-worklease/git-worklease/internal/gitserver"
	"github.com/git-worklease/git-worklease/refstore"
	"github.com/git-worklease/git-worklease/refstore/internal/cligit"
)

const other = "refs/worklease/claims/b"

func TestUserUntouched(t *testing.T) {
	repo := newRepo(t)
	c := newClient(t, repo.Dir)
	c.git(t, "remote", "add", "--mirror=push", "origin", repo.Dir)
	c.git(t, "config", "--add", "remote.origin.fetch", "+refs/*:refs/*")
	tip, err := swap(t, c.open(), change(ref, "", "one"))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := swap(t, newClient(t, repo.Dir).open(), change(ref, tip, "two")); err != nil {
		t.Fatal(err)
	}
	if _, err := c.open().List(t.Context(), "refs/"); err != nil {
		t.Fatal(err)
	}
	c.untouched(t, repo)
}

// TestFreshClientUpdates swaps what another client wrote without having read it here, or having read its tip alone: git needs the parent, and since 2.45 must
// not miss what is before that.
func TestFreshClientUpdates(t *testing.T) {
	repo := newRepo(t)
	var tips []refstore.OID
	for i, text := range []string{"one", "two", "three", "four"} {
		var old refstore.OID
		c := newClient(t, repo.Dir)
		s := c.open()
		if i > 0 {
			old = tips[i-1]
		}
		if i == 3 {
			if _, err := s.List(t.Context(), ref); err != nil {
				t.Fatal(err)
			}
		}
		tip, err := swap(t, s, change(ref, old, text))
		if err != nil {
			t.Fatalf("%s: %v", text, err)
		}
		tips = append(tips, tip)
	}
	stale := refstore.OID(strings.Repeat("1", 40))
	if _, err := swap(t, newClient(t, repo.Dir).open(), change(ref, stale, "x")); !errors.Is(err, refstore.ErrConflict) {
		t.Errorf("an old OID that the server never had: %v, want a conflict", err)
	}
}

func TestNotAtomic(t *testing.T) {
	repo := newRepo(t, "receive.advertiseAtomic=false")
	c := newClient(t, repo.Dir)
	tr := cligit.New(c.options())
	s := refstore.New(tr, refstore.Options{})
	_, err := swap(t, s, change(ref, "", "one"), change(other, "", "two"))
	var u *refstore.UnsupportedError
	if !errors.As(err, &u) || u.Feature != refstore.FeatureAtomic {
		t.Fatalf("got %v, want unsupported: atomic", err)
	}
	if known := tr.Server(); known.Known.IsZero() || known.Atomic {
		t.Errorf("learned %+v", known)
	}
	if _, err := swap(t, s, change(ref, "", "one")); err != nil {
		t.Errorf("a single ref: %v", err)
	}
	if refs, err := s.List(t.Context(), "refs/"); err != nil || len(refs) != 1 {
		t.Errorf("list: %v, %v", refs, err)
	}
}

func TestFormatMismatch(t *testing.T) {
	repo, err := gitserver.TestRepos(t).NewSHA256Repo(t.Context(), "r")
	if err != nil {
		t.Fatal(err)
	}
	s := newClient(t, repo.Dir).open()
	_, err = swap(t, s, change(ref, "", "one"))
	var u *refstore.UnsupportedError
	if !errors.As(err, &u) || u.Feature != refstore.FeatureFormat {
		t.Fatalf("got %v, want unsupported: object format", err)
	}
	if _, err := swap(t, s, change(ref, "", "one")); err != nil {
		t.Errorf("the second time, the format is known: %v", err)
	}
}

func TestHookRefuses(t *testing.T) {
	repo := newRepo(t)
	if err := repo.Hook("pre-receive", "#!/bin/sh\necho 'no claims on Fridays' >&2\nexit 1\n"); err != nil {
		t.Fatal(err)
	}
	c := newClient(t, repo.Dir)
	_, err := swap(t, c.open(), change(ref, "", "one"), change(other, "", "two"))
	var refused *refstore.RefusedError
	if !errors.As(err, &refused) || refused.Words != "no claims on Fridays\n" || len(refused.Reasons) != 2 {
		t.Fatalf("got %#v, want refused with the hook's words", err)
	}
}

// TestLostReply: the push landed, the reply did not.
func TestLostReply(t *testing.T) {
	server := gitserver.TestHTTP(t, gitserver.HTTPOptions{})
	repo, err := server.Repos.NewRepo(t.Context(), "r")
	if err != nil {
		t.Fatal(err)
	}
	tx := build(t, change(ref, "", "one"), change(other, "", "two"))
	// Once: curl must not repeat the request by itself, or the report on the second would stand for both.
	server.Inject(gitserver.Fault{When: gitserver.Push, Nth: 1, Do: gitserver.LoseReply})
	c := newClient(t, server.URL("r"))
	_, err = cligit.New(c.options()).Push(t.Context(), tx)
	wantUnavailable(t, err, true)
	server.Heal()
	if err := c.open().Swap(t.Context(), tx, nil); err != nil {
		t.Errorf("again: %v", err)
	}
	c.untouched(t, repo)
}

// TestCutReply: a report that stops before its end is no report.
func TestCutReply(t *testing.T) {
	server := gitserver.TestHTTP(t, gitserver.HTTPOptions{})
	if _, err := server.Repos.NewRepo(t.Context(), "r"); err != nil {
		t.Fatal(err)
	}
	tx := build(t, change(ref, "", "one"), change(other, "", "two"))
	for _, n := range []int{0, 1, 10, 29, 43} {
		server.Inject(gitserver.Fault{When: gitserver.Push, Do: gitserver.CutReply(n)})
		_, err := cligit.New(newClient(t, server.URL("r")).options()).Push(t.Context(), tx)
		wantUnavailable(t, err, true)
		server.Heal()
		drop := build(t, refstore.Change{Ref: ref, Old: tx.Updates[0].New}, refstore.Change{Ref: other, Old: tx.Updates[1].New})
		if r, err := cligit.New(newClient(t, server.URL("r")).options()).Push(t.Context(), drop); err != nil || !r.OK() {
			t.Fatalf("%d bytes: nothing had landed: %+v, %v", n, r, err)
		}
	}
}

// TestDeadline kills a push that the server holds: before it was sent, and after.
func TestDeadline(t *testing.T) {
	server := gitserver.TestHTTP(t, gitserver.HTTPOptions{})
	if _, err := server.Repos.NewRepo(t.Context(), "r"); err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct {
		when gitserver.Match
		sent bool
	}{{gitserver.AdvertisePush, false}, {gitserver.Push, true}} {
		hold := gitserver.NewHold()
		server.Inject(gitserver.Fault{When: test.when, Do: hold.Do})
		ctx, cancel := context.WithCancel(t.Context())
		go func() {
			<-hold.Arrived()
			cancel()
		}()
		_, err := cligit.New(newClient(t, server.URL("r")).options()).Push(ctx, build(t, change(ref, "", "one")))
		u := wantUnavailable(t, err, test.sent)
		if u.Trouble != refstore.TroubleDeadline {
			t.Errorf("sent %v: trouble is %s", test.sent, u.Trouble)
		}
		hold.Release()
		server.Heal()
	}
}

func TestTroubles(t *testing.T) {
	server := gitserver.TestHTTP(t, gitserver.HTTPOptions{Users: map[string]string{"ann": "secret"}})
	repo, err := server.Repos.NewRepo(t.Context(), "r", "http.receivepack=false")
	if err != nil {
		t.Fatal(err)
	}
	as := func(userinfo, name string) string {
		return strings.Replace(server.URL(name), "://", "://"+userinfo, 1)
	}
	for name, test := range map[string]struct {
		url     string
		trouble refstore.Trouble
	}{
		"no credentials":    {as("", "r"), refstore.TroubleAuth},
		"wrong credentials": {as("ann:wrong@", "r"), refstore.TroubleAuth},
		"not allowed":       {as("ann:secret@", "r"), refstore.TroubleDenied},
		"no repository":     {as("ann:secret@", "gone"), refstore.TroubleNotFound},
		"no path":           {repo.Dir + "x", refstore.TroubleNotFound},
		"no server":         {"http://127.0.0.1:1/r.git", refstore.TroubleNetwork},
		"no host":           {"http://nowhere.invalid/r.git", refstore.TroubleNetwork},
	} {
		t.Run(name, func(t *testing.T) {
			c := newClient(t, test.url)
			_, err := cligit.New(c.options()).Push(t.Context(), build(t, change(ref, "", "one")))
			u := wantUnavailable(t, err, false)
			if u.Trouble != test.trouble || strings.Contains(u.URL, "secret") || strings.Contains(u.URL, "wrong") {
				t.Errorf("got %s for %s: %v", u.Trouble, u.URL, err)
			}
		})
	}
}

func TestGitMissing(t *testing.T) {
	c := newClient(t, "/nowhere")
	o := c.options()
	o.Git.Program = filepath.Join(t.TempDir(), "no-git")
	_, err := cligit.New(o).Push(t.Context(), build(t, change(ref, "", "one")))
	if u := wantUnavailable(t, err, false); u.Trouble != refstore.TroubleLocal {
		t.Errorf("trouble is %s", u.Trouble)
	}
}

// TestRacedAway fetches commits of which one has gone, from a server that then refuses the whole request.
func TestRacedAway(t *testing.T) {
	repo := newRepo(t)
	c := newClient(t, repo.Dir)
	c.git(t, "config", "protocol.version", "0")
	tip, err := swap(t, newClient(t, repo.Dir).open(), change(ref, "", "one"))
	if err != nil {
		t.Fatal(err)
	}
	gone := refstore.OID(strings.Repeat("1", 40))
	objects, err := cligit.New(c.options()).Commits(t.Context(), []refstore.OID{gone, tip}, 1)
	if err != nil || len(objects) != 1 || objects[0].OID != tip {
		t.Fatalf("got %v, %v; want the one that is there", objects, err)
	}
}

func TestSweeps(t *testing.T) {
	repo := newRepo(t)
	c := newClient(t, repo.Dir)
	if _, err := swap(t, c.open(), change(ref, "", "one")); err != nil {
		t.Fatal(err)
	}
	left := filepath.Join(c.options().Dir, "fetch-1")
	if err := os.Mkdir(left, 0o700); err != nil {
		t.Fatal(err)
	}
	o := c.options()
	o.Now = later
	if _, err := cligit.New(o).Refs(t.Context(), nil); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Lstat(left); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("what a killed process left is still there: %v", err)
	}
}

func build(t *testing.T, changes ...refstore.Change) *refstore.Tx {
	t.Helper()
	tx, err := refstore.BuildTx(refstore.SHA1, changes...)
	if err != nil {
		t.Fatal(err)
	}
	return tx
}

func wantUnavailable(t *testing.T, err error, sent bool) *refstore.UnavailableError {
	t.Helper()
	var u *refstore.UnavailableError
	if !errors.As(err, &u) || u.Sent != sent {
		t.Fatalf("got %#v, want unavailable, sent %v", err, sent)
	}
	return u
}
