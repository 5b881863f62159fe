package gitexec

import "strings"

// Redact is a remote's URL without a password, and for http without a user, who may be a token: for messages and for what is shown.
// What is no URL is returned as it is.
func Redact(url string) string {
	scheme, rest, ok := strings.Cut(url, "://")
	if !ok {
		return url
	}
	authority, path, hasPath := strings.Cut(rest, "/")
	at := strings.LastIndexByte(authority, '@')
	if at < 0 {
		return url
	}
	user, _, secret := strings.Cut(authority[:at], ":")
	host := authority[at+1:]
	switch {
	case strings.HasPrefix(strings.ToLower(scheme), "http"):
		authority = host
	case secret:
		authority = user + "@" + host
	}
	if !hasPath {
		return scheme + "://" + authority
	}
	return scheme + "://" + authority + "/" + path
}
