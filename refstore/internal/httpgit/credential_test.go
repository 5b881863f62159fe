package httpgit

import (
	"encoding/base64"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/git-worklease/git-worklease/internal/gitexec"
	"github.com/git-worklease/git-worklease/refstore"
)

// locked makes every request need a password of alice's.
func (s *server) locked(password string) {
	s.intercept(func(w http.ResponseWriter, r *http.Request) bool {
		user, pass, _ := r.BasicAuth()
		if user == "alice" && pass == password {
			return false
		}
		w.Header().Set("WWW-Authenticate", `Basic realm="git"`)
		w.WriteHeader(http.StatusUnauthorized)
		return true
	})
}

// helper is a credential helper, a shell script that logs what it is asked and knows one password.
func helper(t *testing.T, password string) (g *gitexec.Git, log func() string) {
	t.Helper()
	dir := t.TempDir()
	script := filepath.Join(dir, "helper")
	file := filepath.Join(dir, "log")
	body := "#!/bin/sh\nlines=$(cat)\necho \"$1 $lines\" | tr '\\n' ' ' >>'" + file + "'\n" +
		"if [ \"$1\" = get ]; then echo username=alice; echo 'password=" + password + "'; fi\n"
	if err := os.WriteFile(script, []byte(body), 0o700); err != nil { //nolint:gosec // a helper is a program
		t.Fatal(err)
	}
	g = testGit("GIT_CONFIG_COUNT=1", "GIT_CONFIG_KEY_0=credential.helper", "GIT_CONFIG_VALUE_0="+script)
	return g, func() string {
		text, _ := os.ReadFile(file) //nolint:gosec // ours
		_ = os.Remove(file)
		return string(text)
	}
}

func TestCredentialHelper(t *testing.T) {
	s := startServer(t)
	s.locked("s3cret")
	g, log := helper(t, "s3cret")
	tr := New(Options{URL: s.url(), Git: g, Known: known, Now: nowForTest})
	lifeOfRefs(t, tr)
	if err := tr.Close(); err != nil {
		t.Fatal(err)
	}
	said := log()
	if strings.Count(said, "get ") != 1 || strings.Count(said, "store ") != 1 || strings.Contains(said, "erase") || strings.Contains(said, "path=") {
		t.Errorf("the helper was asked: %s", said)
	}
	if calls := s.seen(); !strings.HasPrefix(calls, "POST /git-upload-pack version=2, POST /git-upload-pack version=2, POST /git-receive-pack , POST") {
		t.Errorf("requests %s", calls)
	}
}

func TestCredentialRefused(t *testing.T) {
	s := startServer(t)
	s.locked("s3cret")
	g, log := helper(t, "wr0ng")
	for _, server := range []refstore.Server{known, {}} {
		tr := open(t, Options{URL: s.url(), Git: g, Known: server})
		_, err := tr.Push(t.Context(), txOf(change(refA, "", "one")))
		checkUnavailable(t, err, refstore.TroubleAuth, false)
		if said := log(); strings.Contains(err.Error(), "wr0ng") || !strings.Contains(said, "erase") || strings.Contains(said, "store") {
			t.Errorf("error %v, helper %s", err, said)
		}
	}
}

// A credential that was good and is so no more.
func TestCredentialWithdrawn(t *testing.T) {
	s := startServer(t)
	s.locked("s3cret")
	g, log := helper(t, "s3cret")
	tr := open(t, Options{URL: s.url(), Git: g, Known: known})
	refs(t, tr)
	s.locked("other")
	_, err := tr.Refs(t.Context(), []string{prefix})
	checkUnavailable(t, err, refstore.TroubleAuth, false)
	_ = tr.Close()
	if said := log(); strings.Count(said, "erase ") != 1 {
		t.Errorf("helper %s", said)
	}
}

func TestCredentialOfTheURL(t *testing.T) {
	s := startServer(t)
	s.locked("s3cret")
	with := func(userinfo string) string { return strings.Replace(s.url(), "://", "://"+userinfo+"@", 1) }
	tr := open(t, Options{URL: with("alice:s3cret"), Known: known})
	lifeOfRefs(t, tr)
	tr = open(t, Options{URL: with("alice:wr0ng"), Known: known})
	_, err := tr.Refs(t.Context(), []string{prefix})
	checkUnavailable(t, err, refstore.TroubleAuth, false)
	if strings.Contains(err.Error(), "wr0ng") || strings.Contains(err.Error(), "alice") {
		t.Errorf("error %v", err)
	}
	g, log := helper(t, "s3cret")
	refs(t, open(t, Options{URL: with("alice"), Git: g, Known: known}))
	if said := log(); !strings.Contains(said, "username=alice") {
		t.Errorf("helper %s", said)
	}
}

func TestNoCredentials(t *testing.T) {
	s := startServer(t)
	s.locked("s3cret")
	_, err := s.open(known).Push(t.Context(), txOf(change(refA, "", "one")))
	checkUnavailable(t, err, refstore.TroubleAuth, false)
	s.intercept(func(w http.ResponseWriter, _ *http.Request) bool {
		w.Header().Set("WWW-Authenticate", "NTLM")
		w.WriteHeader(http.StatusUnauthorized)
		return true
	})
	_, err = s.open(known).Push(t.Context(), txOf(change(refA, "", "one")))
	checkUnsupported(t, err, refstore.FeatureConfig, "authentication by NTLM")
}

// A server that the repository was redirected to gets no credential that is for the first.
func TestCredentialsStayAtHome(t *testing.T) {
	s, old := startServer(t), startServer(t)
	old.intercept(redirectTo(func(r *http.Request) string {
		return strings.Replace(s.URL, "127.0.0.1", "localhost", 1) + r.URL.RequestURI()
	}, func(*http.Request) bool { return true }))
	var leaked string
	s.intercept(func(w http.ResponseWriter, r *http.Request) bool {
		leaked += r.Header.Get("Authorization") + r.Header.Get("Cookie")
		w.WriteHeader(http.StatusUnauthorized)
		return true
	})
	url := strings.Replace(old.url(), "://", "://alice:s3cret@", 1)
	tr := open(t, Options{URL: url, Config: config("http.extraheader=Authorization: x", "http.extraheader=cookie: y")})
	_, err := tr.Refs(t.Context(), []string{prefix})
	checkUnavailable(t, err, refstore.TroubleAuth, false)
	if leaked != "" {
		t.Errorf("leaked %s", leaked)
	}
}

func TestCredentialOf(t *testing.T) {
	basic := "Basic " + base64.StdEncoding.EncodeToString([]byte("alice:pa=ss"))
	cases := []struct{ told, want string }{
		{"username=alice\npassword=pa=ss\n", basic},
		{"username=alice\r\npassword=pa=ss\r\n", basic},
		{"authtype=Bearer\ncredential=tok\n", "Bearer tok"},
		{"authtype=Bearer\ncredential=t\rk\n", ""},
		{"protocol=http\n", ""},
	}
	for _, c := range cases {
		if got, _ := credentialOf([]byte(c.told), "http://h"); got.header != c.want {
			t.Errorf("%q: %q, want %q", c.told, got.header, c.want)
		}
	}
}

func TestCredentialOfAHostileURL(t *testing.T) {
	s := startServer(t)
	s.locked("s3cret")
	g, log := helper(t, "s3cret")
	tr := open(t, Options{URL: s.url() + "%0ahost=github.com", Git: g, Known: known})
	_, err := tr.Refs(t.Context(), []string{prefix})
	checkUnavailable(t, err, refstore.TroubleAuth, false)
	if said := log(); said != "" {
		t.Errorf("helper %s", said)
	}
}
