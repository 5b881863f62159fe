package backlogmd

import (
	"errors"
	"fmt"
	"strings"

	"github.com/goccy/go-yaml"
	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/parser"
)

// maxDepth is how deeply YAML may be nested. What a task has is two levels deep.
const maxDepth = 32

// slow reads a mapping with the YAML library. It does not decode, so that no alias is followed. line counts from 1 where it is known.
func slow(text string) (fields []field, line int, err error) {
	if tooDeep(text) {
		return nil, 1, errTooDeep
	}
	defer func() {
		if fault := recover(); fault != nil { // the text is anybody's, and the library is large
			fields, line, err = nil, 1, fmt.Errorf("%w: %v", errUnsupported, fault)
		}
	}()
	file, err := parser.ParseBytes([]byte(text), 0)
	if err != nil {
		return nil, errorLine(err), plainError(err)
	}
	if len(file.Docs) == 0 || len(file.Docs) == 1 && file.Docs[0].Body == nil {
		return nil, 0, nil
	}
	if len(file.Docs) > 1 {
		return nil, 1, errNotMapping
	}
	switch body := file.Docs[0].Body.(type) {
	case *ast.MappingNode:
		return mapping(body.Values)
	case *ast.MappingValueNode:
		return mapping([]*ast.MappingValueNode{body})
	case *ast.NullNode, *ast.CommentGroupNode:
		return nil, 0, nil
	default:
		return nil, 1, errNotMapping
	}
}

func mapping(values []*ast.MappingValueNode) ([]field, int, error) {
	fields := make([]field, 0, len(values))
	for _, value := range values {
		line := value.Key.GetToken().Position.Line
		if value.Key.IsMergeKey() {
			return nil, line, errMerge
		}
		f := fieldOf(value.Value)
		switch key := value.Key.(type) {
		case *ast.StringNode:
			f.key = key.Value
		default:
			f.key = key.GetToken().Value
		}
		for i := range fields {
			if fields[i].key == f.key {
				return nil, line, fmt.Errorf("it has %q twice", f.key)
			}
		}
		fields = append(fields, f)
	}
	return fields, 0, nil
}

func fieldOf(node ast.Node) field {
	if sequence, ok := node.(*ast.SequenceNode); ok {
		f := field{kind: isList, list: make([]string, 0, len(sequence.Values))}
		for _, value := range sequence.Values {
			text, kind := scalar(value)
			if kind == isOther {
				return field{kind: isOther}
			}
			f.list = append(f.list, text)
		}
		return f
	}
	text, kind := scalar(node)
	return field{kind: kind, text: text}
}

func scalar(node ast.Node) (string, kind) {
	switch node := node.(type) {
	case *ast.StringNode:
		return node.Value, isScalar
	case *ast.LiteralNode:
		return strings.TrimRight(node.Value.Value, "\n"), isScalar
	case *ast.IntegerNode, *ast.FloatNode, *ast.BoolNode, *ast.InfinityNode, *ast.NanNode:
		return node.GetToken().Value, isScalar
	case *ast.NullNode, nil:
		return "", isNull
	default:
		return "", isOther
	}
}

// tooDeep says whether text may be nested more deeply than maxDepth. It counts brackets in quotes as well, so it errs to the safe side.
func tooDeep(text string) bool {
	brackets := 0
	for line := range strings.SplitSeq(text, "\n") {
		nested := 0
		for rest := line; ; nested++ {
			rest = strings.TrimLeft(rest, " \t")
			if len(rest) < 2 || !strings.ContainsRune("-?:", rune(rest[0])) || rest[1] != ' ' && rest[1] != '\t' {
				break
			}
			rest = rest[2:]
		}
		if nested > maxDepth || len(line)-len(strings.TrimLeft(line, " ")) > 8*maxDepth {
			return true
		}
		for i := range len(line) {
			switch line[i] {
			case '[', '{':
				brackets++
			case ']', '}':
				brackets = max(brackets-1, 0)
			}
		}
		if brackets > maxDepth {
			return true
		}
	}
	return false
}

// errorLine is the line that an error of the library is about.
func errorLine(err error) int {
	var located yaml.Error
	if errors.As(err, &located) && located.GetToken() != nil {
		return located.GetToken().Position.Line
	}
	return 1
}

// plainError is an error of the library without the lines that it quotes.
func plainError(err error) error {
	var located yaml.Error
	if errors.As(err, &located) {
		return errors.New(located.GetMessage())
	}
	return err
}
