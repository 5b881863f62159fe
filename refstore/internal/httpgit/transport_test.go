package httpgit

import (
	"fmt"
	"maps"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/git-worklease/git-worklease/refstore"
)

// The same changes, with and without knowledge of the server, and at one that only speaks version 0.
func TestPushAndRead(t *testing.T) {
	cases := map[string]struct {
		known refstore.Server
		v0    bool
	}{
		"known":            {known: known},
		"unknown":          {},
		"known, version 0": {known: known, v0: true},
		"version 0":        {v0: true},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			s := startServer(t)
			if c.v0 {
				s.intercept(func(_ http.ResponseWriter, r *http.Request) bool { r.Header.Del("Git-Protocol"); return false })
			}
			tr := s.open(c.known)
			lifeOfRefs(t, tr)
			if got := tr.Server().ReadV2; got == c.v0 {
				t.Errorf("version 2: %v", got)
			}
			s.git("-C", s.repo(), "fsck", "--strict")
		})
	}
}

func lifeOfRefs(t *testing.T, tr refstore.Transport) {
	t.Helper()
	one := change(refA, "", "one")
	two := change(refA, one.New, "two")
	b := change(refB, "", "b")
	if got := refs(t, tr); len(got) != 0 {
		t.Errorf("refs %v", got)
	}
	if report := push(t, tr, one); !report.OK() {
		t.Fatalf("create: %+v", report)
	}
	if report := push(t, tr, two, b); !report.OK() {
		t.Fatalf("two at once: %+v", report)
	}
	for name, stale := range map[string][]refstore.Update{
		"create": {change(refA, "", "x")}, "update": {change(refA, one.New, "x")}, "delete": {change(refA, one.New, "")},
		"one of two": {change("refs/worklease/meta", "", "x"), change(refA, one.New, "x")},
	} {
		if report := push(t, tr, stale...); report.OK() {
			t.Errorf("stale %s: %+v", name, report)
		}
	}
	if want := map[string]refstore.OID{refA: two.New, refB: b.New}; !maps.Equal(refs(t, tr), want) {
		t.Errorf("refs %v, want %v", refs(t, tr), want)
	}
	objects, err := tr.Commits(t.Context(), []refstore.OID{two.New, b.New}, 2)
	if err != nil || len(objects) != 3 {
		t.Errorf("%d commits, %v", len(objects), err)
	}
	if report := push(t, tr, change(refA, two.New, "")); !report.OK() || len(refs(t, tr)) != 1 {
		t.Errorf("delete: %+v", report)
	}
}

// What is known spares requests.
func TestRequests(t *testing.T) {
	s := startServer(t)
	one := change(refA, "", "one")
	fresh, informed := s.open(refstore.Server{}), s.open(known)
	cases := []struct {
		name string
		do   func()
		want string
	}{
		{"a first read", func() { refs(t, fresh) }, "GET /info/refs version=2, POST /git-upload-pack version=2"},
		{"a second", func() { refs(t, fresh) }, "POST /git-upload-pack version=2"},
		{"a first push", func() { push(t, fresh, one) }, "GET /info/refs , POST /git-receive-pack "},
		{"a second", func() { push(t, fresh, change(refB, "", "b")) }, "POST /git-receive-pack "},
		{"a read", func() { refs(t, informed) }, "POST /git-upload-pack version=2"},
		{"commits", func() { _, _ = informed.Commits(t.Context(), []refstore.OID{one.New}, 1) }, "POST /git-upload-pack version=2"},
		{"no commits", func() { _, _ = informed.Commits(t.Context(), nil, 1) }, ""},
		{"a push", func() { push(t, informed, change(refA, one.New, "")) }, "POST /git-receive-pack "},
	}
	for _, c := range cases {
		c.do()
		if got := s.seen(); got != c.want {
			t.Errorf("%s: %s, want %s", c.name, got, c.want)
		}
	}
}

func TestPushLearns(t *testing.T) {
	s := startServer(t)
	tr := open(t, Options{URL: s.url(), Now: func() time.Time { return when }})
	one := change(refA, "", "one")
	if report := push(t, tr, one); report.Stale || report.Advertised == nil || len(report.Advertised) != 0 {
		t.Errorf("report %+v", report)
	}
	got := tr.Server()
	if !got.Known.Equal(when) || !got.Atomic || got.Format != refstore.SHA1 || !strings.HasPrefix(got.Agent, "git/") {
		t.Errorf("learned %+v", got)
	}
	report := push(t, s.open(refstore.Server{}), change(refA, "", "two"))
	if want := map[string]refstore.OID{refA: one.New}; !report.Stale || report.OK() || !maps.Equal(report.Advertised, want) {
		t.Errorf("report %+v", report)
	}
}

func TestServerWithoutAtomic(t *testing.T) {
	s := startServer(t)
	s.setting("receive.advertiseAtomic", "false")
	tr := s.open(refstore.Server{})
	_, err := tr.Push(t.Context(), txOf(change(refA, "", "one"), change(refB, "", "two")))
	checkUnsupported(t, err, refstore.FeatureAtomic, "")
	if report := push(t, tr, change(refA, "", "one")); !report.OK() {
		t.Errorf("report %+v", report)
	}
	s.seen()
	_, err = tr.Push(t.Context(), txOf(change(refA, "", "one"), change(refB, "", "two")))
	checkUnsupported(t, err, refstore.FeatureAtomic, "")
	if got := s.seen(); got != "GET /info/refs " {
		t.Errorf("requests %s", got)
	}
}

func TestSHA256(t *testing.T) {
	s := startServer(t, "--object-format=sha256")
	for _, server := range []refstore.Server{{}, {ReadV2: true}} {
		tr := s.open(server)
		_, err := tr.Refs(t.Context(), []string{prefix})
		checkUnsupported(t, err, refstore.FeatureFormat, "sha256")
		_, err = tr.Commits(t.Context(), []refstore.OID{"1"}, 1)
		checkUnsupported(t, err, refstore.FeatureFormat, "sha256")
		_, err = tr.Push(t.Context(), txOf(change(refA, "", "one")))
		checkUnsupported(t, err, refstore.FeatureFormat, "sha256")
	}
	tx := txOf(change(refA, "", "one"))
	tx.Format = refstore.SHA256
	_, err := s.open(known).Push(t.Context(), tx)
	checkUnsupported(t, err, refstore.FeatureFormat, "sha256")
}

func TestBytesOnTheWire(t *testing.T) {
	s := startServer(t)
	tr := s.open(known)
	record := "claim task:demo · generation 3 · alice/main until 2026-11-29T15:04:05Z\n\n{" + strings.Repeat("0123456789abcdef", 35) + "}\n"
	one := change(refA, "", record)
	push(t, tr, one)
	if up, down := s.up.Swap(0), s.down.Swap(0); up+down > 2<<10 {
		t.Errorf("a claim: %d up, %d down", up, down)
	} else {
		t.Logf("a claim: %d up, %d down", up, down)
	}
	refs(t, tr)
	if _, err := tr.Commits(t.Context(), []refstore.OID{one.New}, 1); err != nil {
		t.Error(err)
	}
	if up, down := s.up.Load(), s.down.Load(); up+down > 4<<10 {
		t.Errorf("a read: %d up, %d down", up, down)
	} else {
		t.Logf("a read: %d up, %d down", up, down)
	}
}

func TestSkew(t *testing.T) {
	s := startServer(t)
	tr := s.open(known)
	if _, ok := tr.Skew(); ok {
		t.Error("known before any reply")
	}
	date := time.Now().Add(90 * time.Second)
	s.intercept(func(w http.ResponseWriter, _ *http.Request) bool {
		w.Header().Set("Date", date.UTC().Format(http.TimeFormat))
		return false
	})
	refs(t, tr)
	offset, ok := tr.Skew()
	if !ok || (offset-90*time.Second).Abs() > 30*time.Second {
		t.Errorf("skew %v, %v", offset, ok)
	}
	s.intercept(func(w http.ResponseWriter, _ *http.Request) bool { w.Header()["Date"] = nil; return false })
	other := s.open(known)
	refs(t, other)
	if _, ok := other.Skew(); ok {
		t.Error("known without a Date")
	}
}

func TestManyAtOnce(t *testing.T) {
	s := startServer(t)
	tr := s.open(refstore.Server{})
	errs := make(chan error)
	for i := range 6 {
		go func() {
			report, err := tr.Push(t.Context(), txOf(change(fmt.Sprintf("refs/worklease/claims/%d", i), "", "x")))
			if err == nil && !report.OK() {
				err = fmt.Errorf("report %+v", report)
			}
			errs <- err
		}()
	}
	for range 6 {
		if err := <-errs; err != nil {
			t.Error(err)
		}
	}
}
