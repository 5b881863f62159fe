package pathgit

import (
	"net/url"
	"runtime"
	"strings"
)

// pathOf is the path that a file:// URL names as git reads it, or a path itself.
func pathOf(raw string) string {
	rest, ok := strings.CutPrefix(raw, "file://")
	if !ok {
		return raw
	}
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
