package config

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

func sortedKeys[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }

// keyLines finds the line, from 1, of each key and table header of a well-formed file, for messages alone. Of an array of tables it knows each
// element as well, see [element]. Keys within inline tables and spellings with escapes are left out.
func keyLines(data []byte) map[string]int {
	lines, count := map[string]int{}, map[string]int{}
	section, quote := "", ""
	number := 0
	for line := range strings.SplitSeq(string(data), "\n") {
		number++
		line = strings.TrimSpace(line)
		if quote != "" { // within a string of several lines
			if strings.Contains(line, quote) {
				quote = ""
			}
			continue
		}
		if strings.HasPrefix(line, "[") {
			header, _, _ := strings.Cut(strings.TrimLeft(line, "["), "]")
			section = plainKey(header)
			note(lines, section, number)
			if strings.HasPrefix(line, "[[") {
				at := count[section]
				count[section]++
				section = element(section, at)
				note(lines, section, number)
			}
			continue
		}
		key, value, ok := strings.Cut(line, "=")
		if !ok || strings.HasPrefix(line, "#") {
			continue
		}
		note(lines, strings.TrimPrefix(section+"."+plainKey(key), "."), number)
		quote = opens(strings.TrimSpace(value))
	}
	return lines
}

// element is the key of one table of an array, counted from 0.
func element(key string, at int) string { return fmt.Sprintf("%s[%d]", key, at) }

func note(lines map[string]int, key string, number int) {
	if _, ok := lines[key]; !ok {
		lines[key] = number
	}
}

// plainKey drops the blanks and quotes of a dotted key.
func plainKey(s string) string {
	parts := strings.Split(s, ".")
	for i, part := range parts {
		parts[i] = strings.Trim(strings.TrimSpace(part), `"'`)
	}
	return strings.Join(parts, ".")
}

// opens is the quote of a string of several lines that value begins and doesn't end, or "".
func opens(value string) string {
	for _, quote := range []string{`"""`, `'''`} {
		if rest, ok := strings.CutPrefix(value, quote); ok && !strings.Contains(rest, quote) {
			return quote
		}
	}
	return ""
}
