package backlogmd

import (
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"

	"github.com/git-worklease/git-worklease/providers"
)

// change is what is to be written into a task.
type change struct {
	// status is the new one; empty: it stays.
	status string
	// add and remove are assignees.
	add, remove []string
}

func (c *change) isZero() bool { return c.status == "" && len(c.add) == 0 && len(c.remove) == 0 }

// errNotPlain is for front matter in a form that is not edited: it could be done wrong.
var errNotPlain = errors.New("it is not written plainly enough to be edited; set it by hand")

// edit makes a change in a file's front matter, and notes when. Every byte that says something else stays. What comes of it is read again: where that is not what was there
// with the change, and nothing else, the error is errNotPlain, wrapped with the key.
func edit(data []byte, c change, now string) ([]byte, error) {
	before, _, err := parseMatter(data)
	if err != nil {
		return nil, err
	}
	start, end, _, err := between(data)
	if err != nil {
		return nil, err
	}
	e := &editor{lines: strings.SplitAfter(string(data[start:end]), "\n")}
	e.lines = e.lines[:len(e.lines)-1] // nothing comes after the last line's end
	want := slices.Clone(before)
	if c.status != "" {
		if err := e.set("status", c.status, "title"); err != nil {
			return nil, err
		}
		want = with(want, field{key: "status", kind: isScalar, text: c.status})
	}
	if len(c.add)+len(c.remove) > 0 {
		if err := e.names("assignee", c.add, c.remove); err != nil {
			return nil, err
		}
		want = with(want, field{key: "assignee", kind: isList, list: c.apply(valueOf(before, "assignee"))})
	}
	if err := e.set("updated_date", now, "created_date"); err != nil {
		return nil, err
	}
	want = with(want, field{key: "updated_date", kind: isScalar, text: now})
	edited := string(data[:start]) + strings.Join(e.lines, "") + string(data[end:])
	after, _, err := parseMatter([]byte(edited))
	if err != nil || !sameFields(after, want) {
		return nil, fmt.Errorf("its front matter: %w", errNotPlain)
	}
	return []byte(edited), nil
}

// apply is what becomes of a list of assignees.
func (c *change) apply(f field) []string {
	list, _ := f.names() //nolint:errcheck // a task with one that can't be understood is none
	list = slices.DeleteFunc(slices.Clone(list), func(name string) bool { return slices.Contains(c.remove, name) })
	for _, name := range c.add {
		if !slices.Contains(list, name) {
			list = append(list, name)
		}
	}
	return list
}

func valueOf(fields []field, key string) field {
	for _, f := range fields {
		if f.key == key {
			return f
		}
	}
	return field{key: key}
}

// with is fields with another value of one key.
func with(fields []field, f field) []field {
	for i := range fields {
		if fields[i].key == f.key {
			fields[i] = f
			return fields
		}
	}
	return append(fields, f)
}

// sameFields compares the fields of two front matters, in any order.
func sameFields(a, b []field) bool {
	if len(a) != len(b) {
		return false
	}
	for _, f := range a {
		other := valueOf(b, f.key)
		if f.kind != other.kind || f.text != other.text || !reflect.DeepEqual(append([]string{}, f.list...), append([]string{}, other.list...)) {
			return false
		}
	}
	return true
}

// editor is the lines of front matter, each with its end.
type editor struct{ lines []string }

// at is the line of a key at the first column; -1 where there is none.
func (e *editor) at(key string) (int, error) {
	found := -1
	for i, line := range e.lines {
		if rest, ok := strings.CutPrefix(line, key+":"); ok && strings.ContainsRune(" \t\r\n", rune((rest + "\n")[0])) {
			if found >= 0 {
				return 0, fmt.Errorf("%s: %w", key, errNotPlain)
			}
			found = i
		}
	}
	return found, nil
}

// goesOn says whether what begins in a line is continued in the next.
func (e *editor) goesOn(i int) bool {
	if i+1 >= len(e.lines) {
		return false
	}
	next := e.lines[i+1]
	return next[0] == ' ' || next[0] == '\t' || strings.HasPrefix(next, "- ")
}

// set gives a key one value, in the quotes that it has. Where the key is missing, it gets a line after that of another, or at the end.
func (e *editor) set(key, value, after string) error {
	i, err := e.at(key)
	if err != nil {
		return err
	}
	if i < 0 {
		return e.insert(after, key+": "+plainOrQuoted(value))
	}
	head, token, tail, err := split(e.lines[i])
	if err != nil || e.goesOn(i) {
		return fmt.Errorf("%s: %w", key, errNotPlain)
	}
	e.lines[i] = head + likewise(token, value) + tail
	return nil
}

// insert adds lines after that of a key and its value, with the same ends.
func (e *editor) insert(after string, lines ...string) error {
	i, err := e.at(after)
	if err != nil {
		return err
	}
	if i < 0 {
		i = len(e.lines) - 1
	}
	for i >= 0 && e.goesOn(i) {
		i++
	}
	e.lines = slices.Insert(e.lines, i+1, e.ended(lines)...)
	return nil
}

// ended gives lines the end that the others have.
func (e *editor) ended(lines []string) []string {
	end := "\n"
	if len(e.lines) > 0 && strings.HasSuffix(e.lines[0], "\r\n") {
		end = "\r\n"
	}
	for i := range lines {
		lines[i] += end
	}
	return lines
}

// broken is the error of an edit, with the file.
func broken(file string, err error) error {
	return &providers.BrokenError{Where: file, Err: err}
}
