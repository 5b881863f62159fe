package session_test

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/git-worklease/git-worklease/internal/lockfile"
	"github.com/git-worklease/git-worklease/internal/session"
	"github.com/git-worklease/git-worklease/lease"
)

// real is a claim whose ID is that of its key.
func real(name string, resources ...lease.Resource) lease.Hold {
	h := hold(name, resources...)
	sum := sha256.Sum256(h.Key[32:])
	h.Claim = lease.ClaimID(hex.EncodeToString(sum[:16]))
	return h
}

var moved = lease.End{How: lease.EndMoved, At: time.Unix(1_700_000_100, 0).UTC(), Reason: "x.json"}

// export takes the live claims of a session out of a clone.
func export(t *testing.T, s *session.State) []byte {
	t.Helper()
	var kept []byte
	_, err := s.Export(session.Export{Prefix: "refs/worklease/"}, moved, func(data []byte) error {
		kept = data
		return nil
	})
	must(t, err)
	return kept
}

// live are the claims of a session that have not ended.
func live(t *testing.T, s *session.State) []lease.Hold {
	t.Helper()
	holds, err := s.Holds()
	must(t, err)
	var kept []lease.Hold
	for _, h := range holds {
		if h.End == nil {
			kept = append(kept, h)
		}
	}
	return kept
}

func TestExportMovesClaims(t *testing.T) {
	here, there := openState(t, clone(t), "a"), openState(t, clone(t), "b")
	over := real("a", "task:over")
	over.End = &lease.End{How: lease.EndReleased}
	must(t, here.SaveHold(over))
	must(t, here.SaveHold(real("a", "task:1", "task:2")))
	must(t, here.SaveHold(real("other", "task:3")))
	data := export(t, here)

	holds, err := here.Holds()
	must(t, err)
	if len(holds) != 2 || holds[1].End == nil || *holds[1].End != moved || holds[1].Key != nil || holds[0].End.How != lease.EndReleased {
		t.Errorf("what stays: %+v", holds)
	}
	must(t, here.SaveHold(real("a", "task:1", "task:2"))) // a renewal that was under way
	if len(live(t, here)) != 0 || len(live(t, openState(t, filepath.Dir(here.Dir()), "other"))) != 1 {
		t.Errorf("the claim came back, or another session's went along")
	}

	x, err := session.ReadExport("x", bytes.NewReader(data))
	must(t, err)
	if x.Session != "a" || x.Agent != "alice" || x.Authority != authority || len(x.Claims) != 1 || len(x.Claims[0].Members) != 2 {
		t.Errorf("the file: %+v", x)
	}
	got, err := there.Receive(x.Claims, "laptop")
	must(t, err)
	in := live(t, there)
	if len(in) != 1 || in[0].Place == "" || in[0].Place != got[0].Place || in[0].From[0] != "" || in[0].Holder != (lease.Holder{Agent: "alice", Session: "b", Host: "laptop"}) {
		t.Errorf("what came: %+v", in)
	}
	// Once more, and with its resources in the session by another claim.
	var dup *session.HereError
	if _, err := there.Receive(x.Claims, "laptop"); !errors.As(err, &dup) || dup.Session != "b" {
		t.Errorf("received twice: %v", err)
	}
	if _, err := openState(t, filepath.Dir(there.Dir()), "c").Receive(x.Claims, "laptop"); !errors.Is(err, session.ErrHere) {
		t.Errorf("received by another session: %v", err)
	}
	busy := openState(t, clone(t), "a")
	must(t, busy.SaveHold(real("a", "task:2", "task:9")))
	if _, err := busy.Receive(x.Claims, "laptop"); !errors.Is(err, session.ErrHere) {
		t.Errorf("resource held by another claim: %v", err)
	}

	// Back to where it came from, whose file says that it ended.
	x, err = session.ReadExport("x", bytes.NewReader(export(t, there)))
	must(t, err)
	_, err = here.Receive(x.Claims, "box")
	must(t, err)
	back := live(t, here)
	if len(back) != 1 || back[0].Place == in[0].Place || len(back[0].From) != 2 {
		t.Errorf("back: %+v", back)
	}
	must(t, here.SaveHold(real("a", "task:1", "task:2"))) // a writer that has slept through all of it
	if again := live(t, here); len(again) != 1 || again[0].Place != back[0].Place {
		t.Errorf("written over: %+v", again)
	}
}

// TestExportKeepsClaimsThatWereNotSaved: nothing ends unless the file is there.
func TestExportKeepsClaimsThatWereNotSaved(t *testing.T) {
	s := openState(t, clone(t), "a")
	must(t, s.SaveHold(real("a", "task:1")))
	broken := errors.New("broken")
	if _, err := s.Export(session.Export{}, moved, func([]byte) error { return broken }); !errors.Is(err, broken) {
		t.Errorf("got %v", err)
	}
	if len(live(t, s)) != 1 {
		t.Error("the claim is gone")
	}
	i := intent("a", "task:7")
	must(t, s.Begin(i))
	never := func([]byte) error { t.Error("saved"); return nil }
	var p *lease.PendingError
	if _, err := s.Export(session.Export{}, moved, never); !errors.As(err, &p) || !p.Busy {
		t.Errorf("while a process writes: %v", err)
	}
	must(t, s.Leave(i))
	if _, err := s.Export(session.Export{}, moved, never); !errors.As(err, &p) || p.Busy {
		t.Errorf("with a write left behind: %v", err)
	}
	other := openState(t, filepath.Dir(s.Dir()), "b")
	must(t, other.SaveHold(real("b", "task:2")))
	export(t, other) // which has no write under way
	if _, err := openState(t, filepath.Dir(s.Dir()), "none").Export(session.Export{}, moved, never); !errors.Is(err, lease.ErrNotHeld) {
		t.Errorf("nothing to export: %v", err)
	}
}

// TestExportLetsNoWriteBegin: from the look for writes until the claims have ended, none begins. It might bring a claim back here that is in the file
// as well.
func TestExportLetsNoWriteBegin(t *testing.T) {
	s := openState(t, clone(t), "a")
	must(t, s.SaveHold(real("a", "task:1")))
	_, err := s.Export(session.Export{}, moved, func([]byte) error {
		unlock, err := lockfile.TryLock(filepath.Join(s.Dir(), "pending.lock"))
		if err == nil {
			t.Error("a write can begin")
			return unlock()
		}
		return nil
	})
	must(t, err)
}

func TestExportFiles(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "x.json")
	must(t, session.WriteExport(path, []byte("secret\n")))
	info, err := os.Stat(path)
	must(t, err)
	if info.Mode().Perm()&0o077 != 0 && os.PathSeparator == '/' {
		t.Errorf("mode %v", info.Mode())
	}
	for _, bad := range []string{path, filepath.Join(dir, "none", "x.json"), dir} {
		if err := session.WriteExport(bad, []byte("other\n")); !errors.Is(err, session.ErrFile) {
			t.Errorf("%s: %v", bad, err)
		}
	}
	if data, err := os.ReadFile(path); err != nil || string(data) != "secret\n" { //nolint:gosec // a test
		t.Errorf("written over: %q, %v", data, err)
	}
	for _, bad := range []string{filepath.Join(dir, "none"), dir} {
		if _, err := session.OpenExport(bad); !errors.Is(err, session.ErrFile) {
			t.Errorf("open %s: %v", bad, err)
		}
	}
}

// TestExportErrorsAreMute: what is wrong with a file is said without showing any of it.
func TestExportErrorsAreMute(t *testing.T) {
	s := openState(t, clone(t), "a")
	must(t, s.SaveHold(real("a", "task:1")))
	data := export(t, s)
	spoil := func(change func(map[string]any)) string {
		var file map[string]any
		must(t, json.Unmarshal(data, &file))
		change(file)
		spoilt, err := json.Marshal(file)
		must(t, err)
		return string(spoilt)
	}
	claim := func(f map[string]any) map[string]any { return f["claims"].([]any)[0].(map[string]any) } //nolint:forcetypeassert // just written
	for name, text := range map[string]string{
		"empty": "", "half": string(data[:len(data)/2]), "kind": spoil(func(f map[string]any) { f["kind"] = "x" }),
		"session": spoil(func(f map[string]any) { f["session"] = "a\n" }), "other session": spoil(func(f map[string]any) { f["session"] = "b" }),
		"authority": spoil(func(f map[string]any) { f["authority"] = "ff" }), "no claims": spoil(func(f map[string]any) { f["claims"] = nil }),
		"type": spoil(func(f map[string]any) { f["claims"] = string(data) }), "ID": spoil(func(f map[string]any) { claim(f)["claim"] = "ff" }),
		"no key": spoil(func(f map[string]any) { delete(claim(f), "key") }), "large": string(bytes.Repeat([]byte(" "), 17<<20)),
	} {
		_, err := session.ReadExport("x.json", strings.NewReader(text))
		if !errors.Is(err, session.ErrFile) || strings.Contains(err.Error(), "==") || len(err.Error()) > 200 {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := session.ReadExport("x.json", strings.NewReader(spoil(func(f map[string]any) { f["v"] = 2 }))); !errors.Is(err, session.ErrNewer) {
		t.Errorf("newer: %v", err)
	}
}
