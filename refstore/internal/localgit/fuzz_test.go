package localgit

import (
	"errors"
	"maps"
	"strings"
	"testing"

	"github.com/git-worklease/git-worklease/refstore"
)

func sound(t *testing.T, refs map[string]refstore.OID) {
	t.Helper()
	for name, oid := range refs {
		if id, err := refstore.ParseOID(string(oid)); err != nil || id.IsZero() || strings.Contains(name, "\n") {
			t.Errorf("%q at %q", name, oid)
		}
	}
}

// FuzzParsePacked: packed refs are refused, or those that have no file of their own come as they are written.
func FuzzParsePacked(f *testing.F) {
	f.Add([]byte("# pack-refs with: peeled fully-peeled sorted \n" + one + " refs/tags/a\n^" + one + "\n" + one + " refs/w/b\n"))
	f.Add([]byte(zero + " refs/w/a\n"))
	f.Add([]byte(one + " refs/w/loose\n" + strings.Repeat("2", 64) + " refs/w/c"))
	f.Fuzz(func(t *testing.T, packed []byte) {
		loose := map[string]refstore.OID{"refs/w/loose": "9"}
		refs := maps.Clone(loose)
		if parsePacked(packed, refs, func(name string) bool { return strings.HasPrefix(name, "refs/w/") }) != nil {
			return
		}
		if refs["refs/w/loose"] != "9" {
			t.Errorf("the packed ref hides its file: %v", refs)
		}
		delete(refs, "refs/w/loose")
		sound(t, refs)
		var again strings.Builder
		for name, oid := range refs {
			again.WriteString(string(oid) + " " + name + "\n")
			if !strings.HasPrefix(name, "refs/w/") || !strings.Contains(string(packed), string(oid)+" "+name) {
				t.Errorf("%q at %q", name, oid)
			}
		}
		back := map[string]refstore.OID{}
		if err := parsePacked([]byte(again.String()), back, everything); err != nil || !maps.Equal(back, refs) {
			t.Errorf("%v became %v, %v", refs, back, err)
		}
	})
}

// FuzzParseListed: what git lists is refused, or comes as it is written.
func FuzzParseListed(f *testing.F) {
	f.Add([]byte(one + " refs/w/a\n" + one + " refs/w/b\n"))
	f.Add([]byte(one + "\n"))
	f.Fuzz(func(t *testing.T, out []byte) {
		refs, err := parseListed(out)
		if err != nil {
			return
		}
		sound(t, refs)
		for name, oid := range refs {
			if name == "" || !strings.Contains(string(out), string(oid)+" "+name) {
				t.Errorf("%q at %q", name, oid)
			}
		}
	})
}

// FuzzParseRef: a ref's file is damaged, something for git to read, or names one object.
func FuzzParseRef(f *testing.F) {
	f.Add([]byte(one + "\n"))
	f.Add([]byte("ref: refs/heads/main\n"))
	f.Add([]byte{})
	f.Fuzz(func(t *testing.T, content []byte) {
		oid, err := parseRef(content)
		switch {
		case err != nil && (oid != "" || errors.Is(err, errOdd) != strings.HasPrefix(string(content), "ref:")):
			t.Errorf("%q: %q, %v", content, oid, err)
		case err == nil && (oid.IsZero() || strings.TrimRight(string(content), " \t\r\n") != string(oid)):
			t.Errorf("%q: %q", content, oid)
		}
	})
}
