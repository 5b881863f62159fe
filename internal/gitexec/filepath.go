package gitexec

import (
	"net/url"
	"runtime"
	"strings"
)

// FilePath is the path that a file URL names as git reads it, and every other URL as it is. It is relative where a file URL has a host and
// nothing else, which git does not take.
func FilePath(raw string) string {
	if KindOf(raw) != KindFile {
		return raw
	}
	rest := raw[len("file://"):]
	if decoded, err := url.PathUnescape(rest); err == nil {
		rest = decoded
	}
	if i := strings.IndexByte(rest, '/'); i > 0 && !hasDrive(rest) {
		rest = rest[i:] // after a host, which git passes over
	}
	if runtime.GOOS == "windows" && hasDrive(strings.TrimPrefix(rest, "/")) {
		rest = strings.TrimPrefix(rest, "/")
	}
	return rest
}

func hasDrive(path string) bool {
	return runtime.GOOS == "windows" && len(path) > 1 && path[1] == ':'
}
