package github

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"github.com/git-worklease/git-worklease/internal/gitexec"
	"github.com/git-worklease/git-worklease/providers"
)

const (
	// maxText bounds a key as it is typed, in bytes, maxName an owner or a repository.
	maxText, maxName = 1024, 100
	// maxNumber is the greatest number of an item: GitHub's own type for it has 32 bits.
	maxNumber = 1<<31 - 1
)

// scheme is the name of the tracker, and what its keys begin with.
const scheme = "github"

// ref is an item of a repository.
type ref struct {
	repo   Repository
	number int
}

func (r ref) key() providers.Key {
	return providers.Key(fmt.Sprintf("%s:%s#%d", scheme, r.repo, r.number))
}

// Parse implements [providers.Provider]. Beside keys and addresses it reads "42" and "#42", which are of this repository, and "acme/lib#42", which is of
// the same host.
func (p *Provider) Parse(text string) (providers.Key, error) {
	r, err := parseRef(text, p.repo)
	if err != nil {
		return "", err
	}
	return r.key(), nil
}

// parseRef reads the name of an item, where one that does not name its repository is of home.
func parseRef(text string, home Repository) (ref, error) {
	rest, schemed := cutScheme(text)
	if digits, found := strings.CutPrefix(rest, "#"); found || allDigits(rest) {
		n, fault := parseNumber(digits)
		if fault != "" {
			return ref{}, keyError(text, fault)
		}
		return ref{home, n}, nil
	}
	host := home.Host
	if schemed {
		host = public
	}
	a, ok := parseAddress(rest, host)
	if !ok && !schemed {
		return ref{}, notKey(text)
	}
	if !ok {
		return ref{}, keyError(text, "there is no address in it")
	}
	return a.item(text, home, schemed)
}

// item is the item that an address names.
func (a address) item(text string, home Repository, schemed bool) (ref, error) {
	if a.host != home.Host {
		if schemed {
			return ref{}, keyError(text, fmt.Sprintf("it is of %s, and the tracker here is %s", a.host, home.Host))
		}
		return ref{}, notKey(text)
	}
	bare := !schemed && !a.named && a.fragment == "" // a path of the work tree, as likely as not
	repo, ok := a.repository()
	digits, fault := a.digits()
	switch {
	case bare:
		return ref{}, notKey(text)
	case !ok:
		return ref{}, keyError(text, "it names no repository")
	case fault != "":
		return ref{}, keyError(text, fault)
	}
	n, fault := parseNumber(digits)
	if fault != "" {
		return ref{}, keyError(text, fault)
	}
	if repo.same(home) {
		repo = home
	}
	repo.Port = home.Port
	return ref{repo, n}, nil
}

// digits is what stands where an address has the item's number.
func (a address) digits() (digits, fault string) {
	switch {
	case len(a.path) == 2:
		return a.fragment, ""
	case len(a.path) < 4:
		return "", "it names no issue and no pull request"
	}
	kind, tail := lower(a.path[2]), a.path[4:]
	switch {
	case kind != "issues" && kind != "pull":
		return "", "it names no issue and no pull request"
	case len(tail) > 0 && (kind != "pull" || !slices.Contains([]string{"files", "commits", "checks", "changes", "conflicts"}, tail[0])):
		return "", "something follows the number"
	case slices.Contains(tail, "..") || slices.Contains(tail, "."):
		return "", "something follows the number"
	}
	return a.path[3], ""
}

// parseNumber reads a number in the one way to write it.
func parseNumber(s string) (n int, fault string) {
	switch {
	case s == "":
		return 0, "it has no number"
	case strings.ContainsFunc(s, func(r rune) bool { return r > unicode.MaxASCII && unicode.IsDigit(r) }):
		return 0, "its digits are not 0 to 9"
	case strings.ContainsFunc(s, func(r rune) bool { return !isDigit(r) }):
		return 0, "its number is none"
	case s == "0":
		return 0, "numbers begin at 1"
	case s[0] == '0':
		return 0, "its number begins with 0"
	}
	n, err := strconv.Atoi(s)
	if err != nil || n > maxNumber {
		return 0, "its number is too large"
	}
	return n, ""
}

// cutScheme takes the tracker's scheme off.
func cutScheme(text string) (rest string, found bool) {
	const prefix = scheme + ":"
	if len(text) > len(prefix) && lower(text[:len(prefix)]) == prefix && !strings.HasPrefix(text[len(prefix):], "//") {
		return text[len(prefix):], true
	}
	return text, false
}

// allDigits says whether text is digits of any script, and nothing else.
func allDigits(text string) bool {
	return text != "" && len(text) <= maxText && !strings.ContainsFunc(text, func(r rune) bool { return !unicode.IsDigit(r) })
}

func notKey(text string) error {
	return fmt.Errorf("%q: %w", shown(text), providers.ErrNotKey)
}

func keyError(text, fault string) error {
	return &providers.KeyError{Provider: scheme, Text: shown(text), Fault: fault, Want: "42, acme/app#42 or the address of an issue"}
}

// shown is text for messages: an address may have a password in it.
func shown(text string) string {
	text = gitexec.Redact(text)
	if len(text) > 200 {
		text = strings.ToValidUTF8(text[:200], "") + "…"
	}
	return text
}
