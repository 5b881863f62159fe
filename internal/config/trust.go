package config

import (
	"net/url"
	"strings"
)

// trustedRemote says whether a policy file, which anybody may have written, may name s as the remote: a remote's plain
// name, an https, ssh or file URL, or the short form of ssh, host:path. No part may start with a dash, lest a
// program take it for an option, and no transport helper (ext::) can be named.
func trustedRemote(s string) bool {
	switch {
	case s == "" || len(s) > 2048 || hasControl(s) || strings.Contains(s, "::"):
		return false
	case strings.Contains(s, "://"):
		return trustedURL(s)
	case strings.Contains(s, ":"):
		return trustedShort(s)
	default:
		return trustedName(s)
	}
}

func trustedURL(s string) bool {
	u, err := url.Parse(s)
	if err != nil || strings.HasPrefix(u.Path, "/-") && u.Scheme == "ssh" || strings.HasPrefix(u.User.Username(), "-") {
		return false
	}
	switch u.Scheme {
	case "https", "ssh":
		return u.Hostname() != "" && !strings.HasPrefix(u.Hostname(), "-")
	case "file":
		return u.Path != ""
	default:
		return false
	}
}

// trustedShort judges [user@]host:path. A colon after a slash belongs to a path, and paths are no URLs.
func trustedShort(s string) bool {
	login, path, _ := strings.Cut(s, ":")
	at := strings.LastIndexByte(login, '@') // a user's name may have others
	if at == 0 {
		return false
	}
	host := login[at+1:]
	// A single letter before the colon is a drive on Windows.
	return len(host) > 1 && path != "" && !strings.ContainsAny(login, `/\ `) && login[0] != '-' && host[0] != '-' && path[0] != '-'
}

// trustedName judges the name of a remote that must be configured. What has .. or starts like a path is a path.
func trustedName(s string) bool {
	return s[0] != '-' && s[0] != '.' && s[0] != '/' && s[0] != '~' && !strings.Contains(s, "..") && !strings.ContainsAny(s, "\\ ")
}
