package gitexec

import (
	"runtime"
	"strings"
)

// Kind is how git reaches a URL.
type Kind int

// The kinds of URLs.
const (
	KindPath   Kind = iota // a path on this machine
	KindFile               // a file URL, see [FilePath]
	KindHTTP               // http or https
	KindSSH                // ssh, or scp's host:path
	KindGit                // git's own protocol, without encryption
	KindHelper             // whatever a program of another make can do
)

// KindOf tells the kinds apart by git's own rules: `transport::address` names a helper, `scheme://` a scheme, and a colon before the first
// slash is ssh. The case of a scheme does not matter.
func KindOf(url string) Kind {
	if i := strings.Index(url, "::"); i > 0 && isWord(url[:i]) {
		return KindHelper
	}
	if scheme, _, ok := strings.Cut(url, "://"); ok && isWord(scheme) {
		switch strings.ToLower(scheme) {
		case "http", "https":
			return KindHTTP
		case "ssh", "git+ssh", "ssh+git":
			return KindSSH
		case "file":
			return KindFile
		case "git":
			return KindGit
		default:
			return KindHelper
		}
	}
	if scpLike(url) {
		return KindSSH
	}
	return KindPath
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
