package beads

import (
	"fmt"
	"strings"

	"github.com/git-worklease/git-worklease/providers"
)

// maxID is how many bytes an ID may have; bd's database has room for as many.
const maxID = 255

// Parse reads "demo-47b" in any case, with or without "beads:". Without it, the prefix has to be one of the project's.
func (p *Provider) Parse(text string) (providers.Key, error) {
	id, schemed := text, false
	if scheme, rest, found := strings.Cut(text, ":"); found {
		if !strings.EqualFold(scheme, name) {
			return "", fmt.Errorf("%q: %w", text, providers.ErrNotKey)
		}
		id, schemed = rest, true
	}
	id = lower(id)
	switch known := p.prefixOf(id); {
	case isID(id) && (schemed || known != ""):
		return providers.Key(name + ":" + id), nil
	case schemed || known != "":
		return "", &providers.KeyError{Provider: name, Text: text, Fault: fault(id), Want: p.example()}
	default:
		return "", fmt.Errorf("%q: %w", text, providers.ErrNotKey)
	}
}

// fault says what keeps a text from being an ID.
func fault(id string) string {
	switch {
	case len(id) > maxID:
		return fmt.Sprintf("it has more than %d bytes", maxID)
	case !strings.Contains(id, "-"):
		return "it has no hyphen"
	case strings.IndexFunc(id, func(r rune) bool { return r >= 0x80 || !inID(byte(r)) }) >= 0:
		return "it has more than letters, digits, hyphens, underscores and dots"
	default:
		return "a part of it is empty"
	}
}

func (p *Provider) example() string {
	if len(p.prefixes) == 0 {
		return "an ID such as bd-a1b2"
	}
	return fmt.Sprintf("an ID such as %s-a1b2", p.prefixes[0])
}

// lower is a text with the letters of ASCII in lower case, and no others: some of those become ASCII on the way.
func lower(s string) string {
	b := []byte(s)
	for i, c := range b {
		if 'A' <= c && c <= 'Z' {
			b[i] = c + 'a' - 'A'
		}
	}
	return string(b)
}

// isID says whether a text in lower case is a prefix, a hyphen, and the rest, with a dot before the number of each level of children: "my-app-a1b2.3.1".
func isID(s string) bool {
	prefix, rest, found := strings.Cut(s, "-")
	return found && len(s) <= maxID && isPrefix(prefix) && isRest(rest)
}

// isRest says whether a text can follow the prefix and its hyphen.
func isRest(s string) bool {
	for part := range strings.SplitSeq(s, ".") {
		if !isPrefix(part) {
			return false
		}
	}
	return true
}

// isPrefix says whether a text in lower case begins and ends with a letter or a digit, and has nothing but those, hyphens and underscores.
func isPrefix(s string) bool {
	for i := range len(s) {
		if s[i] == '.' || !inID(s[i]) {
			return false
		}
	}
	return s != "" && alphanumeric(s[0]) && alphanumeric(s[len(s)-1])
}

func inID(c byte) bool { return alphanumeric(c) || c == '-' || c == '_' || c == '.' }

func alphanumeric(c byte) bool { return 'a' <= c && c <= 'z' || '0' <= c && c <= '9' }

// prefixOf is the longest of the project's prefixes, as the project spells it, that an ID in lower case begins with; empty where none does.
func (p *Provider) prefixOf(id string) string {
	longest := ""
	for _, prefix := range p.prefixes {
		if len(prefix) > len(longest) && strings.HasPrefix(id, lower(prefix)+"-") {
			longest = prefix
		}
	}
	return longest
}

// ours says whether an ID in lower case is one of the project's, as far as is known.
func (p *Provider) ours(id string) bool {
	return isID(id) && (len(p.prefixes) == 0 || p.prefixOf(id) != "")
}

// id is the ID, in lower case, of a key.
func (p *Provider) id(key providers.Key) (string, error) {
	if key.Scheme() != name {
		return "", fmt.Errorf("%q: %w", key, providers.ErrNotKey)
	}
	parsed, err := p.Parse(string(key))
	if err != nil {
		return "", err
	}
	return strings.TrimPrefix(string(parsed), name+":"), nil
}

// spelled is an ID as the project most likely spells it: what bd makes up is in lower case, and the prefix is as it was set.
func (p *Provider) spelled(id string) string {
	prefix := p.prefixOf(id)
	return prefix + id[len(prefix):]
}
