package backlogmd

import (
	"fmt"
	"path"
	"path/filepath"
	"strings"
	"unicode"

	"github.com/git-worklease/git-worklease/providers"
)

// Name is what settings and messages call the tracker, and the scheme of its keys.
const Name = "backlogmd"

// draftPrefix is that of every project's drafts.
const draftPrefix = "draft"

// An ID has at most so many numbers, of so many digits each.
const (
	maxNumbers = 16
	maxDigits  = 18
)

// Parse reads "7", "task-7", "TASK-007", "task-3.1", "draft-2", each with or without the scheme, and the path of a task's file, from the top of the work tree or
// absolute.
func (p *Provider) Parse(text string) (providers.Key, error) {
	name, schemed := strings.CutPrefix(text, Name+":")
	if !schemed {
		if id := p.idOfPath(text); id != "" {
			return keyOf(id), nil
		}
	}
	id, fault := canonical(name, p.config.prefix, true)
	switch {
	case id != "":
		return keyOf(id), nil
	case fault != "" || schemed:
		if fault == "" {
			fault = "it does not begin as an ID does"
		}
		return "", &providers.KeyError{Provider: Name, Text: text, Fault: fault, Want: p.config.prefix + "-7"}
	default:
		return "", fmt.Errorf("%q: %w", text, providers.ErrNotKey)
	}
}

func keyOf(id string) providers.Key { return providers.Key(Name + ":" + id) }

// idOf is the ID of a key of ours.
func (p *Provider) idOf(key providers.Key) (string, error) {
	if again, err := p.Parse(string(key)); err != nil || again != key {
		return "", fmt.Errorf("%q: %w", key, providers.ErrNotKey)
	}
	return strings.TrimPrefix(string(key), Name+":"), nil
}

// canonical is the one form of an ID: "task-3.1" for "TASK-003.01". Where bare is set, a number alone is a task's. fault says what is wrong with a text
// that begins as an ID; where both are empty, it is none.
func canonical(text, prefix string, bare bool) (id, fault string) {
	first, rest, dashed := strings.Cut(text, "-")
	switch first := lower(first); {
	case dashed && (first == prefix || first == draftPrefix):
		prefix = first
	case bare && strings.IndexFunc(text, unicode.IsDigit) == 0:
		rest = text
	default:
		return "", ""
	}
	numbers, fault := plainNumbers(rest)
	if fault != "" {
		return "", fault
	}
	return prefix + "-" + numbers, ""
}

// plainNumbers takes the leading zeros off numbers between dots.
func plainNumbers(text string) (plain, fault string) {
	numbers := strings.Split(text, ".")
	if len(numbers) > maxNumbers {
		return "", "it has too many numbers"
	}
	for i, number := range numbers {
		if number == "" {
			return "", "a number is missing"
		}
		if at := strings.IndexFunc(number, func(r rune) bool { return r < '0' || r > '9' }); at >= 0 {
			return "", "its number has something other than the digits 0 to 9"
		}
		number = strings.TrimLeft(number, "0")
		if number == "" {
			number = "0"
		}
		if len(number) > maxDigits {
			return "", "its number is too long"
		}
		numbers[i] = number
	}
	return strings.Join(numbers, "."), ""
}

// lower is text with A to Z in lower case, and no other letter that Unicode takes for one of them.
func lower(text string) string {
	return strings.Map(func(r rune) rune {
		if r >= 'A' && r <= 'Z' {
			return r + 'a' - 'A'
		}
		return r
	}, text)
}

// idOfPath is the ID that the path of a task's file says; empty where it is the path of none.
func (p *Provider) idOfPath(text string) string {
	if filepath.IsAbs(text) {
		top, err := filepath.Abs(p.opts.Dir)
		below, found := strings.CutPrefix(text, strings.TrimRight(top, string(filepath.Separator))+string(filepath.Separator))
		if err != nil || !found {
			return ""
		}
		text = below
	}
	folder, name := path.Split(strings.TrimPrefix(filepath.ToSlash(text), "./"))
	if folder != "" && !p.place.has(strings.TrimSuffix(folder, "/")) {
		return ""
	}
	return idOfName(name, p.config.prefix)
}

// idOfName is the ID that the name of a task's file says; empty where it is no such name.
func idOfName(name, prefix string) string {
	name, found := strings.CutSuffix(name, ".md")
	if !found {
		return ""
	}
	name, _, _ = strings.Cut(name, " - ")
	id, _ := canonical(name, prefix, false)
	return id
}
