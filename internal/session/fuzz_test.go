package session

import (
	"bytes"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/git-worklease/git-worklease/internal/config"
	"github.com/git-worklease/git-worklease/lease"
)

func known(err error) bool {
	return errors.Is(err, ErrState) || errors.Is(err, ErrNewer)
}

// sameAgain: what was read is written so that it is read as the same.
func sameAgain[T any](t *testing.T, was *T) {
	t.Helper()
	data, err := json.Marshal(was)
	if err != nil {
		t.Fatal(err)
	}
	var is T
	if err := decodeJSON("p", data, &is); err != nil {
		t.Fatalf("%s can't be read again: %v", data, err)
	}
	if again, err := json.Marshal(&is); err != nil || !bytes.Equal(again, data) {
		t.Errorf("%s became %s, %v", data, again, err)
	}
}

// FuzzSessionFile: what is read is an error of ours, or fit for use and for being written again.
func FuzzSessionFile(f *testing.F) {
	f.Add([]byte(`{"v":1,"session":"a","home":{"host":"h","path":"/p","inode":1},"holds":[{"claim":"c","key":"","members":[{}],"end":{}}]}`))
	f.Add([]byte(`{"v":2}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		var file sessionFile
		err := decodeJSON("p", data, &file)
		if err == nil {
			err = file.check("p", "a")
		}
		if err != nil {
			if !known(err) {
				t.Fatalf("got %v", err)
			}
			return
		}
		sameAgain(t, &file)
		for _, h := range file.Holds {
			_, _ = h.Left(time.Unix(0, 0), lease.Instant{}), h.Check()
			file.put(h, Maker{})
		}
		file.trim()
		sameAgain(t, &file)
	})
}

// FuzzIntentFile: an intent that is read can be sent, settled and kept.
func FuzzIntentFile(f *testing.F) {
	f.Add([]byte(`{"v":1,"intent":{"id":"a","resources":["task:1"],"tx":{"format":"sha1","updates":[{"ref":"refs/x","old":"1","message":"eA==","new":"2"}]},"hold":{}}}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		var file intentFile
		err := decodeJSON("p", data, &file)
		if err == nil {
			err = file.check("p", "a")
		}
		if err != nil {
			if !known(err) {
				t.Fatalf("got %v", err)
			}
			return
		}
		tx := file.Intent.Tx
		if tx == nil || file.Intent.ID != "a" || len(file.Intent.Resources) == 0 {
			t.Fatalf("accepted %+v", file.Intent)
		}
		tx.Contradicts(nil)
		for i := range tx.Updates {
			tx.Updates[i].Content(tx.Format)
		}
		sameAgain(t, &file)
	})
}

// FuzzSeen: a log that is read can be written to, and tells afterwards what it told before.
func FuzzSeen(f *testing.F) {
	f.Add([]byte("git-worklease seen 1 0\n1\t2\tt\tfalse\t3\tb\t2026-11-29T15:04:05Z\ttask:1\n2\t2\tt\ttrue\t3\tb\t\ttask:1\n5"))
	f.Fuzz(func(t *testing.T, data []byte) {
		l, err := parseLog("p", data)
		var before map[lease.Resource]lease.Sighting
		if err == nil {
			before, err = l.find([]lease.Resource{"task:1"})
		}
		if err != nil {
			if !known(err) {
				t.Fatalf("got %v", err)
			}
			return
		}
		compact, err := parseLog("p", append(logHeader(0), lastLines(l.body)...))
		if err != nil {
			t.Fatal(err)
		}
		after, err := compact.find([]lease.Resource{"task:1"})
		if err != nil || len(before) != len(after) || len(before) > 0 && before["task:1"] != after["task:1"] {
			t.Fatalf("before %v, after %v, %v", before, after, err)
		}
		for _, s := range before {
			line, err := appendSighting(nil, s)
			if err != nil {
				t.Fatal(err)
			}
			if back, err := parseSighting(strings.TrimSuffix(string(line), "\n")); err != nil || !back.FirstDate.Equal(s.FirstDate) {
				t.Errorf("%+v became %+v, %v", s, back, err)
			}
		}
	})
}

// FuzzExport: a file that is brought from elsewhere is refused without a word of the keys in it, or is one that could be taken further.
func FuzzExport(f *testing.F) {
	f.Add([]byte(`{"v":1,"kind":"worklease-session","session":"a","authority":"a1","prefix":"refs/worklease/","claims":[{"authority":"a1","claim":"c","key":"c2VjcmV0IHNlY3JldCBzZWNyZXQ=","holder":{"session":"a"}}]}`))
	f.Add([]byte(`{"v":1,"claims":[{"key":["c2VjcmV0IHNlY3JldCBzZWNyZXQ="]}]}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		x, err := ReadExport("p", bytes.NewReader(data))
		if err != nil {
			if !errors.Is(err, ErrFile) && !errors.Is(err, ErrNewer) {
				t.Fatalf("got %v", err)
			}
			var all any
			if json.Unmarshal(data, &all) == nil {
				checkSilent(t, err.Error(), all, false)
			}
			return
		}
		if !config.ValidName(x.Session) || len(x.Claims) == 0 {
			t.Fatalf("accepted %+v", x)
		}
		again, err := x.encode(x.Session)
		if err != nil {
			t.Fatal(err)
		}
		back, err := ReadExport("p", bytes.NewReader(again))
		if err != nil || len(back.Claims) != len(x.Claims) {
			t.Errorf("%s: %v", again, err)
		}
	})
}

// checkSilent fails where words have any text in them that is the value of a key.
func checkSilent(t *testing.T, words string, value any, secret bool) {
	t.Helper()
	switch v := value.(type) {
	case map[string]any:
		for name, part := range v {
			checkSilent(t, words, part, secret || strings.EqualFold(name, "key"))
		}
	case []any:
		for _, part := range v {
			checkSilent(t, words, part, secret)
		}
	case string:
		if secret && len(v) >= 16 && strings.Contains(words, v) {
			t.Errorf("a key is shown: %s", words)
		}
	}
}

// FuzzStateFiles: what is known of a server and of the authority, and the session that is bound to a worktree, are errors of ours, or as they were written.
func FuzzStateFiles(f *testing.F) {
	f.Add([]byte(`{"v":1,"server":{"known":"2026-11-29T15:04:05Z","atomic":true,"format":"sha1","agent":"git/2"}}`))
	f.Add([]byte(`{"v":1,"meta":{"authority":"a1","tip":"12","floor":3,"at":"2026-11-29T15:04:05Z"},"at":"x"}`))
	f.Add([]byte(`{"v":1,"session":"alice","born":0}`))
	f.Add([]byte(`{"v":1,"session":"a\u0007"}`))
	place := Place{Root: f.TempDir()}
	place.Owner = place.Root
	s, err := Open(Options{Place: place, Session: "a"})
	if err != nil {
		f.Fatal(err)
	}
	files := []string{s.serverPath("u"), s.path("meta.json"), place.boundPath()}
	for _, file := range files {
		if err := os.MkdirAll(filepath.Dir(file), dirMode); err != nil {
			f.Fatal(err)
		}
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		for _, file := range files {
			if err := os.WriteFile(file, data, fileMode); err != nil {
				t.Fatal(err)
			}
		}
		server, err := s.Server("u")
		if err != nil && !known(err) {
			t.Errorf("server: %v", err)
		} else if err == nil {
			sameAgain(t, &serverFile{V: version, Server: server})
		}
		meta, err := s.Meta()
		if err != nil && !known(err) {
			t.Errorf("meta: %v", err)
		} else if err == nil {
			sameAgain(t, &metaFile{V: version, Meta: meta})
		}
		name, err := place.Bound()
		if err != nil && !known(err) || err == nil && name != "" && !config.ValidName(name) {
			t.Errorf("bound to %q, %v", name, err)
		}
	})
}
