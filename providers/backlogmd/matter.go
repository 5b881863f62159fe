package backlogmd

import (
	"bytes"
	"errors"
	"strings"
	"unicode/utf8"
)

// maxMatter is the most bytes of front matter that are read.
const maxMatter = 64 << 10

// What is wrong with a file that is no task's.
var (
	errNoMatter    = errors.New("it does not begin with front matter, a line of three dashes")
	errNoEnd       = errors.New("its front matter has no end, a line of three dashes")
	errDashes      = errors.New("a line of its front matter begins with three dashes and goes on")
	errMatterSize  = errors.New("its front matter is longer than 64 KiB")
	errNotText     = errors.New("its front matter is not UTF-8, or has control characters")
	errTooDeep     = errors.New("its front matter is nested too deeply")
	errNotMapping  = errors.New("its front matter is not a list of keys and values")
	errMerge       = errors.New("its front matter merges other keys in")
	errUnsupported = errors.New("its front matter can't be understood")
)

// kind is what sort of value a key has.
type kind uint8

const (
	isNull kind = iota
	isScalar
	isList
	// isOther is what is of no use to us: mappings, lists of lists, anchors, aliases, tags.
	isOther
)

// field is one key of front matter with its value.
type field struct {
	key  string
	kind kind
	// text is that of a scalar: as it was written if it is plain, so that 007 stays what it is.
	text string
	list []string
}

var byteOrderMark = []byte("\ufeff")

// between finds the front matter: data[start:end], with the end of its last line.
func between(data []byte) (start, end, line int, err error) {
	if bytes.HasPrefix(data, byteOrderMark) {
		start = len(byteOrderMark)
	}
	first, _, found := bytes.Cut(data[start:], []byte("\n"))
	if !found || !dashes(first) {
		return 0, 0, 1, errNoMatter
	}
	start += len(first) + 1
	line = 2
	for end = start; end < len(data); line++ {
		length := bytes.IndexByte(data[end:], '\n')
		if length < 0 {
			length = len(data) - end
		}
		if bytes.HasPrefix(data[end:], []byte("---")) {
			if !dashes(data[end : end+length]) {
				return 0, 0, line, errDashes
			}
			return start, end, line, nil
		}
		end = min(end+length+1, len(data))
		if end-start > maxMatter {
			return 0, 0, 1, errMatterSize
		}
	}
	return 0, 0, line, errNoEnd
}

// dashes says whether a line is one of three dashes.
func dashes(line []byte) bool {
	return bytes.HasPrefix(line, []byte("---")) && len(bytes.TrimRight(line[3:], " \t\r")) == 0
}

// parseMatter reads the front matter of a file. line says which of the file's lines an error is about.
func parseMatter(data []byte) (fields []field, line int, err error) {
	start, end, line, err := between(data)
	if err != nil {
		return nil, line, err
	}
	text := string(data[start:end])
	if strings.Contains(text, "\r\n") {
		text = strings.ReplaceAll(text, "\r\n", "\n")
	}
	if fields, ok := fast(text); ok {
		return fields, 0, nil
	}
	if at := badByte(text); at >= 0 {
		return nil, strings.Count(text[:at], "\n") + 2, errNotText
	}
	fields, line, err = slow(quoteNames(text))
	if err != nil {
		return nil, line + 1, err
	}
	return fields, 0, nil
}

// badByte is where text has what YAML forbids; -1 where it has not.
func badByte(text string) int {
	for i, r := range text {
		if r < ' ' && r != '\n' && r != '\t' || r == 0x7f || r == utf8.RuneError && !strings.HasPrefix(text[i:], "\ufffd") {
			return i
		}
	}
	return -1
}

// quoteNames quotes what the backlog program quotes before it reads YAML: a name that begins with @, which YAML reserves, as the value of assignee or reporter.
func quoteNames(text string) string {
	if !strings.Contains(text, "@") {
		return text
	}
	lines := strings.Split(text, "\n")
	for i, line := range lines {
		key, value, found := strings.Cut(line, ":")
		if name := strings.TrimLeft(key, " \t"); !found || name != "assignee" && name != "reporter" {
			continue
		}
		switch value = strings.TrimSpace(value); {
		case value == "" || strings.ContainsRune("'\"-", rune(value[0])):
		case value[0] != '[':
			lines[i] = key + ": " + quoted(value)
		default:
			if body, comment, ok := flowBody(value); ok {
				lines[i] = key + ": [" + strings.Join(quoteEach(body), ", ") + "]" + comment
			}
		}
	}
	return strings.Join(lines, "\n")
}

// flowBody is what is between the brackets of a list in one line, and the comment after it.
func flowBody(value string) (body, comment string, ok bool) {
	end := strings.LastIndexByte(value, ']')
	if end < 1 || value[0] != '[' {
		return "", "", false
	}
	comment = value[end+1:]
	if rest := strings.TrimSpace(comment); rest != "" && (rest[0] != '#' || comment[0] == '#') {
		return "", "", false
	}
	return value[1:end], comment, true
}

func quoteEach(body string) []string {
	var entries []string
	for entry := range strings.SplitSeq(body, ",") {
		entry = strings.TrimSpace(entry)
		if strings.HasPrefix(entry, "@") {
			entry = quoted(entry)
		}
		if entry != "" {
			entries = append(entries, entry)
		}
	}
	return entries
}

// quoted is text in single quotes.
func quoted(text string) string { return "'" + strings.ReplaceAll(text, "'", "''") + "'" }
