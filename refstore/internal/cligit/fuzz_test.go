package cligit

import (
	"errors"
	"strings"
	"testing"

	"github.com/git-worklease/git-worklease/internal/gitexec"
	"github.com/git-worklease/git-worklease/refstore"
)

// FuzzParseTrace: a trace tells refs that stand there, and never that nothing was sent where a command is in it.
func FuzzParseTrace(f *testing.F) {
	f.Add("packet: push< " + one + ` refs/w/a\0atomic` + "\npacket: push> " + zero + " " + one + " refs/w/a\n")
	f.Add("packet: fetch< version 2\npacket: fetch< object-format=sha256\n")
	f.Fuzz(func(t *testing.T, in string) {
		tr := parseTrace(strings.NewReader(in))
		for name, oid := range tr.advertised {
			if name == "" || oid.IsZero() || !strings.Contains(in, string(oid)+" "+name) {
				t.Fatalf("%q at %q", name, oid)
			}
		}
		sent := parseTrace(strings.NewReader(in + "\npacket: push> " + zero + " " + one + " refs/w/a\n"))
		if !sent.commanded || !sent.alive {
			t.Errorf("after %q nothing is known to be sent", in)
		}
		if r := tr.reading(); r.commanded || r.advertised != nil || r.format != tr.format {
			t.Errorf("%+v tells a reader %+v", tr, r)
		}
	})
}

// FuzzParsePorcelain: a ref has a result only where there is a line that gives it one.
func FuzzParsePorcelain(f *testing.F) {
	f.Add("!\t11:refs/w/e\t[remote rejected] (no)\n*\t11:refs/w/a\t[new reference]\n")
	f.Add("!\t(delete):refs/w/f\t[rejected] (stale info)\n=\trefs/w/d\t\n")
	f.Fuzz(func(t *testing.T, in string) {
		r := parsePorcelain(in)
		for _, some := range []map[string]string{r.refused, r.unsent} {
			for ref, reason := range some {
				if strings.ContainsAny(ref, "\t:\n") || !strings.Contains(in, ref+"\t[re") || !strings.Contains(in, reason) {
					t.Errorf("ref %q: %q", ref, reason)
				}
			}
		}
		for ref := range r.done {
			if strings.ContainsAny(ref, "\t:\n") || !strings.Contains(in, ref+"\t") {
				t.Errorf("ref %q", ref)
			}
		}
		tx := &refstore.Tx{Updates: []refstore.Update{{Change: refstore.Change{Ref: "refs/w/never named"}}}}
		if r.complete(tx) && !strings.Contains(in, "refs/w/never named") {
			t.Error("complete without a word on the ref")
		}
	})
}

// FuzzParseListing: a listing is refused, or comes as it is written.
func FuzzParseListing(f *testing.F) {
	f.Add([]byte(one + "\trefs/w/a\n" + one + "\tHEAD\n"))
	f.Add([]byte(zero + "\trefs/w/a\n"))
	f.Add([]byte("warning: x\n"))
	f.Fuzz(func(t *testing.T, out []byte) {
		refs, err := parseListing(out)
		if err != nil {
			if !errors.Is(err, refstore.ErrBadOID) {
				t.Errorf("got %v", err)
			}
			return
		}
		for name, oid := range refs {
			id := string(oid)
			if oid == refstore.Unreadable {
				id = "0"
			}
			if name == "" || oid.IsZero() || !strings.Contains(string(out), id+"\t"+name) {
				t.Errorf("%q at %q", name, oid)
			}
		}
	})
}

// FuzzRemoteWords: what the server said is lines of what git wrote.
func FuzzRemoteWords(f *testing.F) {
	f.Add("remote: no   \r\nremote:\nfatal: x\nremote: \n")
	f.Fuzz(func(t *testing.T, stderr string) {
		for line := range strings.Lines(remoteWords(stderr)) {
			if text := strings.TrimSuffix(line, "\n"); strings.TrimRight(text, " \r\n") != text || !strings.Contains(stderr, "remote: "+text) {
				t.Errorf("%q says %q", stderr, line)
			}
		}
	})
}

// FuzzHandover: of the user's settings those are handed over that git does not find by itself and that are about a connection.
func FuzzHandover(f *testing.F) {
	f.Add([]byte("global\x00f\x00http.proxy\np\x00local\x00f\x00core.bare\nfalse\x00local\x00f\x00core.sshcommand\nssh\x00"), 1)
	f.Fuzz(func(t *testing.T, config []byte, known int) {
		user := gitexec.ParseConfig(config).WithPrefix("")
		native := user[:min(max(known, 0), len(user))]
		some := handover(user, native)
		if len(some) > len(user)-len(handedOver(native)) {
			t.Errorf("%d of %d, of which %d are known", len(some), len(user), len(native))
		}
		for _, s := range some {
			if strings.HasPrefix(s.key, "remote.") || strings.HasPrefix(s.key, "core.") && s.key != "core.askpass" && s.key != "core.gitproxy" && s.key != "core.sshcommand" {
				t.Errorf("%q is handed over", s.key)
			}
		}
	})
}

// handedOver are those of settings that would be.
func handedOver(settings []gitexec.Setting) []setting { return handover(settings, nil) }
