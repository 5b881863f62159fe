package httpgit

import (
	"net/http"
	"net/url"
	"strings"
)

func isRedirected(resp *http.Response) bool {
	switch resp.StatusCode {
	case http.StatusMovedPermanently, http.StatusFound, http.StatusSeeOther, http.StatusTemporaryRedirect, http.StatusPermanentRedirect:
		return true
	}
	return false
}

// redirect moves the base to where the server sent a call. Like git by default it follows only the first request for a
// repository, and only to a URL of the same form; it never leaves https.
func (t *transport) redirect(c *call, resp *http.Response) error {
	to, err := resp.Location()
	if err != nil || c.method != http.MethodGet || !t.set.follow {
		return redirectError{}
	}
	to.User, to.Fragment = nil, ""
	base, ok := strings.CutSuffix(to.String(), c.tail)
	leaves := resp.Request.URL.Scheme == "https" && to.Scheme != "https"
	if !ok || leaves || to.Scheme != "https" && to.Scheme != "http" {
		return redirectError{}
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	t.base = base
	return nil
}

func (t *transport) where() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.base
}

// splitURL parts a URL from its user and password, and from a slash at its end. What is no URL gives a name that makes no request.
func splitURL(raw string) (name, user, pass string) {
	u, err := url.Parse(raw)
	if err != nil {
		return "(not a URL)", "", ""
	}
	if u.User != nil {
		user = u.User.Username()
		pass, _ = u.User.Password()
		u.User = nil
	}
	u.Fragment = ""
	return strings.TrimSuffix(u.String(), "/"), user, pass
}

func originOf(u *url.URL) string { return u.Scheme + "://" + u.Host }

func originOfText(raw string) string {
	u, err := url.Parse(raw)
	if err != nil {
		return ""
	}
	return originOf(u)
}
