package gitwire

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"maps"
	"strings"
	"testing"

	"github.com/git-worklease/git-worklease/refstore"
)

// history makes n chained records at ref, oldest first.
func (r *repo) history(ref string, n int) []refstore.Update {
	r.t.Helper()
	var all []refstore.Update
	var old refstore.OID
	for i := range n {
		u := change(ref, old, fmt.Sprintf("record %d of %s\n\n%s\n", i, ref, strings.Repeat("the same in each ", 20)))
		if report := r.push(txOf(u)); !report.OK() {
			r.t.Fatalf("report %+v", report)
		}
		all, old = append(all, u), u.New
	}
	return all
}

func checkObjects(t *testing.T, got []refstore.Object, want ...refstore.Update) {
	t.Helper()
	byID := make(map[refstore.OID]string)
	for _, o := range got {
		byID[o.OID] = string(o.Content)
	}
	expect := make(map[refstore.OID]string)
	for _, u := range want {
		expect[u.New] = string(refstore.EncodeCommit(refstore.SHA1, u.Old, u.When, u.Message))
	}
	if !maps.Equal(byID, expect) || len(got) != len(want) {
		t.Errorf("%d commits, want %d", len(got), len(want))
	}
}

func TestLsRefs(t *testing.T) {
	r := newRepo(t)
	a, b := change(refA, "", "one"), change("refs/heads/main", "", "two")
	r.push(txOf(a, b))
	var q bytes.Buffer
	if err := WriteLsRefs(&q, []string{"refs/worklease/"}); err != nil {
		t.Fatal(err)
	}
	out := r.serve(2, q.Bytes(), "upload-pack", "--stateless-rpc")
	refs, err := ReadRefs(NewReader(bytes.NewReader(out)))
	if want := map[string]refstore.OID{refA: a.New}; err != nil || !maps.Equal(refs, want) {
		t.Errorf("refs %v, %v", refs, err)
	}
	for n := range out {
		if _, err := ReadRefs(NewReader(bytes.NewReader(out[:n]))); !errors.Is(err, io.ErrUnexpectedEOF) {
			t.Fatalf("cut at %d of %d: %v", n, len(out), err)
		}
	}
}

func TestReadRefsOddities(t *testing.T) {
	id := strings.Repeat("1", 40)
	in := pkts("unborn HEAD symref-target:refs/heads/main\n", id+" HEAD symref-target:refs/heads/x\n", strings.Repeat("0", 40)+" refs/gone\n", "")
	refs, err := ReadRefs(NewReader(strings.NewReader(in)))
	if want := map[string]refstore.OID{"HEAD": refstore.OID(id), "refs/gone": refstore.Unreadable}; err != nil || !maps.Equal(refs, want) {
		t.Errorf("refs %v, %v", refs, err)
	}
	for in, want := range map[string]error{
		pkts("ERR no\n"):       ErrRemote,
		pkts("hello\n"):        ErrMalformed,
		pkts(id):               ErrMalformed,
		delimPkt:               ErrMalformed,
		"HTTP/1.1 200 OK\r\n":  ErrMalformed,
		pkts(id + " refs/a\n"): io.ErrUnexpectedEOF,
		pkts(strings.ToUpper("a" + id[1:] + " refs/a\n")): ErrMalformed,
	} {
		if _, err := ReadRefs(NewReader(strings.NewReader(in))); !errors.Is(err, want) {
			t.Errorf("%q: %v, want %v", in, err, want)
		}
	}
}

// fetch reads commits in version 2.
func (r *repo) fetch(depth int, wants ...refstore.OID) ([]byte, []refstore.Object, error) {
	r.t.Helper()
	var q bytes.Buffer
	if err := WriteFetch(&q, wants, depth); err != nil {
		r.t.Fatal(err)
	}
	out := r.serve(2, q.Bytes(), "upload-pack", "--stateless-rpc")
	objects, err := ReadFetch(NewReader(bytes.NewReader(out)))
	return out, objects, err
}

// fetchV0 reads commits in version 0, with the server's capabilities but those without.
func (r *repo) fetchV0(depth int, without string, wants ...refstore.OID) ([]byte, []refstore.Object, error) {
	r.t.Helper()
	a, err := ReadAdvert(NewReader(bytes.NewReader(r.serve(0, nil, "upload-pack", infoRefs))), nil)
	if err != nil {
		r.t.Fatal(err)
	}
	for i, c := range a.caps {
		if c == without {
			a.caps[i] = ""
		}
	}
	var q bytes.Buffer
	if err := WriteFetchV0(&q, a, wants, depth); err != nil {
		r.t.Fatal(err)
	}
	out := r.serve(0, q.Bytes(), "upload-pack", "--stateless-rpc")
	objects, err := ReadFetchV0(NewReader(bytes.NewReader(out)))
	return out, objects, err
}

func TestFetch(t *testing.T) {
	r := newRepo(t)
	a, b := r.history(refA, 30), r.history(refB, 2)
	tips := []refstore.OID{a[29].New, b[1].New}
	for _, packed := range []bool{false, true} {
		if packed {
			r.git("repack", "-a", "-d", "-q", "--depth=50") // makes deltas
		}
		t.Run(fmt.Sprintf("packed %v", packed), func(t *testing.T) {
			_, objects, err := r.fetch(1, tips...)
			if err != nil {
				t.Fatal(err)
			}
			checkObjects(t, objects, a[29], b[1])
			out, objects, err := r.fetch(20, tips...)
			if err != nil {
				t.Fatal(err)
			}
			checkObjects(t, objects, append(a[10:30:30], b...)...)
			checkCuts(t, out, ReadFetch)
			_, objects, err = r.fetch(0, tips...)
			if err != nil {
				t.Fatal(err)
			}
			checkObjects(t, objects, append(a[:30:30], b...)...)
		})
	}
}

func TestFetchV0(t *testing.T) {
	r := newRepo(t)
	a := r.history(refA, 30)
	r.git("repack", "-a", "-d", "-q", "--depth=50")
	for _, without := range []string{"", "ofs-delta", "side-band-64k", "no-progress"} {
		t.Run("without "+without, func(t *testing.T) {
			out, objects, err := r.fetchV0(20, without, a[29].New)
			if err != nil {
				t.Fatal(err)
			}
			checkObjects(t, objects, a[10:]...)
			checkCuts(t, out, ReadFetchV0)
		})
	}
	_, objects, err := r.fetchV0(1, "shallow", a[29].New)
	if err != nil {
		t.Fatal(err)
	}
	checkObjects(t, objects, a...)
}

func checkCuts(t *testing.T, whole []byte, read func(*Reader) ([]refstore.Object, error)) {
	t.Helper()
	for n := 0; n < len(whole); n += 1 + len(whole)/200 {
		if _, err := read(NewReader(bytes.NewReader(whole[:n]))); !errors.Is(err, io.ErrUnexpectedEOF) {
			t.Fatalf("cut at %d of %d: %v", n, len(whole), err)
		}
	}
}

// Large commits and other objects are passed over, also as bases of deltas.
func TestFetchLeavesOutWhatIsNoRecord(t *testing.T) {
	r := newRepo(t)
	large := change(refA, "", strings.Repeat("x\n", refstore.MaxCommit))
	next := change(refA, large.New, strings.Repeat("x\n", refstore.MaxCommit)+"y")
	small := change(refB, "", "one")
	for _, u := range []refstore.Update{large, next, small} {
		r.push(txOf(u))
	}
	blob := strings.TrimSpace(string(r.command([]byte(strings.Repeat("b", 200000)), "--git-dir", r.dir, "hash-object", "-w", "--stdin")))
	r.git("repack", "-a", "-d", "-q", "-F")
	_, objects, err := r.fetch(2, next.New, small.New, refstore.OID(blob))
	if err != nil {
		t.Fatal(err)
	}
	checkObjects(t, objects, small)
}

func TestFetchOfWhatIsNotThere(t *testing.T) {
	r := newRepo(t)
	r.history(refA, 1)
	missing := refstore.OID(strings.Repeat("1", 40))
	if _, objects, err := r.fetch(1, missing); err != nil || objects != nil {
		t.Errorf("%v, %v", objects, err)
	}
	if _, objects, err := r.fetchV0(1, "", missing); err != nil || objects != nil {
		t.Errorf("%v, %v", objects, err)
	}
	if _, err := ReadFetch(NewReader(strings.NewReader(pkts("ERR access denied")))); !errors.Is(err, ErrRemote) {
		t.Errorf("error %v", err)
	}
}

func TestFetchAnswers(t *testing.T) {
	for in, want := range map[string]error{
		pkts("packfile\n", "\x02words", "\x03fatal: no", ""):      ErrRemote,
		pkts("packfile\n", ""):                                    io.ErrUnexpectedEOF,
		pkts("packfile\n", "\x01PACKxxxxxxxxxxxxxxxxxxxxxxx", ""): ErrMalformed,
		pkts("packfile\n", "\x09data", ""):                        ErrMalformed,
		pkts("packfile\n") + delimPkt:                             ErrMalformed,
		pkts("shallow-info\n", ""):                                ErrMalformed,
		pkts("acknowledgments\n", "NAK\n", ""):                    ErrMalformed,
		pkts(""):                                                  ErrMalformed,
	} {
		if _, err := ReadFetch(NewReader(strings.NewReader(in))); !errors.Is(err, want) {
			t.Errorf("%q: %v, want %v", in, err, want)
		}
	}
	if _, err := ReadFetchV0(NewReader(strings.NewReader(pkts("hello\n", "")))); !errors.Is(err, ErrMalformed) {
		t.Errorf("error %v", err)
	}
}
