package gitwire

import (
	"bytes"
	"crypto/rand"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/git-worklease/git-worklease/refstore"
)

func TestPushCreatesUpdatesAndDeletes(t *testing.T) {
	r := newRepo(t)
	r.git("config", "receive.fsckObjects", "true")
	first := change(refA, "", "one\n\n{}\n")
	second := change(refA, first.New, "two\n\n{}\n")
	for _, u := range []refstore.Update{first, second} {
		if report := r.push(txOf(u)); !report.OK() {
			t.Fatalf("report %+v", report)
		}
		if tip := r.git("rev-parse", refA); tip != string(u.New) {
			t.Errorf("tip %s, want %s", tip, u.New)
		}
	}
	r.git("fsck", "--strict")
	if n := r.git("rev-list", "--count", refA); n != "2" {
		t.Errorf("%s commits, want 2", n)
	}
	if report := r.push(txOf(change(refA, second.New, ""))); !report.OK() {
		t.Fatalf("report %+v", report)
	}
	if refs := r.git("for-each-ref"); refs != "" {
		t.Errorf("refs left: %s", refs)
	}
}

func TestPushIsExact(t *testing.T) {
	r := newRepo(t)
	first := change(refA, "", "one")
	second := change(refA, first.New, "two")
	r.push(txOf(first))
	r.push(txOf(second))
	cases := map[string]*refstore.Tx{
		"stale create":        txOf(change(refA, "", "three")),
		"stale update":        txOf(change(refA, first.New, "three")),
		"stale delete":        txOf(change(refA, first.New, "")),
		"update of an absent": txOf(change(refB, first.New, "three")),
		"one of two stale":    txOf(change(refB, "", "new"), change(refA, first.New, "three")),
	}
	for name, tx := range cases {
		t.Run(name, func(t *testing.T) {
			report := r.push(tx)
			if report.OK() || len(report.Refused) != len(tx.Updates) {
				t.Errorf("report %+v", report)
			}
			if refs := r.git("for-each-ref", "--format=%(objectname) %(refname)"); refs != string(second.New)+" "+refA {
				t.Errorf("refs are now %s", refs)
			}
		})
	}
}

func TestPushOfSeveralRefs(t *testing.T) {
	r := newRepo(t)
	tx := txOf(change(refA, "", "same"), change(refB, "", "same"), change("refs/worklease/meta", "", "other"))
	if report := r.push(tx); !report.OK() {
		t.Fatalf("report %+v", report)
	}
	if n := strings.Count(r.git("for-each-ref"), "\n"); n != 2 {
		t.Errorf("%d refs, want 3", n+1)
	}
}

func TestPushHasTheHooksWords(t *testing.T) {
	r := newRepo(t)
	hook := "#!/bin/sh\necho 'not in the \x1b[31mweekend' >&2\nexit 1\n"
	if err := os.WriteFile(filepath.Join(r.dir, "hooks", "pre-receive"), []byte(hook), 0o700); err != nil { //nolint:gosec // a hook is a program
		t.Fatal(err)
	}
	report := r.push(txOf(change(refA, "", "one")))
	if report.OK() || report.Unpack != "ok" || report.Refused[refA] != "pre-receive hook declined" || !strings.Contains(report.Words, "\x1b[31mweekend") {
		t.Errorf("report %+v", report)
	}
}

func TestPushFollowsTheAdvertisement(t *testing.T) {
	r := newRepo(t)
	r.git("config", "receive.advertiseAtomic", "false")
	a, err := ReadAdvert(NewReader(bytes.NewReader(r.serve(0, nil, "receive-pack", "--http-backend-info-refs"))), nil)
	if err != nil {
		t.Fatal(err)
	}
	if got := capsFor(a); got != "report-status side-band-64k object-format=sha1 agent="+agent {
		t.Errorf("capabilities %q", got)
	}
}

// A server without side-band reports plainly.
func TestReportWithoutSideBand(t *testing.T) {
	r := newRepo(t)
	tx := txOf(change(refA, "", "one"))
	var q bytes.Buffer
	if err := WritePush(&q, tx, &Advert{caps: []string{"report-status"}}); err != nil {
		t.Fatal(err)
	}
	out := r.serve(0, q.Bytes(), "receive-pack", "--stateless-rpc")
	report, err := ReadReport(NewReader(bytes.NewReader(out)), tx)
	if err != nil || !report.OK() {
		t.Errorf("%+v, %v from %q", report, err, out)
	}
}

// Cutting a report anywhere before its end makes it no report.
func TestReportCut(t *testing.T) {
	r := newRepo(t)
	tx := txOf(change(refA, "", "one"), change(refB, "", "two"))
	whole := r.pushRaw(tx)
	end := len(whole) - len(flushPkt) // the inner flush is in the packet before the outer one
	for n := range end {
		if _, err := ReadReport(NewReader(bytes.NewReader(whole[:n])), tx); !errors.Is(err, io.ErrUnexpectedEOF) {
			t.Fatalf("cut at %d of %d: %v", n, len(whole), err)
		}
	}
	if report, err := ReadReport(NewReader(bytes.NewReader(whole[:end])), tx); err != nil || !report.OK() {
		t.Errorf("a report without the flush after it: %+v, %v", report, err)
	}
}

func TestReports(t *testing.T) {
	tx := txOf(change(refA, "", "one"), change(refB, "", "two"))
	okA, okB := "ok "+refA+"\n", "ok "+refB+"\n"
	cases := []struct {
		name  string
		in    string
		want  error
		ok    bool
		words string
	}{
		{"plain", pkts("unpack ok\n", okA, okB, ""), nil, true, ""},
		{"a ref left out", pkts("unpack ok\n", okA, ""), io.ErrUnexpectedEOF, false, ""},
		{"another's ref", pkts("unpack ok\n", okA, okB, "ng refs/heads/x no\n", ""), nil, true, ""},
		{"both answers", pkts("unpack ok\n", okA, okB, "ng "+refA+" no\n", ""), nil, false, ""},
		{"options", pkts("unpack ok\n", okA, "option refname x\n", okB, ""), nil, true, ""},
		{"empty", pkts(""), ErrMalformed, false, ""},
		{"html", "<!DOCTYPE html>", ErrMalformed, false, ""},
		{"given up", pkts("ERR no space\n"), ErrRemote, false, ""},
		{"banded", pkts("\x02busy\n", "\x01"+pkts("unpack ok\n", okA, okB, ""), "\x02bye", ""), nil, true, "busy\nbye"},
		{"split over packets", pkts("\x01000eunp", "\x01ack ok\n"+pkts(okA, okB, ""), ""), nil, true, ""},
		{"fatal", pkts("\x02why\n", "\x03out of memory", ""), ErrRemote, false, ""},
		{"end without a report", pkts("\x02why\n", ""), io.ErrUnexpectedEOF, false, ""},
		{"noise", pkts("unpack ok\n", "hello\n", ""), ErrMalformed, false, ""},
		{"section", pkts("unpack ok\n", okA, okB) + delimPkt, ErrMalformed, false, ""},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			report, err := ReadReport(NewReader(strings.NewReader(c.in)), tx)
			if !errors.Is(err, c.want) {
				t.Fatalf("error %v, want %v", err, c.want)
			}
			if err == nil && (report.OK() != c.ok || report.Words != c.words) {
				t.Errorf("report %+v", report)
			}
		})
	}
}

func TestReportErrorHasTheServersWords(t *testing.T) {
	tx := txOf(change(refA, "", "one"))
	for _, in := range []string{pkts("\x02disk is full\n", ""), pkts("\x02disk is full\n", "\x03bye", "")} {
		_, err := ReadReport(NewReader(strings.NewReader(in)), tx)
		if err == nil || strings.Count(err.Error(), "disk is full") != 1 {
			t.Errorf("error %v", err)
		}
	}
}

func TestWritePushRefusesAnInconsistentTx(t *testing.T) {
	u := change(refA, "", "one")
	u.Message = []byte("two")
	var q bytes.Buffer
	if err := WritePush(&q, txOf(u), nil); err == nil || q.Len() != 0 {
		t.Errorf("%v, %d bytes written", err, q.Len())
	}
	u = change("refs/"+strings.Repeat("x", maxPayload), "", "one")
	if err := WritePush(&q, txOf(u), nil); err == nil || q.Len() != 0 {
		t.Errorf("%v, %d bytes written", err, q.Len())
	}
}

// A claim's record has a random key and signature; the request with it must stay small.
func TestPushIsSmall(t *testing.T) {
	u := change(refA, "", claimRecord())
	var q bytes.Buffer
	if err := WritePush(&q, txOf(u), nil); err != nil {
		t.Fatal(err)
	}
	t.Logf("record %d bytes, request %d bytes", len(u.Message), q.Len())
	if q.Len() > 900 {
		t.Errorf("%d bytes", q.Len())
	}
}

func claimRecord() string {
	random := func(n int) string {
		b := make([]byte, n)
		_, _ = rand.Read(b)
		return base64.StdEncoding.EncodeToString(b)
	}
	return fmt.Sprintf("claim task:demo · generation 3 · alice/main until 2026-11-29T15:04:05Z\n\n"+
		`{"v":1,"kind":"lease","authority":%q,"resource":"task:demo","claim":"%x","holder":{"agent":"alice","session":"main","host":"atlas"},`+
		`"generation":3,"revision":1,"ttl_seconds":7200,"grace_seconds":30,"claimed_at":"2026-11-29T13:04:05Z","renewed_at":"2026-11-29T13:04:05Z",`+
		`"state":"active","key":%q}`+"\n\nWorklease-Signature: ed25519 %s\n", random(12), random(12), random(32), random(64))
}

// pkts joins packets; an empty one is a flush.
func pkts(payloads ...string) string {
	var b strings.Builder
	for _, p := range payloads {
		if p == "" {
			b.WriteString(flushPkt)
			continue
		}
		fmt.Fprintf(&b, "%04x%s", len(p)+4, p)
	}
	return b.String()
}
