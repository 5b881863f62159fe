package httpgit

import (
	"fmt"
	"net/http"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/git-worklease/git-worklease/internal/gitexec"
)

// settings are what git's http.* and its environment say about one URL.
type settings struct {
	extra     []string // headers, "Name: value"
	userAgent string
	noVerify  bool
	caInfo    string // file of certificates
	caPath    string // folder of certificates
	cert, key string // files
	proxy     *string
	follow    bool // redirects of the first request
}

// ourAgent begins as git's does, because some servers tell git from browsers by it.
const ourAgent = "git/2 (git-worklease)"

// settingError names a setting that is not implemented.
type settingError string

func (e settingError) Error() string { return "the setting " + string(e) + " is not implemented" }

// readSettings takes what holds for a URL. It returns a settingError for what is not implemented.
func readSettings(cfg *gitexec.Config, env environment, raw string) (settings, error) {
	if name, yes := unsupportedBy(valuesFor(cfg, raw), env); yes {
		return settings{}, settingError(name)
	}
	values := valuesFor(cfg, raw)
	last := func(key, variable string) string {
		if v, ok := env[variable]; ok && variable != "" {
			return v
		}
		if all := values[key]; len(all) > 0 {
			return all[len(all)-1]
		}
		return ""
	}
	file := func(key, variable string) string { return expandHome(last(key, variable), env) }
	s := settings{
		extra:     extraHeaders(values["extraheader"]),
		userAgent: last("useragent", "GIT_HTTP_USER_AGENT"),
		caInfo:    file("sslcainfo", "GIT_SSL_CAINFO"),
		caPath:    file("sslcapath", "GIT_SSL_CAPATH"),
		cert:      file("sslcert", "GIT_SSL_CERT"),
		key:       file("sslkey", "GIT_SSL_KEY"),
		noVerify:  isFalse(last("sslverify", "")),
		follow:    !isFalse(last("followredirects", "")),
	}
	if s.userAgent == "" {
		s.userAgent = ourAgent
	}
	if _, ok := env["GIT_SSL_NO_VERIFY"]; ok {
		s.noVerify = true
	}
	if all := values["proxy"]; len(all) > 0 {
		s.proxy = &all[len(all)-1]
	}
	return s, nil
}

// extraHeaders drops all before an empty value, which resets the list.
func extraHeaders(values []string) []string {
	for i := len(values) - 1; i >= 0; i-- {
		if values[i] == "" {
			return values[i+1:]
		}
	}
	return values
}

// addExtra adds the extra headers; to another server than the URL's those that carry secrets are not sent.
func (s *settings) addExtra(h http.Header, home bool) {
	for _, line := range s.extra {
		name, value, _ := strings.Cut(line, ":")
		name = http.CanonicalHeaderKey(strings.TrimSpace(name))
		if secret := name == "Authorization" || name == "Cookie"; name == "" || secret && !home {
			continue
		}
		h.Add(name, strings.TrimSpace(value))
	}
}

// isFalse reads a boolean as git does.
func isFalse(value string) bool {
	switch strings.ToLower(value) {
	case "false", "no", "off":
		return true
	}
	n, err := strconv.Atoi(value)
	return err == nil && n == 0
}

func expandHome(path string, env environment) string {
	if rest, ok := strings.CutPrefix(path, "~/"); ok {
		return filepath.Join(env.home(), rest)
	}
	return path
}

// environment is the variables that git would see.
type environment map[string]string

func envOf(g *gitexec.Git) environment {
	env := make(environment)
	for _, entry := range g.Environ() {
		name, value, _ := strings.Cut(entry, "=")
		env[name] = value
	}
	return env
}

func (e environment) home() string {
	if h := e["HOME"]; h != "" {
		return h
	}
	return e["USERPROFILE"]
}

// first is the first of the variables that is set to something.
func (e environment) first(names ...string) string {
	i := slices.IndexFunc(names, func(n string) bool { return e[n] != "" })
	if i < 0 {
		return ""
	}
	return e[names[i]]
}

func quoted(what, path string, err error) error { return fmt.Errorf("%s %q: %w", what, path, err) }
