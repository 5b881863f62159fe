package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/rogpeppe/go-internal/testscript"
)

// scriptDocument reads the last command's output, which must be one JSON document on one line.
func scriptDocument(ts *testscript.TestScript) (any, error) {
	text := ts.ReadFile("stdout")
	if strings.Count(text, "\n") != 1 {
		return nil, fmt.Errorf("not one line: %q", text)
	}
	dec := json.NewDecoder(strings.NewReader(text))
	dec.UseNumber()
	var v any
	if err := dec.Decode(&v); err != nil {
		return nil, err
	}
	if err := dec.Decode(new(any)); !errors.Is(err, io.EOF) {
		return nil, fmt.Errorf("more than one document: %q", text)
	}
	return v, nil
}

// lookUp follows a path of names and indices, such as result.0.state; "." is the document.
func lookUp(v any, path string) (any, bool) {
	if path == "." {
		return v, true
	}
	for name := range strings.SplitSeq(path, ".") {
		switch node := v.(type) {
		case map[string]any:
			next, ok := node[name]
			if !ok {
				return nil, false
			}
			v = next
		case []any:
			i, err := strconv.Atoi(name)
			if err != nil || i >= len(node) {
				return nil, false
			}
			v = node[i]
		default:
			return nil, false
		}
	}
	return v, true
}

func cmdJSON(ts *testscript.TestScript, neg bool, args []string) {
	if len(args) == 0 || len(args) > 2 {
		ts.Fatalf("usage: json PATH [REGEXP]")
	}
	doc, err := scriptDocument(ts)
	ts.Check(err)
	v, found := lookUp(doc, args[0])
	fits := found
	if found && len(args) == 2 {
		fits = regexp.MustCompile("^(?:" + args[1] + ")$").MatchString(jsonText(v))
	}
	if fits == neg {
		ts.Fatalf("%s is %s", args[0], jsonText(v))
	}
}

// jsonText is a value as scripts write it: strings without quotes.
func jsonText(v any) string {
	if s, ok := v.(string); ok {
		return s
	}
	text, err := json.Marshal(v)
	if err != nil {
		return err.Error()
	}
	return string(text)
}

func cmdJSONKeys(ts *testscript.TestScript, _ *world, args []string) error {
	if err := need(args, 1); err != nil {
		return err
	}
	doc, err := scriptDocument(ts)
	if err != nil {
		return err
	}
	v, _ := lookUp(doc, args[0])
	node, ok := v.(map[string]any)
	if !ok {
		return fmt.Errorf("%s is %s", args[0], jsonText(v))
	}
	var have []string
	for name := range node {
		have = append(have, name)
	}
	want := slices.Clone(args[1:])
	slices.Sort(have)
	slices.Sort(want)
	if !slices.Equal(have, want) {
		return fmt.Errorf("%s has the members %s", args[0], strings.Join(have, " "))
	}
	return nil
}
