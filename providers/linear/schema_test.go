package linear

import (
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/vektah/gqlparser/v2"
	"github.com/vektah/gqlparser/v2/ast"
)

// published is the schema that Linear publishes, from ../shared/schemas beside the repository, or beside a folder above it; nil where it is not there.
var published = sync.OnceValues(func() (*ast.Schema, error) {
	folder, err := os.Getwd()
	for ; err == nil; folder = filepath.Dir(folder) {
		file, err := os.Open(filepath.Join(folder, "shared", "schemas", "linear.graphql.gz"))
		if errors.Is(err, fs.ErrNotExist) && folder != filepath.Dir(folder) {
			continue
		} else if errors.Is(err, fs.ErrNotExist) {
			return nil, nil
		} else if err != nil {
			return nil, err
		}
		defer file.Close()
		unzipped, err := gzip.NewReader(file)
		if err != nil {
			return nil, err
		}
		text, err := io.ReadAll(unzipped)
		if err != nil {
			return nil, err
		}
		return gqlparser.LoadSchema(&ast.Source{Name: "linear.graphql", Input: string(text)})
	}
	return nil, err
})

// schemaIfThere is the published schema, which comes with no clone: where it is nil the server of the tests only parses what it is sent.
func schemaIfThere(t *testing.T) *ast.Schema {
	t.Helper()
	schema, err := published()
	if err != nil {
		t.Fatal(err)
	}
	if schema == nil {
		t.Log("nothing is checked against Linear's schema: there is no ../shared/schemas/linear.graphql.gz")
	}
	return schema
}

func schema(t *testing.T) *ast.Schema {
	t.Helper()
	s := schemaIfThere(t)
	if s == nil {
		t.Skip("there is no ../shared/schemas/linear.graphql.gz, so nothing is checked against it")
	}
	return s
}

var documents = map[string]string{
	"page": pageDocument, "rest": restDocument, "read": readDocument, "begin": beginDocument, "update": updateDocument, "commented": commentedDocument, "comment": commentDocument,
}

func TestDocumentsAreOfTheSchema(t *testing.T) {
	s := schema(t)
	for name, document := range documents {
		parsed, err := gqlparser.LoadQueryWithRules(s, document, nil)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if len(parsed.Operations) != 1 {
			t.Errorf("%s has %d operations", name, len(parsed.Operations))
		}
		for _, field := range deprecated(parsed.Operations[0].SelectionSet) {
			t.Errorf("%s asks for %s, which is deprecated", name, field)
		}
		if points := complexity(parsed.Operations[0].SelectionSet); points > 9_000 || points < 1 {
			t.Errorf("%s may cost %v points", name, points)
		}
	}
	if _, err := gqlparser.LoadQueryWithRules(s, strings.Replace(readDocument, "identifier", "identification", 1), nil); err == nil {
		t.Error("a field that isn't there was not found")
	}
}

func deprecated(set ast.SelectionSet) []string {
	var found []string
	for _, field := range flat(set, nil) {
		if field.Definition.Directives.ForName("deprecated") != nil {
			found = append(found, field.ObjectDefinition.Name+"."+field.Name)
		}
		found = append(found, deprecated(field.SelectionSet)...)
	}
	return found
}

// complexity is what a document may cost by the rules that Linear documents, with a connection counted as often as its nodes.
func complexity(set ast.SelectionSet) float64 {
	points := 0.0
	for _, field := range flat(set, nil) {
		if len(field.SelectionSet) == 0 {
			points += 0.1
			continue
		}
		each := 1 + complexity(field.SelectionSet)
		if first := field.Arguments.ForName("first"); first != nil {
			n, err := first.Value.Value(map[string]any{"first": int64(pageSize)})
			if size, ok := n.(int64); err == nil && ok {
				each *= float64(size)
			}
		}
		points += each
	}
	return points
}

// flat are the fields of a selection, with those of its fragments.
func flat(set ast.SelectionSet, doc *ast.QueryDocument) []*ast.Field {
	var fields []*ast.Field
	for _, selection := range set {
		switch s := selection.(type) {
		case *ast.Field:
			fields = append(fields, s)
		case *ast.FragmentSpread:
			definition := s.Definition
			if definition == nil && doc != nil {
				definition = doc.Fragments.ForName(s.Name)
			}
			fields = append(fields, flat(definition.SelectionSet, doc)...)
		case *ast.InlineFragment:
			fields = append(fields, flat(s.SelectionSet, doc)...)
		}
	}
	return fields
}

// conforms fails unless an object has the selected fields, each of the schema's type, and no others. skip says whether a field is left out by a directive.
func conforms(s *ast.Schema, path string, set ast.SelectionSet, value map[string]any, skip func(*ast.Field) bool) error {
	wanted := map[string]bool{}
	for _, field := range flat(set, nil) {
		if skip(field) {
			continue
		}
		wanted[field.Alias] = true
		got, ok := value[field.Alias]
		if !ok {
			return fmt.Errorf("%s.%s is missing", path, field.Alias)
		}
		if err := conformsTo(s, path+"."+field.Alias, field, field.Definition.Type, got, skip); err != nil {
			return err
		}
	}
	for name := range value {
		if !wanted[name] {
			return fmt.Errorf("%s.%s was not asked for", path, name)
		}
	}
	return nil
}

func conformsTo(s *ast.Schema, path string, field *ast.Field, want *ast.Type, got any, skip func(*ast.Field) bool) error {
	if got == nil {
		if want.NonNull {
			return fmt.Errorf("%s is null", path)
		}
		return nil
	}
	if want.Elem != nil {
		list, ok := got.([]any)
		if !ok {
			return fmt.Errorf("%s is %T, not a list", path, got)
		}
		for i, element := range list {
			if err := conformsTo(s, fmt.Sprintf("%s[%d]", path, i), field, want.Elem, element, skip); err != nil {
				return err
			}
		}
		return nil
	}
	definition := s.Types[want.NamedType]
	switch definition.Kind {
	case ast.Object:
		object, ok := got.(map[string]any)
		if !ok {
			return fmt.Errorf("%s is %T, not an object", path, got)
		}
		return conforms(s, path, field.SelectionSet, object, skip)
	case ast.Enum:
		if text, ok := got.(string); !ok || definition.EnumValues.ForName(text) == nil {
			return fmt.Errorf("%s is %v, not a %s", path, got, want.NamedType)
		}
		return nil
	case ast.Scalar:
		if !isScalar(want.NamedType, got) {
			return fmt.Errorf("%s is %v, not a %s", path, got, want.NamedType)
		}
		return nil
	}
	return fmt.Errorf("%s: no rule for %s", path, want.NamedType)
}

func isScalar(scalar string, got any) bool {
	switch scalar {
	case "String", "ID":
		_, ok := got.(string)
		return ok
	case "Boolean":
		_, ok := got.(bool)
		return ok
	case "Float":
		_, ok := got.(float64)
		return ok
	case "Int":
		n, ok := got.(float64)
		return ok && n == float64(int32(n))
	case "DateTime":
		text, ok := got.(string)
		_, err := time.Parse(time.RFC3339, text)
		return ok && err == nil
	case "JSONObject":
		_, ok := got.(map[string]any)
		return ok
	}
	return false
}

// TestWrongAnswersDoNotConform: what the server of the tests might answer wrongly is found.
func TestWrongAnswersDoNotConform(t *testing.T) {
	s := schema(t)
	doc := gqlparser.MustLoadQueryWithRules(s, `{ viewer { id app } teams { nodes { key } } issue(id: "x") { priority updatedAt trashed attachments { nodes { metadata } } } }`, nil)
	type o = map[string]any
	issue := func(change o) o {
		i := o{"priority": 1.0, "updatedAt": "2026-01-02T03:04:05.678Z", "trashed": nil, "attachments": o{"nodes": []any{o{"metadata": o{}}}}}
		for k, v := range change {
			i[k] = v
		}
		return o{"viewer": o{"id": "u", "app": false}, "teams": o{"nodes": []any{}}, "issue": i}
	}
	check := func(value o) error {
		return conforms(s, "data", doc.Operations[0].SelectionSet, value, func(*ast.Field) bool { return false })
	}
	if err := check(issue(nil)); err != nil {
		t.Fatal(err)
	}
	for name, value := range map[string]o{
		"another type": issue(o{"priority": "high"}), "null": issue(o{"priority": nil}), "a time": issue(o{"updatedAt": "yesterday"}), "too much": issue(o{"id": "x"}),
		"no list": issue(o{"attachments": o{"nodes": o{}}}), "null in a list": issue(o{"attachments": o{"nodes": []any{nil}}}), "no object": issue(o{"attachments": true}),
		"metadata": issue(o{"attachments": o{"nodes": []any{o{"metadata": "{}"}}}}), "not all": {"viewer": o{"id": "u", "app": false}},
	} {
		if err := check(value); err == nil {
			t.Errorf("%s: %v conforms", name, value)
		} else if !strings.HasPrefix(err.Error(), "data.") {
			t.Error(err)
		}
	}
}
