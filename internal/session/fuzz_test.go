package session

import (
	"encoding/json"
	"errors"
	"testing"

	"github.com/git-worklease/git-worklease/lease"
)

func known(err error) bool {
	return errors.Is(err, ErrState) || errors.Is(err, ErrNewer)
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
		file.trim()
		if _, err := json.Marshal(&file); err != nil {
			t.Fatal(err)
		}
	})
}

func FuzzIntentFile(f *testing.F) {
	f.Add([]byte(`{"v":1,"intent":{"id":"a","resources":["task:1"],"tx":{"format":"sha1","updates":[]},"hold":{}}}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		var file intentFile
		err := decodeJSON("p", data, &file)
		if err == nil {
			err = file.check("p", "a")
		}
		if err != nil && !known(err) {
			t.Fatalf("got %v", err)
		}
		if err == nil && (file.Intent.Tx == nil || file.Intent.ID != "a") {
			t.Fatalf("accepted %+v", file.Intent)
		}
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
	})
}
