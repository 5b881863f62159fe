package refstore_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/git-worklease/git-worklease/refstore"
	"github.com/git-worklease/git-worklease/refstore/memory"
)

// counting counts what is fetched.
type counting struct {
	refstore.Transport
	fetched int
}

func (c *counting) Commits(ctx context.Context, wants []refstore.OID, depth int) ([]refstore.Object, error) {
	c.fetched += len(wants)
	return c.Transport.Commits(ctx, wants, depth)
}

func TestCache(t *testing.T) {
	path := filepath.Join(t.TempDir(), "new", "records")
	repo := &memory.Repository{}
	seed := refstore.New(repo.Transport(), refstore.Options{})
	for _, name := range []string{"a", "b", "c"} {
		tx, err := seed.Build(put("refs/worklease/claims/"+name, "", name))
		if err != nil {
			t.Fatal(err)
		}
		if err := seed.Swap(t.Context(), tx, nil); err != nil {
			t.Fatal(err)
		}
	}
	list := func(wantFetched int, wantErr error) {
		t.Helper()
		c := &counting{Transport: repo.Transport()}
		s := refstore.New(c, refstore.Options{Cache: refstore.OpenCache(path), Check: func(c refstore.Commit) error {
			if string(c.Message) == "c" {
				return errWrong
			}
			return nil
		}})
		refs, err := s.List(t.Context(), "refs/worklease/claims/")
		if err != nil || len(refs) != 3 {
			t.Fatalf("%d refs, %v", len(refs), err)
		}
		for i, want := range []string{"a", "b"} {
			if refs[i].Err != nil || string(refs[i].Commit.Message) != want {
				t.Errorf("got %+v, want %s", refs[i], want)
			}
		}
		if !errors.Is(refs[2].Err, wantErr) {
			t.Errorf("got %v, want %v", refs[2].Err, wantErr)
		}
		if c.fetched != wantFetched {
			t.Errorf("fetched %d, want %d", c.fetched, wantFetched)
		}
	}
	list(3, errWrong)
	list(1, errWrong) // what fails the check is never kept
	damage(t, path, func(b []byte) []byte { return b[:len(b)-3] })
	list(2, errWrong)
	list(1, errWrong) // the torn file was replaced
	damage(t, path, func(b []byte) []byte { b[len(b)-1] ^= 1; return b })
	list(2, errWrong)
	damage(t, path, func([]byte) []byte { return []byte("nonsense") })
	list(3, errWrong)
	list(1, errWrong)
}

var errWrong = errors.New("wrong")

func damage(t *testing.T, path string, how func([]byte) []byte) {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, how(b), 0o600); err != nil {
		t.Fatal(err)
	}
}

// TestCacheCompacts: what no longer stands at any ref is dropped once everything has been listed, and not by a look at one ref.
func TestCacheCompacts(t *testing.T) {
	path := filepath.Join(t.TempDir(), "records")
	repo := &memory.Repository{}
	open := func() refstore.Store {
		return refstore.New(repo.Transport(), refstore.Options{Cache: refstore.OpenCache(path)})
	}
	var tip refstore.OID
	for i := range 200 { // 12 MB, of which the last record alone stands
		s := open()
		tx, err := s.Build(put("refs/worklease/claims/a", tip, strings.Repeat(string(rune('a'+i%26)), 60<<10)))
		if err != nil {
			t.Fatal(err)
		}
		if err := s.Swap(t.Context(), tx, nil); err != nil {
			t.Fatal(err)
		}
		tip = tx.Updates[0].New
	}
	for _, look := range []struct {
		pattern   string
		compacted bool
	}{{"refs/worklease/claims/a", false}, {"refs/worklease/claims/", true}} {
		if refs, err := open().List(t.Context(), look.pattern); err != nil || len(refs) != 1 {
			t.Fatalf("%v, %v", refs, err)
		}
		info, err := os.Stat(path)
		if err != nil || (info.Size() < 1<<20) != look.compacted {
			t.Errorf("%s: %d bytes, %v", look.pattern, info.Size(), err)
		}
	}
}
