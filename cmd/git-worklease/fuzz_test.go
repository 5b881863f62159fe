package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/git-worklease/git-worklease/internal/config"
	"github.com/git-worklease/git-worklease/internal/gitenv"
	"github.com/git-worklease/git-worklease/internal/gitexec"
	"github.com/git-worklease/git-worklease/internal/term"
	"github.com/git-worklease/git-worklease/lease"
	"github.com/git-worklease/git-worklease/refstore"
)

// A record as anybody may have written it: the line of JSON, without a valid signature.
const recordLine = `{"v":1,"kind":"lease","authority":"a1","resource":"task:a","claim":"72cd6e8422c407fb6d098690f1130b7d","members":["task:a"],` +
	`"holder":{"agent":"alice","session":"main","host":"h","operator":"o"},"purpose":"p","generation":3,"revision":2,"ttl_seconds":3600,"grace_seconds":30,` +
	`"takeover":"stale","expiry":"clock","claimed_at":"2026-11-29T15:00:00Z","renewed_at":"2026-11-29T15:00:00Z","state":"released",` +
	`"release":{"reason":"r","outcome":"done","at":"2026-11-29T16:00:00Z","by":{"agent":"bob","session":"x"},"forced":true,"reserved_for":"carol",` +
	`"reserved_until":"2026-11-29T17:00:00Z","note":"n"},"predecessor":{"claim":"c","holder":{"agent":"dan","session":"y"},"generation":2,` +
	`"renewed_at":"2026-11-28T15:00:00Z","why":"stale"},"checkpoint":{"a":[1]},"meta":{"branch":"b"},"key":"AQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQE="}`

// asWritten is a commit with a line as its record.
func asWritten(line []byte) refstore.Commit {
	return refstore.Commit{Message: fmt.Appendf(nil, "x\n\n%s\n\nWorklease-Signature: ed25519 AAAA\n", line)}
}

// FuzzShown: whatever a record says that can be read, nothing of it acts on a terminal, in any form in which it is shown, and what is for programs is JSON.
func FuzzShown(f *testing.F) {
	f.Add([]byte(recordLine))
	f.Add([]byte(strings.NewReplacer(`"p"`, `"\u001b[31m\n"`, `"b"`, "\"\u009b\u202e\"", `"n"`, `"\u0000\ufffd"`, `"done"`, `"a\tb"`).Replace(recordLine)))
	f.Add([]byte(strings.NewReplacer(`"released"`, `"active"`, `[1]`, "\"\u009b\"", `2026-11-28T15`, `9999-12-31T23`, `15:00:00Z","why"`, `15:00:00-23:59","why"`).Replace(recordLine)))
	if _, err := lease.DecodeRecord(asWritten([]byte(recordLine))); err != nil {
		f.Fatal(err)
	}
	now := time.Date(2026, 11, 29, 16, 30, 0, 0, time.UTC)
	f.Fuzz(func(t *testing.T, line []byte) {
		record, err := lease.DecodeRecord(asWritten(line))
		a := newApp(&env{out: io.Discard, err: io.Discard, clock: &fileClock{}})
		p := &printer{now: now, zone: time.UTC}
		entry := lease.Entry{Event: lease.EventUnread, Err: err, Count: 1, At: now}
		view := lease.View{Ref: "refs/worklease/claims/x", State: lease.StandingCorrupt, Problem: err}
		if err == nil {
			entry = lease.Entry{Event: lease.EventReleased, Record: record, Count: 1, At: record.RenewedAt, First: record.ClaimedAt}
			view = lease.View{Resource: record.Resource, Ref: view.Ref, State: lease.StandingHeld, Liveness: lease.Stale, Record: record, Deadline: record.Until(), Left: record.Until().Sub(now)}
		}
		views := []lease.View{view}
		if err == nil && record.Released() {
			reserved := view
			reserved.State = lease.StandingReserved
			views = append(views, reserved, lease.View{Resource: "path:x", Ref: view.Ref, State: lease.StandingOverlapped, Rival: &lease.HeldError{Resource: record.Resource, Record: record, Reserved: true}})
			printPast(p, record)
			printPredecessor(p, record)
		}
		printViews(p, views)
		printHistory(p, []lease.Entry{entry, {Event: lease.EventTakenOver, Record: entry.Record, Err: err, Count: 1}, {Event: lease.EventRenewed, Record: entry.Record, Err: err, Count: 2}})
		for i := range views {
			printDetails(p, &views[i])
		}
		for line := range strings.SplitSeq(p.buffer.String(), "\n") {
			if term.Clean(line) != line {
				t.Errorf("printed %q", line)
			}
		}
		checkPorcelain(t, views)
		checkDocument(t, a, views, entry)
	})
}

// checkPorcelain: each resource is one line of eight fields.
func checkPorcelain(t *testing.T, views []lease.View) {
	t.Helper()
	p := &printer{}
	printPorcelain(p, views, false)
	lines := strings.SplitAfter(p.buffer.String(), "\n")
	if len(lines) != len(views)+1 {
		t.Fatalf("%d lines for %d resources", len(lines)-1, len(views))
	}
	for i, v := range views {
		fields := strings.SplitN(strings.TrimSuffix(lines[i], "\n"), "\t", 8)
		if len(fields) != 8 || v.Resource != "" && fields[7] != string(v.Resource) {
			t.Fatalf("line %q", lines[i])
		}
		for _, field := range fields[:7] {
			if term.Clean(field) != field {
				t.Errorf("line %q", lines[i])
			}
		}
	}
}

func checkDocument(t *testing.T, a *app, views []lease.View, entry lease.Entry) {
	t.Helper()
	var all []viewJSON
	for i := range views {
		all = append(all, newViewJSON(&views[i], a))
	}
	var doc bytes.Buffer
	v := envelope{Operation: "list", OK: true, Result: map[string]any{"views": all, "entry": newEntryJSON(&entry, a)}}
	if err := v.write(&doc); err != nil {
		t.Fatal(err)
	}
	text := strings.TrimSuffix(doc.String(), "\n")
	if !json.Valid(doc.Bytes()) || term.Clean(text) != text {
		t.Errorf("printed %q", text)
	}
}

// FuzzKey: a key as a person types it is refused, or names a resource that is named in the same way by its own key, and a path stays in the work tree.
func FuzzKey(f *testing.F) {
	for _, key := range []string{"task:a", "sub/x", "./..", "../y", `a\b`, "acme/app#4", "C:/x", "sub", "a:b/c", ".", "sub/**", "\x00/", "/"} {
		f.Add(key)
	}
	top, err := filepath.EvalSymlinks(f.TempDir())
	if err != nil {
		f.Fatal(err)
	}
	here := filepath.Join(top, "sub")
	if err := os.Mkdir(here, 0o700); err != nil {
		f.Fatal(err)
	}
	w := &work{policy: &config.Policy{}, git: &gitexec.Git{Dir: here}, repo: &gitenv.Repo{WorkTree: top, GitDir: filepath.Join(top, ".git")}}
	f.Fuzz(func(t *testing.T, key string) {
		named, err := w.resources([]string{key})
		if err != nil {
			if !errors.Is(err, lease.ErrBadResource) && !errors.Is(err, lease.ErrBadPath) && !errors.Is(err, lease.ErrScheme) {
				t.Errorf("%q: %v", key, err)
			}
			return
		}
		r := named[0]
		if again, err := w.resources([]string{string(r)}); err != nil || again[0] != r {
			t.Errorf("%q is %q, and that %q, %v", key, r, again, err)
		}
		if path, ok := strings.CutPrefix(string(r), "path:"); ok && !filepath.IsLocal(filepath.FromSlash(path)) {
			t.Errorf("%q is %q", key, r)
		}
		if absolute, err := w.resources([]string{filepath.Join(here, key)}); err == nil && (w.looksLikePath(key) || w.isThere(key)) && !filepath.IsAbs(key) && !strings.Contains(key, `\`) && absolute[0] != r {
			t.Errorf("%q is %q, and with its whole path %q", key, r, absolute[0])
		}
	})
}
