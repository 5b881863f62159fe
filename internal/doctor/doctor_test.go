package doctor

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/git-worklease/git-worklease/internal/fault"
	"github.com/git-worklease/git-worklease/lease"
	"github.com/git-worklease/git-worklease/refstore"
	"github.com/git-worklease/git-worklease/refstore/memory"
)

var noon = time.Date(2026, 11, 29, 12, 0, 0, 0, time.UTC)

// find is the first finding with an ID.
func (r *Report) find(id ID) Finding {
	for _, f := range r.Findings {
		if f.ID == id {
			return f
		}
	}
	return Finding{}
}

func TestReportExit(t *testing.T) {
	r := &Report{}
	r.Good(IDGit, "x")
	r.Warn(IDClock, "", "x")
	if r.Exit() != fault.OK {
		t.Errorf("exit %d", r.Exit())
	}
	for _, exit := range []fault.Exit{fault.Usage, fault.Forbidden, fault.Unknown} { // each is worse than those before
		r.Problem(IDRead, exit, "", "x")
		if r.Exit() != exit {
			t.Errorf("exit %d, want %d", r.Exit(), exit)
		}
	}
	r.Note(IDServer, "\x1b[1m", "\x1b[31m")
	if f := r.find(IDServer); strings.ContainsRune(f.What+f.Next, '\x1b') {
		t.Errorf("not escaped: %+v", f)
	}
}

func TestHosts(t *testing.T) {
	for url, want := range map[string]struct{ name, web string }{
		"git@github.com:acme/app.git":                               {"GitHub", "https://github.com/acme/app.git"},
		"ssh://git@ssh.github.com:443/acme/app.git":                 {"GitHub", "https://github.com/acme/app.git"},
		"https://user:token@GitHub.com/acme/app":                    {"GitHub", "https://GitHub.com/acme/app"},
		"git@gitlab.com:a/b/c.git":                                  {"GitLab", "https://gitlab.com/a/b/c.git"},
		"git@ssh.dev.azure.com:v3/o/p/r":                            {"Azure DevOps", ""},
		"https://git-codecommit.eu-west-1.amazonaws.com/v1/repos/x": {"AWS CodeCommit", "https://git-codecommit.eu-west-1.amazonaws.com/v1/repos/x"},
		"git@codeup.aliyun.com:a/b.git":                             {"Codeup", ""},
		"git@notgithub.com:a/b.git":                                 {"", ""},
		"git@github.com.evil.example:a/b.git":                       {"", ""},
		"/srv/github.com/a.git":                                     {"", ""},
	} {
		h, _ := HostOf(url)
		web, _ := WebURL(url)
		if h.Name != want.name || web != want.web {
			t.Errorf("%s: %q at %q, want %q at %q", url, h.Name, web, want.name, want.web)
		}
	}
}

func TestLimits(t *testing.T) {
	seven, six := 7, 6
	for _, test := range []struct {
		url    string
		pushes *int
		level  Level
	}{
		{"git@github.com:a/b", &seven, Warning}, {"git@github.com:a/b", &six, OK}, {"git@box:a/b", &seven, OK}, {"git@github.com:a/b", nil, ""},
	} {
		r := &Report{}
		Limits(r, test.url, test.pushes)
		if f := r.find(IDPushes); f.Level != test.level {
			t.Errorf("%+v: %+v", test, f)
		}
	}
}

// TestCase32RefsAreBounded: CASES row 32, refs that pile up are named, and so are releases older than need be.
func TestCase32RefsAreBounded(t *testing.T) {
	survey := func(n int) *lease.Survey {
		s := &lease.Survey{Authority: "a1"}
		for i := range n {
			at := noon.Add(-time.Duration(i) * 24 * time.Hour)
			s.Views = append(s.Views, lease.View{
				Resource: lease.Resource(fmt.Sprintf("task:%d", i)), State: lease.StandingReleased, Record: &lease.Record{Release: &lease.Release{At: at}},
			})
		}
		return s
	}
	few, many := &Report{}, &Report{}
	Records(few, survey(91), noon, 90*24*time.Hour)
	if f := few.find(IDTombstones); f.Level != "" || few.find(IDRefs).Level != "" {
		t.Errorf("91 releases: %+v", few.Findings)
	}
	Records(many, survey(manyRecords+1), noon, 90*24*time.Hour)
	if f := many.find(IDTombstones); f.Level != Note || !strings.HasPrefix(f.What, "4910 claims were released more than 90 d ago") {
		t.Errorf("tombstones: %+v", f)
	}
	if f := many.find(IDRefs); f.Level != Warning || !strings.HasPrefix(f.What, "5001 refs") {
		t.Errorf("refs: %+v", f)
	}
}

// TestRecordsAreNamedWithinBounds: a remote full of rubbish gives no endless list.
func TestRecordsAreNamedWithinBounds(t *testing.T) {
	s := &lease.Survey{}
	for i := range 200 {
		s.Views = append(s.Views, lease.View{Ref: fmt.Sprint(i), State: lease.StandingCorrupt, Problem: lease.ErrCorrupt})
		s.Gone = append(s.Gone, lease.Sighting{Resource: "task:x", Generation: 1})
	}
	r := &Report{}
	Records(r, s, noon, 90*24*time.Hour)
	if len(r.Findings) > 3*shownEach || r.Exit() != fault.Unknown {
		t.Errorf("%d findings, exit %d", len(r.Findings), r.Exit())
	}
}

// badStore is a store that does not keep its promises.
type badStore struct {
	refstore.Store
	swap func(n int, tx *refstore.Tx) (done bool, err error)
	n    *int
}

func (s badStore) Swap(ctx context.Context, tx *refstore.Tx, ours func(refstore.Ref) bool) error {
	*s.n++
	if done, err := s.swap(*s.n, tx); done {
		return err
	}
	return s.Store.Swap(ctx, tx, ours)
}

// TestProbe: what a server does wrong is found, and nothing is left at any.
func TestProbe(t *testing.T) {
	refused := &refstore.RefusedError{Words: "no"}
	for name, test := range map[string]struct {
		swap  func(n int, tx *refstore.Tx) (bool, error)
		id    ID
		level Level
		exit  fault.Exit
	}{
		"in order":               {func(int, *refstore.Tx) (bool, error) { return false, nil }, IDAtomic, OK, 0},
		"refuses all":            {func(int, *refstore.Tx) (bool, error) { return true, refused }, IDWrite, Problem, fault.Forbidden},
		"does not compare":       {func(n int, _ *refstore.Tx) (bool, error) { return n == 2, nil }, IDSwap, Problem, fault.Forbidden},
		"compares only at first": {func(n int, _ *refstore.Tx) (bool, error) { return n == 4, nil }, IDSwap, Problem, fault.Forbidden},
		"half of two":            {func(n int, _ *refstore.Tx) (bool, error) { return n == 3, &refstore.HalfAppliedError{} }, IDAtomic, Problem, fault.Forbidden},
		"half of a stale pair":   {func(n int, _ *refstore.Tx) (bool, error) { return n == 4, &refstore.HalfAppliedError{} }, IDAtomic, Problem, fault.Forbidden},
		"goes away": {func(n int, _ *refstore.Tx) (bool, error) {
			return n == 3, &refstore.UnavailableError{Err: errors.New("gone")}
		}, IDAtomic, Problem, fault.Unknown},
		"can't do two": {func(_ int, tx *refstore.Tx) (bool, error) {
			return len(tx.Updates) > 1, &refstore.UnsupportedError{Feature: refstore.FeatureAtomic}
		}, IDAtomic, Warning, 0},
	} {
		t.Run(name, func(t *testing.T) {
			repo := &memory.Repository{}
			store := badStore{refstore.New(repo.Transport(), refstore.Options{}), test.swap, new(int)}
			r := &Report{}
			p := &Probe{Store: store, Prefix: lease.DefaultPrefix, Now: func() time.Time { return noon }, Rand: bytes.NewReader(make([]byte, 64))}
			p.Run(t.Context(), r)
			if f := r.find(test.id); f.Level != test.level || r.Exit() != test.exit {
				t.Errorf("exit %d, %+v", r.Exit(), r.Findings)
			}
			if left := repo.Refs(); len(left) != 0 {
				t.Errorf("left behind: %v", left)
			}
		})
	}
}
