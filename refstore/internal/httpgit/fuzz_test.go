package httpgit

import (
	"encoding/base64"
	"errors"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"

	"github.com/git-worklease/git-worklease/internal/gitexec"
)

// FuzzURL: no part of a password comes through in the name that errors show, and what is left is the same server.
func FuzzURL(f *testing.F) {
	f.Add("https://alice:s3cret@example.com/repo.git/")
	f.Add("http://alice@[::1]:80/%0a?x#y")
	f.Add("http:a:b@c")
	f.Fuzz(func(t *testing.T, raw string) {
		name, user, pass := splitURL(raw)
		shown, err := url.Parse(name)
		if err == nil && shown.User != nil {
			t.Errorf("%q is shown as %q", raw, name)
		}
		u, err := url.Parse(raw)
		if err != nil {
			if name != "(not a URL)" {
				t.Errorf("%q is shown as %q", raw, name)
			}
			return
		}
		if _, more, secret := splitURL(name); more != "" || secret != "" {
			t.Errorf("%q is shown as %q", raw, name)
		}
		if had, _ := u.User.Password(); had != pass || u.User.Username() != user || originOfText(name) != originOf(u) {
			t.Errorf("%q: %q, %q, %q", raw, name, user, pass)
		}
	})
}

// FuzzCredential: what git's helpers tell is no credential, or one that is safe in a header.
func FuzzCredential(f *testing.F) {
	f.Add("username=a\npassword=b\n")
	f.Add("authtype=Bearer\r\ncredential=x\ry\n")
	f.Fuzz(func(t *testing.T, told string) {
		c, err := credentialOf([]byte(told), "http://h")
		if (err == nil) != (c.header != "") || err != nil && !errors.Is(err, errNoCredential) {
			t.Errorf("%q: %q, %v", told, c.header, err)
		}
		if strings.ContainsFunc(c.header, func(r rune) bool { return r < ' ' && r != '\t' || r == 0x7f }) {
			t.Errorf("%q: header %q", told, c.header)
		}
		if pair, ok := strings.CutPrefix(c.header, "Basic "); ok && !strings.Contains(told, "authtype") {
			text, err := base64.StdEncoding.DecodeString(pair)
			found := false
			for i, c := range text { // any part may have a colon
				found = found || c == ':' && strings.Contains(told, string(text[:i])) && strings.Contains(told, string(text[i+1:]))
			}
			if err != nil || !found {
				t.Errorf("%q: %q", told, text)
			}
		}
	})
}

// FuzzURLMatch: a setting's URL fits itself, and everything below it; one that fits has the host's labels and the first of the path's segments.
func FuzzURLMatch(f *testing.F) {
	f.Add("https://a.example.com/x/y", "https://*.example.com/x")
	f.Add("http://u@h:80/", "http://h")
	f.Add("https://[::1]/%2f", "https://[::1]/%2F")
	f.Fuzz(func(t *testing.T, raw, pattern string) {
		u, err := url.Parse(raw)
		if err != nil {
			return
		}
		if p, err := url.Parse(pattern); err == nil && p.Scheme != "" && p.Opaque == "" {
			if _, ok := matchURL(p, pattern); !ok {
				t.Errorf("%q does not fit itself", pattern)
			}
			below := *p
			below.Path, below.RawPath = strings.TrimSuffix(p.Path, "/")+"/below", ""
			if _, ok := matchURL(&below, pattern); !ok && p.RawPath == "" {
				t.Errorf("%q does not fit %q", pattern, below.String())
			}
		}
		m, ok := matchURL(u, pattern)
		if !ok {
			return
		}
		p, err := url.Parse(pattern)
		if err != nil || m.path < 1 || m.path > len(u.EscapedPath())+1 || !strings.HasPrefix(u.EscapedPath(), strings.TrimSuffix(p.EscapedPath(), "/")) {
			t.Fatalf("%q fits %q by %+v", pattern, raw, m)
		}
		if strings.Count(u.Hostname(), ".") != strings.Count(p.Hostname(), ".") || m.user && u.User.Username() != p.User.Username() {
			t.Errorf("%q fits %q by %+v", pattern, raw, m)
		}
	})
}

// FuzzSettings: whatever git's configuration says, it is obeyed or named as what is not, no password in it is shown, and no header that carries a secret goes to
// another server.
func FuzzSettings(f *testing.F) {
	f.Add("http.extraheader", "Authorization: Basic S3cr3t", "https://h/r")
	f.Add("http.https://h.proxy", "http://u:S3cr3t@p:99999", "https://h/r")
	f.Add("http.proxy", "socks9://u:S3cr3t@p", "https://h/r")
	f.Add("http.sslverify", "FALSE", "https://h/r")
	f.Add("http.cookiefile", "x", "https://h/r")
	f.Fuzz(func(t *testing.T, key, value, raw string) {
		if strings.ContainsAny(key+value, "\x00\n") {
			return
		}
		cfg := gitexec.ParseConfig([]byte("local\x00file:x\x00" + key + "\n" + value + "\x00"))
		env := environment{"HOME": "/home"}
		s, err := readSettings(cfg, env, raw)
		if name, yes := Unsupported(cfg, raw); yes != (err != nil) || yes && !strings.Contains(err.Error(), name) {
			t.Errorf("%q, %v", name, err)
		}
		if err == nil {
			_, err = proxyFunc(s, env)
		}
		var setting settingError
		if err != nil && !errors.As(err, &setting) || err != nil && strings.Contains(err.Error(), "S3cr3t") && !strings.Contains(key, "S3cr3t") {
			t.Errorf("got %v", err)
		}
		h := http.Header{}
		s.addExtra(h, false)
		for name := range h {
			if plain := strings.ToLower(strings.TrimSpace(name)); name == "" || slices.Contains([]string{"authorization", "cookie"}, plain) {
				t.Errorf("%q goes to another server", name)
			}
		}
	})
}

// FuzzRedirect: a read goes on at another URL of the same form and without credentials, or not at all, and never from https to http.
func FuzzRedirect(f *testing.F) {
	const tail = "/info/refs?service=git-upload-pack"
	f.Add("https://h/other.git"+tail, true)
	f.Add("http://h/other.git"+tail, true)
	f.Add("//u:p@h/r"+tail, false)
	f.Add("ftp://h/r"+tail+"#x", false)
	f.Fuzz(func(t *testing.T, location string, secure bool) {
		base := "http://h/r"
		if secure {
			base = "https://h/r"
		}
		req, err := http.NewRequest(http.MethodGet, base+tail, nil)
		if err != nil {
			t.Fatal(err)
		}
		resp := &http.Response{StatusCode: http.StatusFound, Request: req, Header: http.Header{"Location": {location}}}
		tr := &transport{base: base, set: settings{follow: true}}
		switch err := tr.redirect(&call{method: http.MethodGet, tail: tail}, resp); {
		case err != nil && (!isRedirect(err) || tr.where() != base):
			t.Errorf("%v, at %q", err, tr.where())
		case err == nil:
			to, err := url.Parse(tr.where() + tail)
			if err != nil || to.User != nil || to.Scheme != "https" && (secure || to.Scheme != "http") {
				t.Errorf("%q leads to %q, %v", location, tr.where(), err)
			}
		}
	})
}
