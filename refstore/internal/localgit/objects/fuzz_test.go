package objects

import (
	"bufio"
	"bytes"
	"fmt"
	"strings"
	"testing"

	"github.com/git-worklease/git-worklease/refstore"
)

// FuzzDecode: a loose object is refused, or is as long as it says.
func FuzzDecode(f *testing.F) {
	for _, seed := range []string{"commit 3\x00abc", "commit 3\x00ab", "tree 0\x00", "commit -1\x00", "commit 99999999999\x00", "\x00", "commit"} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		content, err := decode(bufio.NewReader(bytes.NewReader(data)))
		if err == nil && (len(content) > refstore.MaxCommit || !bytes.Contains(data, content)) {
			t.Fatalf("made %q", content)
		}
		if err == nil {
			again, err := decode(bufio.NewReader(strings.NewReader(fmt.Sprintf("commit %d\x00%s", len(content), content))))
			if err != nil || !bytes.Equal(again, content) {
				t.Errorf("%q became %q, %v", content, again, err)
			}
		}
	})
}

// FuzzReadAnswer: git's answers to names of objects come one after another, each as long as it says.
func FuzzReadAnswer(f *testing.F) {
	id := strings.Repeat("1", 40)
	f.Add([]byte(id + " commit 3\nabc\n" + id + " missing\n" + id + " blob 1\nx\n"))
	f.Add([]byte(id + " commit -2\n"))
	f.Add([]byte(id + " tree 9223372036854775807\n"))
	f.Fuzz(func(t *testing.T, out []byte) {
		r := bufio.NewReader(bytes.NewReader(out))
		for range len(out) {
			content, ok, err := readAnswer(r)
			if err != nil {
				if ok || content != nil {
					t.Errorf("%q beside %v", content, err)
				}
				return
			}
			if len(content) > refstore.MaxCommit || !bytes.Contains(out, content) || content != nil && !ok {
				t.Errorf("made %q, %v", content, ok)
			}
		}
		if _, _, err := readAnswer(r); err == nil {
			t.Error("it never ends")
		}
	})
}

// FuzzParents: the parents that are followed are those that the headers of a commit name.
func FuzzParents(f *testing.F) {
	id := strings.Repeat("1", 40)
	f.Add([]byte("tree x\nparent " + id + "\n\nparent " + id + "\n"))
	f.Add([]byte("parent " + strings.Repeat("0", 40) + "\nparent\n"))
	f.Fuzz(func(t *testing.T, content []byte) {
		headers, _, _ := bytes.Cut(content, []byte("\n\n"))
		for _, oid := range appendParents(nil, content) {
			if id, err := refstore.ParseOID(string(oid)); err != nil || id.IsZero() || !bytes.Contains(headers, []byte("parent "+oid)) {
				t.Errorf("%q has the parent %q", content, oid)
			}
		}
	})
}
