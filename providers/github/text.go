package github

import (
	"regexp"
	"strings"
	"sync"
)

// maxNamed bounds how many items one text may name.
const maxNamed = 100

// named is an item that a text names, and as what.
type named struct {
	ref  ref
	text string
	kind string
}

// The kinds of needs, by where they were found.
const (
	kindBlocked  = "blocked-by"
	kindSubIssue = "sub-issue"
	kindTask     = "task-list"
	kindText     = "depends-on"
)

// A reference is an address, or a number with or without its repository.
const reference = `(?:https?://[^\s<>()\[\]"]+|(?:[\w.-]+/[\w.-]+)?#[0-9]+\b|GH-[0-9]+\b)`

var (
	anyReference = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`(?i)` + reference) })
	closing      = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`(?i)\b(?:close[sd]?|fix(?:e[sd])?|resolve[sd]?):?[ \t]+(` + reference + `)`)
	})
	openTask = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`(?i)^\s*(?:[-*+]|[0-9]{1,9}[.)])\s+\[ \]\s+(` + reference + `)`)
	})
	dependsOn = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`(?i)^\s*(?:[-*+]\s+)?[*_]{0,2}(?:depends[ -](?:up)?on|blocked[ -]by)[*_]{0,2}:?[*_]{0,2}\s*(` + reference + `.*)$`)
	})
	between = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`(?i)^(?:\s|,|;|&|\band\b|\bor\b)*$`) })
)

// needsIn are the items that a body says it waits for.
func needsIn(body string, home Repository) []named {
	if len(body) == 0 || !strings.Contains(body, "[ ]") && !containsAny(lower(body), "depends", "blocked") {
		return nil
	}
	var found []named
	for _, line := range visible(body) {
		if m := openTask().FindStringSubmatch(line); m != nil {
			found = appendNamed(found, m[1], kindTask, home)
		} else if m := dependsOn().FindStringSubmatch(line); m != nil {
			found = appendList(found, m[1], home)
		}
		if len(found) >= maxNamed {
			return found[:maxNamed]
		}
	}
	return found
}

// appendList adds the items of a list, up to the first word that is none.
func appendList(found []named, text string, home Repository) []named {
	end := 0
	for _, at := range anyReference().FindAllStringIndex(text, maxNamed) {
		if !between().MatchString(text[end:at[0]]) {
			break
		}
		found, end = appendNamed(found, text[at[0]:at[1]], kindText, home), at[1]
	}
	return found
}

func appendNamed(found []named, text, kind string, home Repository) []named {
	r, ok := refIn(text, home)
	if !ok {
		return found
	}
	return append(found, named{ref: r, text: text, kind: kind})
}

// closedBy are the items that a pull request's body closes.
func closedBy(body string, home Repository) []ref {
	if len(body) == 0 || !containsAny(lower(body), "close", "fix", "resolve") {
		return nil
	}
	var found []ref
	for _, line := range visible(body) {
		for _, m := range closing().FindAllStringSubmatch(line, maxNamed) {
			if r, ok := refIn(m[1], home); ok && len(found) < maxNamed {
				found = append(found, r)
			}
		}
	}
	return found
}

// refIn reads a reference in a text of a repository.
func refIn(text string, home Repository) (ref, bool) {
	if len(text) > 3 && lower(text[:3]) == "gh-" {
		text = text[3:]
	}
	r, err := parseRef(strings.TrimRight(text, ".,;:!?'*_"), home)
	return r, err == nil
}

// visible are the lines of a body that are text: no code, no comments, no quotes.
func visible(body string) []string {
	var lines []string
	fence := ""
	for line := range strings.Lines(uncommented(body)) {
		line = strings.TrimRight(line, "\r\n")
		bare := strings.TrimLeft(line, " ")
		mark := fenceOf(bare)
		switch {
		case fence != "":
			if len(mark) >= len(fence) && mark[0] == fence[0] && strings.TrimSpace(bare[len(mark):]) == "" {
				fence = ""
			}
		case mark != "":
			fence = mark
		case strings.HasPrefix(bare, ">") || strings.HasPrefix(line, "    ") && !isListItem(bare):
		default:
			lines = append(lines, withoutCode(line))
		}
	}
	return lines
}

// isListItem says whether a line is part of a list, which may be far to the right.
func isListItem(bare string) bool {
	return len(bare) > 1 && strings.ContainsRune("-*+0123456789", rune(bare[0]))
}

// fenceOf is the run of marks that a line of a code block's fence begins with.
func fenceOf(line string) string {
	n := 0
	for n < len(line) && (line[0] == '`' || line[0] == '~') && line[n] == line[0] {
		n++
	}
	if n < 3 {
		return ""
	}
	return line[:n]
}

// uncommented is a body without its comments. One without an end goes on to the end, as a browser has it.
func uncommented(body string) string {
	var b strings.Builder
	for {
		before, rest, found := strings.Cut(body, "<!--")
		b.WriteString(before)
		if !found {
			return b.String()
		}
		if _, body, found = strings.Cut(rest, "-->"); !found {
			return b.String()
		}
	}
}

// withoutCode is a line without what stands between backticks.
func withoutCode(line string) string {
	if !strings.Contains(line, "`") {
		return line
	}
	parts := strings.Split(line, "`")
	var b strings.Builder
	for i, part := range parts {
		if i%2 == 0 || i == len(parts)-1 {
			b.WriteString(part)
		}
		b.WriteByte(' ')
	}
	return b.String()
}

func containsAny(s string, words ...string) bool {
	for _, w := range words {
		if strings.Contains(s, w) {
			return true
		}
	}
	return false
}
