package github_test

import (
	"bytes"
	"compress/gzip"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"sync"
	"testing"

	"github.com/getkin/kin-openapi/openapi3"
	"github.com/getkin/kin-openapi/openapi3filter"
	"github.com/getkin/kin-openapi/routers"
	"github.com/getkin/kin-openapi/routers/legacy"
)

// description is GitHub's own description of its interface, which is kept beside the repository: nil where it is not there.
type description struct {
	doc    *openapi3.T
	router routers.Router
}

var loaded = sync.OnceValues(loadDescription)

func loadDescription() (*description, error) {
	file, err := os.Open(findDescription())
	if err != nil {
		return nil, err
	}
	defer file.Close()
	z, err := gzip.NewReader(file)
	if err != nil {
		return nil, err
	}
	data, err := io.ReadAll(z)
	if err != nil {
		return nil, err
	}
	doc, err := openapi3.NewLoader().LoadFromData(data)
	if err != nil {
		return nil, err
	}
	doc.Servers = nil // those of the tests have other names
	router, err := legacy.NewRouter(doc, openapi3.DisableExamplesValidation(), openapi3.DisableSchemaPatternValidation())
	return &description{doc, router}, err
}

// findDescription looks in the folders above this one.
func findDescription() string {
	const name = "shared/schemas/github-openapi.json.gz"
	for dir := "../.."; ; dir = filepath.Join(dir, "..") {
		path := filepath.Join(dir, filepath.FromSlash(name))
		if full, err := filepath.Abs(dir); err != nil || filepath.Dir(full) == full {
			return path
		}
		if _, err := os.Stat(path); err == nil {
			return path
		}
	}
}

// describe is the description, which comes with no clone; nil, and said so, where it is not there.
func describe(t testing.TB) *description {
	t.Helper()
	d, err := loaded()
	if err != nil {
		t.Logf("requests and answers are not compared with GitHub's description: %v", err)
		return nil
	}
	return d
}

// TestDescription: the description is there, and the generated samples of what the tests serve are what it says.
func TestDescription(t *testing.T) {
	d := describe(t)
	if d == nil {
		return
	}
	for _, name := range []string{"issue", "pull-request-simple", "issue-comment", "private-user", "label", "milestone"} {
		schema := d.doc.Components.Schemas[name]
		if schema == nil {
			t.Fatalf("there is no %s", name)
		}
		if err := schema.Value.VisitJSON(d.sample(name)); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// sample is a value of a schema that has what is required and nothing else.
func (d *description) sample(name string) map[string]any {
	if d == nil {
		return map[string]any{}
	}
	value, _ := sampleOf(d.doc.Components.Schemas[name].Value).(map[string]any)
	return value
}

func sampleOf(s *openapi3.Schema) any {
	switch {
	case s.Nullable:
		return nil
	case len(s.Enum) > 0:
		return s.Enum[0]
	case len(s.AllOf) > 0:
		return sampleOf(s.AllOf[0].Value)
	case len(s.OneOf) > 0:
		return sampleOf(s.OneOf[0].Value)
	case len(s.AnyOf) > 0:
		return sampleOf(s.AnyOf[0].Value)
	case s.Type.Is("array"):
		return []any{}
	case s.Type.Is("integer"), s.Type.Is("number"):
		return 1.0
	case s.Type.Is("boolean"):
		return false
	case s.Type.Is("string") && s.Format == "date-time":
		return "2026-01-02T03:04:05Z"
	case s.Type.Is("string"):
		return "https://github.com/sample"
	}
	value := map[string]any{}
	for _, name := range s.Required {
		if property := s.Properties[name]; property != nil {
			value[name] = sampleOf(property.Value)
		}
	}
	return value
}

// check serves by next, and fails the test where a request or its answer is not as described.
func (d *description) check(t testing.TB, next http.Handler) http.Handler {
	if d == nil {
		return next
	}
	return http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		probe := req.Clone(req.Context())
		probe.URL.Path = req.URL.EscapedPath() // a label may have a slash
		route, params, err := d.router.FindRoute(probe)
		if err != nil {
			t.Errorf("%s %s: %v", req.Method, req.URL, err)
			http.Error(w, err.Error(), http.StatusTeapot)
			return
		}
		options := &openapi3filter.Options{AuthenticationFunc: openapi3filter.NoopAuthenticationFunc, IncludeResponseStatus: true, SkipSettingDefaults: true, MultiError: true}
		input := &openapi3filter.RequestValidationInput{Request: req, PathParams: params, Route: route, Options: options}
		if err := openapi3filter.ValidateRequest(req.Context(), input); err != nil {
			t.Errorf("%s %s: %v", req.Method, req.URL, err)
		}
		for name := range req.URL.Query() {
			if name != "after" && !declares(route, name) { // which links have, and no description
				t.Errorf("%s %s: no parameter %q is described", req.Method, req.URL.Path, name)
			}
		}
		recorder := httptest.NewRecorder()
		next.ServeHTTP(recorder, req)
		if recorder.Code != http.StatusNotModified { // which all GETs may answer, and few are described to
			answer := &openapi3filter.ResponseValidationInput{RequestValidationInput: input, Status: recorder.Code, Header: recorder.Header(), Options: options}
			answer.Body = io.NopCloser(bytes.NewReader(recorder.Body.Bytes()))
			if err := openapi3filter.ValidateResponse(req.Context(), answer); err != nil {
				t.Errorf("the answer to %s %s: %v", req.Method, req.URL, err)
			}
		}
		for name, values := range recorder.Header() {
			w.Header()[name] = values
		}
		w.WriteHeader(recorder.Code)
		_, _ = w.Write(recorder.Body.Bytes())
	})
}

// declares says whether a route has a query parameter.
func declares(route *routers.Route, name string) bool {
	for _, list := range []openapi3.Parameters{route.Operation.Parameters, route.PathItem.Parameters} {
		if list.GetByInAndName("query", name) != nil {
			return true
		}
	}
	return false
}
