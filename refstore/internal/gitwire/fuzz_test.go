package gitwire

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/git-worklease/git-worklease/refstore"
)

// wants fails for an error that callers don't know how to sort, and says whether there was none.
func wants(t *testing.T, err error) bool {
	t.Helper()
	for _, known := range []error{nil, ErrMalformed, ErrTooLarge, ErrRemote, io.ErrUnexpectedEOF} {
		if errors.Is(err, known) {
			return err == nil
		}
	}
	t.Fatalf("an error of another kind: %v", err)
	return false
}

func read(in []byte) *Reader { return NewReader(bytes.NewReader(in)) }

// FuzzPackets: packets come as they were written, and no more of them than may.
func FuzzPackets(f *testing.F) {
	f.Add([]byte(pkts("a\n", "")+delimPkt+"0002"+pkts("b")), 100)
	f.Add([]byte("0003"), 4)
	f.Add([]byte("+004"), 4)
	f.Add([]byte("fff0"+strings.Repeat("x", maxPayload)), MaxAnswer)
	f.Add([]byte("fff1"+strings.Repeat("x", maxPayload+1)), MaxAnswer)
	f.Fuzz(func(t *testing.T, in []byte, most int) {
		r := read(in)
		r.left = int64(most)
		var again bytes.Buffer
		for {
			kind, payload, err := r.Next()
			if !wants(t, err) {
				break
			}
			if kind == Data {
				fmt.Fprintf(&again, "%04x%s", len(payload)+4, payload)
			} else {
				fmt.Fprintf(&again, "%04x", kind-Flush)
			}
		}
		if n := again.Len(); n > max(most, 0) || n > len(in) || !strings.EqualFold(again.String(), string(in[:n])) {
			t.Errorf("%q became %q", in, again.Bytes())
		}
	})
}

// FuzzAdvert: an advertisement is refused, or says the same when it is written anew.
func FuzzAdvert(f *testing.F) {
	id := strings.Repeat("1", 40)
	f.Add([]byte(pkts("# service=git-upload-pack\n", "", "version 2\n", "ls-refs=unborn\n", "object-format=sha1\n", "")))
	f.Add([]byte(pkts(id+" refs/x\x00atomic agent=git/2\n", "shallow "+id, "")))
	f.Fuzz(func(t *testing.T, in []byte) {
		a, err := ReadAdvert(read(in), []string{"refs/"})
		if !wants(t, err) {
			return
		}
		if (a.Version == 2) != (a.Refs == nil) || a.Version != 2 && a.Version != 0 {
			t.Fatalf("version %d with %d refs", a.Version, len(a.Refs))
		}
		for name, oid := range a.Refs {
			if id, err := refstore.ParseOID(string(oid)); err != nil || id.IsZero() || !strings.HasPrefix(name, "refs/") || strings.HasSuffix(name, "^{}") {
				t.Errorf("%q at %q", name, oid)
			}
		}
		written, err := rewritten(a)
		if err != nil {
			return // a line that is as long as may be, without its new line
		}
		back, err := ReadAdvert(read(written), []string{""})
		if err != nil || !maps.Equal(a.Refs, back.Refs) || !slices.Equal(a.caps, back.caps) || a.Version != back.Version ||
			a.Atomic != back.Atomic || a.Format != back.Format || a.Agent != back.Agent || a.LsRefs != back.LsRefs || a.Fetch != back.Fetch {
			t.Errorf("%+v became %+v, %v", a, back, err)
		}
	})
}

// rewritten is an advertisement that says what a does.
func rewritten(a *Advert) ([]byte, error) {
	var q request
	if a.Version == 2 {
		q.line("version 2\n")
		for _, c := range a.caps {
			q.line("%s\n", c)
		}
	} else {
		q.line("%040d capabilities^{}\x00%s\n", 0, strings.Join(a.caps, " "))
		for name, oid := range a.Refs {
			q.line("%s %s\n", oid, name)
		}
	}
	q.WriteString(flushPkt)
	return q.Bytes(), q.err
}

func FuzzRefs(f *testing.F) {
	f.Add([]byte(pkts(strings.Repeat("1", 40)+" refs/x a:b\n", "unborn HEAD\n", "")))
	f.Fuzz(func(t *testing.T, in []byte) {
		refs, err := ReadRefs(read(in))
		if !wants(t, err) {
			return
		}
		var q request
		for name, oid := range refs {
			id := string(oid)
			if oid == refstore.Unreadable {
				id = refstore.SHA1.ZeroID()
			}
			if tip, err := refstore.ParseTip(id); err != nil || tip != oid || name == "" {
				t.Errorf("%q at %q", name, oid)
			}
			q.line("%s %s\n", id, name)
		}
		q.WriteString(flushPkt)
		if back, err := ReadRefs(read(q.Bytes())); q.err == nil && (err != nil || !maps.Equal(refs, back)) {
			t.Errorf("%v became %v, %v", refs, back, err)
		}
	})
}

// FuzzReport: a report is complete, and says the same on every way that it may come.
func FuzzReport(f *testing.F) {
	tx := txOf(change(refA, "", "one"), change(refB, "", "two"))
	f.Add([]byte(pkts("\x02hi\n", "\x01"+pkts("unpack ok\n", "ok "+refA+"\n", "ng "+refB+" no\n", ""), "")), 3)
	f.Add([]byte(pkts("unpack ok\n", "ok "+refA+"\n", "option refname x\n", "ok "+refB+"\n", "")), 0)
	f.Fuzz(func(t *testing.T, in []byte, part int) {
		r := read(in)
		plain := !r.banded()
		report, err := ReadReport(r, tx)
		if !wants(t, err) {
			return
		}
		var q request
		q.line("unpack %s\n", report.Unpack)
		for _, u := range tx.Updates {
			reason, refused := report.Refused[u.Ref]
			if refused {
				q.line("ng %s %s\n", u.Ref, reason)
			} else {
				q.line("ok %s\n", u.Ref)
			}
			if said := bytes.Contains(in, []byte("ok "+u.Ref)) || bytes.Contains(in, []byte("ng "+u.Ref)); plain && !said {
				t.Errorf("a complete report without a word on %s", u.Ref)
			}
		}
		q.WriteString(flushPkt)
		if len(report.Refused) > len(tx.Updates) || len(report.Words) > maxWords {
			t.Errorf("%+v", report)
		}
		if q.err != nil || q.Len() > maxReport/2 {
			return
		}
		for _, again := range [][]byte{q.Bytes(), banded(q.Bytes(), nil, max(part, 8))} {
			if back, err := ReadReport(read(again), tx); err != nil || back.Unpack != report.Unpack || !maps.Equal(back.Refused, report.Refused) {
				t.Errorf("%+v became %+v, %v", report, back, err)
			}
		}
	})
}

// banded is data and words as a side-band carries them, in parts of a size.
func banded(data, words []byte, part int) []byte {
	part = min(max(part, 1), maxPayload-1)
	var b strings.Builder
	for len(data)+len(words) > 0 {
		for band, rest := range []*[]byte{&data, &words} {
			if n := min(part, len(*rest)); n > 0 {
				b.WriteString(pkts(string(append([]byte{byte(bandData + band)}, (*rest)[:n]...))))
				*rest = (*rest)[n:]
			}
		}
	}
	return []byte(b.String() + flushPkt)
}

// FuzzSideBand: what comes in parts on two bands is put together as it was.
func FuzzSideBand(f *testing.F) {
	f.Add([]byte("data"), []byte("words"), 3)
	f.Add([]byte{}, bytes.Repeat([]byte("w"), maxWords+1), 60000)
	f.Fuzz(func(t *testing.T, data, words []byte, part int) {
		stream := banded(data, words, part)
		d := &demux{r: read(stream)}
		got, err := io.ReadAll(d)
		if err != nil || !bytes.Equal(got, data) || string(d.words) != string(words[:min(len(words), maxWords)]) {
			t.Errorf("%q, %q, %v", got, d.words, err)
		}
		cut := &demux{r: read(stream[:len(stream)-1])}
		if _, err := io.ReadAll(cut); !errors.Is(err, io.ErrUnexpectedEOF) {
			t.Errorf("cut: %v", err)
		}
		wild := &demux{r: read(data)}
		_, err = io.ReadAll(wild)
		wants(t, err)
	})
}
