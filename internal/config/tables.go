package config

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
)

// Table is a table of the policy whose keys another package knows, such as [providers.github]. A value that is asked for is checked; of what is wrong the first is
// kept for [Table.Done].
type Table struct {
	// Section is "providers" or "views", Name what follows it.
	Section, Name string
	Origin        Origin

	values map[string]any
	lines  map[string]int
	known  map[string]bool
	err    error
}

const (
	maxTables = 100
	wantTable = "a table, such as [%s.%s]"
)

// Tables are the tables of a section, in the order of the file.
func (p *Policy) Tables(section string) []*Table {
	tables := make([]*Table, len(p.tables[section]))
	for i, t := range p.tables[section] {
		fresh := *t
		fresh.known = map[string]bool{}
		tables[i] = &fresh
	}
	return tables
}

// takeTables reads the sections of tables.
func (p *Policy) takeTables(tree map[string]any, lines map[string]int) error {
	p.tables = map[string][]*Table{}
	for _, s := range [][2]string{{"providers", "github"}, {"views", "Ready"}} {
		section, example := s[0], s[1]
		raw, ok := tree[section]
		if !ok {
			continue
		}
		all, ok := raw.(map[string]any)
		if !ok || len(all) > maxTables {
			return &Error{Origin: policyOrigin(lines[section]), Key: section, Value: fmt.Sprint(raw), Want: fmt.Sprintf("at most %d tables, such as [%s.%s]", maxTables, section, example)}
		}
		for _, name := range sortedKeys(all) {
			at := section + "." + name
			values, ok := all[name].(map[string]any)
			if !ok {
				return &Error{Origin: policyOrigin(lines[at]), Key: at, Value: fmt.Sprint(all[name]), Want: fmt.Sprintf(wantTable, section, name)}
			}
			if name == "" || len(name) > maxPoolName || hasControl(name) || name != strings.TrimSpace(name) {
				return &Error{Origin: policyOrigin(lines[at]), Key: section, Value: name, Want: "a name of 1 to 48 bytes"}
			}
			p.tables[section] = append(p.tables[section], &Table{Section: section, Name: name, Origin: policyOrigin(lines[at]), values: values, lines: lines})
		}
		slices.SortStableFunc(p.tables[section], func(a, b *Table) int { return cmp.Compare(a.Origin.Line, b.Origin.Line) })
	}
	return nil
}

// key is how the policy writes one of the table's keys.
func (t *Table) key(name string) string { return t.Section + "." + t.Name + "." + name }

func (t *Table) origin(name string) Origin {
	if line := t.lines[t.key(name)]; line > 0 {
		return policyOrigin(line)
	}
	return t.Origin
}

// Bad notes that a value can't be used, or is missing.
func (t *Table) Bad(name, want string) {
	if t.err == nil {
		t.err = &Error{Origin: t.origin(name), Key: t.key(name), Value: shown(t.values[name]), Want: want}
	}
}

// shown is a value as messages have it; empty where there is none.
func shown(value any) string {
	if value == nil {
		return ""
	}
	return fmt.Sprint(value)
}

func (t *Table) value(name string) (any, bool) {
	t.known[name] = true
	v, ok := t.values[name]
	return v, ok
}

// Text is a string; otherwise where the table has none.
func (t *Table) Text(name, otherwise string) string {
	v, ok := t.value(name)
	text, isText := v.(string)
	switch {
	case !ok:
		return otherwise
	case !isText || len(text) > maxClaim || hasControl(text):
		t.Bad(name, "a text in quotes")
		return otherwise
	default:
		return text
	}
}

// Texts is a list of strings; nil where the table has none.
func (t *Table) Texts(name string) []string {
	v, ok := t.value(name)
	if !ok {
		return nil
	}
	list, ok := texts(v, maxPatterns)
	if !ok {
		t.Bad(name, fmt.Sprintf("a list of at most %d texts in quotes", maxPatterns))
	}
	return list
}

// Bool is true or false; otherwise where the table has none.
func (t *Table) Bool(name string, otherwise bool) bool {
	v, ok := t.value(name)
	b, isBool := v.(bool)
	switch {
	case !ok:
		return otherwise
	case !isBool:
		t.Bad(name, "true or false")
		return otherwise
	default:
		return b
	}
}

// OneOf is one of some words, the first where the table has none.
func (t *Table) OneOf(name string, words ...string) string {
	word := t.Text(name, words[0])
	if !slices.Contains(words, word) {
		t.Bad(name, strings.Join(words, ", "))
		return words[0]
	}
	return word
}

// All are the table's values, for a package that checks them itself.
func (t *Table) All() map[string]any {
	for name := range t.values {
		t.known[name] = true
	}
	return t.values
}

// Done is the first fault, an [*Error], or else the keys that nobody has asked for.
func (t *Table) Done() ([]Unknown, error) {
	if t.err != nil {
		return nil, t.err
	}
	var unknown []Unknown
	for _, name := range sortedKeys(t.values) {
		if !t.known[name] {
			unknown = append(unknown, Unknown{Key: t.key(name), Origin: t.origin(name)})
		}
	}
	return unknown, nil
}
