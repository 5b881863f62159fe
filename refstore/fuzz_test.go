package refstore

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/go-git/go-git/v5/plumbing"
)

func FuzzParseOID(f *testing.F) {
	f.Add(strings.Repeat("0", 40))
	f.Add(strings.Repeat("1a", 32))
	f.Fuzz(func(t *testing.T, s string) {
		oid, err := ParseOID(s)
		switch {
		case err != nil && (!errors.Is(err, ErrBadOID) || !oid.IsZero()):
			t.Errorf("%q: %q, %v", s, oid, err)
		case err == nil && oid.IsZero() != (strings.Trim(s, "0") == ""):
			t.Errorf("%q: %q", s, oid)
		case err == nil && !oid.IsZero() && (string(oid) != s || strings.Trim(s, "0123456789abcdef") != ""):
			t.Errorf("%q: %q", s, oid)
		}
	})
}

// FuzzValidRef: what we write is what git takes, means the same in every protocol of git, and stays where it says.
func FuzzValidRef(f *testing.F) {
	f.Add("refs/worklease/claims/task%3ademo")
	f.Add("refs/heads/a.lock/b")
	f.Add("refs/x/@{u}")
	f.Fuzz(func(t *testing.T, name string) {
		if !ValidRef(name) {
			return
		}
		if err := plumbing.ReferenceName(name).Validate(); err != nil && !strings.Contains(name+"/", "/@/") { // which git takes, unlike go-git
			t.Errorf("%q: %v", name, err)
		}
		if path := filepath.Join("/top", name); path != "/top/"+name || strings.ContainsAny(name, " \t\r\n\x00") || strings.Contains(name, "/-") {
			t.Errorf("%q is %s", name, path)
		}
	})
}

// FuzzDecodeCommit: a commit is no record, or comes back from what is made of it.
func FuzzDecodeCommit(f *testing.F) {
	when := time.Unix(1767323045, 0)
	f.Add(EncodeCommit(SHA1, "", when, []byte("claim x\n\n{}\n")), false)
	f.Add(EncodeCommit(SHA256, OID(strings.Repeat("1", 64)), when, nil), true)
	f.Fuzz(func(t *testing.T, content []byte, sha256 bool) {
		format := SHA1
		if sha256 {
			format = SHA256
		}
		oid := format.Hash("commit", content)
		c, err := DecodeCommit(format, oid, content)
		if err != nil {
			if !errors.Is(err, ErrNotRecord) {
				t.Errorf("got %v", err)
			}
			return
		}
		if _, err := DecodeCommit(format, format.Hash("commit", append(content, 'x')), content); !errors.Is(err, ErrNotRecord) {
			t.Errorf("taken under another's name: %v", err)
		}
		made := EncodeCommit(format, c.Parent, c.When, c.Message)
		back, err := DecodeCommit(format, format.Hash("commit", made), made)
		if err != nil || back.Parent != c.Parent || !back.When.Equal(c.When) || !bytes.Equal(back.Message, c.Message) {
			t.Errorf("%+v became %+v, %v", c, back, err)
		}
	})
}

// FuzzCache: whatever the file holds, nothing comes out of it under another's name, and what a process puts in is there for the next one.
func FuzzCache(f *testing.F) {
	object := func(text string) Object {
		content := EncodeCommit(SHA1, "", time.Unix(1767323045, 0), []byte(text))
		return Object{OID: SHA1.Hash("commit", content), Content: content}
	}
	entry := func(o Object) []byte {
		var b bytes.Buffer
		appendEntry(&b, o)
		return b.Bytes()
	}
	one, two := object("one"), object("two")
	f.Add(append(entry(one), entry(two)...))
	f.Add(append(entry(one), entry(two)[:9]...))
	f.Add(entry(Object{OID: one.OID, Content: two.Content}))
	path := filepath.Join(f.TempDir(), "cache")
	f.Fuzz(func(t *testing.T, file []byte) {
		if err := os.WriteFile(path, file, 0o600); err != nil {
			t.Fatal(err)
		}
		tips := map[string]OID{"a": one.OID, "b": two.OID}
		c := OpenCache(path)
		for oid, v := range c.get(tips) {
			if v.commit.OID != oid || v.err != nil || string(v.commit.Message) != map[OID]string{one.OID: "one", two.OID: "two"}[oid] {
				t.Errorf("%s holds %+v", oid, v)
			}
		}
		c.put([]Object{two})
		if v, ok := OpenCache(path).get(tips)[two.OID]; !ok || string(v.commit.Message) != "two" {
			t.Errorf("what was put in is gone: %+v", v)
		}
	})
}
