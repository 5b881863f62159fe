package linear

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strconv"
	"sync"
	"testing"

	"github.com/vektah/gqlparser/v2"
	"github.com/vektah/gqlparser/v2/ast"
	"github.com/vektah/gqlparser/v2/parser"
	"github.com/vektah/gqlparser/v2/validator"
)

const token = "lin_api_0123456789abcdef"

// object is something that documents may ask fields of. A field is a value, or a function of its arguments.
type object = map[string]any

type resolver = func(args object) (any, error)

// server answers documents from objects: exactly what they select. Where the published schema is there, each document, its variables and each answer are held to it.
type server struct {
	*httptest.Server
	t      *testing.T
	schema *ast.Schema

	mu sync.Mutex
	// roots are the fields of queries and of mutations.
	roots object
	// instead, if set, may answer the nth request of the server, which are counted from 1, in the server's stead.
	instead func(n int, w http.ResponseWriter, r *http.Request) bool
	// change, if set, may change an answer that conforms.
	change   func(n int, answer object)
	requests int
	sent     []string
}

func newServer(t *testing.T, roots object) *server {
	s := &server{t: t, schema: schemaIfThere(t), roots: roots}
	s.Server = httptest.NewServer(s)
	t.Cleanup(s.Close)
	return s
}

func (s *server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.requests++
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return // who asked has gone
	}
	if s.instead != nil && s.instead(s.requests, w, r) {
		return
	}
	if r.Method != http.MethodPost || r.Header.Get("Content-Type") != "application/json" {
		s.t.Errorf("%s with %q", r.Method, r.Header.Get("Content-Type"))
	}
	w.Header().Set("Content-Type", "application/json")
	answer := object{}
	if r.Header.Get("Authorization") != token {
		w.WriteHeader(http.StatusUnauthorized)
		answer["errors"] = []any{refused("AUTHENTICATION_ERROR", "Authentication required, not authenticated")}
	} else if data, err := s.answer(body); err != nil {
		answer["data"], answer["errors"] = nil, []any{refused("INPUT_ERROR", err.Error())}
	} else {
		answer["data"] = data
	}
	if s.change != nil {
		s.change(s.requests, answer)
	}
	content, err := json.Marshal(answer)
	if err != nil {
		s.t.Error(err)
	}
	_, _ = w.Write(content)
}

func refused(code, message string) object {
	return object{"message": message, "extensions": object{"code": code, "userPresentableMessage": message}}
}

// answer runs a document. What breaks the schema is the test's failure, since nothing may.
func (s *server) answer(body []byte) (object, error) {
	var request struct {
		Query     string `json:"query"`
		Variables object `json:"variables"`
	}
	if err := json.Unmarshal(body, &request); err != nil {
		s.t.Error(err)
		return nil, err
	}
	doc, variables, err := s.parse(request.Query, request.Variables)
	if err != nil {
		s.t.Errorf("%v in %s", err, request.Query)
		return nil, err
	}
	op := doc.Operations[0]
	s.sent = append(s.sent, op.Name)
	data, err := s.resolve(doc, op.SelectionSet, s.roots, variables)
	if err != nil || s.schema == nil {
		return data, err
	}
	var plain object
	content, err := json.Marshal(data)
	if err == nil {
		err = json.Unmarshal(content, &plain)
	}
	if err == nil {
		err = conforms(s.schema, op.Name, op.SelectionSet, plain, func(f *ast.Field) bool { return skipped(f, variables) })
	}
	if err != nil {
		s.t.Error(err)
	}
	return plain, err
}

func (s *server) parse(query string, variables object) (*ast.QueryDocument, object, error) {
	if s.schema == nil {
		doc, err := parser.ParseQuery(&ast.Source{Input: query})
		return doc, variables, err
	}
	doc, faults := gqlparser.LoadQueryWithRules(s.schema, query, nil)
	if len(faults) > 0 {
		return nil, nil, faults
	}
	coerced, err := validator.VariableValues(s.schema, doc.Operations[0], variables)
	return doc, coerced, err
}

// skipped says whether a field's @include leaves it out.
func skipped(field *ast.Field, variables object) bool {
	include := field.Directives.ForName("include")
	if include == nil {
		return false
	}
	condition, err := include.Arguments.ForName("if").Value.Value(variables)
	return err != nil || condition != true
}

// resolve makes the selected part of an object.
func (s *server) resolve(doc *ast.QueryDocument, set ast.SelectionSet, from, variables object) (object, error) {
	made := object{}
	for _, field := range flat(set, doc) {
		if skipped(field, variables) {
			continue
		}
		value, ok := from[field.Name]
		if !ok {
			s.t.Errorf("the server has no %s", field.Name)
		}
		args := object{}
		for _, a := range field.Arguments {
			v, err := a.Value.Value(variables)
			if err != nil {
				return nil, err
			}
			args[a.Name] = v
		}
		part, err := s.part(doc, field, value, args, variables)
		if err != nil {
			return nil, err
		}
		if old, merge := made[field.Alias].(object); merge {
			if more, ok := part.(object); ok {
				for k, v := range old {
					more[k] = v
				}
			}
		}
		made[field.Alias] = part
	}
	return made, nil
}

func (s *server) part(doc *ast.QueryDocument, field *ast.Field, value any, args, variables object) (any, error) {
	switch v := value.(type) {
	case resolver:
		value, err := v(args)
		if err != nil {
			return nil, err
		}
		return s.part(doc, field, value, nil, variables)
	case []object:
		list := make([]any, len(v))
		for i, element := range v {
			made, err := s.resolve(doc, field.SelectionSet, element, variables)
			if err != nil {
				return nil, err
			}
			list[i] = made
		}
		return list, nil
	case object:
		if len(field.SelectionSet) == 0 { // a scalar of JSON
			return v, nil
		}
		if v == nil {
			return nil, nil
		}
		return s.resolve(doc, field.SelectionSet, v, variables)
	default:
		return value, nil
	}
}

// connection is a list in pages, the cursor being the number of what was before, that obeys filters. limit, if positive, makes for more pages than were asked for.
func connection(limit int, nodes func() []object) resolver {
	return func(args object) (any, error) {
		filter, _ := args["filter"].(object)
		matching := slices.DeleteFunc(slices.Clone(nodes()), func(o object) bool {
			hidden := o["archivedAt"] != nil || o["trashed"] == true
			return hidden && args["includeArchived"] != true || !matches(o, filter)
		})
		begin := 0
		if after, ok := args["after"].(string); ok {
			n, err := strconv.Atoi(after)
			if err != nil || n > len(matching) {
				return nil, fmt.Errorf("the cursor %q", after)
			}
			begin = n
		}
		first, err := strconv.Atoi(fmt.Sprint(args["first"]))
		if err != nil || first < 1 || first > 250 {
			return nil, fmt.Errorf("first: %v", args["first"])
		}
		if limit > 0 {
			first = min(first, limit)
		}
		end := min(begin+first, len(matching))
		return object{
			"nodes":    matching[begin:end],
			"pageInfo": object{"hasNextPage": end < len(matching), "endCursor": strconv.Itoa(end)},
		}, nil
	}
}

// matches obeys the filters that are in use: nested ones, and eq, in and nin at their ends.
func matches(o object, filter object) bool {
	for name, condition := range filter {
		c, ok := condition.(object)
		if !ok {
			panic(fmt.Sprintf("the filter %s: %v", name, condition))
		}
		switch value := o[name].(type) {
		case object:
			if !matches(value, c) {
				return false
			}
		default:
			for comparator, operand := range c {
				if !compares(value, comparator, operand) {
					return false
				}
			}
		}
	}
	return true
}

func compares(value any, comparator string, operand any) bool {
	text := fmt.Sprint(value)
	var among bool
	list, _ := operand.([]any)
	for _, o := range list {
		among = among || fmt.Sprint(o) == text
	}
	if texts, ok := operand.([]string); ok {
		among = slices.Contains(texts, text)
	}
	switch comparator {
	case "eq":
		return fmt.Sprint(operand) == text
	case "in":
		return among
	case "nin":
		return !among
	}
	panic(errors.New("the comparator " + comparator))
}

// says answers with text, of a type.
func says(status int, contentType, text string) func(int, http.ResponseWriter, *http.Request) bool {
	return func(_ int, w http.ResponseWriter, _ *http.Request) bool {
		w.Header().Set("Content-Type", contentType)
		w.WriteHeader(status)
		_, _ = io.Copy(w, bytes.NewReader([]byte(text)))
		return true
	}
}
