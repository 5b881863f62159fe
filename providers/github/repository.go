package github

import (
	"net"
	"net/url"
	"slices"
	"strings"
)

// public is the host whose name keys leave out.
const public = "github.com"

// Repository is a repository at a host. All is in lower case, since GitHub ignores case. The zero value is none.
type Repository struct {
	Host, Owner, Name string
	// Port is that of the host's https, where it has one of its own. It is no part of a key.
	Port string
}

// String is "acme/app", with the host in front where it is not github.com.
func (r Repository) String() string {
	if r.Host == public {
		return r.Owner + "/" + r.Name
	}
	return r.Host + "/" + r.Owner + "/" + r.Name
}

// same compares repositories by what keys are made of.
func (r Repository) same(other Repository) bool {
	return r.Host == other.Host && r.Owner == other.Owner && r.Name == other.Name
}

// API is the address of the host's REST interface, with a slash at its end.
func (r Repository) API() string {
	switch {
	case r.Host == public, strings.HasSuffix(r.Host, ".ghe.com"):
		return "https://api." + r.Host + "/"
	case r.Port != "":
		return "https://" + net.JoinHostPort(r.Host, r.Port) + "/api/v3/"
	default:
		return "https://" + r.Host + "/api/v3/"
	}
}

// ParseRepository reads "acme/app", with or without a host, and the URL of a remote: https, ssh, or scp's host:path.
func ParseRepository(text string) (Repository, bool) {
	a, ok := parseAddress(text, public)
	if !ok || len(a.path) != 2 || a.fragment != "" {
		return Repository{}, false
	}
	return a.repository()
}

// Detect finds the first of some remotes' URLs that is a repository of GitHub: at github.com, below ghe.com, or at one of the hosts that the user has named as
// Enterprise servers (GH_HOST, or the host of GITHUB_SERVER_URL). It asks nobody.
func Detect(remotes []string, enterprise ...string) (Repository, bool) {
	for _, remote := range remotes {
		if r, ok := ParseRepository(remote); ok && strings.ContainsAny(remote, ":") && isGitHub(r.Host, enterprise) {
			return r, true
		}
	}
	return Repository{}, false
}

func isGitHub(host string, enterprise []string) bool {
	return host == public || strings.HasSuffix(host, ".ghe.com") ||
		slices.ContainsFunc(enterprise, func(e string) bool { return cleanHost(e) == host })
}

// address is text taken apart: where it points to, before anybody asks whether that is a repository or an item.
type address struct {
	host, port string
	path       []string
	fragment   string
	// named says that the text names the host.
	named bool
}

// parseAddress takes an address apart. host is the one that is meant where the text has none.
func parseAddress(text, host string) (address, bool) {
	if len(text) > maxText || strings.ContainsFunc(text, func(r rune) bool { return r <= ' ' || r >= 0x7f }) {
		return address{}, false
	}
	switch {
	case strings.Contains(text, "://"):
		return parseURL(text)
	case isSCP(text):
		where, path, _ := strings.Cut(text, ":")
		return parseURL("ssh://" + where + "/" + strings.TrimPrefix(path, "/"))
	}
	path, fragment, _ := strings.Cut(text, "#")
	if segments := strings.Split(path, "/"); len(segments) == 2 {
		return address{host: host, path: segments, fragment: fragment}, true
	}
	return parseURL("https://" + text)
}

// isSCP says whether text is host:path as scp writes it.
func isSCP(text string) bool {
	before, _, found := strings.Cut(text, ":")
	return found && !strings.ContainsAny(before, "/#?")
}

func parseURL(text string) (address, bool) {
	u, err := url.Parse(text)
	if err != nil || strings.Contains(u.EscapedPath(), "%") {
		return address{}, false
	}
	a := address{host: cleanHost(u.Hostname()), fragment: u.Fragment, named: true}
	switch strings.ToLower(u.Scheme) {
	case "https":
		if u.Port() != "443" {
			a.port = u.Port()
		}
	case "http", "ssh", "git+ssh", "ssh+git", "git":
	default:
		return address{}, false
	}
	path := strings.TrimSuffix(strings.TrimPrefix(u.Path, "/"), "/")
	a.path = strings.Split(path, "/")
	a.unwrapAPI()
	return a, a.host != "" && len(a.path) > 1
}

// unwrapAPI makes of an address of the API that of the page.
func (a *address) unwrapAPI() {
	host, isAPI := strings.CutPrefix(a.host, "api.")
	switch {
	case isAPI && isGitHub(host, nil) && a.path[0] == "repos":
		a.host, a.path = host, a.path[1:]
	case len(a.path) > 3 && a.path[0] == "api" && a.path[1] == "v3" && a.path[2] == "repos":
		a.path = a.path[3:]
	default:
		return
	}
	if len(a.path) > 2 && a.path[2] == "pulls" {
		a.path[2] = "pull"
	}
}

// cleanHost is a host as keys have it; empty for what can't be one.
func cleanHost(host string) string {
	host = lower(host)
	if h, _, err := net.SplitHostPort(host); err == nil {
		host = h
	}
	if host == "www."+public || host == "ssh."+public {
		return public
	}
	if host == "" || host[0] == '-' || host[0] == '.' || strings.ContainsFunc(host, func(r rune) bool {
		return !isLetter(r) && !isDigit(r) && r != '.' && r != '-'
	}) {
		return ""
	}
	return host
}

// repository is the one that an address begins with.
func (a address) repository() (Repository, bool) {
	if len(a.path) < 2 {
		return Repository{}, false
	}
	r := Repository{Host: a.host, Port: a.port, Owner: lower(a.path[0]), Name: strings.TrimSuffix(lower(a.path[1]), ".git")}
	return r, a.host != "" && isOwner(r.Owner) && isName(r.Name)
}

func isOwner(s string) bool {
	return s != "" && len(s) <= maxName && s[0] != '-' && !strings.ContainsFunc(s, func(r rune) bool {
		return !isLetter(r) && !isDigit(r) && r != '-' && r != '_'
	})
}

func isName(s string) bool {
	return s != "" && s != "." && s != ".." && len(s) <= maxName && !strings.HasSuffix(s, ".git") && !strings.ContainsFunc(s, func(r rune) bool {
		return !isLetter(r) && !isDigit(r) && r != '-' && r != '_' && r != '.'
	})
}

// lower is in lower case what is ASCII; other letters stay, so that none becomes one of these.
func lower(s string) string {
	return strings.Map(func(r rune) rune {
		if 'A' <= r && r <= 'Z' {
			return r + 'a' - 'A'
		}
		return r
	}, s)
}

func isLetter(r rune) bool { return 'a' <= r && r <= 'z' }

func isDigit(r rune) bool { return '0' <= r && r <= '9' }
