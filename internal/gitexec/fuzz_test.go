package gitexec

import (
	"bytes"
	"fmt"
	"net/url"
	"path/filepath"
	"strings"
	"testing"
)

// FuzzParseConfig: settings come as git has written them, in its order, and the last of a key holds.
func FuzzParseConfig(f *testing.F) {
	f.Add([]byte("global\x00file:/x\x00user.name\nann\x00local\x00file:.git/config\x00core.bare\x00"))
	f.Add([]byte("local\x00file:x\x00a.b\nx\ny\x00local\x00file:x"))
	f.Fuzz(func(t *testing.T, out []byte) {
		c := ParseConfig(out)
		var again bytes.Buffer
		last := map[string]string{}
		for _, s := range c.WithPrefix("") {
			fmt.Fprintf(&again, "%s\x00%s\x00%s\n%s\x00", s.Scope, s.Origin, s.Key, s.Value)
			last[s.Key] = s.Value
		}
		for key, value := range last {
			got, ok := c.Get(key)
			all := c.All(key)
			if !ok || got.Value != value || c.Value(key) != value || len(all) == 0 || all[len(all)-1] != value {
				t.Errorf("%q is %q, and %q of %q", key, value, got.Value, all)
			}
		}
		if fields := bytes.Count(out, []byte{0}); len(c.WithPrefix("")) > (fields+1)/3 {
			t.Errorf("%d settings of %d fields", len(c.WithPrefix("")), fields)
		}
		if back := ParseConfig(again.Bytes()); fmt.Sprint(back.entries) != fmt.Sprint(c.entries) {
			t.Errorf("%q became %q", c.entries, back.entries)
		}
	})
}

// FuzzURL: every URL is of one kind, and what is shown of it is of the same.
func FuzzURL(f *testing.F) {
	for _, s := range []string{"https://u:p@h/r", "git@h:r", "ext::sh -c x", "file:///a%20b", "a://b@c@d", "FILE://h", "./a:b", "x::http://u@h"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, raw string) {
		kind, path, shown := KindOf(raw), FilePath(raw), Redact(raw)
		switch {
		case kind < KindPath || kind > KindHelper:
			t.Errorf("%q is of kind %d", raw, kind)
		case kind != KindFile && path != raw:
			t.Errorf("%q became %q", raw, path)
		case KindOf(shown) != kind:
			t.Errorf("%q is of kind %d, and %q of %d", raw, kind, shown, KindOf(shown))
		case Redact(shown) != shown:
			t.Errorf("%q is shown as %q, and that as %q", raw, shown, Redact(shown))
		case len(shown) > len(raw):
			t.Errorf("%q is shown as %q", raw, shown)
		}
		if kind == KindFile && filepath.IsAbs(path) && strings.HasPrefix(raw, "file:///") && !strings.Contains(raw, "%") && path != raw[len("file://"):] {
			t.Errorf("%q is %q", raw, path)
		}
	})
}

// FuzzRedact: a password is not shown, nor a user of http, who may be a token.
func FuzzRedact(f *testing.F) {
	f.Add("https", "alice", "pa@ss:word", "example.com:443", "a/b.git")
	f.Add("ssh", "git", "x", "[::1]", "")
	f.Add("HTTP+x", "a", "", "h", "c?d#e")
	f.Fuzz(func(t *testing.T, scheme, user, secret, host, path string) {
		if !isWord(scheme) || strings.Contains(user+secret+host, "/") || strings.ContainsAny(user, ":@") || strings.Contains(host, "@") {
			return
		}
		const mark = "S3cr3t"
		shown := Redact(fmt.Sprintf("%s://%s:%s%s@%s/%s", scheme, user, mark, secret, host, path))
		if strings.Contains(strings.Replace(shown, host+"/"+path, "", 1), mark) {
			t.Errorf("shown as %q", shown)
		}
		token := Redact(fmt.Sprintf("%s://%s%s@%s/%s", scheme, mark, secret, host, path))
		if strings.EqualFold(scheme, "https") && strings.Contains(strings.Replace(token, host+"/"+path, "", 1), mark) {
			t.Errorf("shown as %q", token)
		}
		if u, err := url.Parse(shown); err == nil && u.User != nil && strings.EqualFold(scheme, "https") && !strings.Contains(path, "@") {
			t.Errorf("shown as %q", shown)
		}
	})
}

// FuzzGitVersion: what git says of itself is two numbers and the rest, or nothing that this program can read.
func FuzzGitVersion(f *testing.F) {
	f.Add("git version 2.39.5 (Apple Git-154)\n")
	f.Add("git version 2.47.0.windows.1\n")
	f.Add("2.x")
	f.Fuzz(func(t *testing.T, out string) {
		v, full, ok := ParseVersion(out)
		if strings.Contains(full, "\n") || !strings.Contains(out, full) {
			t.Errorf("%q: %q", out, full)
		}
		if ok && (v[0] < 0 || v[1] < 0 || v.Before(v)) {
			t.Errorf("%q: %v", out, v)
		}
		if again, _, same := ParseVersion("git version " + v.String()); ok && (!same || again != v) {
			t.Errorf("%q: %v became %v", out, v, again)
		}
	})
}
