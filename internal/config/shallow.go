package config

import "bytes"

// shallow says whether data keeps to maxNesting, in brackets as in the parts of a dotted key, and if not, the line where it
// doesn't. The TOML library recurses, and its time grows with the square of the depth: a file from anybody must not get
// that far. Strings and comments are passed over; what is malformed is left to the library.
func shallow(data []byte) (line int, ok bool) {
	depth, parts := 0, 0
	for at := 0; at < len(data); at++ {
		switch data[at] {
		case '#':
			at += lengthTo(data[at:], "\n") - 1
		case '"', '\'':
			at += stringLength(data[at:]) - 1
		case '[', '{':
			depth, parts = depth+1, 0
		case ']', '}':
			depth, parts = max(depth-1, 0), 0
		case ',', '=', '\n':
			parts = 0
		case '.':
			parts++
		}
		if depth > maxNesting || parts > maxNesting {
			return 1 + bytes.Count(data[:at], []byte("\n")), false
		}
	}
	return 0, true
}

// lengthTo is the number of bytes before the first end in data, or of all.
func lengthTo(data []byte, end string) int {
	if at := bytes.Index(data, []byte(end)); at >= 0 {
		return at
	}
	return len(data)
}

// stringLength is the length of the string that data begins with, quotes included. One of several lines ends with the last of all quotes that
// follow each other there. An unfinished one of a single line ends before the line's end.
func stringLength(data []byte) int {
	quote := data[:1]
	if triple := bytes.Repeat(quote, 3); bytes.HasPrefix(data, triple) {
		quote = triple
	}
	for at := len(quote); at < len(data); at++ {
		switch {
		case data[at] == '\\' && quote[0] == '"':
			at++
		case bytes.HasPrefix(data[at:], quote):
			at += len(quote)
			for len(quote) > 1 && at < len(data) && data[at] == quote[0] {
				at++
			}
			return at
		case data[at] == '\n' && len(quote) == 1:
			return at
		}
	}
	return len(data)
}
