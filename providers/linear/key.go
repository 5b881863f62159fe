package linear

import (
	"fmt"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/git-worklease/git-worklease/providers"
)

// The bounds of an identifier. Linear's own are lower.
const (
	maxTeamBytes   = 16
	maxNumberBytes = 9
)

// ident is an issue's identifier, ENG-123.
type ident struct {
	team   string // upper case
	number string
}

func (i ident) String() string     { return i.team + "-" + i.number }
func (i ident) key() providers.Key { return providers.Key(name + ":" + strings.ToLower(i.String())) }

// Parse reads ENG-123, in any case, of a team that is set up, and linear:ENG-123 and an address on linear.app of any team. It asks nobody.
func (p *Provider) Parse(text string) (providers.Key, error) {
	id, err := p.parse(text)
	if err != nil {
		return "", err
	}
	return id.key(), nil
}

func (p *Provider) parse(text string) (ident, error) {
	if path, ok := cutSite(text); ok {
		return p.parsePath(text, path)
	}
	if rest, ok := strings.CutPrefix(text, name+":"); ok {
		id, fault := parseIdent(rest)
		if fault != "" {
			return ident{}, p.nearly(text, fault)
		}
		return id, nil
	}
	team, _, found := strings.Cut(text, "-")
	if !found || !isTeam(team) {
		return ident{}, fmt.Errorf("%q: %w of linear", text, providers.ErrNotKey)
	}
	ours := slices.Contains(p.teams, strings.ToUpper(team))
	id, fault := parseIdent(text)
	switch {
	case fault == "" && ours:
		return id, nil
	case fault == "":
		return ident{}, p.nearly(text, fmt.Sprintf("team %s is not set up, so its issues need linear: before them", id.team))
	case ours:
		return ident{}, p.nearly(text, fault)
	default:
		return ident{}, fmt.Errorf("%q: %w of linear", text, providers.ErrNotKey)
	}
}

func (p *Provider) nearly(text, fault string) error {
	return &providers.KeyError{Provider: name, Text: text, Fault: fault, Want: fmt.Sprintf("%s-123, linear:%[1]s-123, or its address on linear.app", p.teams[0])}
}

// cutSite cuts the site off an address, in the forms that browsers, and Linear's own program, show.
func cutSite(text string) (path string, ok bool) {
	for _, site := range []string{"https://linear.app/", "http://linear.app/", "linear.app/", "linear://"} {
		if len(text) >= len(site) && strings.EqualFold(text[:len(site)], site) {
			return text[len(site):], true
		}
	}
	return "", false
}

// parsePath reads WORKSPACE/issue/ENG-123, with or without a title.
func (p *Provider) parsePath(text, path string) (ident, error) {
	if i := strings.IndexAny(path, "?#"); i >= 0 {
		path = path[:i]
	}
	parts := strings.Split(strings.TrimSuffix(path, "/"), "/")
	if len(parts) < 3 || len(parts) > 4 || parts[1] != "issue" || !isSlug(parts[0]) || !isPlain(text) || parts[len(parts)-1] == ".." {
		return ident{}, p.nearly(text, "it is the address of no issue")
	}
	if p.workspace != "" && !strings.EqualFold(parts[0], p.workspace) {
		return ident{}, p.nearly(text, fmt.Sprintf("it is of workspace %s, not of %s", parts[0], p.workspace))
	}
	id, fault := parseIdent(parts[2])
	if fault != "" {
		return ident{}, p.nearly(text, fault)
	}
	return id, nil
}

// parseIdent reads an identifier, and says what is wrong with it. One issue has one: ENG-7 is never written ENG-07.
func parseIdent(s string) (id ident, fault string) {
	team, number, _ := strings.Cut(s, "-")
	switch {
	case !isTeam(team):
		return ident{}, "it has no team"
	case number == "":
		return ident{}, "it has no number"
	case strings.ContainsFunc(number, func(r rune) bool { return r > unicode.MaxASCII && unicode.IsDigit(r) }):
		return ident{}, "its digits are not 0 to 9"
	case strings.ContainsFunc(number, func(r rune) bool { return r < '0' || r > '9' }):
		return ident{}, "what follows the team is not a number"
	case number[0] == '0':
		return ident{}, "its number begins with 0"
	case len(number) > maxNumberBytes:
		return ident{}, "its number is too large"
	}
	return ident{team: strings.ToUpper(team), number: number}, ""
}

// isTeam says whether s can be the key of a team: ASCII letters and digits.
func isTeam(s string) bool {
	return s != "" && len(s) <= maxTeamBytes && strings.TrimFunc(s, isWord) == ""
}

// isSlug says whether s can name a workspace.
func isSlug(s string) bool {
	return s != "" && strings.Trim(s, "-") != "" && strings.TrimFunc(strings.ReplaceAll(s, "-", ""), isWord) == ""
}

func isWord(r rune) bool {
	return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9'
}

// isPlain says that s is text without blanks and control characters.
func isPlain(s string) bool {
	return utf8.ValidString(s) && !strings.ContainsFunc(s, func(r rune) bool { return unicode.IsSpace(r) || unicode.IsControl(r) })
}
