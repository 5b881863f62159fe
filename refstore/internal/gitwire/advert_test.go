package gitwire

import (
	"bytes"
	"errors"
	"io"
	"maps"
	"strings"
	"testing"

	"github.com/git-worklease/git-worklease/refstore"
)

const infoRefs = "--http-backend-info-refs"

func TestAdvertOfRealServers(t *testing.T) {
	r := newRepo(t)
	a, b := change(refA, "", "one"), change("refs/heads/main", "", "two")
	r.push(txOf(a, b))
	cases := []struct {
		name    string
		service string
		version int
		want    int
	}{
		{"upload-pack 0", "upload-pack", 0, 0},
		{"upload-pack 1", "upload-pack", 1, 0},
		{"upload-pack 2", "upload-pack", 2, 2},
		{"receive-pack 0", "receive-pack", 0, 0},
		{"receive-pack 1", "receive-pack", 1, 0},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			out := r.serve(c.version, nil, c.service, infoRefs)
			for _, header := range []string{"", pkts("# service=git-"+c.service+"\n", "")} {
				got, err := ReadAdvert(NewReader(strings.NewReader(header+string(out))), []string{"refs/worklease/"})
				if err != nil {
					t.Fatal(err)
				}
				checkAdvert(t, got, c.want, c.service, a.New)
			}
			for n := range out {
				if _, err := ReadAdvert(NewReader(bytes.NewReader(out[:n])), nil); !errors.Is(err, io.ErrUnexpectedEOF) {
					t.Fatalf("cut at %d of %d: %v", n, len(out), err)
				}
			}
		})
	}
}

func checkAdvert(t *testing.T, a *Advert, version int, service string, tip refstore.OID) {
	t.Helper()
	if a.Version != version || a.Format != refstore.SHA1 || !strings.HasPrefix(a.Agent, "git/") || a.Atomic != (service == "receive-pack") {
		t.Errorf("advertisement %+v", a)
	}
	if version == 2 {
		if !a.LsRefs || !a.Fetch || a.Refs != nil {
			t.Errorf("advertisement %+v", a)
		}
		return
	}
	if want := map[string]refstore.OID{refA: tip}; !maps.Equal(a.Refs, want) {
		t.Errorf("refs %v, want %v", a.Refs, want)
	}
}

func TestAdvertOfEmptyRepositories(t *testing.T) {
	for _, format := range []refstore.Format{refstore.SHA1, refstore.SHA256} {
		r := newRepo(t, "--object-format="+string(format))
		for _, service := range []string{"receive-pack", "upload-pack"} {
			a, err := ReadAdvert(NewReader(bytes.NewReader(r.serve(0, nil, service, infoRefs))), []string{"refs/"})
			if err != nil || a.Refs == nil || len(a.Refs) != 0 {
				t.Errorf("%s of %s: %+v, %v", service, format, a, err)
			}
			if service == "receive-pack" && a.Format != format { // upload-pack says nothing at all
				t.Errorf("format %s, want %s", a.Format, format)
			}
		}
		a, err := ReadAdvert(NewReader(bytes.NewReader(r.serve(2, nil, "upload-pack", infoRefs))), nil)
		if err != nil || a.Format != format {
			t.Errorf("%s: %+v, %v", format, a, err)
		}
	}
}

func TestAdverts(t *testing.T) {
	id := strings.Repeat("1", 40)
	cases := []struct {
		name string
		in   string
		want error
		refs int
	}{
		{"nothing", "", io.ErrUnexpectedEOF, 0},
		{"no refs", pkts(""), nil, 0},
		{"one", pkts(id+" refs/x\x00atomic\n", ""), nil, 1},
		{"shallow", pkts(id+" refs/x\x00atomic\n", "shallow "+id, ""), nil, 1},
		{"peeled", pkts(id+" refs/x\x00atomic\n", id+" refs/x^{}", ""), nil, 1},
		{"other borrowed", pkts(id+" .have\x00atomic\n", ""), nil, 0},
		{"html", "<html><body>Sign in", ErrMalformed, 0},
		{"no ID", pkts("hello refs/x\n", ""), ErrMalformed, 0},
		{"no name", pkts(id, ""), ErrMalformed, 0},
		{"a section", pkts(id+" refs/x\n") + delimPkt, ErrMalformed, 0},
		{"a section in version 2", pkts("version 2\n") + delimPkt, ErrMalformed, 0},
		{"no flush after the service", pkts("# service=x\n", id+" refs/x\n", ""), ErrMalformed, 0},
		{"gives up", pkts("ERR access denied or repository not exported\n"), ErrRemote, 0},
		{"length 3", "0003", ErrMalformed, 0},
		{"too long", "ffff", ErrMalformed, 0},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			a, err := ReadAdvert(NewReader(strings.NewReader(c.in)), []string{"refs/"})
			if !errors.Is(err, c.want) {
				t.Fatalf("error %v, want %v", err, c.want)
			}
			if err == nil && len(a.Refs) != c.refs {
				t.Errorf("refs %v", a.Refs)
			}
		})
	}
}

func TestPrefixes(t *testing.T) {
	got := Prefixes(txOf(change(refA, "", "x"), change("refs/worklease/meta", "", "x"), change(refB, "", "x"), change("odd", "", "x")))
	if want := "refs/worklease/claims/ refs/worklease/"; strings.Join(got, " ") != want {
		t.Errorf("prefixes %v, want %s", got, want)
	}
}

func TestReaderIsBounded(t *testing.T) {
	r := NewReader(strings.NewReader(pkts("one", "two", "")))
	r.left = 10
	if _, _, err := r.Next(); err != nil {
		t.Fatal(err)
	}
	if _, _, err := r.Next(); !errors.Is(err, ErrTooLarge) {
		t.Errorf("error %v", err)
	}
}
