package sshgit

import (
	"fmt"
	"net/url"
	"strconv"
	"strings"

	"github.com/git-worklease/git-worklease/internal/gitexec"
)

// address is where a repository is, taken apart as git does.
type address struct {
	// host is what ssh is given: host or user@host, without brackets.
	host string
	// port is empty where the URL names none.
	port string
	// path is what the server's shell is given, unquoted.
	path string
	// name is the URL without a password.
	name string
}

// parseAddress reads ssh://[user@]host[:port]/path, git+ssh:// and ssh+git:// likewise, and scp's [user@]host:path and [host:port]:path. What
// ssh or a server's program would take for an option is refused.
func parseAddress(raw string) (address, error) {
	a := address{name: gitexec.Redact(raw)}
	authority, path, err := split(raw)
	if err != nil {
		return a, err
	}
	a.path = path
	if strings.HasPrefix(path, "/~") {
		a.path = path[1:]
	}
	if err := a.parseAuthority(authority); err != nil {
		return a, err
	}
	bare := a.host[strings.LastIndexByte(a.host, '@')+1:]
	switch {
	case bare == "":
		return a, fmt.Errorf("%q names no host", a.name)
	case a.path == "":
		return a, fmt.Errorf("%q names no path", a.name)
	case a.host[0] == '-' || bare[0] == '-':
		return a, fmt.Errorf("host %q looks like an option", a.host)
	case a.path[0] == '-':
		return a, fmt.Errorf("path %q looks like an option", a.path)
	case strings.ContainsAny(a.host+a.path, "\x00\n"):
		return a, fmt.Errorf("%q has control characters", a.name)
	}
	return a, nil
}

// split parts the authority from the path. A URL's escapes are undone; scp's form has none.
func split(raw string) (authority, path string, err error) {
	if _, rest, ok := strings.Cut(raw, "://"); ok {
		rest, err := url.PathUnescape(rest)
		if err != nil {
			return "", "", err
		}
		if i := strings.IndexByte(rest, '/'); i >= 0 {
			return rest[:i], rest[i:], nil
		}
		return rest, "", nil
	}
	end := 0
	if open := strings.IndexByte(raw, '['); open == 0 || open > 0 && raw[open-1] == '@' {
		end = max(strings.IndexByte(raw, ']'), 0)
	}
	colon := strings.IndexByte(raw[end:], ':')
	if colon < 0 {
		return "", "", fmt.Errorf("%q is not host:path", raw)
	}
	return raw[:end+colon], raw[end+colon+1:], nil
}

// parseAuthority reads [user@]host[:port], where the host, or host and port, may be in brackets.
func (a *address) parseAuthority(authority string) error {
	user := ""
	if at := strings.LastIndexByte(authority, '@'); at >= 0 && !strings.HasPrefix(authority, "[") {
		user, authority = authority[:at+1], authority[at+1:]
	}
	host, rest := authority, ""
	if strings.HasPrefix(authority, "[") {
		end := strings.IndexByte(authority, ']')
		if end < 0 {
			return fmt.Errorf("%q lacks a bracket", a.name)
		}
		host, rest = authority[1:end], authority[end+1:]
	}
	if rest == "" && strings.Count(host, ":") == 1 {
		host, rest, _ = strings.Cut(host, ":")
		rest = ":" + rest
	}
	a.host = user + host
	switch port, ok := strings.CutPrefix(rest, ":"); {
	case rest == "" || rest == ":":
	case !ok || !isPort(port):
		return fmt.Errorf("%q has a strange port", a.name)
	default:
		a.port = port
	}
	return nil
}

func isPort(s string) bool {
	n, err := strconv.ParseUint(s, 10, 16)
	return err == nil && n > 0
}

// quoted is the path as one word for the server's shell.
func (a *address) quoted() string {
	return "'" + strings.NewReplacer("'", `'\''`, "!", `'\!'`).Replace(a.path) + "'"
}
