package remote

import (
	"runtime"
	"strings"
)

// kind is how a URL is reached.
type kind int

const (
	kindPath  kind = iota // a path on this machine, or a file URL
	kindHTTP              // http or https
	kindSSH               // ssh, or scp's host:path
	kindOther             // whatever else the system's git can do
)

// classify tells the kinds apart by git's own rules: `transport::address` names a helper, `scheme://` a scheme, and a colon before the first
// slash is ssh.
func classify(url string) kind {
	if i := strings.Index(url, "::"); i > 0 && isWord(url[:i]) {
		return kindOther
	}
	if scheme, _, ok := strings.Cut(url, "://"); ok && isWord(scheme) {
		switch strings.ToLower(scheme) {
		case "http", "https":
			return kindHTTP
		case "ssh", "git+ssh", "ssh+git":
			return kindSSH
		case "file":
			return kindPath
		default:
			return kindOther
		}
	}
	if scpLike(url) {
		return kindSSH
	}
	return kindPath
}

// isWord says whether s can be the name of a scheme or of a helper.
func isWord(s string) bool {
	for i := range len(s) {
		c := s[i]
		if (c < 'a' || c > 'z') && (c < 'A' || c > 'Z') && (c < '0' || c > '9') && c != '+' && c != '-' && c != '.' {
			return false
		}
	}
	return s != ""
}

func scpLike(url string) bool {
	colon := strings.IndexByte(url, ':')
	if colon < 0 || runtime.GOOS == "windows" && colon == 1 {
		return false
	}
	slash := strings.IndexByte(url, '/')
	return slash < 0 || colon < slash
}
