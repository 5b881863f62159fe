package session_test

import (
	"errors"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"testing"
	"time"

	"github.com/git-worklease/git-worklease/internal/session"
	"github.com/git-worklease/git-worklease/lease"
)

// TestAccepted: a named session has its own claims and its parents', an unnamed one what was claimed in its worktree.
func TestAccepted(t *testing.T) {
	owner := clone(t)
	for _, name := range []string{"orch", "orch/7", "orch/7/x", "other"} {
		must(t, openState(t, owner, name).SaveHold(hold(name, lease.Resource("task:"+name))))
	}
	unconfirmed := hold("orch/7", "path:a")
	unconfirmed.Unconfirmed = true
	must(t, openState(t, owner, "orch/7").SaveHold(unconfirmed))
	elsewhere := session.Place{Root: filepath.Join(owner, "worklease"), Owner: owner, Worktree: "linked", Born: 7}
	linked, err := session.Open(session.Options{Place: elsewhere, Where: "w", Session: "there", HostName: "box"})
	must(t, err)
	must(t, linked.SaveHold(hold("there", "task:there")))
	for _, c := range []struct {
		session string
		named   bool
		want    []lease.Resource
	}{
		{"orch/7", true, []lease.Resource{"task:orch", "task:orch/7"}},
		{"orch", true, []lease.Resource{"task:orch"}},
		{"orchid", true, nil},
		{"@main", false, []lease.Resource{"task:orch", "task:orch/7", "task:orch/7/x", "task:other"}},
	} {
		holds, doubts, err := openState(t, owner, c.session).Accepted(c.named)
		var got []lease.Resource
		for _, h := range holds {
			got = append(got, h.Members[0].Resource)
		}
		slices.Sort(got)
		if err != nil || len(doubts) > 0 || !slices.Equal(got, c.want) {
			t.Errorf("%s: %q, %v, %v, want %q", c.session, got, doubts, err, c.want)
		}
	}
	elsewhere.Born = 8 // another worktree of the same name
	again, err := session.Open(session.Options{Place: elsewhere, Where: "w", Session: "wt-linked", HostName: "box"})
	must(t, err)
	if holds, _, err := again.Accepted(false); err != nil || len(holds) != 0 {
		t.Errorf("a worktree that came later has %+v, %v", holds, err)
	}
	must(t, os.WriteFile(filepath.Join(owner, "worklease", "sessions", "orch.json"), []byte("{"), 0o600))
	if _, doubts, err := openState(t, owner, "orch/7").Accepted(true); err != nil || len(doubts) != 1 || !errors.Is(doubts[0], session.ErrState) {
		t.Errorf("a parent that can't be read: %v, %v", doubts, err)
	}
}

func TestClaims(t *testing.T) {
	owner := clone(t)
	s := openState(t, owner, "a")
	if any, err := s.Claims(); any || err != nil {
		t.Errorf("none: %v, %v", any, err)
	}
	h := hold("b", "task:1")
	must(t, s.SaveHold(h))
	if any, err := s.Claims(); !any || err != nil {
		t.Errorf("one: %v, %v", any, err)
	}
	h.End = &lease.End{How: lease.EndReleased}
	must(t, s.SaveHold(h))
	if any, err := s.Claims(); any || err != nil {
		t.Errorf("ended: %v, %v", any, err)
	}
}

func TestGlance(t *testing.T) {
	owner := clone(t)
	s := openState(t, owner, "a")
	if g := s.Glance(); !reflect.DeepEqual(g, session.Glance{}) {
		t.Errorf("before: %+v", g)
	}
	at := session.Point{Wall: time.Unix(5, 0).UTC(), Boot: lease.Instant{Boot: "b", Since: 9}}
	must(t, s.SaveGlance(session.Glance{Read: at, Paths: []session.PathClaim{{Resource: "path:a", Claim: "c"}}}))
	if g := openState(t, owner, "b").Glance(); g.Read != at || len(g.Paths) != 1 || g.Paths[0].Resource != "path:a" {
		t.Errorf("after: %+v", g)
	}
	place := session.Place{Root: filepath.Join(owner, "worklease"), Owner: owner}
	moved, err := session.Open(session.Options{Place: place, Where: "elsewhere", Session: "a", HostName: "box"})
	must(t, err)
	if g := moved.Glance(); len(g.Paths) != 0 {
		t.Errorf("at another remote: %+v", g)
	}
	must(t, os.WriteFile(filepath.Join(place.Root, "glance.json"), []byte("{"), 0o600))
	if g := s.Glance(); len(g.Paths) != 0 {
		t.Errorf("torn: %+v", g)
	}
}

func TestSince(t *testing.T) {
	p := session.Point{Wall: time.Unix(100, 0), Boot: lease.Instant{Boot: "b", Since: time.Minute}}
	if got := p.Since(time.Unix(500, 0), lease.Instant{Boot: "b", Since: 2 * time.Minute}); got != time.Minute {
		t.Errorf("of one boot: %s", got)
	}
	if got := p.Since(time.Unix(130, 0), lease.Instant{Boot: "c", Since: time.Hour}); got != 30*time.Second {
		t.Errorf("of another: %s", got)
	}
}

func TestOverrides(t *testing.T) {
	s := openState(t, clone(t), "a")
	if all, err := s.Overrides(); err != nil || len(all) != 0 {
		t.Errorf("before: %+v, %v", all, err)
	}
	for _, reason := range []string{"one\nline", "two"} {
		must(t, s.RecordOverride(&session.Override{Hook: "pre-push", Reason: reason, Passed: []string{"x"}}))
	}
	f, err := os.OpenFile(filepath.Join(s.Dir(), "overrides"), os.O_APPEND|os.O_WRONLY, 0)
	must(t, err)
	_, err = f.WriteString("{\"v\":1")
	must(t, errors.Join(err, f.Close()))
	if all, err := s.Overrides(); err != nil || len(all) != 2 || all[0].Reason != "one\nline" || all[1].Hook != "pre-push" {
		t.Errorf("after: %+v, %v", all, err)
	}
}
