package httpgit

import (
	"encoding/pem"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/git-worklease/git-worklease/refstore"
)

var nowForTest = time.Now

// The settings that hold for a URL are those that git finds.
func TestValuesForAreGits(t *testing.T) {
	patterns := []string{
		"https://example.com", "https://example.com/", "https://example.com/a", "https://example.com/a/", "https://example.com/a/b",
		"https://example.com/ab", "https://*.com", "https://*.example.com", "https://git.example.com", "https://example.com:443/a", "https://example.com:8443",
		"http://example.com/a", "http://example.com:80", "https://alice@example.com", "https://bob@example.com/a", "https://EXAMPLE.com/a", "HTTPS://example.com/a/b/c",
	}
	urls := []string{
		"https://example.com/a/b.git", "https://example.com/a", "https://example.com/ab", "https://alice@example.com/a/b", "https://git.example.com/x",
		"http://example.com/a/b", "https://example.com:8443/a/b", "https://example.com:443/a/b/c/d", "https://a.b.example.com/", "https://Example.com/x", "https://other/",
	}
	for _, order := range [][]string{{patterns[2], patterns[0]}, {patterns[6], patterns[7]}, {patterns[8], patterns[7]}, {patterns[14], patterns[13]}, {patterns[9], patterns[2]}} {
		matchLikeGit(t, order, urls)
	}
	matchLikeGit(t, patterns, urls)
	slices.Reverse(patterns)
	matchLikeGit(t, patterns, urls)
}

// matchLikeGit compares with git for a file that has one setting for all URLs and one for each pattern.
func matchLikeGit(t *testing.T, patterns, urls []string) {
	t.Helper()
	pairs := []string{"http.useragent=all"}
	file := filepath.Join(t.TempDir(), "config")
	run(t, "config", "--file", file, "http.useragent", "all")
	for i, p := range patterns {
		key, value := "http."+p+".useragent", fmt.Sprint(i)
		pairs = append(pairs, key+"="+value)
		run(t, "config", "--file", file, "--add", key, value)
	}
	for _, u := range urls {
		compareWithGit(t, file, pairs, u)
	}
}

func compareWithGit(t *testing.T, file string, pairs []string, url string) {
	t.Helper()
	want, err := testGit().Output(t.Context(), "config", "--file", file, "--get-urlmatch", "http.useragent", url)
	if err != nil {
		want = nil // none fits
	}
	got := ""
	if all := valuesFor(config(pairs...), url)["useragent"]; len(all) > 0 {
		got = all[len(all)-1]
	}
	if got != strings.TrimSpace(string(want)) {
		t.Errorf("%s with %v: %q, git says %q", url, pairs, got, want)
	}
}

func run(t *testing.T, args ...string) {
	t.Helper()
	if _, err := testGit().Output(t.Context(), args...); err != nil {
		t.Fatal(err)
	}
}

func TestExtraHeaders(t *testing.T) {
	s := startServer(t)
	var got http.Header
	s.intercept(func(_ http.ResponseWriter, r *http.Request) bool { got = r.Header; return false })
	cfg := config("http.extraheader=X-Old: 1", "http.extraheader=", "http.extraheader=x-one: 1", "http."+s.URL+"/.extraheader=X-Two:2",
		"http.extraheader=X-Late: lost", "http."+s.URL+"/other.extraheader=X-Other: 1", "http."+s.URL+".extraheader=AUTHORIZATION: basic YTpi", "http.useragent=me/1")
	refs(t, open(t, Options{URL: s.url(), Known: known, Config: cfg}))
	for name, want := range map[string]string{"X-Old": "", "X-One": "1", "X-Two": "2", "X-Late": "", "X-Other": "", "Authorization": "basic YTpi", "User-Agent": "me/1"} {
		if got.Get(name) != want {
			t.Errorf("%s: %q, want %q", name, got.Get(name), want)
		}
	}
	if got.Get("Accept-Encoding") != "" {
		t.Error("compression was asked for")
	}
	g := testGit("GIT_HTTP_USER_AGENT=env/1")
	refs(t, open(t, Options{URL: s.url(), Known: known, Config: cfg, Git: g}))
	if got.Get("User-Agent") != "env/1" {
		t.Errorf("user agent %q", got.Get("User-Agent"))
	}
}

func TestUnsupported(t *testing.T) {
	const url = "https://example.com/repo.git"
	cases := []struct {
		setting string
		want    string
	}{
		{"http.sslverify=false", ""}, {"http.postbuffer=1", ""}, {"http.emptyauth=auto", ""}, {"http.sslbackend=openssl", ""}, {"http.cookiefile=", ""},
		{"http.proxy=proxy:3128", ""}, {"http.proxy=", ""}, {"http.proxy=socks5://h:1", ""}, {"http.proxy=http://u:p@h:1", ""}, {"http.https://other.com.cookiefile=x", ""},
		{"http.proxy=socks4://h:1", "http.proxy"}, {"http.proxy=http://u@h:1", "http.proxy"}, {"http.proxy=http://%zz", "http.proxy"},
		{"http.cookiefile=x", "http.cookiefile"}, {"http.https://example.com.cookiefile=x", "http.cookiefile"}, {"http.sslbackend=schannel", "http.sslbackend"},
		{"http.sslversion=tlsv1.3", "http.sslversion"}, {"http.sslcipherlist=x", "http.sslcipherlist"}, {"http.delegation=always", "http.delegation"},
		{"http.emptyauth=true", "http.emptyauth"}, {"http.proxyauthmethod=ntlm", "http.proxyauthmethod"}, {"http.curloptresolve=x", "http.curloptresolve"},
		{"http.pinnedpubkey=x", "http.pinnedpubkey"}, {"http.notyetinvented=x", "http.notyetinvented"}, {"http.sslcertpasswordprotected=true", "http.sslcertpasswordprotected"},
	}
	for _, c := range cases {
		got, ok := Unsupported(config(c.setting), url)
		if got != c.want || ok != (c.want != "") {
			t.Errorf("%s: %q, want %q", c.setting, got, c.want)
		}
		if c.want == "" {
			continue
		}
		tr := open(t, Options{URL: url, Known: known, Config: config(c.setting)})
		_, err := tr.Push(t.Context(), txOf(change(refA, "", "one")))
		checkUnsupported(t, err, refstore.FeatureConfig, c.want)
	}
	if _, ok := Unsupported(nil, url); ok {
		t.Error("no settings are unsupported")
	}
	tr := open(t, Options{URL: url, Known: known, Git: testGit("GIT_SSL_VERSION=tlsv1.3")})
	_, err := tr.Refs(t.Context(), []string{prefix})
	checkUnsupported(t, err, refstore.FeatureConfig, "GIT_SSL_VERSION")
}

func TestTLS(t *testing.T) {
	s := newServer(t)
	s.StartTLS()
	t.Cleanup(s.Close)
	dir := t.TempDir()
	ca := filepath.Join(dir, "ca.pem")
	text := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: s.Certificate().Raw})
	if err := os.WriteFile(ca, text, 0o600); err != nil {
		t.Fatal(err)
	}
	good := map[string]Options{
		"not verified": {Config: config("http.sslverify=false")},
		"by variable":  {Git: testGit("GIT_SSL_NO_VERIFY=1")},
		"a file":       {Config: config("http.sslcainfo=" + ca)},
		"at home":      {Config: config("http.sslcainfo=~/ca.pem"), Git: testGit("HOME=" + dir)},
		"a folder":     {Config: config("http.sslcapath=" + dir)},
		"CA variable":  {Config: config("http.sslcainfo=/nowhere"), Git: testGit("GIT_SSL_CAINFO=" + ca)},
		"by URL":       {Config: config("http.sslverify=true", "http."+s.URL+".sslverify=0")},
	}
	for name, o := range good {
		t.Run(name, func(t *testing.T) {
			o.URL, o.Known = s.url(), known
			refs(t, open(t, o))
		})
	}
	_, err := s.open(known).Push(t.Context(), txOf(change(refA, "", "one")))
	checkUnavailable(t, err, refstore.TroubleNetwork, false)
	for _, bad := range []string{"http.sslcainfo=/nowhere", "http.sslcainfo=" + os.DevNull, "http.sslcapath=/nowhere", "http.sslcert=" + ca} {
		_, err := open(t, Options{URL: s.url(), Known: known, Config: config(bad)}).Refs(t.Context(), []string{prefix})
		checkUnavailable(t, err, refstore.TroubleLocal, false)
	}
	plain := startServer(t) // needs no certificates
	refs(t, open(t, Options{URL: plain.url(), Known: known, Config: config("http.sslcainfo=/nowhere")}))
}

func TestProxy(t *testing.T) {
	s := startServer(t)
	var through int
	proxy := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		through++
		r.URL.Host = s.Listener.Addr().String()
		(&httputil.ReverseProxy{Rewrite: func(*httputil.ProxyRequest) {}}).ServeHTTP(w, r)
	}))
	t.Cleanup(proxy.Close)
	const url = "http://git.invalid/repo.git"
	host := strings.TrimPrefix(proxy.URL, "http://")
	for name, o := range map[string]Options{
		"setting":  {Config: config("http.proxy=" + host)},
		"by URL":   {Config: config("http.proxy=http://127.0.0.1:1", "http.http://git.invalid.proxy="+proxy.URL)},
		"variable": {Git: testGit("http_proxy=" + proxy.URL)},
		"for all":  {Git: testGit("all_proxy=" + host)},
	} {
		t.Run(name, func(t *testing.T) {
			o.URL, o.Known = url, known
			before := through
			refs(t, open(t, o))
			if through != before+1 {
				t.Errorf("%d requests through the proxy", through-before)
			}
		})
	}
	for name, o := range map[string]Options{
		"no_proxy":    {Config: config("http.proxy=" + host), Git: testGit("no_proxy=git.invalid")},
		"none wanted": {Config: config("http.proxy="), Git: testGit("http_proxy=" + proxy.URL)},
		"upper case":  {Git: testGit("HTTP_PROXY=" + proxy.URL)},
	} {
		t.Run(name, func(t *testing.T) {
			o.URL, o.Known = url, known
			_, err := open(t, o).Refs(t.Context(), []string{prefix})
			checkUnavailable(t, err, refstore.TroubleNetwork, false)
		})
	}
	_, err := open(t, Options{URL: url, Known: known, Git: testGit("http_proxy=http://u:hidden@%zz")}).Refs(t.Context(), []string{prefix})
	if err == nil || strings.Contains(err.Error(), "hidden") {
		t.Errorf("error %v", err)
	}
}
