package httpgit

import (
	"cmp"
	"net/url"
	"strings"

	"github.com/git-worklease/git-worklease/internal/gitexec"
)

// matched is how well the URL of a setting fits: compared by host, then path, then user. The zero value is a setting for
// all URLs.
type matched struct {
	host, path int
	user       bool
}

func (m matched) compare(o matched) int {
	userless := func(b bool) int {
		if b {
			return 1
		}
		return 0
	}
	return cmp.Or(cmp.Compare(m.host, o.host), cmp.Compare(m.path, o.path), cmp.Compare(userless(m.user), userless(o.user)))
}

// valuesFor are the http.* settings that hold for a URL, each with all its values in order, by git's rule: a value counts if no
// earlier one of the same name fits better. Names are in lower case.
func valuesFor(cfg *gitexec.Config, raw string) map[string][]string {
	values := make(map[string][]string)
	u, err := url.Parse(raw)
	if cfg == nil || err != nil {
		return values
	}
	best := make(map[string]matched)
	for _, s := range cfg.WithPrefix("http.") {
		key := strings.TrimPrefix(s.Key, "http.")
		var m matched
		if dot := strings.LastIndexByte(key, '.'); dot >= 0 {
			var ok bool
			if m, ok = matchURL(u, key[:dot]); !ok {
				continue
			}
			key = key[dot+1:]
		}
		if old, seen := best[key]; seen && m.compare(old) < 0 {
			continue
		}
		best[key] = m
		values[key] = append(values[key], s.Value)
	}
	return values
}

// matchURL says whether and how well the URL of a setting, which may have * for labels of its host, fits u.
func matchURL(u *url.URL, pattern string) (matched, bool) {
	p, err := url.Parse(pattern)
	if err != nil || p.Scheme != strings.ToLower(u.Scheme) || portOf(p) != portOf(u) {
		return matched{}, false
	}
	host := strings.ToLower(p.Hostname())
	path := pathMatch(u.EscapedPath(), p.EscapedPath())
	if path == 0 || !hostMatches(strings.ToLower(u.Hostname()), host) {
		return matched{}, false
	}
	m := matched{host: len(host), path: path}
	if name := p.User.Username(); name != "" {
		if u.User.Username() != name {
			return matched{}, false
		}
		m.user = true
	}
	return m, true
}

func portOf(u *url.URL) string {
	port := u.Port()
	if u.Scheme == "http" && port == "80" || u.Scheme == "https" && port == "443" {
		return ""
	}
	return port
}

func hostMatches(host, pattern string) bool {
	labels, wanted := strings.Split(host, "."), strings.Split(pattern, ".")
	if len(labels) != len(wanted) {
		return false
	}
	for i, w := range wanted {
		if w != "*" && w != labels[i] {
			return false
		}
	}
	return true
}

// pathMatch is how much of path a prefix of whole segments covers, and 0 where it is none.
func pathMatch(path, prefix string) int {
	prefix = strings.TrimSuffix(prefix, "/")
	if prefix == "" {
		return 1
	}
	rest, ok := strings.CutPrefix(path, prefix)
	if !ok || rest != "" && rest[0] != '/' {
		return 0
	}
	return len(prefix) + 1
}
