package backlogmd

import "strings"

// fast reads front matter in the form in which the backlog program writes it: a key and a value in one line, plain or in quotes, an empty list, or a list of one value a
// line. The YAML library takes twenty times as long. Whatever is unusual, even if it is valid, it leaves to the library, so that what it accepts means
// the same to both; a fuzz target compares them.
func fast(text string) ([]field, bool) {
	fields := make([]field, 0, 16)
	for text != "" {
		line, rest, found := strings.Cut(text, "\n")
		if !found {
			return nil, false
		}
		text = rest
		key, value, ok := fastKey(line)
		if !ok || has(fields, key) {
			return nil, false
		}
		f := field{key: key, kind: isScalar}
		switch value {
		case "":
			f.kind = isList
			if f.list, text, ok = fastList(text); !ok {
				return nil, false
			}
		case "[]":
			f.kind = isList
		default:
			if f.text, ok = fastScalar(value); !ok {
				return nil, false
			}
		}
		fields = append(fields, f)
	}
	return fields, len(fields) > 0
}

func has(fields []field, key string) bool {
	for i := range fields {
		if fields[i].key == key {
			return true
		}
	}
	return false
}

// fastKey takes a line apart at the first colon. The value is empty only where the line ends there.
func fastKey(line string) (key, value string, ok bool) {
	at := strings.IndexByte(line, ':')
	if at < 2 {
		return "", "", false
	}
	for i := range at {
		if c := line[i]; (c < 'a' || c > 'z') && c != '_' {
			return "", "", false
		}
	}
	key = line[:at]
	switch key {
	case "null", "true", "false":
		return "", "", false
	}
	if at == len(line)-1 {
		return key, "", true
	}
	if line[at+1] != ' ' || at+2 == len(line) {
		return "", "", false
	}
	return key, line[at+2:], true
}

// fastList reads the lines of a list, of which there must be one at least.
func fastList(text string) (list []string, rest string, ok bool) {
	const mark = "  - "
	for strings.HasPrefix(text, mark) {
		line, after, found := strings.Cut(text[len(mark):], "\n")
		if !found {
			return nil, "", false
		}
		value, ok := fastScalar(line)
		if !ok {
			return nil, "", false
		}
		list = append(list, value)
		text = after
	}
	return list, text, len(list) > 0
}

func fastScalar(value string) (string, bool) {
	if value == "" {
		return "", false
	}
	switch value[0] {
	case '\'':
		return fastQuoted(value)
	case '"':
		if len(value) < 2 || value[len(value)-1] != '"' || !harmless(value[1:len(value)-1], `"\`) {
			return "", false
		}
		return value[1 : len(value)-1], true
	}
	return value, fastPlain(value)
}

// fastQuoted reads a value in single quotes, in which two stand for one.
func fastQuoted(value string) (string, bool) {
	if len(value) < 2 || value[len(value)-1] != '\'' {
		return "", false
	}
	value = value[1 : len(value)-1]
	if !strings.Contains(value, "'") {
		return value, harmless(value, "")
	}
	whole := strings.ReplaceAll(value, "''", "\x00")
	if strings.Contains(whole, "'") || strings.Contains(value, "\x00") {
		return "", false
	}
	return strings.ReplaceAll(whole, "\x00", "'"), harmless(value, "")
}

// harmless says that text is printable ASCII, or letters beyond it, and has none of the bytes of but.
func harmless(text, but string) bool {
	for i := range len(text) {
		if c := text[i]; c < ' ' || c == 0x7f || strings.IndexByte(but, c) >= 0 {
			return false
		}
	}
	return utf8Plain(text)
}

// fastPlain says whether a value without quotes is one of words and harmless marks, or a number or date, and so is nothing but itself.
func fastPlain(value string) bool {
	first := value[0]
	if (first < 'a' || first > 'z') && (first < 'A' || first > 'Z') && (first < '0' || first > '9') || value[len(value)-1] == ' ' {
		return false
	}
	switch value {
	case "null", "Null", "NULL":
		return false
	}
	for i := range len(value) {
		switch c := value[i]; {
		case c == ':' && (i+1 == len(value) || value[i+1] == ' '), c == '#' && value[i-1] == ' ':
			return false
		}
	}
	return harmless(value, "[]{}`|\\>")
}
