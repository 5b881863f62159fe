package backlogmd

import (
	"fmt"
	"slices"
	"strings"
)

// names adds names to a list and takes others out of it, in the form that the list has. One that becomes empty is written as the backlog program does, and so is one that was.
func (e *editor) names(key string, add, remove []string) error {
	i, err := e.at(key)
	if err != nil {
		return err
	}
	if i < 0 {
		return e.insert("status", append([]string{key + ":"}, itemLines(add)...)...)
	}
	head, token, tail, err := split(e.lines[i])
	if err != nil {
		return fmt.Errorf("%s: %w", key, errNotPlain)
	}
	switch {
	case token == "" && e.goesOn(i):
		return e.block(i, head, tail, add, remove)
	case e.goesOn(i):
		return fmt.Errorf("%s: %w", key, errNotPlain)
	case token == "" || strings.HasPrefix(token, "[") && strings.Trim(token[1:len(token)-1], " \t") == "":
		if len(add) > 0 {
			e.lines[i] = strings.TrimRight(head, " \t") + tail
			e.lines = slices.Insert(e.lines, i+1, e.ended(itemLines(add))...)
		}
		return nil
	}
	entries := []string{token}
	if token[0] == '[' {
		entries = flowEntries(token[1 : len(token)-1])
	}
	entries = slices.DeleteFunc(entries, func(entry string) bool { return slices.Contains(remove, unquoted(entry)) })
	for j, entry := range entries {
		if strings.HasPrefix(entry, "@") { // which only the backlog program takes for a name, and only as one value
			entries[j] = quoted(entry)
		}
	}
	for _, name := range add {
		entries = append(entries, plainOrQuoted(name))
	}
	e.lines[i] = head + "[" + strings.Join(entries, ", ") + "]" + tail
	return nil
}

// block changes a list whose values have lines of their own, after the line i of its key.
func (e *editor) block(i int, head, tail string, add, remove []string) error {
	last, left, mark := i, 0, "  - "
	for j := i + 1; j < len(e.lines) && e.goesOn(j-1); j++ {
		before, token, _, err := split(e.lines[j])
		if err != nil || !strings.HasSuffix(strings.TrimRight(before, " "), "-") {
			return errNotPlain
		}
		if slices.Contains(remove, unquoted(token)) {
			e.lines = slices.Delete(e.lines, j, j+1)
			j--
			continue
		}
		last, mark = j, before
		left++
	}
	lines := itemLines(add)
	for j := range lines {
		lines[j] = mark + strings.TrimPrefix(lines[j], "  - ")
	}
	e.lines = slices.Insert(e.lines, last+1, e.ended(lines)...)
	if left+len(add) == 0 {
		e.lines[i] = strings.TrimRight(head, " \t") + " []" + tail
	}
	return nil
}

func itemLines(names []string) []string {
	lines := make([]string, len(names))
	for i, name := range names {
		lines[i] = "  - " + plainOrQuoted(name)
	}
	return lines
}

// flowEntries takes the inside of a list in one line apart, at commas that are not in quotes.
func flowEntries(text string) []string {
	var entries []string
	start, quote := 0, byte(0)
	for i := 0; i <= len(text); i++ {
		switch {
		case i == len(text) || text[i] == ',' && quote == 0:
			if entry := strings.TrimSpace(text[start:i]); entry != "" {
				entries = append(entries, entry)
			}
			start = i + 1
		case quote != 0 && text[i] == quote:
			quote = 0
		case quote == 0 && (text[i] == '\'' || text[i] == '"'):
			quote = text[i]
		}
	}
	return entries
}

// split takes a line apart: what is before a value (the key, or the dash of a list), the value as it is written, and blanks, comment and end after it. Values with escapes
// are left to people.
func split(line string) (head, token, tail string, err error) {
	body := strings.TrimRight(line, "\r\n")
	end := line[len(body):]
	at := 0
	if dash := strings.TrimLeft(body, " "); strings.HasPrefix(dash, "- ") {
		at = len(body) - len(dash) + 1
	} else if at = strings.IndexByte(body, ':') + 1; at == 0 {
		return "", "", "", errNotPlain
	}
	value := strings.TrimLeft(body[at:], " ")
	head = body[:len(body)-len(value)]
	length := len(value)
	switch {
	case value == "" || value[0] == '#':
		length = 0
	case value[0] == '\'':
		length = 1
		for ; length < len(value) && (value[length] != '\'' || strings.HasPrefix(value[length:], "''")); length++ {
			if value[length] == '\'' {
				length++
			}
		}
		length++
	case value[0] == '"':
		length = strings.IndexByte(value[1:], '"') + 2
		if strings.Contains(value[:min(length, len(value))], `\`) {
			return "", "", "", errNotPlain
		}
	case value[0] == '[':
		if length = strings.LastIndexByte(value, ']') + 1; length == 0 {
			return "", "", "", errNotPlain
		}
	case strings.IndexByte("&*!|>%{}]?`,", value[0]) >= 0:
		return "", "", "", errNotPlain
	default:
		if comment := strings.Index(value, " #"); comment >= 0 {
			length = comment
		}
		length = len(strings.TrimRight(value[:length], " \t"))
	}
	if length > len(value) {
		return "", "", "", errNotPlain
	}
	token, tail = value[:length], value[length:]
	if rest := strings.TrimLeft(tail, " \t"); rest != "" && (rest[0] != '#' || rest == tail && token != "") {
		return "", "", "", errNotPlain
	}
	return head, token, tail + end, nil
}

// unquoted is the value that a token stands for.
func unquoted(token string) string {
	switch {
	case len(token) >= 2 && token[0] == '\'':
		return strings.ReplaceAll(token[1:len(token)-1], "''", "'")
	case len(token) >= 2 && token[0] == '"':
		return token[1 : len(token)-1]
	}
	return token
}

// plainOrQuoted writes a value as the backlog program does, which quotes what could be taken for anything but text.
func plainOrQuoted(value string) string {
	if value != "" && (value[0] < '0' || value[0] > '9') && fastPlain(value) && !strings.ContainsAny(value, ",:#") {
		switch strings.ToLower(value) {
		case "true", "false", "yes", "no", "on", "off", "null", "y", "n":
		default:
			return value
		}
	}
	return quoted(value)
}

// likewise writes a value in the quotes that another had.
func likewise(token, value string) string {
	switch {
	case strings.HasPrefix(token, `"`) && !strings.ContainsAny(value, `"\`):
		return `"` + value + `"`
	case strings.HasPrefix(token, "'"):
		return quoted(value)
	default:
		return plainOrQuoted(value)
	}
}
