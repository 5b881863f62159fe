package cligit

import (
	"os"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/git-worklease/git-worklease/internal/gitexec"
	"github.com/git-worklease/git-worklease/refstore"
)

// TestPorcelainSplit: what hooks print comes first and is passed on, however it is cut into pieces, also where it looks like git's report, or does not end with a
// line feed.
func TestPorcelainSplit(t *testing.T) {
	const hooks = "checking…\nTo be or not\n*\trefs/heads/x:refs/heads/x\t[new branch]\nTop\nwelcome To all\n"
	const report = "To http://h/r\n \trefs/heads/a:refs/heads/a\t1111111..2222222\n!\trefs/heads/b:refs/heads/b\t[rejected] (non-fast-forward)\nDone\n"
	rapid.Check(t, func(t *rapid.T) {
		var rest strings.Builder
		s := &porcelainSplit{rest: &rest, url: "h/r"}
		last := rapid.SampledFrom([]string{"", "50%", "To", strings.Repeat("long", 4000)}).Draw(t, "last")
		text := hooks + last + report
		for len(text) > 0 {
			n := rapid.IntRange(1, len(text)).Draw(t, "n")
			if _, err := s.Write([]byte(text[:n])); err != nil {
				t.Fatal(err)
			}
			text = text[n:]
		}
		if !strings.Contains(rest.String(), "*\trefs/heads/x:refs/heads/x\t[new branch]\nTop\nwelcome To all\n"+last) {
			t.Fatalf("passed on: %q", rest.String())
		}
		refs := s.refs()
		if len(refs) != 2 || refs[0].To != "refs/heads/a" || refs[0].Summary != "1111111..2222222" || !refs[1].Refused() || refs[1].Reason != "non-fast-forward" {
			t.Fatalf("%+v", refs)
		}
	})
}

// TestPorcelainSplitAtOnce: what can't be the report is not kept back.
func TestPorcelainSplitAtOnce(t *testing.T) {
	var rest strings.Builder
	s := &porcelainSplit{rest: &rest}
	for _, piece := range []string{"...", "...", "\nT", "est"} {
		if _, err := s.Write([]byte(piece)); err != nil {
			t.Fatal(err)
		}
	}
	if rest.String() != "......\nTest" {
		t.Errorf("%q", rest.String())
	}
}

func TestSilence(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var out strings.Builder
		s := &silence{to: &out, words: []string{"abcdef"}}
		text := "Counting: 1%\rCounting: 2%\rerror: Could not read abcdef\nremote: fine\nlast"
		for len(text) > 0 {
			n := rapid.IntRange(1, len(text)).Draw(t, "n")
			if _, err := s.Write([]byte(text[:n])); err != nil {
				t.Fatal(err)
			}
			text = text[n:]
		}
		if err := s.flush(); err != nil || out.String() != "Counting: 1%\rCounting: 2%\rremote: fine\nlast" {
			t.Fatalf("%q, %v", out.String(), err)
		}
	})
}

func TestCodeRef(t *testing.T) {
	for line, want := range map[string]string{
		" \trefs/heads/a:refs/heads/b\tabc..def":                    "   abc..def          a -> b",
		"+\trefs/heads/a:refs/heads/a\tabc...def (forced update)":   " + abc...def         a -> a (forced update)",
		"*\tHEAD:refs/tags/v1\t[new tag]":                           " * [new tag]         HEAD -> v1",
		"-\t:refs/heads/gone\t[deleted]":                            " - [deleted]         gone",
		"!\tHEAD~1:refs/heads/a\t[remote rejected] (hook declined)": " ! [remote rejected] HEAD~1 -> a (hook declined)",
	} {
		r, ok := parseCodeRef(line)
		if !ok || r.String() != want {
			t.Errorf("%q: %q", line, r.String())
		}
	}
	for _, line := range []string{"Done", "To x", "Would set upstream of 'a' to 'b' of 'c'", "x\ta:b\tc", "*\tno colon\t[new branch]"} {
		if r, ok := parseCodeRef(line); ok {
			t.Errorf("%q: %+v", line, r)
		}
	}
	for summary, want := range map[string]bool{"abc..def": true, "abc...def": true, "abc..012": false, "[new branch]": true, "[a..b]": true} {
		if r := (CodeRef{Summary: summary}); r.leadsTo("def4567") != want {
			t.Errorf("%s", summary)
		}
	}
}

func TestMapRef(t *testing.T) {
	for _, tt := range []struct{ specs, ref, want string }{
		{"+refs/heads/*:refs/remotes/o/*", "refs/heads/a/b", "refs/remotes/o/a/b"},
		{"+refs/heads/*:refs/remotes/o/*", "refs/tags/v1", ""},
		{"refs/heads/a:refs/remotes/o/x", "refs/heads/a", "refs/remotes/o/x"},
		{"refs/heads/a", "refs/heads/a", ""},
		{"+refs/*:refs/*", "refs/worklease/claims/x", "refs/worklease/claims/x"},
		{"+refs/*:refs/* ^refs/worklease/*", "refs/worklease/claims/x", ""},
		{"refs/heads/a*z:refs/x/*", "refs/heads/abcz", "refs/x/bc"},
		{"refs/heads/a*az:refs/x/*", "refs/heads/az", ""},
	} {
		if got, _ := mapRef(strings.Fields(tt.specs), tt.ref); got != tt.want {
			t.Errorf("%s by %s: %q", tt.ref, tt.specs, got)
		}
	}
}

// TestAside: the remote that stands for the user's has all of its settings but those that say what is fetched and pushed.
func TestAside(t *testing.T) {
	tx := &refstore.Tx{Updates: []refstore.Update{{Change: refstore.Change{Ref: "refs/worklease/claims/x"}}}}
	config := func(lines ...string) *Code {
		var b strings.Builder
		for _, l := range lines {
			b.WriteString("local\x00file:x\x00" + strings.Replace(l, "=", "\n", 1) + "\x00")
		}
		return &Code{Remote: "origin", Config: gitexec.ParseConfig([]byte(b.String()))}
	}
	c := config("remote.origin.url=u", "remote.origin.fetch=+refs/heads/*:refs/remotes/origin/*")
	if remote, settings := c.aside(tx); remote != "origin" || settings != nil {
		t.Errorf("%s %v", remote, settings)
	}
	c = config("remote.origin.url=u", "remote.origin.proxy=p", "remote.origin.fetch=+refs/*:refs/m/*", "remote.origin.mirror=true", "remote.other.url=o")
	remote, settings := c.aside(tx)
	if want := []setting{{"remote.worklease-aside.url", "u"}, {"remote.worklease-aside.proxy", "p"}}; remote != asideName || !slices.Equal(settings, want) {
		t.Errorf("%s %v", remote, settings)
	}
	env := configEnv([]string{"GIT_CONFIG_COUNT=1", "GIT_CONFIG_KEY_0=a.b", "GIT_CONFIG_VALUE_0=c"}, settings)
	if !slices.Contains(env, "GIT_CONFIG_KEY_1=remote.worklease-aside.url") || !slices.Contains(env, "GIT_CONFIG_COUNT=3") {
		t.Errorf("%v", env)
	}
}

func TestAlternates(t *testing.T) {
	sep := string(os.PathListSeparator)
	for dir, want := range map[string]string{"/tmp/x": "/a" + sep + "/tmp/x", "/tmp/x" + sep + `"y\`: "/a" + sep + `"/tmp/x` + sep + `\"y\\"`} {
		if got := alternates([]string{"GIT_ALTERNATE_OBJECT_DIRECTORIES=/a"}, dir); got[0] != "GIT_ALTERNATE_OBJECT_DIRECTORIES="+want {
			t.Errorf("%q", got)
		}
	}
}
