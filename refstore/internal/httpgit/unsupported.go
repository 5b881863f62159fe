package httpgit

import (
	"maps"
	"slices"
	"strings"

	"github.com/git-worklease/git-worklease/internal/gitexec"
)

// Unsupported names a setting of git's http.* that holds for a URL and that this transport does not implement. A setting that git does not
// have today counts: what is unknown can't be obeyed.
func Unsupported(cfg *gitexec.Config, url string) (setting string, ok bool) {
	return unsupportedBy(valuesFor(cfg, url), nil)
}

// harmless are the settings that are obeyed, or that change nothing for a request as small as ours.
var harmless = []string{
	"extraheader", "useragent", "sslverify", "sslcainfo", "sslcapath", "sslcert", "sslkey", "followredirects",
	"postbuffer", "lowspeedlimit", "lowspeedtime", "version", "maxrequests", "minsessions", "noepsv", "ssltry",
	"keepaliveidle", "keepaliveinterval", "keepalivecount", "maxretries", "retryafter", "maxretrytime", "schannelusesslcainfo", "schannelcheckrevoke",
}

// tame are settings of which some values, in lower case, ask for nothing special.
var tame = map[string][]string{
	"sslbackend":                    {"openssl", "gnutls"},
	"emptyauth":                     {"auto", "false"},
	"delegation":                    {"none"},
	"proxyauthmethod":               {"anyauth", "basic"},
	"proactiveauth":                 {"none"},
	"sslcertpasswordprotected":      {"false"},
	"proxysslcertpasswordprotected": {"false"},
	"savecookies":                   {"false"},
}

// variables are those of the environment that ask for what is not implemented.
var variables = []string{
	"GIT_SSL_VERSION", "GIT_SSL_CIPHER_LIST", "GIT_SSL_CERT_PASSWORD_PROTECTED", "GIT_HTTP_PROXY_AUTHMETHOD",
	"GIT_PROXY_SSL_CERT", "GIT_PROXY_SSL_KEY", "GIT_PROXY_SSL_CAINFO", "GIT_PROXY_SSL_CERT_PASSWORD_PROTECTED",
}

func unsupportedBy(values map[string][]string, env environment) (string, bool) {
	for _, key := range slices.Sorted(maps.Keys(values)) {
		value := values[key][len(values[key])-1]
		if value != "" && !isImplemented(key, strings.ToLower(value)) {
			return "http." + key, true
		}
	}
	for _, name := range variables {
		if env[name] != "" {
			return name, true
		}
	}
	return "", false
}

func isImplemented(key, value string) bool {
	if key == "proxy" {
		_, err := parseProxy(value)
		return err == nil
	}
	return slices.Contains(harmless, key) || slices.Contains(tame[key], value)
}
