package guard

import (
	"context"
	"errors"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/git-worklease/git-worklease/hooks"
	"github.com/git-worklease/git-worklease/internal/config"
	"github.com/git-worklease/git-worklease/internal/session"
	"github.com/git-worklease/git-worklease/lease"
	"github.com/git-worklease/git-worklease/refstore"
)

// clock is the bubble's.
type clock struct{ *lease.SystemClock }

func (clock) Now() time.Time { return time.Now() }

// Instant is of no boot, so that the wall clock counts.
func (clock) Instant() lease.Instant { return lease.Instant{} }

// blackHole is a remote that never answers.
type blackHole struct{ asked int }

func (b *blackHole) Ask(ctx lease.Context, _ lease.Question) (*lease.Answer, error) {
	b.asked++
	<-ctx.Done()
	return nil, &refstore.UnavailableError{URL: "http://hole", Trouble: refstore.TroubleDeadline, Err: ctx.Err()}
}

func (b *blackHole) Renew(ctx lease.Context, _ lease.RenewRequest) ([]lease.RenewResult, error) {
	_, err := b.Ask(ctx, lease.Question{})
	return nil, err
}

func newGuard(t testing.TB, remote Remote, policy string) *Guard {
	t.Helper()
	root := filepath.Join(t.TempDir(), "worklease")
	state, err := session.Open(session.Options{Place: session.Place{Root: root, Owner: filepath.Dir(root)}, Where: "w", Session: "@main", HostName: "h"})
	if err != nil {
		t.Fatal(err)
	}
	p, err := config.ParsePolicy([]byte("version = 1\n" + policy))
	if err != nil {
		t.Fatal(err)
	}
	return &Guard{
		Law: Together(p), State: state, Clock: clock{&lease.SystemClock{}}, Session: "@main", Remote: func() (Remote, error) { return remote, nil },
		Notice: func(format string, args ...any) { t.Errorf(format, args...) },
	}
}

// TestCase21CommitDecidesInTime: a remote that never answers is waited for once, for less than two seconds, and then left alone for a minute.
func TestCase21CommitDecidesInTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		hole := &blackHole{}
		g := newGuard(t, hole, "[[rule]]\npaths = [\"src/**\"]\nclaim = \"path\"\n")
		judge := func() ([]Finding, time.Duration) {
			ctx, cancel := hurried(t.Context())
			defer cancel()
			begun := time.Now()
			return g.judgeCommit(ctx, hooks.Change{Branch: "main", Paths: []string{"src/a", "b"}}), time.Since(begun)
		}
		findings, took := judge()
		if took != Patience || Patience > 2*time.Second || hole.asked != 1 {
			t.Errorf("it took %s and %d requests", took, hole.asked)
		}
		if len(findings) != 2 || findings[0].Kind != KindUnsure || findings[1].Kind != KindNeed {
			t.Errorf("findings %+v", findings)
		}
		if findings, took := judge(); took != 0 || hole.asked != 1 || len(findings) != 2 || !errors.Is(findings[0].Err, refstore.ErrUnavailable) {
			t.Errorf("at once it took %s and %d requests: %+v", took, hole.asked, findings)
		}
		time.Sleep(ListingLife + time.Second) //nolint:forbidigo // of the bubble
		if _, took := judge(); took != Patience || hole.asked != 2 {
			t.Errorf("a minute later it took %s and %d requests", took, hole.asked)
		}
	})
}

// TestInterruptedIsNotSilent: that somebody did not wait says nothing about the remote.
func TestInterruptedIsNotSilent(t *testing.T) {
	g := newGuard(t, &blackHole{}, "")
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := g.ask(ctx, lease.Question{Paths: true}); err == nil {
		t.Fatal("answered")
	}
	if err := g.silent(g.State.Glance()); err != nil {
		t.Errorf("remembered: %v", err)
	}
}

func TestTogether(t *testing.T) {
	parse := func(text string) *config.Policy {
		p, err := config.ParsePolicy([]byte("version = 1\n" + text))
		if err != nil {
			t.Fatal(err)
		}
		return p
	}
	lax := parse("[enforce]\ncommit = \"off\"\npush = \"warn\"\nforks = \"block\"\noverride = \"agents\"\nexempt = [\"bot\"]\n")
	strict := parse("[enforce]\ncommit = \"block\"\noffline = \"off\"\n[[rule]]\nbranch = \"main\"\nclaim = \"any\"\n")
	law := Together(lax, nil, strict)
	if law.Commit != config.ModeBlock || law.Push != config.ModeBlock || law.Offline != config.ModeWarn || law.Forks != config.ModeBlock || law.Override != config.ForcePeople {
		t.Errorf("both: %+v", law)
	}
	if !law.HasRules() || law.Exempt("refs/heads/main", "bot") || law.Exempt("refs/heads/main") {
		t.Error("one policy must not exempt from the other")
	}
	if needs, err := law.Needs(hooks.Change{Branch: "main"}, "refs/heads/main", "bot"); err != nil || len(needs) != 1 {
		t.Errorf("needs %+v, %v", needs, err)
	}
	if law := Together(lax, &config.Policy{}); law.Commit != config.ModeOff || !law.Exempt("", "bot") {
		t.Errorf("a policy that is not there counts: %+v", law)
	}
	if law := Together(nil, &config.Policy{}); law.Commit != config.ModeWarn || law.Push != config.ModeBlock || law.HasRules() {
		t.Errorf("no policy: %+v", law)
	}
	if Stricter("strange", config.ModeWarn) != config.ModeBlock || Milder(config.ModeOff, config.ModeBlock) != config.ModeOff {
		t.Error("the order of modes")
	}
	copied := *strict
	twice := Together(strict, &copied)
	if len(twice.parts) != 1 {
		t.Errorf("one policy counts %d times", len(twice.parts))
	}
	more := parse("[[rule]]\nbranch = \"main\"\nclaim = \"any\"\n")
	twice = Together(strict, more)
	if needs, err := twice.Needs(hooks.Change{Branch: "main"}, "refs/heads/main"); err != nil || len(needs) != 1 {
		t.Errorf("a rule of both policies asks for %+v, %v", needs, err)
	}
}

func TestExemptAuthors(t *testing.T) {
	p, err := config.ParsePolicy([]byte("version = 1\n[enforce]\nexempt = [\"bot\"]\n[[rule]]\nbranch = \"main\"\nclaim = \"any\"\n[[rule]]\npaths = [\"a\"]\nclaim = \"path\"\n"))
	if err != nil {
		t.Fatal(err)
	}
	law := Together(p)
	bots, mine := hooks.Commit{Author: "bot", Paths: []string{"a"}}, hooks.Commit{Author: "me", Paths: []string{"b"}}
	for want, commits := range map[int][]hooks.Commit{0: {bots}, 1: {bots, mine}, 2: {bots, {Author: "me", Paths: []string{"a"}}}} {
		if needs, err := law.NeedsOf("main", commits, "refs/heads/main"); err != nil || len(needs) != want {
			t.Errorf("%+v: %+v, %v", commits, needs, err)
		}
	}
	if needs, err := law.NeedsOf("main", nil, "refs/heads/main"); err != nil || len(needs) != 1 {
		t.Errorf("a branch that brings nothing new: %+v, %v", needs, err)
	}
}

func TestReadUpdates(t *testing.T) {
	zero, a, b := "0000000000000000000000000000000000000000", "1111111111111111111111111111111111111111", "2222222222222222222222222222222222222222"
	in := "refs/heads/x " + a + " refs/heads/y " + zero + "\n(delete) " + zero + " refs/heads/z " + b + "\n@{1 day ago} " + a + " refs/heads/w " + b + "\n"
	got, err := ReadUpdates(strings.NewReader(in))
	if err != nil || len(got) != 3 || got[0] != (Update{"refs/heads/y", a, ""}) || got[1] != (Update{"refs/heads/z", "", b}) || got[2] != (Update{"refs/heads/w", a, b}) {
		t.Errorf("%+v, %v", got, err)
	}
	for _, bad := range []string{"x", "a b c d", "x " + a + " heads/y " + b, "x " + a + " refs/heads/y 12"} {
		if _, err := ReadUpdates(strings.NewReader(bad)); err == nil {
			t.Errorf("%q was read", bad)
		}
	}
}
