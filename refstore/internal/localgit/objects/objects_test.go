package objects

import (
	"bufio"
	"bytes"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/git-worklease/git-worklease/refstore"
)

func newRepo(t *testing.T, format refstore.Format) (gitDir string, d Dir) {
	t.Helper()
	gitDir = t.TempDir()
	git(t, gitDir, "init", "--quiet", "--bare", "--object-format="+string(format), gitDir)
	return gitDir, Dir{Path: filepath.Join(gitDir, "objects"), Format: format}
}

func git(t *testing.T, gitDir string, args ...string) string {
	t.Helper()
	out, err := exec.Command("git", append([]string{"--git-dir=" + gitDir}, args...)...).CombinedOutput()
	if err != nil {
		t.Fatalf("git %s: %v: %s", args, err, out)
	}
	return strings.TrimSpace(string(out))
}

func reader(t *testing.T, gitDir string, d Dir) *Reader {
	t.Helper()
	r := d.NewReader(func() *exec.Cmd { return exec.Command("git", "--git-dir="+gitDir, "cat-file", "--batch") })
	t.Cleanup(func() { _ = r.Close() })
	return r
}

func build(t *testing.T, f refstore.Format, old refstore.OID, text string) *refstore.Tx {
	t.Helper()
	tx, err := refstore.BuildTx(f, refstore.Change{Ref: "refs/x/a", Old: old, Message: []byte(text), When: time.Unix(1767323045, 0)})
	if err != nil {
		t.Fatal(err)
	}
	return tx
}

// TestWriteAndWalk writes a chain, which git finds sound, and reads it back loose and packed.
func TestWriteAndWalk(t *testing.T) {
	for _, format := range []refstore.Format{refstore.SHA1, refstore.SHA256} {
		gitDir, d := newRepo(t, format)
		var tip refstore.OID
		for _, text := range []string{"one\n", "two\n", "three\n"} {
			tx := build(t, format, tip, text)
			for range 2 { // twice does no harm
				if err := d.WriteTx(tx); err != nil {
					t.Fatal(err)
				}
			}
			tip = tx.Updates[0].New
		}
		git(t, gitDir, "update-ref", "refs/x/a", string(tip))
		git(t, gitDir, "fsck", "--strict", "--full")
		for _, packed := range []bool{false, true} {
			if packed {
				git(t, gitDir, "gc", "--quiet", "--prune=now")
			}
			for depth, want := range []int{0, 1, 2, 3, 3} {
				found, missing, err := reader(t, gitDir, d).Walk(t.Context(), []refstore.OID{tip, tip}, depth)
				if err != nil || len(found) != want || len(missing) != 0 {
					t.Fatalf("%s, packed %v, depth %d: %d found, missing %v, %v", format, packed, depth, len(found), missing, err)
				}
			}
		}
	}
}

func TestWalkLeavesOut(t *testing.T) {
	gitDir, d := newRepo(t, refstore.SHA1)
	good := build(t, refstore.SHA1, "", "good\n")
	if err := d.WriteTx(good); err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "large")
	if err := os.WriteFile(file, bytes.Repeat([]byte("x"), refstore.MaxCommit+1), 0o600); err != nil {
		t.Fatal(err)
	}
	blob := refstore.OID(git(t, gitDir, "hash-object", "-w", file))
	damaged := build(t, refstore.SHA1, "", "damaged\n")
	if err := d.WriteTx(damaged); err != nil {
		t.Fatal(err)
	}
	path := d.file(damaged.Updates[0].New)
	if err := errors.Join(os.Remove(path), os.WriteFile(path, []byte("no zlib"), 0o600)); err != nil {
		t.Fatal(err)
	}
	absent := build(t, refstore.SHA1, "", "absent\n").Updates[0].New
	child := build(t, refstore.SHA1, absent, "child\n")
	if err := d.WriteTx(child); err != nil {
		t.Fatal(err)
	}
	wants := []refstore.OID{good.Updates[0].New, blob, damaged.Updates[0].New, child.Updates[0].New}
	found, missing, err := reader(t, gitDir, d).Walk(t.Context(), wants, 2)
	if err != nil || len(found) != 2 {
		t.Fatalf("%d found, %v", len(found), err)
	}
	for _, oid := range missing {
		if oid != absent && oid != damaged.Updates[0].New {
			t.Errorf("%s is missing", oid)
		}
	}
	if _, _, err := reader(t, gitDir, d).Walk(t.Context(), []refstore.OID{"../../x"}, 1); !errors.Is(err, refstore.ErrBadOID) {
		t.Errorf("got %v, want ErrBadOID", err)
	}
}

func TestWriteRefusesWhatIsNotTheUpdate(t *testing.T) {
	_, d := newRepo(t, refstore.SHA1)
	tx := build(t, refstore.SHA1, "", "one\n")
	tx.Updates[0].Message = []byte("two\n")
	if err := d.WriteTx(tx); err == nil {
		t.Fatal("wrote a record under the name of another")
	}
}

func TestReadAnswer(t *testing.T) {
	id := strings.Repeat("1", 40)
	for name, test := range map[string]struct {
		in      string
		content string
		ok, bad bool
	}{
		"commit":         {id + " commit 3\nabc\n", "abc", true, false},
		"missing":        {id + " missing\n", "", false, false},
		"a blob":         {id + " blob 3\nabc\n", "", true, false},
		"a huge one":     {id + " commit 999999\n" + strings.Repeat("x", 1_000_000), "", true, false},
		"cut":            {id + " commit 3\nab", "", false, true},
		"a cut blob":     {id + " blob 3\nab", "", false, true},
		"below nothing":  {id + " commit -2\n", "", false, true},
		"beyond all":     {id + " blob 9223372036854775807\nabc\n", "", false, true},
		"something else": {"fatal: no\n", "", false, true},
		"nothing":        {"", "", false, true},
	} {
		content, ok, err := readAnswer(bufio.NewReader(strings.NewReader(test.in)))
		if string(content) != test.content || ok != test.ok || (err != nil) != test.bad {
			t.Errorf("%s: %q, %v, %v", name, content, ok, err)
		}
	}
}
